from tunehost._proto import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DescribeReporterRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DescribeReporterResponse(_message.Message):
    __slots__ = ("info",)
    INFO_FIELD_NUMBER: _ClassVar[int]
    info: _common_pb2.Info
    def __init__(self, info: _Optional[_Union[_common_pb2.Info, _Mapping]] = ...) -> None: ...

class OpenReporterRequest(_message.Message):
    __slots__ = ("problem", "options", "experiment", "dir", "told")
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    EXPERIMENT_FIELD_NUMBER: _ClassVar[int]
    DIR_FIELD_NUMBER: _ClassVar[int]
    TOLD_FIELD_NUMBER: _ClassVar[int]
    problem: _common_pb2.Problem
    options: bytes
    experiment: str
    dir: str
    told: int
    def __init__(self, problem: _Optional[_Union[_common_pb2.Problem, _Mapping]] = ..., options: _Optional[bytes] = ..., experiment: _Optional[str] = ..., dir: _Optional[str] = ..., told: _Optional[int] = ...) -> None: ...

class OpenReporterResponse(_message.Message):
    __slots__ = ("after",)
    AFTER_FIELD_NUMBER: _ClassVar[int]
    after: int
    def __init__(self, after: _Optional[int] = ...) -> None: ...

class ReporterEvent(_message.Message):
    __slots__ = ("number", "kind", "time_ns", "trial", "result", "iteration", "restored", "resumed", "reason")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[ReporterEvent.Kind]
        KIND_EXPERIMENT_STARTED: _ClassVar[ReporterEvent.Kind]
        KIND_EXPERIMENT_ENDED: _ClassVar[ReporterEvent.Kind]
        KIND_TRIAL_ADDED: _ClassVar[ReporterEvent.Kind]
        KIND_TRIAL_STARTED: _ClassVar[ReporterEvent.Kind]
        KIND_RESULT_REPORTED: _ClassVar[ReporterEvent.Kind]
        KIND_TRIAL_PAUSED: _ClassVar[ReporterEvent.Kind]
        KIND_CHECKPOINT_SAVED: _ClassVar[ReporterEvent.Kind]
        KIND_TRIAL_COMPLETED: _ClassVar[ReporterEvent.Kind]
        KIND_TRIAL_FAILED: _ClassVar[ReporterEvent.Kind]
        KIND_TRIAL_REQUEUED: _ClassVar[ReporterEvent.Kind]
        KIND_TRIAL_REMOVED: _ClassVar[ReporterEvent.Kind]
    KIND_UNSPECIFIED: ReporterEvent.Kind
    KIND_EXPERIMENT_STARTED: ReporterEvent.Kind
    KIND_EXPERIMENT_ENDED: ReporterEvent.Kind
    KIND_TRIAL_ADDED: ReporterEvent.Kind
    KIND_TRIAL_STARTED: ReporterEvent.Kind
    KIND_RESULT_REPORTED: ReporterEvent.Kind
    KIND_TRIAL_PAUSED: ReporterEvent.Kind
    KIND_CHECKPOINT_SAVED: ReporterEvent.Kind
    KIND_TRIAL_COMPLETED: ReporterEvent.Kind
    KIND_TRIAL_FAILED: ReporterEvent.Kind
    KIND_TRIAL_REQUEUED: ReporterEvent.Kind
    KIND_TRIAL_REMOVED: ReporterEvent.Kind
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TIME_NS_FIELD_NUMBER: _ClassVar[int]
    TRIAL_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    RESTORED_FIELD_NUMBER: _ClassVar[int]
    RESUMED_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    number: int
    kind: ReporterEvent.Kind
    time_ns: int
    trial: ReportedTrial
    result: ReportedResult
    iteration: int
    restored: int
    resumed: bool
    reason: str
    def __init__(self, number: _Optional[int] = ..., kind: _Optional[_Union[ReporterEvent.Kind, str]] = ..., time_ns: _Optional[int] = ..., trial: _Optional[_Union[ReportedTrial, _Mapping]] = ..., result: _Optional[_Union[ReportedResult, _Mapping]] = ..., iteration: _Optional[int] = ..., restored: _Optional[int] = ..., resumed: bool = ..., reason: _Optional[str] = ...) -> None: ...

class ReportedTrial(_message.Message):
    __slots__ = ("number", "id", "dir", "state", "attempt", "params", "error")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    DIR_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    PARAMS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    number: int
    id: str
    dir: str
    state: str
    attempt: int
    params: bytes
    error: str
    def __init__(self, number: _Optional[int] = ..., id: _Optional[str] = ..., dir: _Optional[str] = ..., state: _Optional[str] = ..., attempt: _Optional[int] = ..., params: _Optional[bytes] = ..., error: _Optional[str] = ...) -> None: ...

class ReportedResult(_message.Message):
    __slots__ = ("metrics", "totals", "iteration", "done", "time_total_s", "time_this_iter_s", "pid", "host", "restored", "iterations_since_restore", "time_since_restore", "again", "values")
    METRICS_FIELD_NUMBER: _ClassVar[int]
    TOTALS_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    TIME_TOTAL_S_FIELD_NUMBER: _ClassVar[int]
    TIME_THIS_ITER_S_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    RESTORED_FIELD_NUMBER: _ClassVar[int]
    ITERATIONS_SINCE_RESTORE_FIELD_NUMBER: _ClassVar[int]
    TIME_SINCE_RESTORE_FIELD_NUMBER: _ClassVar[int]
    AGAIN_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    metrics: _containers.RepeatedCompositeFieldContainer[_common_pb2.Metric]
    totals: _containers.RepeatedCompositeFieldContainer[_common_pb2.Metric]
    iteration: int
    done: bool
    time_total_s: float
    time_this_iter_s: float
    pid: int
    host: str
    restored: bool
    iterations_since_restore: int
    time_since_restore: float
    again: bool
    values: bytes
    def __init__(self, metrics: _Optional[_Iterable[_Union[_common_pb2.Metric, _Mapping]]] = ..., totals: _Optional[_Iterable[_Union[_common_pb2.Metric, _Mapping]]] = ..., iteration: _Optional[int] = ..., done: bool = ..., time_total_s: _Optional[float] = ..., time_this_iter_s: _Optional[float] = ..., pid: _Optional[int] = ..., host: _Optional[str] = ..., restored: bool = ..., iterations_since_restore: _Optional[int] = ..., time_since_restore: _Optional[float] = ..., again: bool = ..., values: _Optional[bytes] = ...) -> None: ...

class ReportRequest(_message.Message):
    __slots__ = ("events",)
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[ReporterEvent]
    def __init__(self, events: _Optional[_Iterable[_Union[ReporterEvent, _Mapping]]] = ...) -> None: ...

class ReportResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
