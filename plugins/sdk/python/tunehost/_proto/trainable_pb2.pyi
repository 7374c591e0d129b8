from tunehost._proto import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DescribeTrainableRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DescribeTrainableResponse(_message.Message):
    __slots__ = ("info",)
    INFO_FIELD_NUMBER: _ClassVar[int]
    info: _common_pb2.Info
    def __init__(self, info: _Optional[_Union[_common_pb2.Info, _Mapping]] = ...) -> None: ...

class OpenTrainableRequest(_message.Message):
    __slots__ = ("options",)
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    options: bytes
    def __init__(self, options: _Optional[bytes] = ...) -> None: ...

class OpenTrainableResponse(_message.Message):
    __slots__ = ("reusable", "shared", "saves", "requests")
    REUSABLE_FIELD_NUMBER: _ClassVar[int]
    SHARED_FIELD_NUMBER: _ClassVar[int]
    SAVES_FIELD_NUMBER: _ClassVar[int]
    REQUESTS_FIELD_NUMBER: _ClassVar[int]
    reusable: bool
    shared: bool
    saves: bool
    requests: bool
    def __init__(self, reusable: bool = ..., shared: bool = ..., saves: bool = ..., requests: bool = ...) -> None: ...

class RequestResourcesRequest(_message.Message):
    __slots__ = ("params",)
    PARAMS_FIELD_NUMBER: _ClassVar[int]
    params: bytes
    def __init__(self, params: _Optional[bytes] = ...) -> None: ...

class RequestResourcesResponse(_message.Message):
    __slots__ = ("resources",)
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    resources: bytes
    def __init__(self, resources: _Optional[bytes] = ...) -> None: ...

class Trial(_message.Message):
    __slots__ = ("id", "number", "attempt", "experiment", "params", "options", "seed", "dir", "restore", "iteration", "resources", "devices", "checkpoint_every", "run_ahead", "grace_seconds", "checkpoint_at_end", "bundles", "export", "export_dir", "logs", "confirms")
    ID_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    EXPERIMENT_FIELD_NUMBER: _ClassVar[int]
    PARAMS_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    DIR_FIELD_NUMBER: _ClassVar[int]
    RESTORE_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    DEVICES_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_EVERY_FIELD_NUMBER: _ClassVar[int]
    RUN_AHEAD_FIELD_NUMBER: _ClassVar[int]
    GRACE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_AT_END_FIELD_NUMBER: _ClassVar[int]
    BUNDLES_FIELD_NUMBER: _ClassVar[int]
    EXPORT_FIELD_NUMBER: _ClassVar[int]
    EXPORT_DIR_FIELD_NUMBER: _ClassVar[int]
    LOGS_FIELD_NUMBER: _ClassVar[int]
    CONFIRMS_FIELD_NUMBER: _ClassVar[int]
    id: str
    number: int
    attempt: int
    experiment: str
    params: bytes
    options: bytes
    seed: int
    dir: str
    restore: str
    iteration: int
    resources: bytes
    devices: _containers.RepeatedScalarFieldContainer[str]
    checkpoint_every: int
    run_ahead: int
    grace_seconds: float
    checkpoint_at_end: bool
    bundles: _containers.RepeatedCompositeFieldContainer[Bundle]
    export: _containers.RepeatedScalarFieldContainer[str]
    export_dir: str
    logs: Logs
    confirms: bool
    def __init__(self, id: _Optional[str] = ..., number: _Optional[int] = ..., attempt: _Optional[int] = ..., experiment: _Optional[str] = ..., params: _Optional[bytes] = ..., options: _Optional[bytes] = ..., seed: _Optional[int] = ..., dir: _Optional[str] = ..., restore: _Optional[str] = ..., iteration: _Optional[int] = ..., resources: _Optional[bytes] = ..., devices: _Optional[_Iterable[str]] = ..., checkpoint_every: _Optional[int] = ..., run_ahead: _Optional[int] = ..., grace_seconds: _Optional[float] = ..., checkpoint_at_end: bool = ..., bundles: _Optional[_Iterable[_Union[Bundle, _Mapping]]] = ..., export: _Optional[_Iterable[str]] = ..., export_dir: _Optional[str] = ..., logs: _Optional[_Union[Logs, _Mapping]] = ..., confirms: bool = ...) -> None: ...

class Logs(_message.Message):
    __slots__ = ("stdout", "stderr")
    STDOUT_FIELD_NUMBER: _ClassVar[int]
    STDERR_FIELD_NUMBER: _ClassVar[int]
    stdout: str
    stderr: str
    def __init__(self, stdout: _Optional[str] = ..., stderr: _Optional[str] = ...) -> None: ...

