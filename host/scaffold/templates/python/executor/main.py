"""scaffold-name is an executor for tunehost: it allocates leases, which are shares of nodes of
a cluster. Its nodes are all this machine, and it keeps its leases in a file.

Everything here may be changed. What must stay true: every call may be repeated with the same
names of leases, and allocates nothing twice; leases outlive the process.
"""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Dict, List, Mapping, Sequence

import tunehost


@dataclass
class Lease:
    """A lease, as the file keeps it."""

    bundles: List[Dict[str, float]]
    strategy: str
    nodes: List[int] = field(default_factory=list)  # that of each bundle; empty while the lease waits


class Plugin(tunehost.Executor):
    """Grants leases on nodes that are all this machine."""

    name = "scaffold-name"
    version = "0.1.0"
    gangs = True  # a lease may have several bundles, granted together or not at all
    agents = False  # True: it starts execution.agent on each node of a lease

    # What users may write beside the name.
    nodes: int = tunehost.option(2, "the number of nodes, each with a GPU", minimum=1)
    cpu: int = tunehost.option(4, "the number of CPUs of a node", minimum=1)

    def open(self) -> None:
        """Called once, before anything else."""
        self.file = Path(self.execution.dir) / f"leases-{self.execution.prefix}.json"
        stored = json.loads(self.file.read_text()) if self.file.exists() else {}
        self.leases = {name: Lease(**lease) for name, lease in stored.items()}  # in the order of the requests

    def allocate(self, leases: Sequence[tunehost.LeaseRequest]) -> None:
        """Requests leases, and does not wait until they are granted: self.pending, self.granted and
        the like tell it, at any time and from any thread."""
        for request in leases:
            lease = Lease([dict(b) for b in request.bundles], request.strategy)
            if request.lease in self.leases or self.place(lease, [self.total() for _ in range(self.nodes)]):
                self.leases.setdefault(request.lease, lease)
            else:  # not even if nothing else ran
                self.refused(request.lease, f"{self.nodes} nodes with cpu {self.cpu} and gpu 1 never have room for {lease.bundles}")
        self.grant()
        self.tell([r.lease for r in leases if r.lease in self.leases])

    def adopt(self, leases: Sequence[str]) -> None:
        """Called first, with all leases that count; others of the experiment are released. The state
        of each is told anew."""
        self.leases = {name: lease for name, lease in self.leases.items() if name in leases}
        self.grant()
        for name in leases:
            if name not in self.leases:
                self.lost(name, "it is not known")
        self.tell(list(self.leases))

    def release(self, leases: Sequence[str]) -> None:
        """Gives leases back; those that it does not have are released already. Others may have waited for the room."""
        for name in leases:
            self.leases.pop(name, None)
        self.tell(self.grant())

    def capacity(self) -> Sequence[tunehost.ClusterNode]:
        """The nodes of the cluster, for users. It can be left out."""
        return [tunehost.ClusterNode(f"node-{n + 1}", self.total(), free) for n, free in enumerate(self.free())]

    def grant(self) -> List[str]:
        """Gives the leases that wait their nodes, the first request first, and returns their names. A lease for which there
        is no room waits, and so do those behind it: otherwise small ones would keep a large one waiting for ever."""
        granted = []
        for name, lease in self.leases.items():
            if not lease.nodes:
                lease.nodes = self.place(lease, self.free())
                if not lease.nodes:
                    break
                granted.append(name)
        self.keep()
        return granted

    def place(self, lease: Lease, free: List[Dict[str, float]]) -> List[int]:
        """Returns the node of each bundle: all or none."""
        every = list(range(self.nodes))
        for choice in [[n] for n in every] if lease.strategy == "strict_pack" else [every]:
            nodes = first_fit(lease, choice, [dict(f) for f in free])
            if nodes:
                return nodes
        return []

    def total(self) -> Dict[str, float]:
        return {"cpu": self.cpu, "gpu": 1}

    def free(self) -> List[Dict[str, float]]:
        """What is free on each node."""
        free = [self.total() for _ in range(self.nodes)]
        for lease in self.leases.values():
            for node, bundle in zip(lease.nodes, lease.bundles):
                take(free[node], bundle)
        return free

    def keep(self) -> None:
        """Stores the leases, before anything is told of them."""
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps({name: asdict(lease) for name, lease in self.leases.items()}))
        os.replace(new, self.file)

    def tell(self, names: Sequence[str]) -> None:
        for name in names:
            lease = self.leases[name]
            if lease.nodes:
                self.granted(name, [tunehost.GrantedBundle(f"node-{node + 1}", ["0"] if bundle.get("gpu") else [])
                                    for node, bundle in zip(lease.nodes, lease.bundles)])
            else:
                self.pending(name, "the nodes are full")


def first_fit(lease: Lease, choice: List[int], free: List[Dict[str, float]]) -> List[int]:
    """Puts each bundle on the first of the nodes with room, and takes it from free. None: there is no room for one."""
    nodes: List[int] = []
    for bundle in lease.bundles:
        fits = [n for n in choice if all(amount <= free[n].get(name, 0) for name, amount in bundle.items())
                and not (lease.strategy == "strict_spread" and n in nodes)]
        if not fits:
            return []
        take(free[fits[0]], bundle)
        nodes.append(fits[0])
    return nodes


def take(free: Dict[str, float], bundle: Mapping[str, float]) -> None:
    for name, amount in bundle.items():
        if amount:  # nodes have room for nothing of what they do not know
            free[name] -= amount


if __name__ == "__main__":
    tunehost.serve(Plugin)
