"""Says that a function of the user has returned what it should not."""

from __future__ import annotations

import functools
from typing import Any, Callable

from . import _metrics, _traces

_ASYNC = "; nobody awaits an async function: call asyncio.run in one that is not async"


def refusal(f: Callable[..., Any], did: str, value: Any, expected: str) -> BaseException:
    """The error of a function that did, such as "returned", give a value where something else was expected."""
    import inspect  # not for who makes no mistake

    shown, hint = _metrics.short(value), ""
    if inspect.iscoroutine(value):
        value.close()  # Python would warn
        shown, hint = "a coroutine", _ASYNC
    elif inspect.isasyncgen(value):
        shown, hint = "an asynchronous generator", _ASYNC
    return _traces.complete(TypeError(f"{_place(f)} {did} {shown}: expected {expected}{hint}"))


def _place(f: Any) -> str:
    """The function, and where it is defined."""
    while isinstance(f, functools.partial):
        f = f.func
    code = getattr(f, "__code__", None)
    where = f" ({code.co_filename}, line {code.co_firstlineno})" if code else ""
    return f"the function {getattr(f, '__name__', type(f).__name__)}{where}"