class Bundle(_message.Message):
    __slots__ = ("node", "resources", "devices", "address")
    NODE_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    DEVICES_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    node: str
    resources: bytes
    devices: _containers.RepeatedScalarFieldContainer[str]
    address: str
    def __init__(self, node: _Optional[str] = ..., resources: _Optional[bytes] = ..., devices: _Optional[_Iterable[str]] = ..., address: _Optional[str] = ...) -> None: ...

class TrainRequest(_message.Message):
    __slots__ = ("commands",)
    COMMANDS_FIELD_NUMBER: _ClassVar[int]
    commands: _containers.RepeatedCompositeFieldContainer[TrainCommand]
    def __init__(self, commands: _Optional[_Iterable[_Union[TrainCommand, _Mapping]]] = ...) -> None: ...

class TrainCommand(_message.Message):
    __slots__ = ("kind", "run", "trial", "credits", "dir", "paused")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[TrainCommand.Kind]
        KIND_START: _ClassVar[TrainCommand.Kind]
        KIND_CONTINUE: _ClassVar[TrainCommand.Kind]
        KIND_SAVE: _ClassVar[TrainCommand.Kind]
        KIND_STOP: _ClassVar[TrainCommand.Kind]
        KIND_KILL: _ClassVar[TrainCommand.Kind]
    KIND_UNSPECIFIED: TrainCommand.Kind
    KIND_START: TrainCommand.Kind
    KIND_CONTINUE: TrainCommand.Kind
    KIND_SAVE: TrainCommand.Kind
    KIND_STOP: TrainCommand.Kind
    KIND_KILL: TrainCommand.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    TRIAL_FIELD_NUMBER: _ClassVar[int]
    CREDITS_FIELD_NUMBER: _ClassVar[int]
    DIR_FIELD_NUMBER: _ClassVar[int]
    PAUSED_FIELD_NUMBER: _ClassVar[int]
    kind: TrainCommand.Kind
    run: int
    trial: Trial
    credits: int
    dir: str
    paused: bool
    def __init__(self, kind: _Optional[_Union[TrainCommand.Kind, str]] = ..., run: _Optional[int] = ..., trial: _Optional[_Union[Trial, _Mapping]] = ..., credits: _Optional[int] = ..., dir: _Optional[str] = ..., paused: bool = ...) -> None: ...

class TrainResponse(_message.Message):
    __slots__ = ("events",)
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[TrainEvent]
    def __init__(self, events: _Optional[_Iterable[_Union[TrainEvent, _Mapping]]] = ...) -> None: ...

class TrainEvent(_message.Message):
    __slots__ = ("kind", "run", "pid", "metrics", "iteration", "checkpoint", "done", "error", "text", "restore_failed", "never_started", "format", "values", "hint", "waiting")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[TrainEvent.Kind]
        KIND_STARTED: _ClassVar[TrainEvent.Kind]
        KIND_RESULT: _ClassVar[TrainEvent.Kind]
        KIND_SAVED: _ClassVar[TrainEvent.Kind]
        KIND_ENDED: _ClassVar[TrainEvent.Kind]
        KIND_LOG: _ClassVar[TrainEvent.Kind]
        KIND_REJECTED: _ClassVar[TrainEvent.Kind]
        KIND_EXPORTED: _ClassVar[TrainEvent.Kind]
    KIND_UNSPECIFIED: TrainEvent.Kind
    KIND_STARTED: TrainEvent.Kind
    KIND_RESULT: TrainEvent.Kind
    KIND_SAVED: TrainEvent.Kind
    KIND_ENDED: TrainEvent.Kind
    KIND_LOG: TrainEvent.Kind
    KIND_REJECTED: TrainEvent.Kind
    KIND_EXPORTED: TrainEvent.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    METRICS_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    RESTORE_FAILED_FIELD_NUMBER: _ClassVar[int]
    NEVER_STARTED_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    HINT_FIELD_NUMBER: _ClassVar[int]
    WAITING_FIELD_NUMBER: _ClassVar[int]
    kind: TrainEvent.Kind
    run: int
    pid: int
    metrics: _containers.RepeatedCompositeFieldContainer[_common_pb2.Metric]
    iteration: int
    checkpoint: str
    done: bool
    error: str
    text: str
    restore_failed: bool
    never_started: bool
    format: str
    values: bytes
    hint: bool
    waiting: bool
    def __init__(self, kind: _Optional[_Union[TrainEvent.Kind, str]] = ..., run: _Optional[int] = ..., pid: _Optional[int] = ..., metrics: _Optional[_Iterable[_Union[_common_pb2.Metric, _Mapping]]] = ..., iteration: _Optional[int] = ..., checkpoint: _Optional[str] = ..., done: bool = ..., error: _Optional[str] = ..., text: _Optional[str] = ..., restore_failed: bool = ..., never_started: bool = ..., format: _Optional[str] = ..., values: _Optional[bytes] = ..., hint: bool = ..., waiting: bool = ...) -> None: ...
