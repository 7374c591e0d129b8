"""Formats tracebacks for authors: without the frames of this package and of gRPC."""

from __future__ import annotations

import contextlib
import functools
import os
from typing import TYPE_CHECKING, Optional, Set, TypeVar

if TYPE_CHECKING:
    import traceback

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_INSTALLED = f"{os.sep}site-packages{os.sep}"
_MAX_TEXT = 12_000
_MAX_LINE = 2_000  # an exception may have a whole array as its text
_GAP = " [cut] "


@functools.lru_cache(maxsize=None)
def _stdlib() -> Set[str]:
    import sysconfig

    return {os.path.abspath(sysconfig.get_paths()[name]) + os.sep for name in ("stdlib", "platstdlib")}


def _is_ours(file: str) -> bool:
    path = os.path.abspath(file)
    return path.startswith(_HERE) or f"{_INSTALLED}grpc{os.sep}" in path


def _is_authors(file: str) -> bool:
    path = os.path.abspath(file)
    return not (file.startswith("<") or _is_ours(file) or _INSTALLED in path or any(path.startswith(dir) for dir in _stdlib()))


def where(error: BaseException) -> str:
    """FILE:LINE of the author's deepest frame; \"\" if there is none."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        if _is_authors(frame.filename):
            return f"{short(frame.filename)}:{frame.lineno}"
    return ""


def short(file: str) -> str:
    try:
        relative = os.path.relpath(file)
    except (OSError, ValueError):
        return file
    return file if relative.startswith("..") else relative


def middle(text: str, most: int) -> str:
    """Shortens a text in its middle: the beginning says what has failed, and the end where."""
    if len(text) <= most:
        return text
    half = (most - len(_GAP)) // 2
    return text[:half] + _GAP + text[-half:]


_Error = TypeVar("_Error", bound=BaseException)


def complete(error: _Error) -> _Error:
    """An exception of this package whose text says what is wrong and where: no frames are shown with it."""
    error.tunehost_complete = True  # type: ignore[attr-defined]
    return error


def formatted(error: BaseException) -> str:
    """The traceback without the frames of this package, unless no others remain."""
    import traceback

    whole = traceback.TracebackException(type(error), error, error.__traceback__)
    if getattr(error, "tunehost_complete", False):
        return _cut("".join(whole.format_exception_only()))
    _strip(whole, set())
    return _cut("".join(whole.format()))


def show() -> None:
    """Prints the traceback of the exception that is handled."""
    import traceback

    with contextlib.suppress(OSError, ValueError):  # the author's code may have closed stderr
        traceback.print_exc()


def full(error: BaseException) -> str:
    """The whole traceback."""
    import traceback

    return _cut("".join(traceback.format_exception(type(error), error, error.__traceback__)))


def _strip(t: Optional[traceback.TracebackException], seen: Set[int]) -> None:
    if t is None or id(t) in seen:
        return
    seen.add(id(t))
    kept = [frame for frame in t.stack if not _is_ours(frame.filename)]
    if kept:
        t.stack = type(t.stack).from_list(kept)
    for other in (t.__cause__, t.__context__, *(getattr(t, "exceptions", None) or ())):
        _strip(other, seen)


def _cut(text: str) -> str:
    """Shortens a text. Two thirds of what remains are from its end, which usually names the mistake."""
    text = "\n".join(middle(line, _MAX_LINE) for line in text.split("\n"))
    if len(text) <= _MAX_TEXT:
        return text
    third = _MAX_TEXT // 3
    return text[:third] + "\n  [cut]\n" + text[-2 * third:]

