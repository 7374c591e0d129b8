from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Info(_message.Message):
    __slots__ = ("kind", "name", "version", "summary", "options_schema", "capabilities")
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    kind: str
    name: str
    version: str
    summary: str
    options_schema: bytes
    capabilities: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, kind: _Optional[str] = ..., name: _Optional[str] = ..., version: _Optional[str] = ..., summary: _Optional[str] = ..., options_schema: _Optional[bytes] = ..., capabilities: _Optional[_Iterable[str]] = ...) -> None: ...

class Space(_message.Message):
    __slots__ = ("params", "constraints", "opaque")
    PARAMS_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    OPAQUE_FIELD_NUMBER: _ClassVar[int]
    params: _containers.RepeatedCompositeFieldContainer[Param]
    constraints: _containers.RepeatedCompositeFieldContainer[Expr]
    opaque: bool
    def __init__(self, params: _Optional[_Iterable[_Union[Param, _Mapping]]] = ..., constraints: _Optional[_Iterable[_Union[Expr, _Mapping]]] = ..., opaque: bool = ...) -> None: ...

class Param(_message.Message):
    __slots__ = ("name", "kind", "low", "high", "log", "step", "mean", "sd", "choices", "grid", "when")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[Param.Kind]
        KIND_REAL: _ClassVar[Param.Kind]
        KIND_INT: _ClassVar[Param.Kind]
        KIND_NORMAL: _ClassVar[Param.Kind]
        KIND_CHOICE: _ClassVar[Param.Kind]
        KIND_ORDINAL: _ClassVar[Param.Kind]
    KIND_UNSPECIFIED: Param.Kind
    KIND_REAL: Param.Kind
    KIND_INT: Param.Kind
    KIND_NORMAL: Param.Kind
    KIND_CHOICE: Param.Kind
    KIND_ORDINAL: Param.Kind
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LOW_FIELD_NUMBER: _ClassVar[int]
    HIGH_FIELD_NUMBER: _ClassVar[int]
    LOG_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    MEAN_FIELD_NUMBER: _ClassVar[int]
    SD_FIELD_NUMBER: _ClassVar[int]
    CHOICES_FIELD_NUMBER: _ClassVar[int]
    GRID_FIELD_NUMBER: _ClassVar[int]
    WHEN_FIELD_NUMBER: _ClassVar[int]
    name: str
    kind: Param.Kind
    low: float
    high: float
    log: bool
    step: float
    mean: float
    sd: float
    choices: _containers.RepeatedScalarFieldContainer[bytes]
    grid: bool
    when: Expr
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[_Union[Param.Kind, str]] = ..., low: _Optional[float] = ..., high: _Optional[float] = ..., log: bool = ..., step: _Optional[float] = ..., mean: _Optional[float] = ..., sd: _Optional[float] = ..., choices: _Optional[_Iterable[bytes]] = ..., grid: bool = ..., when: _Optional[_Union[Expr, _Mapping]] = ...) -> None: ...

class Expr(_message.Message):
    __slots__ = ("op", "param", "number", "set", "args")
    OP_FIELD_NUMBER: _ClassVar[int]
    PARAM_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    SET_FIELD_NUMBER: _ClassVar[int]
    ARGS_FIELD_NUMBER: _ClassVar[int]
    op: int
    param: int
    number: float
    set: _containers.RepeatedScalarFieldContainer[int]
    args: _containers.RepeatedCompositeFieldContainer[Expr]
    def __init__(self, op: _Optional[int] = ..., param: _Optional[int] = ..., number: _Optional[float] = ..., set: _Optional[_Iterable[int]] = ..., args: _Optional[_Iterable[_Union[Expr, _Mapping]]] = ...) -> None: ...

class Point(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, values: _Optional[_Iterable[float]] = ...) -> None: ...

class Objective(_message.Message):
    __slots__ = ("metric", "maximize")
    METRIC_FIELD_NUMBER: _ClassVar[int]
    MAXIMIZE_FIELD_NUMBER: _ClassVar[int]
    metric: str
    maximize: bool
    def __init__(self, metric: _Optional[str] = ..., maximize: bool = ...) -> None: ...

class Problem(_message.Message):
    __slots__ = ("space", "objectives", "seed", "trials", "concurrency", "request", "capacity")
    SPACE_FIELD_NUMBER: _ClassVar[int]
    OBJECTIVES_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    TRIALS_FIELD_NUMBER: _ClassVar[int]
    CONCURRENCY_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    space: Space
    objectives: _containers.RepeatedCompositeFieldContainer[Objective]
    seed: int
    trials: int
    concurrency: int
    request: bytes
    capacity: bytes
    def __init__(self, space: _Optional[_Union[Space, _Mapping]] = ..., objectives: _Optional[_Iterable[_Union[Objective, _Mapping]]] = ..., seed: _Optional[int] = ..., trials: _Optional[int] = ..., concurrency: _Optional[int] = ..., request: _Optional[bytes] = ..., capacity: _Optional[bytes] = ...) -> None: ...

