#!/usr/bin/env python3
"""An executor: grants leases on nodes that it was told of, and keeps them in a file."""

import json
import os
from pathlib import Path
from typing import Dict, List, Mapping, Sequence

import tunehost


class Nodes(tunehost.Executor):
    """Grants leases on nodes with some CPUs and a GPU each, which are all this machine."""

    version = "1.0.0"
    gangs = True
    nodes: int = tunehost.option(2, "the number of nodes, each with a GPU", minimum=1)
    cpu: int = tunehost.option(4, "the number of CPUs of a node", minimum=1)

    def open(self) -> None:
        self.file = Path(self.execution.dir) / f"leases-{self.execution.prefix}.json"
        self.leases: Dict[str, List[Dict[str, float]]] = json.loads(self.file.read_text()) if self.file.exists() else {}

    def allocate(self, leases: Sequence[tunehost.LeaseRequest]) -> None:
        for request in leases:
            if request.lease not in self.leases and not self.place(request):
                self.refused(request.lease, f"no {self.nodes} nodes have room for {list(request.bundles)}")
        self.keep()
        self.tell([r.lease for r in leases if r.lease in self.leases])

    def adopt(self, leases: Sequence[str]) -> None:
        self.leases = {name: at for name, at in self.leases.items() if name in leases}
        self.keep()
        for name in leases:
            if name not in self.leases:
                self.lost(name, "it is not known")
        self.tell(list(self.leases))

    def release(self, leases: Sequence[str]) -> None:
        for name in leases:
            self.leases.pop(name, None)
        self.keep()

    def capacity(self) -> Sequence[tunehost.ClusterNode]:
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
    tunehost.serve(Nodes)
