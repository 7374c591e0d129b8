"""What a trial requests."""

from __future__ import annotations

import sys
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .error import TuneError, Unsupported

__all__ = ["PlacementGroupFactory", "with_resources"]

_STRATEGIES = ("PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD")
_GROUP = ("name", "lifetime", "_soft_target_node_id", "bundle_label_selector", "topology_strategy")
_NODES = _GROUP[2:]  #: what chooses among nodes of a cluster
_NAMES = {"CPU": "cpu", "GPU": "gpu"}


class PlacementGroupFactory:
    """A request of several bundles, each for one node: the first is the trainable's own, and may be empty. strategy is
    PACK, SPREAD, STRICT_PACK or STRICT_SPREAD. What else Ray's placement groups have (name, lifetime, …) describes them
    in Ray's cluster; it is kept, and compared. TypeError: an unknown argument; ValueError: an unknown strategy, or no
    bundle that is not empty."""

    def __init__(
        self, bundles: Sequence[Mapping[str, float]], strategy: str = "PACK", *args: Any, **kwargs: Any
    ) -> None:
        unknown = [name for name in kwargs if name not in _GROUP]
        if unknown or len(args) > len(_GROUP):
            raise TypeError(f"a placement group has no argument {', '.join(unknown) or repr(args[-1])}")
        if strategy not in _STRATEGIES:
            raise ValueError(f"strategy is {strategy!r}: expected one of {', '.join(_STRATEGIES)}")
        given = [{k: float(v) for k, v in b.items() if v} for b in bundles]
        if not any(given):
            raise ValueError("a PlacementGroupFactory needs a bundle that is not empty")
        self.head_bundle_is_empty: bool = not given[0]  #: the trainable itself needs nothing
        self._bundles = given[1:] if self.head_bundle_is_empty else given
        self.strategy = strategy  #: how the bundles are placed
        self._more = {**dict(zip(_GROUP, args)), **kwargs}
        for name in _NODES:
            if self._more.get(name):
                print(f"tunehost: {name} chooses among the nodes of a Ray cluster: it has no effect here", file=sys.stderr)

    @property
    def bundles(self) -> List[Dict[str, float]]:
        """A copy of the bundles, without an empty first one."""
        return [dict(b) for b in self._bundles]

    @property
    def required_resources(self) -> Dict[str, float]:
        """The sum of all bundles."""
        total: Dict[str, float] = {}
        for bundle in self.bundles:
            for name, amount in bundle.items():
                total[name] = total.get(name, 0) + amount
        return total

    @property
    def head_cpus(self) -> float:
        """The CPUs of the first bundle."""
        return 0.0 if self.head_bundle_is_empty else self._bundles[0].get("CPU", 0.0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlacementGroupFactory) and self._facts() == other._facts()

    def _facts(self) -> Tuple[Any, ...]:
        return self._bundles, self.strategy, self.head_bundle_is_empty, self._more

    def __hash__(self) -> int:
        return hash((repr(self._bundles), self.strategy))

    def __repr__(self) -> str:
        more = "".join(f", {k}={v!r}" for k, v in self._more.items())
        return f"PlacementGroupFactory({self._bundles}, strategy={self.strategy!r}{more})"


Request = Union[Mapping[str, float], PlacementGroupFactory]


def amounts(request: Mapping[str, Any]) -> Dict[str, Any]:
    """A plain request as an experiment file has it."""
    unknown = [name for name in request if name in ("object_store_memory", "accelerator_type")]
    if unknown:
        raise Unsupported(
            f"the resource {unknown[0]} does not exist here: request cpu, gpu, memory or a name of your own"
        )
    return {_NAMES.get(name, name): int(v) if float(v).is_integer() else float(v) for name, v in request.items()}


def keys(request: Request) -> Dict[str, Any]:
    """The keys of an experiment file for a request: resources or placement."""
    if not isinstance(request, PlacementGroupFactory):
        return {"resources": amounts(request)}
    bundles = [amounts(b) for b in request.bundles if b]
    if len(bundles) == 1:
        return {"resources": bundles[0]}
    return {"placement": {"bundles": bundles, "strategy": request.strategy.lower()}}


def requested(found: Optional[Mapping[str, Any]]) -> PlacementGroupFactory:
    """The request of an experiment file's `resources`, as schedulers see it; one CPU if there is none."""
    names = {v: k for k, v in _NAMES.items()}
    return PlacementGroupFactory([{names.get(k, k): float(v) for k, v in (found or {"cpu": 1}).items()}])


def computed(request: Any) -> Dict[str, Any]:
    """A request that was computed for one trial, as a plugin answers it."""
    if not isinstance(request, (Mapping, PlacementGroupFactory)):
        raise TuneError(f"the resource request is {request!r:.60}: expected a dict or a PlacementGroupFactory")
    found = keys(request)
    answer: Dict[str, Any] = found.get("resources") or found["placement"]
    return answer


def with_resources(trainable: Any, resources: Union[Request, Callable[[Dict[str, Any]], Any]]) -> Any:
    """The trainable with a request: {"cpu": 2, "gpu": 1}, a PlacementGroupFactory, or a function of the
    config that returns one of them. The original is not changed."""
    from ._wrapped import Wrapped

    if not callable(resources):
        keys(resources)  # mistakes are found here
    return Wrapped.of(trainable, resources=resources)
