#!/usr/bin/env python3
"""The executor ray: leases are placement groups of a Ray cluster, with an agent in an actor on each bundle."""

from __future__ import annotations

import contextlib
import difflib
import os
import socket
import sys
import threading
import time
import zlib
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import tunehost

sys.dont_write_bytecode = True  # nobody expects new files in the folder of a plugin

try:
    import ray
    from ray.exceptions import RayError, RuntimeEnvSetupError
    from ray.experimental.internal_kv import _internal_kv_exists, _internal_kv_put
    from ray.runtime_env import RuntimeEnv
    from ray.util import get_placement_group, placement_group, placement_group_table, remove_placement_group
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy
except ImportError as missing:  # said when the executor is opened
    ray, why_not = None, missing

import actor

POLL_S = 0.25
REMOVAL_S = 10.0
CONNECT_S = 10.0
# Runtime environments that cannot be made for so long, and meanwhile none can, are no passing fault of a node.
FAILING_S = 60.0
NAMESPACE = "tunehost"
# A bundle that asks for nothing asks for this, the least that Ray counts: it lies on a node that takes work.
LEAST_CPU = 0.0001
_NAMES = {"cpu": "CPU", "gpu": "GPU", "memory": "memory"}
_OURS = {ray_name: name for name, ray_name in _NAMES.items()}


def to_ray(amounts: Mapping[str, float]) -> Dict[str, float]:
    """Amounts by Ray's names of resources."""
    resources = {_NAMES.get(name, name): amount for name, amount in amounts.items() if amount > 0}
    return resources or {"CPU": LEAST_CPU}


def from_ray(resources: Mapping[str, float]) -> Dict[str, float]:
    """A node's amounts, without those that Ray makes up for nodes, groups and objects."""
    return {_OURS.get(name, name): float(amount) for name, amount in resources.items()
            if ":" not in name and "_group_" not in name and name != "object_store_memory"}


def line(error: BaseException) -> str:
    """An error of Ray's in one line: its own text may have several, with a traceback."""
    lines = [text.strip() for text in str(error).splitlines() if text.strip()]
    reasons = [text for text in lines[1:] if "error" in text.lower()]
    if not lines:
        said = type(error).__name__
    elif isinstance(error, RuntimeEnvSetupError):  # its last error is that of the program that failed, such as pip
        said = f"its runtime_env cannot be made: {(reasons or lines)[-1]}"
    elif reasons and lines[0].startswith("The actor died because of an error"):
        said = next((text for text in reversed(lines) if "Error" in text), lines[0])
    else:
        said = lines[0]
    return said[:400]


def checked_env(given: Mapping[str, Any]) -> Dict[str, Any]:
    """A runtime_env as Ray takes it. Refused says what is wrong with it, where Ray would say so for each lease, or never."""
    env = dict(given)
    known = sorted(name for name in RuntimeEnv.known_fields if not name.startswith("_"))
    for key in env:
        if key not in known and "RAY_RUNTIME_ENV_PLUGINS" not in os.environ:
            near = difflib.get_close_matches(key, known, 1)
            raise tunehost.Refused(f"option runtime_env: {key!r} is unknown; " + (f"nearest: {near[0]!r}" if near else
                                                                                  f"Ray knows {', '.join(known)}"))
    if isinstance(env.get("env_vars"), dict):  # OMP_NUM_THREADS: 1 is a text for every program
        env["env_vars"] = {name: str(value) if type(value) is int else value for name, value in env["env_vars"].items()}
    try:
        RuntimeEnv(**env)
    except (TypeError, ValueError, RuntimeError, OSError, RayError) as e:
        raise tunehost.Refused(f"option runtime_env: {line(e)}") from e
    return env


