"""Makes an experiment file of what the user asks for."""

from __future__ import annotations

import datetime
import inspect
import os
import random
import re
import sys
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from .. import _places
from .._view import SUGGESTION
from . import _callbacks, _encode, _executor, _points, _serving, stopper
from ._plugin import SERVED, Choice, chosen
from ._wrapped import Wrapped
from ._yaml import to_yaml
from .config import CheckpointConfig, FailureConfig, RunConfig, SyncConfig, TuneConfig, seconds
from .error import TuneError, Unsupported
from .logger import split
from .progress_reporter import ProgressReporter
from .resources import keys as resource_keys
from .schedulers import FIFOScheduler, TrialScheduler
from .schedulers._pbt import PopulationBasedTraining, PopulationBasedTrainingReplay
from .search import BasicVariantGenerator, ConcurrencyLimiter, Searcher
from .search.repeater import repeater_of
from .trainable import Trainable, overrides

Keys = Dict[str, Any]

_NAMES = re.compile(r"[^\w .@+=,-]")


@dataclass
class Experiment:
    """An experiment file, and what the trials' process needs besides."""

    keys: Keys  #: all but name, storage and trainable
    trainable: Any
    name: str  #: of the trainable
    plan: _encode.Group
    objects: Mapping[str, Any] = field(default_factory=dict)
    stop: Optional[Callable[..., Any]] = None
    request: Optional[Callable[..., Any]] = None  #: when it depends on the config
    counts: bool = False  #: training_iteration is the objective
    repeat: int = 1  #: Repeater(set_index=True): how many trials have the same parameters
    served: Mapping[str, Any] = field(default_factory=dict)  #: objects of the user that run in processes of their own
    reuse: bool = False  #: one process trains trial after trial, by reset_config
    settings: Optional[_callbacks.Settings] = None  #: callbacks and names, if there are any


def build(
    trainable: Any, param_space: Mapping[str, Any], tune: TuneConfig, run: RunConfig, scalars: bool = True
) -> Experiment:
    """Translates everything. Unsupported or TuneError says what cannot be. scalars is that of encode."""
    wrapped = trainable if isinstance(trainable, Wrapped) else Wrapped(trainable)
    _check_trainable(wrapped)
    if not isinstance(param_space, Mapping):
        raise TuneError(f"param_space is {param_space!r:.60}: expected a dict of parameters by their names")
    _refuse(tune, run)
    scheduler = chosen(FIFOScheduler() if tune.scheduler is None else tune.scheduler, "scheduler")
    searcher = chosen(BasicVariantGenerator() if tune.search_alg is None else tune.search_alg, "searcher")
    param_space = {**param_space, **(getattr(searcher, "own_space", None) or {})}
    objectives, counts = _objectives(tune, searcher, scheduler)
    pbt = _population(scheduler)
    if pbt:
        pbt.opens = scheduler is not pbt and "scheduler" in scheduler.served()
    space = pbt.space(param_space) if pbt else dict(param_space)
    samples = tune.num_samples
    drawn = searcher.drawn(space, samples) if isinstance(searcher, BasicVariantGenerator) and not pbt else None
    if drawn:
        searcher, space, samples = drawn
    _introduce(tune, searcher, scheduler, space)
    encoded = _encode.encode(space, scalars)
    stops, stop, own_stopper = stopper.rules(run.stop, {o["metric"]: o["mode"] for o in objectives})
    served = {**searcher.served(), **scheduler.served(), **({"stopper": own_stopper} if own_stopper else {})}
    _check_served(served)
    _admit(encoded, "searcher" in served, pbt)
    request, resources = _resources(wrapped)
    keys: Keys = {"version": 1}
    keys.update({"objective": objectives[0]} if len(objectives) == 1 else {"objectives": objectives})
    keys.update({"space": encoded.space, **_first_points(searcher, pbt, param_space, encoded.plan, samples, tune.seed)})
    repeats = repeater_of(searcher)
    trials = samples if not repeats or samples < 0 else _repeated(samples, repeats.repeats)
    keys.update(searcher=searcher.entry(), scheduler=scheduler.entry(), trials=trials)
    keys.update(searcher.keys())
    keys.update(scheduler.keys())
    keys.update({**_limits(tune, searcher, stops), **resources, **_kept(wrapped.inner, run), **_executor.keys(run.executor)})
    settings = _settings(tune, run, wrapped.__name__, objectives[0], trials * _grid_points(encoded.space))
    named, _ = split(run.callbacks)
    if settings:
        keys["reporters"] = ["jsonl", "csv", {"plugin": SERVED + "callbacks"}]
    elif run.callbacks is not None:
        keys["reporters"] = ["jsonl", *named]
    if os.path.isdir("plugins"):
        keys["plugins"] = [_places.absolute("plugins")]
    index = repeats.repeats if repeats and repeats.set_index else 1
    return Experiment(
        keys,
        wrapped.inner,
        wrapped.__name__,
        encoded.plan,
        wrapped.objects,
        stop,
        request,
        counts,
        index,
        served,
        tune.reuse_actors and isinstance(wrapped.inner, type) and overrides(wrapped.inner, "reset_config"),
        settings,
    )


