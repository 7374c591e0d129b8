"""Ray Tune's helpers for trainables and searchers."""

from .log import Verbosity
from .util import validate_warmstart, wait_for_gpu

__all__ = ["Verbosity", "validate_warmstart", "wait_for_gpu"]