def checked_address(address: str, where: str) -> str:
    """An address of a cluster. Refused says how one is written."""
    scheme, _, rest = address.rpartition("://")
    if scheme in ("http", "https"):
        raise tunehost.Refused(f"{where} is {address}, a URL; the address of a cluster's head is HOST:PORT, such as 10.0.0.1:6379")
    if address not in ("auto", "local") and not rest.rpartition(":")[2].isdigit():
        raise tunehost.Refused(f"{where} is {address!r}, and has no port; write HOST:PORT, such as 10.0.0.1:6379, or auto")
    return address


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Lets Ray's C++ code print nothing: while it cannot connect it repeats one line many times."""
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def answers(address: str) -> None:
    """Raises an OSError if nothing listens at HOST:PORT: Ray itself would try for minutes."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_S).close()


class Lease:
    """A lease that counts: its placement group and its actors."""

    def __init__(self, name: str, group: Any, actors: Sequence[Any]) -> None:
        self.name, self.group, self.actors = name, group, actors
        self.places: Dict[Any, int] = {}  # asked for, by reference
        self.found: Dict[int, tunehost.GrantedBundle] = {}
        self.waits = {a.wait.remote(): i for i, a in enumerate(actors)}
        for i, a in enumerate(actors):
            self.places[a.place.remote()] = i
        self.granted = False
        self.unmade = False  # its runtime_env
        self.why = ""


class Ray(tunehost.Executor):
    """Placement groups of a Ray cluster, with an agent on each bundle."""

    name = "ray"
    version = "1.1.0"
    gangs = True
    agents = True
    address: str = tunehost.option("auto", "the address of the cluster's head, HOST:PORT, or ray://HOST:PORT for Ray Client; auto: that "
                                   "in RAY_ADDRESS, or of the cluster that this machine belongs to")
    runtime_env: Dict[str, Any] = tunehost.option({}, "Ray's runtime_env of the agents, and so of trials: pip, conda, env_vars, "
                                                  "working_dir and so on")
    elastic: bool = tunehost.option(False, "the cluster grows when it is asked to (autoscaler): a request that no present node can "
                                    "hold waits, and is not refused")

    def open(self) -> None:
        if ray is None:
            raise tunehost.Refused(f'{why_not}: pip install "tunehost-hpo[ray]", in the version of the cluster\'s Ray')
        self.env = checked_env(self.runtime_env)
        self.leases: Dict[str, Lease] = {}
        self.failing: Optional[float] = None  # since when no runtime_env could be made
        self.lock = threading.RLock()
        self.adopted = threading.Event()
        self.ended = threading.Event()
        self.connect()
        threading.Thread(target=self.follow, daemon=True).start()

    def connect(self) -> None:
        of_env = self.address == "auto" and "RAY_ADDRESS" in os.environ
        address = checked_address(os.environ["RAY_ADDRESS"] if of_env else self.address, "RAY_ADDRESS" if of_env else "option address")
        try:
            answers(address)
            with quiet():
                ray.init(address=address, namespace=NAMESPACE, log_to_driver=False, logging_level="ERROR", ignore_reinit_error=True)
        except (OSError, ValueError, RayError) as e:
            raise tunehost.Refused(f"no Ray cluster at {address}: {line(e)}") from e
        except RuntimeError as e:  # something listens there
            raise tunehost.Refused(f"the Ray cluster at {address} does not answer, or refuses the token (RAY_AUTH_TOKEN, the file "
                                   f"RAY_AUTH_TOKEN_PATH, or ~/.ray/auth_token): {line(e)}") from e

    # Calls of the host.

    def allocate(self, leases: Sequence[tunehost.LeaseRequest]) -> None:
        self.ship()
        for request in leases:
            with self.lock:
                known = self.leases.pop(request.lease, None)  # as if it were new
            found = known.group if known else self.find(request.lease)
            try:
                self.hold(request, self.create(request) if found is None else found)
            except ValueError as e:  # Ray's word on the request itself
                self.remove(request.lease)
                self.refused(request.lease, line(e))

    def adopt(self, leases: Sequence[str]) -> None:
        with self.lock:
            self.leases.clear()
        existing = self.existing()
        # Without all actors it is of no use: what they need to start is known to nobody any more.
        actors = {name: self.named(name) for name in leases if name in existing}
        actors = {name: found for name, found in actors.items() if len(found) == existing[name]}
        self.remove(*(name for name in existing if name not in actors))
        for name in leases:
            if name in actors:
                with self.lock:
                    self.leases[name] = Lease(name, get_placement_group(name), actors[name])
            else:
                self.lost(name, "the cluster has no such placement group with its actors")
        self.adopted.set()

    def release(self, leases: Sequence[str]) -> None:
        with self.lock:
            for name in leases:
                self.leases.pop(name, None)
        self.remove(*leases)

    def capacity(self) -> Sequence[tunehost.ClusterNode]:
        free = ray._private.state.available_resources_per_node()
        nodes: List[tunehost.ClusterNode] = []
        for n in ray.nodes():
            total = from_ray(n["Resources"]) if n["Alive"] else {}
            now = from_ray(free.get(n["NodeID"], {}))
            left = {name: max(0.0, min(now.get(name, 0.0), total[name])) for name in total}
            nodes.append(tunehost.ClusterNode(self.title_of(n), total, left, not n["Alive"]))
        names = [n.name for n in nodes]
        return [n for i, n in enumerate(nodes) if not n.down or n.name not in names[:i] + names[i + 1:]]

    def close(self) -> None:
        self.ended.set()
        ray.shutdown()  # placement groups and actors are detached: they stay

    # Placement groups.

    def existing(self) -> Dict[str, int]:
        """The experiment's placement groups, with their number of bundles."""
        return {g["name"]: len(g["bundles"]) for g in placement_group_table().values()
                if g["name"].startswith(self.execution.prefix) and g["state"] != "REMOVED"}

    def find(self, name: str) -> Any:
        try:
            group = get_placement_group(name)
        except ValueError:
            return None
        return None if placement_group_table(group).get("state") == "REMOVED" else group

    def create(self, request: tunehost.LeaseRequest) -> Any:
        """Creates the group of a lease."""
        for amounts in request.bundles:
            if amounts.get("gpu", 0) > 1 and amounts["gpu"] % 1:
                raise ValueError(f"gpu {amounts['gpu']:g}: more than one GPU must be whole ones")
        return placement_group([to_ray(b) for b in request.bundles], request.strategy.upper(), name=request.lease,
                               lifetime="detached")

    def hold(self, request: tunehost.LeaseRequest, group: Any) -> None:
        """Has an actor for each bundle, once. Ray starts them when it has placed the group."""
        start = self.execution.agent
        agent = (start.path, start.sha256, request.agent) if start and request.agent else None
        remote = ray.remote(actor.Bundle)
        actors = []
        for i, amounts in enumerate(request.bundles):
            resources = to_ray(amounts)
            options: Dict[str, Any] = {"runtime_env": self.env} if self.env else {}
            actors.append(remote.options(
                name=f"{request.lease}.{i}", namespace=NAMESPACE, lifetime="detached", get_if_exists=True, max_restarts=0,
                max_concurrency=4, scheduling_strategy=PlacementGroupSchedulingStrategy(group, i),
                **actor.actor_options(resources), **options).remote(request.lease, i, agent, amounts.get("gpu", 0)))
        with self.lock:
            self.leases[request.lease] = Lease(request.lease, group, actors)

    def remove(self, *names: str) -> None:
        """Removes groups, and ends their actors, and so their agents. Ray continues with that after its answer: it is
        waited for, so that the names are free."""
        groups = {name: self.find(name) for name in names}
        for name in names:
            for a in self.named(name):
                ray.kill(a)  # one that waits for its group would keep its name without it
            if groups[name] is not None:
                remove_placement_group(groups[name])
        end = time.monotonic() + REMOVAL_S
        for name in names:
            while (self.find(name) is not None or self.named(name)) and time.monotonic() < end:
                time.sleep(0.02)

    def named(self, name: str) -> List[Any]:
        """The actors of a lease that exist."""
        found: List[Any] = []
        while True:
            try:
                found.append(ray.get_actor(f"{name}.{len(found)}", namespace=NAMESPACE))
            except ValueError:
                return found

    def ship(self) -> None:
        """Has the cluster keep the agents' program, from where nodes fetch it, once each. An object of this process
        would not do: it ends with its owner, and a lease that waits continues without it."""
        agent = self.execution.agent
        if agent is None or _internal_kv_exists(actor.key_of(agent.sha256), namespace=actor.NAMESPACE):
            return
        with open(agent.path, "rb") as f:
            _internal_kv_put(actor.key_of(agent.sha256), zlib.compress(f.read()), namespace=actor.NAMESPACE)

    # What becomes of leases.

    def follow(self) -> None:
        self.adopted.wait()
        while not self.ended.wait(POLL_S):
            try:
                self.look()
            except Exception as e:  # the cluster does not answer; agents tell the host of losses meanwhile
                if not self.ended.is_set() and not ray.is_initialized():
                    print(f"Ray is gone: {line(e)}", flush=True)
                    os._exit(1)  # the host starts another process, which connects again

    def look(self) -> None:
        with self.lock:
            leases = list(self.leases.values())
        if not leases:
            return
        groups = {g["name"]: g for g in placement_group_table().values() if g["state"] != "REMOVED"}
        for lease in leases:
            why = self.gone(lease, groups.get(lease.name))
            with self.lock:
                if self.leases.get(lease.name) is not lease:
                    continue  # released meanwhile
                if why:
                    del self.leases[lease.name]
                    self.tell_gone(lease, why)
                elif not lease.granted:
                    self.progress(lease, groups[lease.name])
            if why:
                self.remove(lease.name)

    def tell_gone(self, lease: Lease, why: str) -> None:
        """Tells that a lease is lost, or refused if none can be made. self.lock is held."""
        now = time.monotonic()
        self.failing = (self.failing or now) if lease.unmade else None
        if self.failing is not None and now - self.failing >= FAILING_S:
            self.refused(lease.name, why)
        else:
            self.lost(lease.name, why)

    def gone(self, lease: Lease, group: Optional[Mapping[str, Any]]) -> str:
        """Why a lease does not count any more, or nothing."""
        done, _ = ray.wait(list(lease.waits), num_returns=1, timeout=0)
        for reference in done:
            try:
                said = ray.get(reference)
            except RayError as e:
                said, lease.unmade = line(e), isinstance(e, RuntimeEnvSetupError)
            return f"bundle {lease.waits[reference]}: {said}"
        if group is None:
            return "its placement group was removed"
        if lease.granted and group["state"] == "RESCHEDULING":
            return "Ray places its bundles anew: a node of it is gone"
        return ""

    def progress(self, lease: Lease, group: Mapping[str, Any]) -> None:
        """Tells what a lease waits for, or that it is granted. self.lock is held."""
        if group["state"] != "CREATED":
            self.wait_for(lease, str(group["stats"]["scheduling_state"]))
            return
        done, _ = ray.wait(list(lease.places), num_returns=len(lease.places), timeout=0) if lease.places else ([], [])
        for reference in done:
            node, devices = ray.get(reference)
            index = lease.places.pop(reference)
            lease.found[index] = tunehost.GrantedBundle(*self.node_of(node, devices))
        if lease.places:
            self.tell_pending(lease, "placed; its agents start")
            return
        lease.granted, self.failing = True, None
        self.granted(lease.name, [lease.found[i] for i in sorted(lease.found)])

    def wait_for(self, lease: Lease, state: str) -> None:
        if state != "INFEASIBLE":
            self.tell_pending(lease, f"its placement group waits: {state}")
        elif self.elastic:
            self.tell_pending(lease, "no present node can hold it: INFEASIBLE; it waits for the cluster to grow")
        else:
            del self.leases[lease.name]
            self.refused(lease.name, "Ray says INFEASIBLE: no nodes of the cluster can hold its bundles; set elastic: true if the cluster "
                         "grows")
            self.remove(lease.name)

    def tell_pending(self, lease: Lease, why: str) -> None:
        if why != lease.why:
            lease.why = why
            self.pending(lease.name, why)

    def node_of(self, node: str, devices: List[str]) -> Tuple[str, List[str], str]:
        """A node's name, the devices on it, and its address."""
        found = next((n for n in ray.nodes() if n["NodeID"] == node), None)
        return (self.title_of(found), devices, str(found["NodeManagerAddress"])) if found else (node, devices, "")

    def title_of(self, node: Mapping[str, Any]) -> str:
        return str(node.get("NodeName") or node["NodeManagerAddress"])


if ray is not None:
    ray.cloudpickle.register_pickle_by_value(actor)

if __name__ == "__main__":
    tunehost.serve(Ray)
