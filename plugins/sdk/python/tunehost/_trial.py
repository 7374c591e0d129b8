"""Prepares a process for a trial."""

from __future__ import annotations

import json
import os
import random
import sys
from typing import Any, Callable, Dict

from .run import Bundle, Logs, Trial


def trial_of(found: Dict[str, Any]) -> Trial:
    """Converts a received trial to the type that authors see."""
    known = {k: v for k, v in found.items() if k in Trial.__dataclass_fields__}
    for name in ("params", "options", "resources"):
        known[name] = json.loads(known[name] or b"{}")
    known["bundles"] = [Bundle(node, json.loads(amounts or b"{}"), devices, address)
                        for node, amounts, devices, address in known.get("bundles", ())]
    known["logs"] = Logs(*known.get("logs", ()))
    return Trial(**known)


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
