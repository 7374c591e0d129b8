from tunehost._proto import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DescribeSchedulerRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DescribeSchedulerResponse(_message.Message):
    __slots__ = ("info",)
    INFO_FIELD_NUMBER: _ClassVar[int]
    info: _common_pb2.Info
    def __init__(self, info: _Optional[_Union[_common_pb2.Info, _Mapping]] = ...) -> None: ...

class OpenSchedulerRequest(_message.Message):
    __slots__ = ("problem", "options", "snapshot")
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    problem: _common_pb2.Problem
    options: bytes
    snapshot: bytes
    def __init__(self, problem: _Optional[_Union[_common_pb2.Problem, _Mapping]] = ..., options: _Optional[bytes] = ..., snapshot: _Optional[bytes] = ...) -> None: ...

class OpenSchedulerResponse(_message.Message):
    __slots__ = ("traits",)
    TRAITS_FIELD_NUMBER: _ClassVar[int]
    traits: _common_pb2.Traits
    def __init__(self, traits: _Optional[_Union[_common_pb2.Traits, _Mapping]] = ...) -> None: ...

class DecideRequest(_message.Message):
    __slots__ = ("events",)
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[_common_pb2.Event]
    def __init__(self, events: _Optional[_Iterable[_Union[_common_pb2.Event, _Mapping]]] = ...) -> None: ...

class Decision(_message.Message):
    __slots__ = ("event", "verdict", "until", "reason")
    class Verdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        VERDICT_UNSPECIFIED: _ClassVar[Decision.Verdict]
        VERDICT_PAUSE: _ClassVar[Decision.Verdict]
        VERDICT_STOP: _ClassVar[Decision.Verdict]
    VERDICT_UNSPECIFIED: Decision.Verdict
    VERDICT_PAUSE: Decision.Verdict
    VERDICT_STOP: Decision.Verdict
    EVENT_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    event: int
    verdict: Decision.Verdict
    until: int
    reason: str
    def __init__(self, event: _Optional[int] = ..., verdict: _Optional[_Union[Decision.Verdict, str]] = ..., until: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...

class Command(_message.Message):
    __slots__ = ("kind", "trial", "donor", "iteration", "point", "resources", "reason")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[Command.Kind]
        KIND_RESUME: _ClassVar[Command.Kind]
        KIND_STOP_TRIAL: _ClassVar[Command.Kind]
        KIND_EXPLOIT: _ClassVar[Command.Kind]
        KIND_RESIZE: _ClassVar[Command.Kind]
        KIND_STOP_ALL: _ClassVar[Command.Kind]
    KIND_UNSPECIFIED: Command.Kind
    KIND_RESUME: Command.Kind
    KIND_STOP_TRIAL: Command.Kind
    KIND_EXPLOIT: Command.Kind
    KIND_RESIZE: Command.Kind
    KIND_STOP_ALL: Command.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    TRIAL_FIELD_NUMBER: _ClassVar[int]
    DONOR_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    POINT_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    kind: Command.Kind
    trial: int
    donor: int
    iteration: int
    point: _common_pb2.Point
    resources: bytes
    reason: str
    def __init__(self, kind: _Optional[_Union[Command.Kind, str]] = ..., trial: _Optional[int] = ..., donor: _Optional[int] = ..., iteration: _Optional[int] = ..., point: _Optional[_Union[_common_pb2.Point, _Mapping]] = ..., resources: _Optional[bytes] = ..., reason: _Optional[str] = ...) -> None: ...

class DecideResponse(_message.Message):
    __slots__ = ("decisions", "commands")
    DECISIONS_FIELD_NUMBER: _ClassVar[int]
    COMMANDS_FIELD_NUMBER: _ClassVar[int]
    decisions: _containers.RepeatedCompositeFieldContainer[Decision]
    commands: _containers.RepeatedCompositeFieldContainer[Command]
    def __init__(self, decisions: _Optional[_Iterable[_Union[Decision, _Mapping]]] = ..., commands: _Optional[_Iterable[_Union[Command, _Mapping]]] = ...) -> None: ...

class SnapshotSchedulerRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class SnapshotSchedulerResponse(_message.Message):
    __slots__ = ("snapshot",)
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    snapshot: bytes
    def __init__(self, snapshot: _Optional[bytes] = ...) -> None: ...
