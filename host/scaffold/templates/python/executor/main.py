"""scaffold-name is an executor for tunehost: it allocates leases, which are shares of nodes of
a cluster. Its nodes are all this machine, and it keeps its leases in a file.

Everything here may be changed. What must stay true: every call may be repeated with the same
names of leases, and allocates nothing twice; leases outlive the process.
"""

import json
import os
from pathlib import Path
from typing import Dict, List, Mapping, Sequence

import tunehost


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
        self.leases: Dict[str, List[Dict[str, float]]] = json.loads(self.file.read_text()) if self.file.exists() else {}

    def allocate(self, leases: Sequence[tunehost.LeaseRequest]) -> None:
        """Requests leases, and does not wait until they are granted: self.pending, self.granted and
        the like tell it, at any time and from any thread."""
        for request in leases:
            if request.lease not in self.leases and not self.place(request):
                self.refused(request.lease, f"no {self.nodes} nodes have room for {list(request.bundles)}")
        self.keep()
        self.tell([r.lease for r in leases if r.lease in self.leases])

    def adopt(self, leases: Sequence[str]) -> None:
        """Called first, with all leases that count; others of the experiment are released. The state
        of each is told anew."""
        self.leases = {name: at for name, at in self.leases.items() if name in leases}
        self.keep()
        for name in leases:
            if name not in self.leases:
                self.lost(name, "it is not known")
        self.tell(list(self.leases))

    def release(self, leases: Sequence[str]) -> None:
        """Gives leases back; those that it does not have are released already."""
        for name in leases:
            self.leases.pop(name, None)
        self.keep()

    def capacity(self) -> Sequence[tunehost.ClusterNode]:
        """The nodes of the cluster, for users. It can be left out."""
        total = {"cpu": float(self.cpu), "gpu": 1.0}
        return [tunehost.ClusterNode(f"node-{n + 1}", total, self.free(n)) for n in range(self.nodes)]

    def place(self, request: tunehost.LeaseRequest) -> bool:
        """Puts each bundle on the first node with room: all or none."""
        placed = self.leases[request.lease] = []
        for bundle in request.bundles:
            fits = [n for n in range(self.nodes) if self.fits(n, bundle, request.strategy, [int(b["node"]) for b in placed])]
            if not fits:
                del self.leases[request.lease]
                return False
            placed.append({"node": fits[0], "cpu": bundle.get("cpu", 0), "gpu": bundle.get("gpu", 0)})
        return True

    def fits(self, node: int, bundle: Mapping[str, float], strategy: str, others: List[int]) -> bool:
        if strategy == "strict_spread" and node in others or strategy == "strict_pack" and set(others) - {node}:
            return False
        free = self.free(node)
        return all(amount <= free.get(name, 0) for name, amount in bundle.items())

    def free(self, node: int) -> Dict[str, float]:
        used = [b for placed in self.leases.values() for b in placed if b["node"] == node]
        return {"cpu": self.cpu - sum(b["cpu"] for b in used), "gpu": 1 - sum(b["gpu"] for b in used)}

    def keep(self) -> None:
        """Stores the leases, before anything is told of them."""
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(self.leases))
        os.replace(new, self.file)

    def tell(self, names: Sequence[str]) -> None:
        for name in names:
            self.granted(name, [tunehost.GrantedBundle(f"node-{int(b['node']) + 1}", ["0"] if b["gpu"] else [])
                                for b in self.leases[name]])


if __name__ == "__main__":
    tunehost.serve(Plugin)
