"""The errors of the front end."""

from __future__ import annotations

import builtins
import functools
from typing import Type, cast

__all__ = ["TuneError", "Unsupported"]


class TuneError(Exception):
    """The experiment could not run, or a trial failed. The message says what to do."""


def of_trial(text: str) -> TuneError:
    """The failure of a trial, whose first line begins with the name of an exception. One of Python's own is also an
    instance of that, as in Ray Tune: `except KeyError` catches it."""
    kind = getattr(builtins, text.partition(":")[0], None)
    if isinstance(kind, type) and issubclass(kind, Exception):
        try:
            return _also(kind)(text)  # type: ignore[arg-type]
        except TypeError:  # it takes other arguments than a text
            pass
    return TuneError(text)


@functools.lru_cache(maxsize=None)
def _also(kind: Type[Exception]) -> Type[TuneError]:
    made = type(f"TuneError({kind.__name__})", (TuneError, kind), {"__str__": lambda self: str(self.args[0])})
    return cast(Type[TuneError], made)


class Unsupported(TuneError, NotImplementedError):
    """Ray Tune has this, and tunehost.tune does not. The message names the way to do it here."""
