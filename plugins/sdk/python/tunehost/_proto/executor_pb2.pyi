from tunehost._proto import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DescribeExecutorRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DescribeExecutorResponse(_message.Message):
    __slots__ = ("info",)
    INFO_FIELD_NUMBER: _ClassVar[int]
    info: _common_pb2.Info
    def __init__(self, info: _Optional[_Union[_common_pb2.Info, _Mapping]] = ...) -> None: ...

class OpenExecutorRequest(_message.Message):
    __slots__ = ("options", "experiment", "dir", "prefix", "agent", "host_grace", "host")
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    EXPERIMENT_FIELD_NUMBER: _ClassVar[int]
    DIR_FIELD_NUMBER: _ClassVar[int]
    PREFIX_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    HOST_GRACE_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    options: bytes
    experiment: str
    dir: str
    prefix: str
    agent: Agent
    host_grace: float
    host: str
    def __init__(self, options: _Optional[bytes] = ..., experiment: _Optional[str] = ..., dir: _Optional[str] = ..., prefix: _Optional[str] = ..., agent: _Optional[_Union[Agent, _Mapping]] = ..., host_grace: _Optional[float] = ..., host: _Optional[str] = ...) -> None: ...

class Agent(_message.Message):
    __slots__ = ("path", "sha256")
    PATH_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    path: str
    sha256: str
    def __init__(self, path: _Optional[str] = ..., sha256: _Optional[str] = ...) -> None: ...

class OpenExecutorResponse(_message.Message):
    __slots__ = ("gangs", "capacity", "agents")
    GANGS_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    AGENTS_FIELD_NUMBER: _ClassVar[int]
    gangs: bool
    capacity: bool
    agents: bool
    def __init__(self, gangs: bool = ..., capacity: bool = ..., agents: bool = ...) -> None: ...

class AllocateRequest(_message.Message):
    __slots__ = ("leases",)
    LEASES_FIELD_NUMBER: _ClassVar[int]
    leases: _containers.RepeatedCompositeFieldContainer[LeaseRequest]
    def __init__(self, leases: _Optional[_Iterable[_Union[LeaseRequest, _Mapping]]] = ...) -> None: ...

class LeaseRequest(_message.Message):
    __slots__ = ("lease", "bundles", "strategy", "agent")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    BUNDLES_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    lease: str
    bundles: _containers.RepeatedCompositeFieldContainer[LeaseBundle]
    strategy: str
    agent: str
    def __init__(self, lease: _Optional[str] = ..., bundles: _Optional[_Iterable[_Union[LeaseBundle, _Mapping]]] = ..., strategy: _Optional[str] = ..., agent: _Optional[str] = ...) -> None: ...

class LeaseBundle(_message.Message):
    __slots__ = ("amounts",)
    AMOUNTS_FIELD_NUMBER: _ClassVar[int]
    amounts: _containers.RepeatedCompositeFieldContainer[Amount]
    def __init__(self, amounts: _Optional[_Iterable[_Union[Amount, _Mapping]]] = ...) -> None: ...

class Amount(_message.Message):
    __slots__ = ("name", "value")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: float
    def __init__(self, name: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...

class AllocateResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class AdoptRequest(_message.Message):
    __slots__ = ("leases",)
    LEASES_FIELD_NUMBER: _ClassVar[int]
    leases: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, leases: _Optional[_Iterable[str]] = ...) -> None: ...

class AdoptResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReleaseRequest(_message.Message):
    __slots__ = ("leases",)
    LEASES_FIELD_NUMBER: _ClassVar[int]
    leases: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, leases: _Optional[_Iterable[str]] = ...) -> None: ...

class ReleaseResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class WatchRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class WatchResponse(_message.Message):
    __slots__ = ("events",)
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[LeaseEvent]
    def __init__(self, events: _Optional[_Iterable[_Union[LeaseEvent, _Mapping]]] = ...) -> None: ...

class LeaseEvent(_message.Message):
    __slots__ = ("lease", "kind", "why", "bundles", "until_ns")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[LeaseEvent.Kind]
        KIND_PENDING: _ClassVar[LeaseEvent.Kind]
        KIND_GRANTED: _ClassVar[LeaseEvent.Kind]
        KIND_ENDING: _ClassVar[LeaseEvent.Kind]
        KIND_LOST: _ClassVar[LeaseEvent.Kind]
        KIND_REFUSED: _ClassVar[LeaseEvent.Kind]
    KIND_UNSPECIFIED: LeaseEvent.Kind
    KIND_PENDING: LeaseEvent.Kind
    KIND_GRANTED: LeaseEvent.Kind
    KIND_ENDING: LeaseEvent.Kind
    KIND_LOST: LeaseEvent.Kind
    KIND_REFUSED: LeaseEvent.Kind
    LEASE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    BUNDLES_FIELD_NUMBER: _ClassVar[int]
    UNTIL_NS_FIELD_NUMBER: _ClassVar[int]
    lease: str
    kind: LeaseEvent.Kind
    why: str
    bundles: _containers.RepeatedCompositeFieldContainer[GrantedBundle]
    until_ns: int
    def __init__(self, lease: _Optional[str] = ..., kind: _Optional[_Union[LeaseEvent.Kind, str]] = ..., why: _Optional[str] = ..., bundles: _Optional[_Iterable[_Union[GrantedBundle, _Mapping]]] = ..., until_ns: _Optional[int] = ...) -> None: ...

class GrantedBundle(_message.Message):
    __slots__ = ("node", "devices", "address")
    NODE_FIELD_NUMBER: _ClassVar[int]
    DEVICES_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    node: str
    devices: _containers.RepeatedScalarFieldContainer[str]
    address: str
    def __init__(self, node: _Optional[str] = ..., devices: _Optional[_Iterable[str]] = ..., address: _Optional[str] = ...) -> None: ...

class CapacityRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class CapacityResponse(_message.Message):
    __slots__ = ("nodes",)
    NODES_FIELD_NUMBER: _ClassVar[int]
    nodes: _containers.RepeatedCompositeFieldContainer[ClusterNode]
    def __init__(self, nodes: _Optional[_Iterable[_Union[ClusterNode, _Mapping]]] = ...) -> None: ...

class ClusterNode(_message.Message):
    __slots__ = ("name", "total", "free", "down")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    FREE_FIELD_NUMBER: _ClassVar[int]
    DOWN_FIELD_NUMBER: _ClassVar[int]
    name: str
    total: _containers.RepeatedCompositeFieldContainer[Amount]
    free: _containers.RepeatedCompositeFieldContainer[Amount]
    down: bool
    def __init__(self, name: _Optional[str] = ..., total: _Optional[_Iterable[_Union[Amount, _Mapping]]] = ..., free: _Optional[_Iterable[_Union[Amount, _Mapping]]] = ..., down: bool = ...) -> None: ...
