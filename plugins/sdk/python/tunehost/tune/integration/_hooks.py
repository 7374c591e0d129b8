"""What the callbacks of Keras and PyTorch Lightning have in common: they report at hooks that the user names."""

from __future__ import annotations

from typing import Any, Callable, Collection, Dict, List, Mapping, Union

Names = Union[None, str, List[str], Mapping[str, str]]


def named(hooks: Union[str, List[str]], known: Collection[str]) -> List[str]:
    """The hooks, which the user writes without on_. ValueError: there is no such hook."""
    listed = [hooks] if isinstance(hooks, str) else list(hooks)
    for hook in listed:
        if f"on_{hook}" not in known:
            raise ValueError(f"there is no hook {hook!r}: expected {', '.join(sorted(name[3:] for name in known))}")
    return [f"on_{hook}" for hook in listed]


def hook(name: str) -> Callable[..., None]:
    """A method of a callback, for one of the library's hooks."""

    def called(self: Any, *args: Any, **kwargs: Any) -> None:
        self._hooked(name, *args, **kwargs)

    called.__name__ = name
    return called


def chosen(found: Mapping[str, Any], names: Names) -> Dict[str, Any]:
    """The metrics that are reported. A name that is not there yet is left out."""
    if not names:
        return dict(found)
    listed = [names] if isinstance(names, str) else names
    wanted = listed if isinstance(listed, Mapping) else {name: name for name in listed}
    return {own: found[theirs] for own, theirs in wanted.items() if theirs in found}
