"""Prepares a process for a trial."""

from __future__ import annotations

import os
import random
import sys
from typing import Any, Callable, Dict, Union

from ._frames import decoded
from .run import Bundle, Logs, Trial


def trial_of(found: Dict[str, Any]) -> Trial:
    """Converts a received trial to the type that authors see."""
    known = {k: v for k, v in found.items() if k in Trial.__dataclass_fields__}
    for name in ("params", "options", "resources"):
        known[name] = _json(known[name])
    known["bundles"] = [Bundle(node, _json(amounts), devices, address)
                        for node, amounts, devices, address in known.get("bundles", ())]
    known["logs"] = Logs(*known.get("logs", ()))
    return Trial(**known)


def _json(text: Union[str, bytes]) -> Any:
    """What the host has sent as JSON; nothing is an object without members."""
    return decoded(text.decode() if isinstance(text, bytes) else text) if text else {}


def prepare(trial: Trial) -> None:
    """Sets process-wide state for a trial that does not share the process."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(trial.devices)
    _seed(trial)


def _seed(trial: Trial) -> None:
    """Seeds the generators of libraries that were imported."""
    seeds: Dict[str, Callable[[Any], Any]] = {
        "numpy": lambda numpy: numpy.random.seed(trial.seed % 2**32),
        "torch": lambda torch: torch.manual_seed(trial.seed % 2**63),
    }
    random.seed(trial.seed)
    for name, seed in seeds.items():
        if name in sys.modules:
            seed(sys.modules[name])
