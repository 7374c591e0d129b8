"""Executors, which allocate leases of a cluster."""

from __future__ import annotations

import collections.abc
import math
import threading
from dataclasses import dataclass, field
from typing import Any, ClassVar, List, Mapping, Optional, Sequence

from .plugin import Plugin

__all__ = ["Agent", "ClusterNode", "Execution", "Executor", "GrantedBundle", "LeaseEvent", "LeaseRequest"]

Amounts = Mapping[str, float]  # of resources, by name: cpu, gpu, memory (bytes), or what the cluster knows


@dataclass(frozen=True)
class Agent:
    """The program that an executor starts on each bundle of a granted lease, as `PATH agent`, with
    TUNEHOST_AGENT (the request's agent) and TUNEHOST_AGENT_BUNDLE (its index) in the environment."""

    path: str  #: the static binary on the host's machine, absolute
    sha256: str  #: of its content, in hex: it is sent to nodes that do not have it, at most once


@dataclass(frozen=True)
class Execution:
    """The experiment for which an executor is opened."""

    experiment: str  #: its name
    dir: str  #: its directory, absolute
    prefix: str  #: the names of its leases begin with it, and those of no other experiment
    agent: Optional[Agent] = None  #: the program to start on each bundle; None: none
    #: HOST:PORT by which this process reaches the host, for agents that cannot: the executor copies bytes between a
    #: connection to it and the input and output of `PATH agent bridge SOCKET` on the node; "": agents must reach it
    host: str = ""


@dataclass(frozen=True)
class LeaseRequest:
    """A request for a lease: the right to use certain shares of certain nodes for a while."""

    lease: str  #: its name: the prefix and a number, at most 63 characters
    bundles: Sequence[Amounts]  #: granted together or not at all; each lies on one node
    strategy: str = "pack"  #: pack, spread, strict_pack or strict_spread
    agent: str = field(default="", repr=False)  #: TUNEHOST_AGENT of its agents, a secret; "": start none


@dataclass(frozen=True)
class GrantedBundle:
    """Where a bundle lies."""

    node: str  #: the node's name
    devices: Sequence[str] = ()  #: its GPUs, as CUDA_VISIBLE_DEVICES names them
    address: str = ""  #: by which other nodes reach this one; "": its name


@dataclass(frozen=True)
class ClusterNode:
    """A node on which leases may lie."""

    name: str
    total: Amounts = field(default_factory=dict)
    free: Amounts = field(default_factory=dict)
    down: bool = False


@dataclass(frozen=True)
class LeaseEvent:
    """A change of a lease. The methods of Executor make it."""

    lease: str
    kind: str  #: pending, granted, ending, lost or refused
    why: str = ""
    bundles: Sequence[GrantedBundle] = ()
    until: float = 0  #: seconds since 1970; 0: not known


class News:
    """The events that the host has not taken yet."""

    def __init__(self) -> None:
        self._events: List[LeaseEvent] = []
        self._ended = False
        self._changed = threading.Condition()

    def add(self, event: LeaseEvent) -> None:
        """Adds an event for the host."""
        with self._changed:
            self._events.append(event)
            self._changed.notify_all()

    def take(self) -> List[LeaseEvent]:
        """Waits for events and takes all; none after the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._events or self._ended)
            taken, self._events = self._events, []
            return [] if self._ended else taken

    def end(self) -> None:
        """Nobody takes events any more: take returns."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()


class Executor(Plugin):
    """The base class of executors. The host calls one method at a time, in the main thread, adopt
    first, and may repeat every call: an executor must not allocate anything twice. What becomes of
    leases is told from any thread, after adopt was called.

    An exception of a call means that the engine cannot be reached or does not answer: the host
    calls again after a while. What the engine refuses for good is told with refused.
    """

    kind = "executor"
    gangs: ClassVar[bool] = False  #: a lease may have several bundles, granted together or not at all
    agents: ClassVar[bool] = False  #: it starts execution.agent on each bundle
    execution: Execution  #: set before open

    def allocate(self, leases: Sequence[LeaseRequest]) -> None:
        """Requests leases, without waiting until they are granted."""
        raise NotImplementedError

    def adopt(self, leases: Sequence[str]) -> None:
        """Is given all leases that count. The state of each is told as if it were new, lost for those that it
        does not have; all other leases of the experiment are released."""
        raise NotImplementedError

    def release(self, leases: Sequence[str]) -> None:
        """Releases leases in any state. Those that it does not have are released already."""
        raise NotImplementedError

    def capacity(self) -> Sequence[ClusterNode]:
        """The nodes of the cluster that leases can be on. Optional."""
        raise NotImplementedError

    def close(self) -> None:
        """Called after the last call, unless the process was killed. It releases no lease."""

    def pending(self, lease: str, why: str) -> None:
        """Tells that a lease waits, with the engine's reason in one line."""
        self._tell(LeaseEvent(lease, "pending", why))

    def granted(self, lease: str, bundles: Sequence[GrantedBundle], until: float = 0) -> None:
        """Tells where the bundles lie, and when the lease ends (seconds since 1970), if that is known."""
        self._tell(LeaseEvent(lease, "granted", "", bundles, until))

    def ending(self, lease: str, until: float, why: str = "") -> None:
        """Tells that a lease will be taken away: trials save and stop."""
        self._tell(LeaseEvent(lease, "ending", why, (), until))

    def lost(self, lease: str, why: str) -> None:
        """Tells that a lease is gone, or may be. Nothing is told of it afterwards."""
        self._tell(LeaseEvent(lease, "lost", why))

    def refused(self, lease: str, why: str) -> None:
        """Tells that a lease can never be granted. Nothing is told of it afterwards."""
        self._tell(LeaseEvent(lease, "refused", why))

    def _tell(self, event: LeaseEvent) -> None:
        _check(event)
        self.news.add(event)

    @property
    def news(self) -> News:
        """What was told and the host has not taken yet."""
        made: News = self.__dict__.setdefault("_news", News())
        return made

    @classmethod
    def knows_capacity(cls) -> bool:
        """Whether the author has implemented capacity."""
        return cls.capacity is not Executor.capacity


def _check(e: LeaseEvent) -> None:
    """TypeError if the host could not read what an executor tells."""
    _expect(e, "the lease", e.lease, isinstance(e.lease, str), "its name, a text")
    _expect(e, "the reason", e.why, isinstance(e.why, str), "a text")
    _expect(e, "until", e.until, _is_time(e.until), "seconds since 1970, or 0 if the time is not known")
    listed = isinstance(e.bundles, collections.abc.Sequence) and not isinstance(e.bundles, str)
    _expect(e, "bundles", e.bundles, listed, "a list of tunehost.GrantedBundle")
    for b in e.bundles:
        _expect(e, "a bundle", b, _is_bundle(b), "tunehost.GrantedBundle(node, devices, address), whose node is a text")


def _expect(e: LeaseEvent, what: str, value: Any, holds: bool, expected: str) -> None:
    if not holds:
        raise TypeError(f"{e.kind}: {what} is {value!r:.100}; expected {expected}")


def _is_time(value: Any) -> bool:
    try:
        return math.isfinite(value) and 0 <= value * 1e9 < 2**63  # nanoseconds
    except (TypeError, OverflowError):
        return False


def _is_bundle(b: Any) -> bool:
    texts = isinstance(b, GrantedBundle) and isinstance(b.node, str) and isinstance(b.address, str)
    return texts and isinstance(b.devices, collections.abc.Iterable)
