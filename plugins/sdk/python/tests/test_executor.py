"""What executors tell the host, without a host."""

from __future__ import annotations

import json
import runpy
import threading
from pathlib import Path
from typing import Any, Callable, List, Sequence, Tuple

import pytest

import tunehost
from tunehost._leasing import ExecutorService
from tunehost._proto import executor_pb2 as pb

# The executor that `tunehost plugins new` makes.
TEMPLATE = Path(__file__).parents[4] / "host" / "scaffold" / "templates" / "python" / "executor" / "main.py"
NODES: Any = runpy.run_path(str(TEMPLATE))["Plugin"]


def note_close(self: Any) -> None:
    self.closed = True


# Grants leases, and would start agents.
Agents: Any = type("Agents", (NODES,), {"agents": True, "closed": False, "close": note_close})


def opened(dir: Path, agent: bool = True, plugin: Any = Agents) -> Tuple[ExecutorService, Any]:
    def call(name: str, f: Callable[[], Any]) -> Any:
        return f()

    service = ExecutorService(plugin, call, lambda f: f(), RuntimeError("not open"))
    request = pb.OpenExecutorRequest(options=json.dumps({"nodes": 1}).encode(), experiment="e", dir=str(dir), prefix="a-")
    if agent:
        request.agent.path, request.agent.sha256 = "/bin/tunehost", "ab"
    return service, service.OpenExecutor(request)


def lease(name: str, **amounts: float) -> pb.LeaseRequest:
    bundle = pb.LeaseBundle(amounts=[pb.Amount(name=n, value=v) for n, v in amounts.items()])
    return pb.LeaseRequest(lease=name, bundles=[bundle], strategy="pack", agent="s3cret")


def test_agents_are_promised_only_for_a_program(tmp_path: Path) -> None:
    for agent in True, False:
        _, answer = opened(tmp_path, agent)
        assert (answer.agents, answer.gangs, answer.capacity) == (agent, True, True)


def test_events_arrive_in_order_and_end(tmp_path: Path) -> None:
    service, _ = opened(tmp_path)
    service.Adopt(pb.AdoptRequest(leases=["a-9"]))
    service.Allocate(pb.AllocateRequest(leases=[lease("a-1", cpu=1), lease("a-2", cpu=99)]))
    messages = service.Watch(pb.WatchRequest())
    events = list(next(messages).events)
    assert [(e.lease, e.kind) for e in events] == [
        ("a-9", pb.LeaseEvent.KIND_LOST), ("a-2", pb.LeaseEvent.KIND_REFUSED), ("a-1", pb.LeaseEvent.KIND_GRANTED)]
    assert events[2].bundles[0].node == "node-1" and "\n" not in events[1].why
    rest: List[Any] = []
    waiting = threading.Thread(target=lambda: rest.extend(messages))
    waiting.start()
    service.end()
    waiting.join(60)
    assert not waiting.is_alive() and not rest
    service.close()
    assert service.opened and getattr(service.opened, "closed")


def test_the_secret_is_not_in_the_text_of_a_request() -> None:
    assert "s3cret" not in repr(tunehost.LeaseRequest("a-1", [{}], "pack", "s3cret"))


def test_capacity_is_optional(tmp_path: Path) -> None:
    class Blind(tunehost.Executor):
        """It does not know its cluster."""

        def adopt(self, leases: Sequence[str]) -> None:
            pass

        nodes: int = tunehost.option(1, "nodes")

    _, answer = opened(tmp_path, plugin=Blind)
    assert not answer.capacity


def test_calls_before_open() -> None:
    service = ExecutorService(Agents, lambda name, f: f(), lambda f: f(), RuntimeError("not open"))
    with pytest.raises(RuntimeError, match="not open"):
        service.Adopt(pb.AdoptRequest())


@pytest.mark.parametrize("tell, says", [
    (lambda e: e.granted("a-1", ["q1"]), "granted: a bundle is 'q1'; expected tunehost.GrantedBundle(node, devices, address)"),
    (lambda e: e.granted("a-1", [tunehost.GrantedBundle(None)]),  # type: ignore[arg-type]
     "granted: a bundle is GrantedBundle(node=None"),
    (lambda e: e.granted("a-1", None), "granted: bundles is None; expected a list"),
    (lambda e: e.granted("a-1", [], "soon"), "granted: until is 'soon'; expected seconds since 1970"),
    (lambda e: e.ending("a-1", float("nan")), "ending: until is nan; expected seconds"),
    (lambda e: e.pending("a-1", None), "pending: the reason is None; expected a text"),
    (lambda e: e.lost(1, "gone"), "lost: the lease is 1; expected its name, a text"),
])
def test_what_the_host_could_not_read_fails_where_it_is_told(tmp_path: Path, tell: Any, says: str) -> None:
    service, _ = opened(tmp_path)
    assert service.opened
    with pytest.raises(TypeError) as failed:
        tell(service.opened)
    assert str(failed.value).startswith(says)
    service.opened.lost("a-1", "gone")
    assert [e.kind for e in next(service.Watch(pb.WatchRequest())).events] == [pb.LeaseEvent.KIND_LOST]


def test_capacity_is_a_list_of_nodes(tmp_path: Path) -> None:
    service, _ = opened(tmp_path, plugin=type("Vague", (Agents,), {"capacity": lambda self: ["n1"]}))
    with pytest.raises(ValueError, match=r"\(.*test_executor.py:[0-9]+\) returned \['n1'\]; expected a list of tunehost.ClusterNode"):
        service.Capacity(pb.CapacityRequest())
