"""The service of executors: between the protocol's messages and what authors see."""

from __future__ import annotations

import collections.abc
import json
from typing import Any, Callable, Iterable, Iterator, List, Optional, Type, TypeVar

from . import _answers, _wire
from ._proto import executor_pb2 as pb
from .executor import Agent, Amounts, ClusterNode, Execution, Executor, LeaseEvent, LeaseRequest

T = TypeVar("T")
Call = Callable[[str, Callable[[], T]], T]  # runs author's code in the main thread; the name is for errors

_MAX_NEWS = 1024  # events in one message
_KINDS = {"pending": pb.LeaseEvent.KIND_PENDING, "granted": pb.LeaseEvent.KIND_GRANTED, "ending": pb.LeaseEvent.KIND_ENDING,
          "lost": pb.LeaseEvent.KIND_LOST, "refused": pb.LeaseEvent.KIND_REFUSED}


class ExecutorService:
    """tunehost.v1.ExecutorService. call and begin are the server's: begin is for opening."""

    def __init__(self, plugin: Type[Executor], call: Call[Any], begin: Callable[[Callable[[], Any]], Any],
                 not_open: Exception) -> None:
        self.plugin, self._call, self._begin, self._not_open = plugin, call, begin, not_open
        self.opened: Optional[Executor] = None

    def _executor(self) -> Executor:
        if self.opened is None:
            raise self._not_open
        return self.opened

    def DescribeExecutor(self, _: Any) -> Any:
        return pb.DescribeExecutorResponse(info=_wire.info(self.plugin))

    def OpenExecutor(self, m: pb.OpenExecutorRequest) -> Any:
        def make() -> Executor:
            made = self.plugin()
            agent = Agent(m.agent.path, m.agent.sha256) if m.HasField("agent") else None
            made.execution = Execution(m.experiment, m.dir, m.prefix, agent, m.host)
            made.configure(json.loads(m.options or b"{}"))
            made.open()
            return made

        self.opened = e = self._begin(make)
        return pb.OpenExecutorResponse(gangs=e.gangs, capacity=e.knows_capacity(),
                                       agents=e.agents and e.execution.agent is not None)

    def Allocate(self, m: pb.AllocateRequest) -> Any:
        e, leases = self._executor(), [_request(r) for r in m.leases]
        self._call("allocate", lambda: e.allocate(leases))
        return pb.AllocateResponse()

    def Adopt(self, m: pb.AdoptRequest) -> Any:
        e, leases = self._executor(), list(m.leases)
        self._call("adopt", lambda: e.adopt(leases))
        return pb.AdoptResponse()

    def Release(self, m: pb.ReleaseRequest) -> Any:
        e, leases = self._executor(), list(m.leases)
        self._call("release", lambda: e.release(leases))
        return pb.ReleaseResponse()

    def Capacity(self, _: Any) -> Any:
        e = self._executor()
        nodes = self._call("capacity", lambda: _checked(e.capacity(), type(e).capacity))
        return pb.CapacityResponse(nodes=[_node(n) for n in nodes])

    def Watch(self, _: Any) -> Iterator[Any]:
        news = self._executor().news
        while True:
            events = news.take()
            if not events:
                return
            for i in range(0, len(events), _MAX_NEWS):
                yield pb.WatchResponse(events=[_event(e) for e in events[i:i + _MAX_NEWS]])

    def end(self) -> None:
        """Ends Watch."""
        if self.opened is not None:
            self.opened.news.end()

    def close(self) -> None:
        if self.opened is not None:
            self.opened.close()


def _request(m: pb.LeaseRequest) -> LeaseRequest:
    return LeaseRequest(m.lease, [{a.name: a.value for a in b.amounts} for b in m.bundles], m.strategy, m.agent)


def _event(e: LeaseEvent) -> pb.LeaseEvent:
    bundles = [pb.GrantedBundle(node=_wire.text(b.node), devices=[str(d) for d in b.devices], address=b.address)
               for b in e.bundles]
    why = " ".join(_wire.text(e.why).split())  # one line
    return pb.LeaseEvent(lease=e.lease, kind=_KINDS[e.kind], why=why, bundles=bundles, until_ns=int(e.until * 1e9))


def _node(n: ClusterNode) -> pb.ClusterNode:
    return pb.ClusterNode(name=_wire.text(n.name), total=_amounts(n.total), free=_amounts(n.free), down=n.down)


def _amounts(amounts: Amounts) -> Iterable[pb.Amount]:
    return [pb.Amount(name=name, value=amounts[name]) for name in sorted(amounts)]


def _checked(answer: Any, by: Any) -> List[ClusterNode]:
    """Checks the nodes that the method by returned."""
    several = not isinstance(answer, str) and isinstance(answer, collections.abc.Iterable)
    listed: List[Any] = list(answer) if several else []
    if not several or not all(isinstance(n, ClusterNode) for n in listed):
        raise _answers.WrongAnswer(
            f"{_answers.called(by)} returned {_answers.shown(answer)}; expected a list of tunehost.ClusterNode")
    return listed
