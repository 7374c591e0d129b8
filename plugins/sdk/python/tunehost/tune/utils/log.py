"""How much is printed."""

from __future__ import annotations

from enum import Enum

__all__ = ["Verbosity"]


class Verbosity(Enum):
    """Names of the values of RunConfig(verbose=…)."""

    V0_MINIMAL = 0
    V1_EXPERIMENT = 1
    V2_TRIAL_NORM = 2
    V3_TRIAL_DETAILS = 3

    def __int__(self) -> int:
        return int(self.value)
