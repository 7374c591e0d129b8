"""What Tuner.restore needs to know of an experiment."""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Tuple

from .._minimize import Returning
from . import _callbacks, _encode, _payload
from ._native import native
from ._wrapped import Wrapped
from .config import RunConfig, TuneConfig
from .error import TuneError
from .sample import Categorical, Domain, Function


def remember(dir: Path, tune: TuneConfig, run: RunConfig, trainable: str, space: Any) -> None:
    """Keeps what the results need, and how much is shown; trainable is its name, space is the outline of param_space."""
    facts = {"metric": tune.metric, "mode": tune.mode, "trainable": trainable, "verbose": run.verbose, "space": space}
    _payload.replace(dir / "tuner.json", json.dumps(facts).encode())


def remember_settings(dir: Path, settings: _callbacks.Settings) -> None:
    """Keeps the callbacks, for Tuner.restore."""
    try:
        _payload.dump(dir / _callbacks.FOLDER / "settings.pkl", settings, "a callback")
    except TuneError as e:
        print(f"tunehost: {e}; Tuner.restore will have no callbacks", file=sys.stderr)


def settings(dir: Path) -> Optional[_callbacks.Settings]:
    """The callbacks of an experiment; None if it has none."""
    file = dir / _callbacks.FOLDER / "settings.pkl"
    if not file.exists():
        return None
    found: _callbacks.Settings = _payload.load(file)
    return found


def configs(dir: Path) -> Tuple[TuneConfig, RunConfig]:
    """The configs, as far as they matter later."""
    found = json.loads((dir / "tuner.json").read_text(encoding="utf-8"))
    return TuneConfig(metric=found["metric"], mode=found["mode"]), RunConfig(verbose=found.get("verbose"))


def outline(value: Any, named: bool = False, scalars: bool = True) -> Any:
    """What may not change in a space, as JSON has it: ranges, values of choices, constants. Objects may be others, but
    those of a choice have the same names. scalars is that of encode."""
    if isinstance(value, Function):
        return {"sample_from": ""}
    if isinstance(value, Categorical):
        return {value.kind: [outline(one, True, scalars) for one in value.categories]}
    if isinstance(value, Domain):
        return json.loads(json.dumps(value.form()))
    if _encode.is_grid(value):
        return {"grid": [outline(one, True, scalars) for one in value["grid_search"]]}
    if isinstance(value, Mapping) and _encode.varies(value):
        return {str(key): outline(one, named, scalars) for key, one in value.items()}
    if _encode.varies(value):
        return [outline(one, named, scalars) for one in value]
    value = native(value) if scalars else value
    if _encode.plain(value):
        return value
    return _encode.label_of(value) if named else "an object"


def _check_outline(begun: Any, given: Any, name: str = "") -> None:
    """TuneError names the first difference between two spaces."""
    if begun == given and type(begun) is type(given):
        return
    if isinstance(begun, dict) and isinstance(given, dict) and begun and given:
        if set(begun) != set(given) and not name:
            other = ", ".join(sorted(set(begun) ^ set(given)))
            raise TuneError(f"param_space has other parameters than the experiment ({other}): {_SAME}")
        if set(begun) == set(given):
            for key in begun:
                _check_outline(begun[key], given[key], f"{name}/{key}" if name else key)
            return
    raise TuneError(f"param_space: {name} is {json.dumps(given):.60} and was {json.dumps(begun):.60}: {_SAME}")


def has_scalars(dir: Path, param_space: Mapping[str, Any]) -> bool:
    """Whether an experiment has scalars of numpy as numbers. One of an earlier release has them as texts."""
    begun = _begun(dir)
    return begun is None or not _encode.begun_as(outline(param_space, scalars=False), outline(param_space), begun)


def _begun(dir: Path) -> Optional[Mapping[str, Any]]:
    """The outline of the space that an experiment has begun with; None if it has none."""
    found: Optional[Mapping[str, Any]] = json.loads((dir / "tuner.json").read_text(encoding="utf-8")).get("space")
    return found


_SAME = "give the same, or begin a new experiment"


def check_objective(dir: Path, tune: TuneConfig) -> None:
    """TuneError if an experiment has another objective."""
    found = json.loads((dir / "tuner.json").read_text(encoding="utf-8"))
    if (found["metric"], found["mode"]) != (tune.metric, tune.mode):
        raise TuneError(
            f"the experiment {dir.parent.name!r} has the metric {found['metric']} and the mode {found['mode']}: choose another name"
        )


def renewal(dir: Path, trainable: Any, param_space: Optional[Mapping[str, Any]]) -> Callable[[], None]:
    """A function that replaces the trainable and the objects of the space. TuneError: they are none of this experiment."""
    payload, plan = _payload.read(dir), _payload.read_plan(dir)
    objects = {}
    if trainable is not None:
        wrapped = trainable if isinstance(trainable, Wrapped) else Wrapped(trainable)
        if isinstance(wrapped.inner, type) != isinstance(payload.trainable, type):
            raise TuneError("the trainable is a class and was a function, or the other way round: give the same one")
        inner = wrapped.inner
        if isinstance(payload.trainable, Returning) and not isinstance(inner, Returning):
            inner = Returning(inner)  # the function of minimize, which returns a number
        payload.trainable, objects = inner, wrapped.objects
        if callable(wrapped.resources) and payload.resources:
            payload.resources = wrapped.resources
    if param_space is not None:
        begun, scalars = _begun(dir), has_scalars(dir, param_space)
        if begun is not None:
            _check_outline(begun, outline(param_space, scalars=scalars))
        new = _encode.encode(param_space, scalars)
        if _shape(new.plan) != _shape(plan):
            raise TuneError(f"param_space has other parameters than the experiment: {_SAME}")
        new.plan.suggestions, plan = plan.suggestions, new.plan
    return functools.partial(_payload.write, dir, payload, plan, objects)


def _shape(node: _encode.Node) -> Any:
    """The parameters of a plan, without values."""
    kind = type(node).__name__
    if isinstance(node, _encode.Group):
        return kind, sorted((str(key), _shape(child)) for key, child in node.members.items())
    path = getattr(node, "path", None)
    return kind, path, [_shape(child) for child in node.children()]