def _admit(encoded: _encode.Encoded, suggested: bool, pbt: Any) -> None:
    """Makes room in a space for what searchers and schedulers of the user may make of a config."""
    explores = bool(pbt and pbt.opens and pbt.explore)
    if suggested or explores:
        _encode.open_all(encoded)
    if explores:
        _encode.forget_constants(encoded)
    if suggested or explores or pbt and pbt.opens and _encode.computes(encoded.plan):
        _encode.accept_suggestions(encoded, "")


def _repeated(samples: int, repeat: int) -> int:
    """How many points a Repeater has. All of them run equally often, as their means are compared."""
    points = max(1, samples // repeat)
    if points * repeat != samples:
        print(
            f"tunehost: warning: num_samples={samples} is no multiple of Repeater's repeat={repeat}: {points * repeat} trials "
            "run, so that each point has as many",
            file=sys.stderr,
        )
    return points


def _grid_points(space: Mapping[str, Any]) -> int:
    """How many points the grids of a space have."""
    points = 1
    for form in space.values():
        if isinstance(form, dict):
            points *= len(form["grid"]) if "grid" in form else _grid_points(form)
    return points


def _settings(
    tune: TuneConfig, run: RunConfig, name: str, objective: Mapping[str, str], total: int
) -> Optional[_callbacks.Settings]:
    """What the process that has called fit must do meanwhile; None: nothing."""
    info = {
        "stop": run.stop,
        "num_samples": tune.num_samples,
        "total_num_samples": total,
        "metric": objective["metric"],
        "mode": objective["mode"],
    }
    dirs = tune.trial_dirname_creator
    settings = _callbacks.Settings(
        split(run.callbacks)[1],
        run.progress_reporter,
        info,
        name,
        tune.trial_name_creator,
        dirs if callable(dirs) else None,
    )
    return settings if settings.needed() else None


_HOOKS = {"searcher": ("suggest", "on_trial_complete"), "scheduler": ("on_trial_result",), "stopper": ("__call__",)}
_BASES = {"searcher": Searcher, "scheduler": TrialScheduler, "stopper": stopper.Stopper}


def _check_served(served: Mapping[str, Any]) -> None:
    """A class of the user without the methods that it must have is found here, not in its process."""
    for kind, value in served.items():
        for hook in _HOOKS[kind]:
            if getattr(type(value), hook) is getattr(_BASES[kind], hook):
                raise TuneError(f"the {kind} {type(value).__name__} has no method {hook}: implement it")


def _introduce(tune: TuneConfig, searcher: Choice, scheduler: Choice, space: Mapping[str, Any]) -> None:
    """Tells searchers and schedulers of the user what TuneConfig has."""
    metric, mode = tune.metric, tune.mode
    if "searcher" in searcher.served():
        searcher.set_search_properties(metric, mode, dict(space))  # type: ignore[attr-defined]
    if "scheduler" in scheduler.served():
        scheduler.served()["scheduler"].set_search_properties(metric, mode)


def _check_trainable(wrapped: Wrapped) -> None:
    trainable = wrapped.inner
    if isinstance(trainable, str):
        raise TuneError(
            f"no trainable is registered as {trainable!r}: call tune.register_trainable, or pass the function"
        )
    if isinstance(trainable, type) and not issubclass(trainable, Trainable):
        raise TuneError(f"the class {trainable.__name__} is no subclass of tune.Trainable")
    if not callable(trainable):
        raise TuneError(
            f"the trainable is {trainable!r:.60}: expected a function of config, or a subclass of tune.Trainable"
        )
    if not isinstance(trainable, type):
        _check_arguments(trainable, wrapped.objects)


def _check_arguments(function: Callable[..., Any], objects: Mapping[str, Any]) -> None:
    """Calls a function as a trial does, without running it."""
    try:
        inspect.signature(function).bind({}, **objects)
    except TypeError as e:
        given = "".join(f", {name}" for name in objects)
        name = getattr(function, "__name__", type(function).__name__)
        raise TuneError(f"the trainable {name} cannot be called as {name}(config{given}): {e}") from None
    except ValueError:  # a builtin has no signature
        pass


def _refuse(tune: TuneConfig, run: RunConfig) -> None:
    """Settings that do nothing here are errors."""
    if run.storage_filesystem is not None:
        raise Unsupported("RunConfig(storage_filesystem=…) is not supported: give a directory as storage_path")
    if run.name and "/" in str(run.name):
        raise TuneError(f"name is {run.name!r}: expected a name without /; storage_path is the directory around it")
    if run.name in (".", "..") or "\0" in str(run.name):
        raise TuneError(f"name is {run.name!r}: expected the name of a new directory in storage_path")
    if run.storage_path is not None and not isinstance(run.storage_path, (str, os.PathLike)):
        raise TuneError(f"storage_path is {run.storage_path!r:.60}: expected the path of a directory")
    if run.storage_path and "://" in str(run.storage_path) and not str(run.storage_path).startswith("file://"):
        raise Unsupported(
            f"RunConfig(storage_path={run.storage_path!r}) is not supported: give a directory; an experiment file "
            "with a `command` may have its storage in a bucket"
        )
    for name, kind in (("sync_config", SyncConfig), ("failure_config", FailureConfig), ("checkpoint_config", CheckpointConfig)):
        value = getattr(run, name)
        if value is not None and not isinstance(value, kind):
            raise TuneError(f"{name} is {value!r:.60}: expected a tune.{kind.__name__}")
    if run.progress_reporter is not None and not isinstance(run.progress_reporter, ProgressReporter):
        raise TuneError(
            f"progress_reporter is {run.progress_reporter!r:.60}: expected an object of a subclass of "
            "tune.ProgressReporter"
        )


def _names(value: Any) -> List[str]:
    names = [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]
    for name in names:
        if not isinstance(name, str):
            raise TuneError(f"metric or mode is {value!r:.60}: expected a name, or a list of names")
    return names


def _objectives(tune: TuneConfig, *choices: Choice) -> Tuple[List[Dict[str, str]], bool]:
    """The objectives, and whether training_iteration stands in for one that the user has not given."""
    found: List[Tuple[str, Dict[str, str]]] = []
    for where, source in [("TuneConfig", tune), *((type(c).__name__, c) for c in choices)]:
        metrics, modes = _names(source.metric), _names(source.mode)  # type: ignore[attr-defined]
        if metrics:
            if not modes:
                raise TuneError(f'{where} has a metric and no mode: write mode="min" or mode="max"')
            if len(modes) not in (1, len(metrics)):
                raise TuneError(f"{where} has {len(metrics)} metrics and {len(modes)} modes: give a mode for each")
            modes = modes * len(metrics) if len(modes) == 1 else modes
            found += [(where, {"metric": m, "mode": mode}) for m, mode in zip(metrics, modes)]
        elif modes:
            raise TuneError(f"{where} has a mode and no metric: write metric=NAME")
    if not found:
        if any(c.needs_metric for c in choices):
            raise TuneError(
                'a searcher or scheduler needs to know what is good: write TuneConfig(metric=NAME, mode="min" or '
                '"max")'
            )
        return [{"metric": "training_iteration", "mode": "max"}], True
    first = found[0][0]
    mine = [o for where, o in found if where == first]
    for where, other in found:
        if where != first and other not in mine:
            raise TuneError(f"{first} and {where} have different metrics or modes: give them in TuneConfig only")
    return mine, False


def _population(scheduler: Choice) -> Any:
    """The scheduler that changes parameters, if there is one."""
    if isinstance(scheduler, (PopulationBasedTraining, PopulationBasedTrainingReplay)):
        return scheduler
    base = getattr(scheduler, "base", None)
    return _population(base) if base else None


def _first_points(
    searcher: Choice,
    pbt: Any,
    param_space: Mapping[str, Any],
    plan: _encode.Group,
    trials: int,
    seed: Optional[int],
) -> Keys:
    points = [_points.encode_point(plan, p) for p in getattr(searcher, "points", None) or ()]
    starts = pbt.start(param_space) if pbt else {}
    if not starts and not (pbt and plan.suggestions is not None):
        return {"points": points} if points else {}
    if trials < 0:
        raise Unsupported(
            "num_samples=-1 with a population whose parameters start at values of their own is not supported: give "
            "their number"
        )
    rng = random.Random(seed)
    for i in range(max(trials, len(points))):
        start = _points.encode_point(plan, _start(starts, rng))
        if plan.suggestions is not None:
            start[SUGGESTION] = 0
        points[i : i + 1] = [{**start, **(points[i] if i < len(points) else {})}]
    return {"points": points}


def _start(starts: Mapping[str, Any], rng: random.Random) -> Dict[str, Any]:
    """One of the values of each parameter."""
    return {k: _start(v, rng) if isinstance(v, Mapping) else rng.choice(v) for k, v in starts.items()}


def _limits(tune: TuneConfig, searcher: Choice, stops: Mapping[str, Any]) -> Keys:
    keys: Keys = {key: dict(rules) for key, rules in stops.items()}
    if tune.max_concurrent_trials:
        if isinstance(searcher, ConcurrencyLimiter):
            raise ValueError("max_concurrent_trials is given and search_alg is a ConcurrencyLimiter: use one of them")
        keys["concurrency"] = tune.max_concurrent_trials
    if tune.time_budget_s is not None:
        budget = keys.setdefault("budget", {})
        budget["time"] = min(seconds(tune.time_budget_s), budget.get("time", float("inf")))
    if tune.constraints:
        keys["constraints"] = list(tune.constraints)
    if tune.reuse_actors:
        keys["reuse"] = True
    if tune.seed is not None:
        keys["seed"] = tune.seed
    if isinstance(tune.trial_dirname_creator, str):
        keys["trial_name"] = tune.trial_dirname_creator
    return keys


def _resources(wrapped: Wrapped) -> Tuple[Optional[Callable[..., Any]], Keys]:
    """The request: a function of the config, or keys."""
    own = isinstance(wrapped.inner, type) and overrides(wrapped.inner, "default_resource_request")
    if wrapped.resources is None:
        return (wrapped.inner.default_resource_request, {}) if own else (None, {})
    if callable(wrapped.resources):
        return wrapped.resources, {}
    return None, resource_keys(wrapped.resources)


def _kept(trainable: Any, run: RunConfig) -> Keys:
    """Checkpoints, failures and logs."""
    keys: Keys = {}
    checkpoint = _checkpoint(trainable, run.checkpoint_config or CheckpointConfig())
    if checkpoint:
        keys["checkpoint"] = checkpoint
    failure = run.failure_config or FailureConfig()
    if failure.max_failures or failure.fail_fast:
        fast = failure.fail_fast
        keys["failures"] = {"retries": failure.max_failures, "fail_fast": "raise" if isinstance(fast, str) else fast}
    if isinstance(run.log_to_file, str):
        keys["log"] = run.log_to_file
    elif isinstance(run.log_to_file, (list, tuple)):
        keys["log"] = {"stdout": run.log_to_file[0], "stderr": run.log_to_file[1]}
    if run.deadlines:
        keys["deadlines"] = {call: _duration(limit) for call, limit in run.deadlines.items()}
    return keys


def _duration(limit: Any) -> Any:
    """A limit as an experiment file has it: numbers are seconds."""
    if isinstance(limit, (int, float, datetime.timedelta)) and not isinstance(limit, bool):
        return f"{seconds(limit):g}s"
    return limit


def _checkpoint(trainable: Any, config: CheckpointConfig) -> Keys:
    keys: Keys = {}
    if not isinstance(trainable, type):
        for name in ("checkpoint_frequency", "checkpoint_at_end"):
            if getattr(config, name):
                raise ValueError(
                    f"CheckpointConfig({name}=…) is for class trainables: a function decides itself, with "
                    "tune.report(…, checkpoint=…)"
                )
    if config.checkpoint_frequency:
        keys["every"] = config.checkpoint_frequency
    if _at_end(trainable, config.checkpoint_at_end):
        keys["at_end"] = True
    if config.num_to_keep:
        keys["keep"] = config.num_to_keep
    if config.checkpoint_score_attribute:
        keys.update(score=config.checkpoint_score_attribute, mode=config.checkpoint_score_order)
    return keys


def _at_end(trainable: Any, wanted: Optional[bool]) -> bool:
    """Whether the last result gets a checkpoint: as in Ray, that of a class that can save does unless it is said."""
    if wanted is None:
        return isinstance(trainable, type) and overrides(trainable, "save_checkpoint")
    return wanted


def directory(experiment: Experiment, run: RunConfig) -> Tuple[str, str]:
    """The storage, and the name of the experiment."""
    storage = str(run.storage_path or "results")
    if storage.startswith("file://"):
        storage = storage[len("file://") :]
    now = datetime.datetime.now().strftime("%Y-%m-%d_%H-%M-%S")
    if run.name is not None and not isinstance(run.name, str):
        raise TuneError(f"name is {run.name!r:.60}: expected a text, the name of the experiment's directory")
    name = run.name or f"{_NAMES.sub('_', experiment.name)[:100]}_{now}"
    return _places.absolute(storage), name


def complete(experiment: Experiment, storage: str, name: str) -> Keys:
    """All keys of the file."""
    plugin = os.path.join(storage, name, "tune", "plugin")
    first = {"version": 1, "name": name}
    keys = _serving.placed(experiment.keys, os.path.join(storage, name, "tune"))
    rest = {k: v for k, v in keys.items() if k != "version"}
    return {**first, **rest, "trainable": {"plugin": plugin}, "storage": storage}


def plugin_yaml(experiment: Experiment, folder: str) -> str:
    """plugin.yaml of the trainable. It gets the whole environment, as the script's own process has it."""
    flags = [*(["--requests"] if experiment.request else []), *(["--reuse"] if experiment.reuse else [])]
    command = [sys.executable, "serve.py", folder, *flags]
    known = {"kind": "trainable", "name": "python", "version": "1.0.0"}
    return to_yaml({**known, "command": command, "env": _serving.environment()})
