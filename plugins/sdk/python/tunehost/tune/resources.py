"""What a trial requests."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Sequence, Union

from .error import TuneError, Unsupported

__all__ = ["PlacementGroupFactory", "with_resources"]

_STRATEGIES = ("PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD")
_NAMES = {"CPU": "cpu", "GPU": "gpu"}


class PlacementGroupFactory:
    """A request of several bundles, each for one node: the first is the trainable's own. strategy is PACK,
    SPREAD, STRICT_PACK or STRICT_SPREAD."""

    def __init__(
        self, bundles: Sequence[Mapping[str, float]], strategy: str = "PACK", *args: Any, **kwargs: Any
    ) -> None:
        if args or kwargs:
            raise Unsupported("a PlacementGroupFactory takes bundles and strategy only")
        if strategy not in _STRATEGIES:
            raise ValueError(f"strategy is {strategy!r}: expected one of {', '.join(_STRATEGIES)}")
        self.bundles: List[Dict[str, float]] = [{k: v for k, v in b.items() if v} for b in bundles]
        if not any(self.bundles):
            raise ValueError("a PlacementGroupFactory needs a bundle that is not empty")
        self.strategy = strategy

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
        return self.bundles[0].get("CPU", 0.0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlacementGroupFactory) and (self.bundles, self.strategy) == (
            other.bundles,
            other.strategy,
        )

    def __hash__(self) -> int:
        return hash((repr(self.bundles), self.strategy))

    def __repr__(self) -> str:
        return f"PlacementGroupFactory({self.bundles}, strategy={self.strategy!r})"


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
