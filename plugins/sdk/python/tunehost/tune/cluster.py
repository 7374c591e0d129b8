"""What scripts of Ray call of the module ray itself: `from tunehost.tune import cluster as ray`. There is no cluster to
connect to: experiments run on this machine, or on the executor of an experiment file."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, Optional

from .error import Unsupported

__all__ = ["init", "is_initialized", "shutdown"]

_HARMLESS = ("configure_logging", "ignore_reinit_error", "include_dashboard", "log_to_driver", "logging_level")
_offered: Optional[Dict[str, Any]] = None
_WAITING = "OMP_WAIT_POLICY"
_patient = False  # whether init has set it


def init(
    address: Optional[str] = None,
    *,
    num_cpus: Optional[int] = None,
    num_gpus: Optional[int] = None,
    resources: Optional[Mapping[str, float]] = None,
    **kwargs: Any,
) -> None:
    """Says how many CPUs, GPUs and other resources new experiments of this process may use; by default those of the
    machine. Settings of Ray's logs and dashboard have nothing to set here.

    With more CPUs than the machine has, threads of OpenMP wait for each other without using a CPU, unless
    OMP_WAIT_POLICY says something else: a spinning one would keep the others from their work. Unsupported: an
    address, or an argument that would have no effect."""
    global _offered, _patient
    if address not in (None, "local"):
        raise Unsupported(
            f"ray.init(address={address!r}) is not supported: to run trials on a Ray cluster, use the executor ray of an "
            "experiment file (docs/RAYCLUSTER.md)"
        )
    unknown = [name for name in kwargs if name not in _HARMLESS]
    if unknown:
        raise Unsupported(f"ray.init({unknown[0]}=…) is not supported: leave it out")
    given = {"cpu": num_cpus, "gpu": num_gpus, **(resources or {})}
    _offered = {name: amount for name, amount in given.items() if amount is not None}
    if num_cpus and num_cpus > (os.cpu_count() or 1) and _WAITING not in os.environ:
        os.environ[_WAITING], _patient = "PASSIVE", True


def is_initialized() -> bool:
    """Whether init was called, and shutdown was not."""
    return _offered is not None


def shutdown() -> None:
    """Takes back what init said."""
    global _offered, _patient
    _offered = None
    if _patient:
        os.environ.pop(_WAITING, None)
        _patient = False


def flags() -> List[str]:
    """The flags of the program for what init said."""
    if not _offered:
        return []
    return ["--resources", ",".join(f"{name}={amount}" for name, amount in _offered.items())]
