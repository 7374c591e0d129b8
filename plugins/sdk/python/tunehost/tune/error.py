"""The errors of the front end."""

from __future__ import annotations

import builtins
import functools
import re
from typing import Any, Type, cast

__all__ = ["TuneError", "Unsupported"]


class TuneError(Exception):
    """The experiment could not run, or a trial failed. The message says what to do."""


def of_trial(text: str) -> TuneError:
    """The failure of a trial, whose first line begins with the name of an exception. One of Python's own is also an
    instance of that, as in Ray Tune: `except KeyError` catches it. Not so KeyboardInterrupt and the others that are no
    Exception: code that raises the failure would seem to be interrupted."""
    kind = _kind(text)
    if kind is None:
        return TuneError(text)
    if hasattr(kind, "exceptions"):
        return _also(kind)(text, [TuneError(text)])  # a group has members
    try:
        return _also(kind)(text)
    except TypeError:  # it takes other arguments than a text, which are not known
        return _bare(kind)(text)


def _kind(text: str) -> Any:
    """The exception of Python's own with which a text begins, or None."""
    name = re.match(r"(\w+)(?::| \(|\n|$)", text)  # its text, the place, or neither follows
    kind = getattr(builtins, name[1], None) if name else None
    return kind if isinstance(kind, type) and issubclass(kind, Exception) else None


@functools.lru_cache(maxsize=None)
def _also(kind: Any) -> Type[TuneError]:
    own = {"__str__": lambda self: str(self.args[0]), "__reduce__": lambda self: (of_trial, (self.args[0],))}
    return cast(Type[TuneError], type(f"TuneError({kind.__name__})", (TuneError, kind), own))


@functools.lru_cache(maxsize=None)
def _bare(kind: Any) -> Type[TuneError]:
    """One whose kind does not see the arguments."""
    made = _also(kind)
    return cast(Type[TuneError], type(made.__name__, (made,), {"__init__": lambda self, text: None}))


class Unsupported(TuneError, NotImplementedError):
    """Ray Tune has this, and tunehost.tune does not. The message names the way to do it here."""
