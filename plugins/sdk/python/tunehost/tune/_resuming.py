"""What tune.run does not take when it continues an experiment."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Tuple

from . import _host, _payload, _yaml
from .tuner import Tuner

#: The keys of the experiment file, and the arguments that set them.
_KEYS: Dict[str, Tuple[str, ...]] = {
    "space": ("config",),
    "objective": ("metric", "mode"),
    "trials": ("num_samples",),
    "searcher": ("search_alg",),
    "scheduler": ("scheduler",),
    "stop": ("stop",),
    "budget": ("time_budget_s",),
    "concurrency": ("max_concurrent_trials",),
    "failures": ("max_failures", "fail_fast"),
    "resources": ("resources_per_trial",),
    "placement": ("resources_per_trial",),
    "checkpoint": ("checkpoint_config", "keep_checkpoints_num", "checkpoint_score_attr", "checkpoint_freq", "checkpoint_at_end"),
    "executor": ("executor",),
}
_CALLED = ("callbacks", "progress_reporter", "trial_name_creator", "trial_dirname_creator")
_NEW = ("restore", "export_formats")  #: only an experiment that begins takes these


def given(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Dict[str, Any]:
    """The arguments of a call that are no defaults."""
    defaults = {name: p.default for name, p in inspect.signature(function).parameters.items()}
    return {name: value for name, value in arguments.items() if name in defaults and value is not defaults[name]}


def tell_ignored(begun: Tuner, make: Callable[[], Tuner], given: Mapping[str, Any]) -> None:
    """Takes verbose, and warns of arguments that say something else than the experiment has begun with."""
    if given.get("verbose") is not None:
        begun._run.verbose = given["verbose"]
    try:
        ignored = _differences(begun, make(), given)
    except Exception as e:  # they make no experiment without others, which a call that continues one may leave out
        ignored = [f"what the call sets ({e})"]
    if ignored:
        _host.warn(f"warning: {', '.join(ignored)}: ignored, as the experiment {begun._name!r} keeps what it has begun with")


def _differences(begun: Tuner, now: Tuner, given: Mapping[str, Any]) -> List[str]:
    then, wanted = _yaml.parts(begun.to_yaml()), _yaml.parts(now.to_yaml())
    names = [name for key, names in _KEYS.items() if then.get(key) != wanted.get(key) for name in names]
    made = now._experiment
    assert made and begun._dir
    if made.stop and not _payload.read(Path(begun._dir, "tune")).stop:
        names.append("stop")
    if made.settings and not begun._settings:
        names += _CALLED
    return [name for name in dict.fromkeys((*names, *_NEW)) if name in given]