class Metric(_message.Message):
    __slots__ = ("name", "value")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: float
    def __init__(self, name: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("number", "kind", "trial", "attempt", "iteration", "point", "losses", "metrics", "seconds", "reason", "seconds_told", "again")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[Event.Kind]
        KIND_TRIAL_ADDED: _ClassVar[Event.Kind]
        KIND_TRIAL_STARTED: _ClassVar[Event.Kind]
        KIND_RESULT_REPORTED: _ClassVar[Event.Kind]
        KIND_TRIAL_PAUSED: _ClassVar[Event.Kind]
        KIND_TRIAL_COMPLETED: _ClassVar[Event.Kind]
        KIND_TRIAL_FAILED: _ClassVar[Event.Kind]
        KIND_TRIAL_REMOVED: _ClassVar[Event.Kind]
        KIND_CHECKPOINT_SAVED: _ClassVar[Event.Kind]
        KIND_TRIAL_REQUEUED: _ClassVar[Event.Kind]
        KIND_EXPERIMENT_ENDED: _ClassVar[Event.Kind]
        KIND_SEARCH_ENDED: _ClassVar[Event.Kind]
    KIND_UNSPECIFIED: Event.Kind
    KIND_TRIAL_ADDED: Event.Kind
    KIND_TRIAL_STARTED: Event.Kind
    KIND_RESULT_REPORTED: Event.Kind
    KIND_TRIAL_PAUSED: Event.Kind
    KIND_TRIAL_COMPLETED: Event.Kind
    KIND_TRIAL_FAILED: Event.Kind
    KIND_TRIAL_REMOVED: Event.Kind
    KIND_CHECKPOINT_SAVED: Event.Kind
    KIND_TRIAL_REQUEUED: Event.Kind
    KIND_EXPERIMENT_ENDED: Event.Kind
    KIND_SEARCH_ENDED: Event.Kind
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TRIAL_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    POINT_FIELD_NUMBER: _ClassVar[int]
    LOSSES_FIELD_NUMBER: _ClassVar[int]
    METRICS_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SECONDS_TOLD_FIELD_NUMBER: _ClassVar[int]
    AGAIN_FIELD_NUMBER: _ClassVar[int]
    number: int
    kind: Event.Kind
    trial: int
    attempt: int
    iteration: int
    point: Point
    losses: _containers.RepeatedScalarFieldContainer[float]
    metrics: _containers.RepeatedCompositeFieldContainer[Metric]
    seconds: float
    reason: str
    seconds_told: bool
    again: bool
    def __init__(self, number: _Optional[int] = ..., kind: _Optional[_Union[Event.Kind, str]] = ..., trial: _Optional[int] = ..., attempt: _Optional[int] = ..., iteration: _Optional[int] = ..., point: _Optional[_Union[Point, _Mapping]] = ..., losses: _Optional[_Iterable[float]] = ..., metrics: _Optional[_Iterable[_Union[Metric, _Mapping]]] = ..., seconds: _Optional[float] = ..., reason: _Optional[str] = ..., seconds_told: bool = ..., again: bool = ...) -> None: ...

class Traits(_message.Message):
    __slots__ = ("independent", "quiet", "run_ahead", "metrics", "saves", "requires", "snapshots", "combines_grid", "again")
    INDEPENDENT_FIELD_NUMBER: _ClassVar[int]
    QUIET_FIELD_NUMBER: _ClassVar[int]
    RUN_AHEAD_FIELD_NUMBER: _ClassVar[int]
    METRICS_FIELD_NUMBER: _ClassVar[int]
    SAVES_FIELD_NUMBER: _ClassVar[int]
    REQUIRES_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOTS_FIELD_NUMBER: _ClassVar[int]
    COMBINES_GRID_FIELD_NUMBER: _ClassVar[int]
    AGAIN_FIELD_NUMBER: _ClassVar[int]
    independent: bool
    quiet: bool
    run_ahead: int
    metrics: bool
    saves: bool
    requires: _containers.RepeatedScalarFieldContainer[str]
    snapshots: bool
    combines_grid: bool
    again: bool
    def __init__(self, independent: bool = ..., quiet: bool = ..., run_ahead: _Optional[int] = ..., metrics: bool = ..., saves: bool = ..., requires: _Optional[_Iterable[str]] = ..., snapshots: bool = ..., combines_grid: bool = ..., again: bool = ...) -> None: ...

class Diagnostic(_message.Message):
    __slots__ = ("what", "where", "todo")
    WHAT_FIELD_NUMBER: _ClassVar[int]
    WHERE_FIELD_NUMBER: _ClassVar[int]
    TODO_FIELD_NUMBER: _ClassVar[int]
    what: str
    where: str
    todo: str
    def __init__(self, what: _Optional[str] = ..., where: _Optional[str] = ..., todo: _Optional[str] = ...) -> None: ...
