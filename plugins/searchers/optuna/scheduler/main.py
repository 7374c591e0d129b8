#!/usr/bin/env python3
"""Optuna's pruners as a scheduler for tunehost; ../README.md is about it."""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Dict, Mapping, Optional

HERE = Path(__file__).resolve().parent.parent
OWN = HERE / ".venv"
if (OWN / "bin" / "python3").exists() and Path(sys.prefix) != OWN:
    os.execv(OWN / "bin" / "python3", [str(OWN / "bin" / "python3"), *sys.argv])
try:
    import optuna
    import tunehost
except ImportError as e:
    sys.exit(f"{e} (for {sys.executable}): run  cd '{HERE}' && python3 -m venv .venv && .venv/bin/pip install -r requirements.txt")

from optuna.trial import TrialState
from tunehost import EventKind

optuna.logging.set_verbosity(optuna.logging.WARNING)
optuna.logging.disable_default_handler()
optuna.logging.enable_propagation()
warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)


class Optuna(tunehost.Scheduler):
    """Optuna's pruners, by name."""

    name = "optuna"
    version = "1.0.0"
    pruner: str = tunehost.option("median", "Optuna's name of it: median, percentile, hyperband, successivehalving, patient, threshold, wilcoxon")
    arguments: Dict[str, Any] = tunehost.option({}, "its arguments, as Optuna's documentation has them: {n_warmup_steps: 5}")

    def open(self) -> None:
        if len(self.problem.objectives) > 1:
            raise tunehost.Refused("Optuna's pruners compare one metric; the experiment has several objectives")
        self.rule = pruner(self.pruner, self.arguments)
        self.storage = optuna.storages.InMemoryStorage()
        # Hyperband deals trials to its brackets by the study's name and the trial's number.
        self.study = optuna.create_study(storage=self.storage, study_name=f"tunehost-{self.problem.seed}", pruner=self.rule)
        self.ids: Dict[int, int] = {}
        self.stopped: Dict[int, bool] = {}
        self.last: Dict[int, float] = {}

    def observe(self, event: tunehost.Event) -> None:
        if event.kind == EventKind.TRIAL_ADDED:
            self.ids[event.trial] = self.study.ask()._trial_id
        elif event.trial in self.ids:
            self.follow(event, self.ids[event.trial])

    def follow(self, event: tunehost.Event, id: int) -> None:
        if event.losses:
            self.last[event.trial] = event.loss
        if self.storage.get_trial(id).state.is_finished():
            return
        if event.kind == EventKind.RESULT_REPORTED:
            self.storage.set_trial_intermediate_value(id, event.iteration, event.loss)
        elif event.kind in (EventKind.TRIAL_COMPLETED, EventKind.TRIAL_REMOVED) and event.trial in self.last:
            state = TrialState.PRUNED if event.trial in self.stopped else TrialState.COMPLETE
            self.storage.set_trial_state_values(id, state, [self.last[event.trial]])
        elif event.kind in (EventKind.TRIAL_COMPLETED, EventKind.TRIAL_REMOVED, EventKind.TRIAL_FAILED):
            self.storage.set_trial_state_values(id, TrialState.FAIL)

    def on_result(self, event: tunehost.Event) -> Optional[tunehost.Decision]:
        if event.trial not in self.ids or not self.rule.prune(self.study, self.storage.get_trial(self.ids[event.trial])):
            return None
        self.stopped[event.trial] = True
        return event.stop(f"Optuna's {type(self.rule).__name__}: loss {event.loss:g} at iteration {event.iteration}")


def short(name: str) -> str:
    """The name without case, dashes and Pruner."""
    return name.lower().replace("-", "").replace("_", "").removesuffix("pruner")


def pruner(name: str, arguments: Mapping[str, Any]) -> optuna.pruners.BasePruner:
    """The pruner of that name; an argument that is a pruner is {pruner: NAME, and its arguments}."""
    known = {short(n): getattr(optuna.pruners, n) for n in optuna.pruners.__all__ if n != "BasePruner"}
    kind = known.get(short(name))
    if kind is None:
        near = get_close_matches(short(name), known, 1, 0)
        raise tunehost.Refused(f"pruner {name!r} is unknown; nearest: {near[0]!r}; Optuna {optuna.__version__} has {', '.join(sorted(known))}")
    given = {n: inner(v) if n == "wrapped_pruner" else v for n, v in arguments.items()}
    names = list(inspect.signature(kind).parameters)
    for n in given:
        if n not in names:
            near = get_close_matches(n, names, 1, 0)
            raise tunehost.Refused(f"{kind.__name__} has no argument {n!r}" + (f"; nearest: {near[0]!r}" if near else ""))
    try:
        made: optuna.pruners.BasePruner = kind(**given)
    except (TypeError, ValueError, ImportError) as e:
        raise tunehost.Refused(f"the pruner {name} cannot be used so: {e}") from e
    return made


def inner(value: Any) -> optuna.pruners.BasePruner:
    if not isinstance(value, Mapping) or "pruner" not in value:
        raise tunehost.Refused("wrapped_pruner is no pruner; write {pruner: median, n_warmup_steps: 5}")
    return pruner(value["pruner"], {n: v for n, v in value.items() if n != "pruner"})


if __name__ == "__main__":
    tunehost.serve(Optuna)
