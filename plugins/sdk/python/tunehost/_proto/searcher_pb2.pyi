from tunehost._proto import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DescribeSearcherRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DescribeSearcherResponse(_message.Message):
    __slots__ = ("info",)
    INFO_FIELD_NUMBER: _ClassVar[int]
    info: _common_pb2.Info
    def __init__(self, info: _Optional[_Union[_common_pb2.Info, _Mapping]] = ...) -> None: ...

class OpenSearcherRequest(_message.Message):
    __slots__ = ("problem", "options", "snapshot")
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    problem: _common_pb2.Problem
    options: bytes
    snapshot: bytes
    def __init__(self, problem: _Optional[_Union[_common_pb2.Problem, _Mapping]] = ..., options: _Optional[bytes] = ..., snapshot: _Optional[bytes] = ...) -> None: ...

class OpenSearcherResponse(_message.Message):
    __slots__ = ("traits",)
    TRAITS_FIELD_NUMBER: _ClassVar[int]
    traits: _common_pb2.Traits
    def __init__(self, traits: _Optional[_Union[_common_pb2.Traits, _Mapping]] = ...) -> None: ...

class SuggestRequest(_message.Message):
    __slots__ = ("events", "requests")
    class Request(_message.Message):
        __slots__ = ("trial", "seed", "given")
        TRIAL_FIELD_NUMBER: _ClassVar[int]
        SEED_FIELD_NUMBER: _ClassVar[int]
        GIVEN_FIELD_NUMBER: _ClassVar[int]
        trial: int
        seed: int
        given: _common_pb2.Point
        def __init__(self, trial: _Optional[int] = ..., seed: _Optional[int] = ..., given: _Optional[_Union[_common_pb2.Point, _Mapping]] = ...) -> None: ...
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    REQUESTS_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[_common_pb2.Event]
    requests: _containers.RepeatedCompositeFieldContainer[SuggestRequest.Request]
    def __init__(self, events: _Optional[_Iterable[_Union[_common_pb2.Event, _Mapping]]] = ..., requests: _Optional[_Iterable[_Union[SuggestRequest.Request, _Mapping]]] = ...) -> None: ...

class SuggestResponse(_message.Message):
    __slots__ = ("points", "status")
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STATUS_UNSPECIFIED: _ClassVar[SuggestResponse.Status]
        STATUS_WAIT: _ClassVar[SuggestResponse.Status]
        STATUS_EXHAUSTED: _ClassVar[SuggestResponse.Status]
    STATUS_UNSPECIFIED: SuggestResponse.Status
    STATUS_WAIT: SuggestResponse.Status
    STATUS_EXHAUSTED: SuggestResponse.Status
    POINTS_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    points: _containers.RepeatedCompositeFieldContainer[_common_pb2.Point]
    status: SuggestResponse.Status
    def __init__(self, points: _Optional[_Iterable[_Union[_common_pb2.Point, _Mapping]]] = ..., status: _Optional[_Union[SuggestResponse.Status, str]] = ...) -> None: ...

class SnapshotSearcherRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class SnapshotSearcherResponse(_message.Message):
    __slots__ = ("snapshot",)
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    snapshot: bytes
    def __init__(self, snapshot: _Optional[bytes] = ...) -> None: ...
