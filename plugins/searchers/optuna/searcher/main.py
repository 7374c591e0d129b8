#!/usr/bin/env python3
"""Optuna's samplers as a searcher for tunehost; ../README.md is about it."""

from __future__ import annotations

import copy
import importlib
import inspect
import os
import sys
import warnings
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Dict, List, Optional

HERE = Path(__file__).resolve().parent.parent
OWN = HERE / ".venv"
if (OWN / "bin" / "python3").exists() and Path(sys.prefix) != OWN:
    os.execv(OWN / "bin" / "python3", [str(OWN / "bin" / "python3"), *sys.argv])
try:
    import optuna
    import tunehost
except ImportError as e:
    sys.exit(f"{e} (for {sys.executable}): run  cd '{HERE}' && python3 -m venv .venv && .venv/bin/pip install -r requirements.txt")

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.storages import InMemoryStorage
from optuna.trial import FrozenTrial, Trial, TrialState, create_trial
from tunehost import space
from tunehost.finite import Seen

optuna.logging.set_verbosity(optuna.logging.WARNING)
optuna.logging.disable_default_handler()
optuna.logging.enable_propagation()
warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)

#: What a sampler must be able to import beside Optuna.
NEEDS = {"cmaes": ["cmaes"], "qmc": ["scipy"], "gp": ["scipy", "torch"]}
#: Those that keep notes with each trial: generations, states, places in a sequence.
NOTING = {"cmaes", "nsgaii", "nsgaiii", "qmc"}
#: What would not be the same after a restart, or has no meaning here.
REFUSED = {
    "grid": "has its points from elsewhere: use tunehost's own searcher grid",
    "partialfixed": "fixes parameters: give them in points, or as constants in the space",
}
#: How many suggestions may miss the constraints, or be known, before points are drawn at random.
TRIES = 16


class Optuna(tunehost.Searcher):
    """Optuna's samplers, by name."""

    name = "optuna"
    version = "1.1.0"
    sampler: str = tunehost.option("tpe", "Optuna's name of it: tpe, gp, cmaes, nsgaii, nsgaiii, qmc, random, bruteforce")
    arguments: Dict[str, Any] = tunehost.option({}, "its arguments, as Optuna's documentation has them: {n_startup_trials: 20}")

    def open(self) -> None:
        self.distributions = [distribution(p) for p in self.space]
        self.kind = sampler_class(self.sampler)
        check_arguments(self.kind, self.arguments)
        self.storage = Storage()
        self.study = optuna.create_study(storage=self.storage, study_name="tunehost", directions=["minimize"] * len(self.problem.objectives))
        self.seen = Seen(self.space)
        self.trials: Dict[int, Optional[List[float]]] = {}  # last losses; trials by their place in the study
        self.places: Dict[int, int] = {}  # by their number
        self.notes: Dict[str, Any] = {}  # the study's, after the last trial
        self.asked: Dict[int, List[float]] = {}  # suggestions that are no trials yet
        try:
            self.propose(0, None)
        except (ValueError, TypeError) as e:
            raise tunehost.Refused(f"the sampler {self.sampler} cannot be used here: {e}") from e

    # What happened.

    def observe(self, event: tunehost.Event) -> None:
        if event.kind == tunehost.EventKind.TRIAL_ADDED and event.point is not None:
            self.added(event.trial, event.point)
        elif event.trial not in self.places:
            return
        if event.losses:
            self.trials[event.trial] = list(event.losses)
        if event.kind in (tunehost.EventKind.TRIAL_COMPLETED, tunehost.EventKind.TRIAL_REMOVED):
            self.ended(event.trial, self.trials.pop(event.trial, None))
        elif event.kind == tunehost.EventKind.TRIAL_FAILED:
            self.trials.pop(event.trial, None)
            self.ended(event.trial, None)

    def added(self, number: int, point: List[float]) -> None:
        """Puts a trial where the suggestions for it and later ones are, and these behind it."""
        self.storage.cut(len(self.places), self.notes)
        self.places[number] = self.put(point)
        self.notes = self.storage.get_study_system_attrs(0)
        self.seen.add(point)
        self.lay({n: p for n, p in self.asked.items() if n > number})

    def lay(self, asked: Dict[int, List[float]]) -> None:
        """Lets these be the suggestions that are no trials yet: they are behind all trials."""
        self.storage.cut(len(self.places), self.notes)
        self.asked = asked
        for point in asked.values():
            self.put(point)

    def put(self, point: List[float]) -> int:
        """Adds a running trial to the study, with the notes that the sampler makes for it, and
        returns its place. The notes depend on the trials before it alone."""
        params = {p.name: encode(p, x) for p, x in zip(self.space, point) if x == x}
        place = self.storage.count
        if self.family not in NOTING:
            known = {p.name: d for p, d in zip(self.space, self.distributions) if p.name in params}
            self.study.add_trial(create_trial(state=TrialState.RUNNING, params=params, distributions=known))
            return place
        self.study.sampler = self.make(self.problem.seed + place)
        self.study.enqueue_trial(params)
        trial = self.study.ask()
        for p, d in zip(self.space, self.distributions):
            if p.name in params:
                ask(trial, p.name, d)
        return place

    def ended(self, number: int, losses: Optional[List[float]]) -> None:
        """A trial without losses has failed. Nothing is told of one that was told before, unless it had failed and ran again."""
        place = self.places[number]
        if losses and self.storage.trial(place).state == TrialState.FAIL:
            self.storage.reopen(place)
        trial = self.storage.trial(place)
        if not trial.state.is_finished():
            state = TrialState.COMPLETE if losses else TrialState.FAIL
            self.storage.set_trial_state_values(trial._trial_id, state, losses)

    # What next.

    def suggest(self, request: tunehost.Request) -> tunehost.Suggestion:
        if any(n >= request.trial for n in self.asked):  # they are asked for again
            self.lay({n: p for n, p in self.asked.items() if n < request.trial})

        def draw(k: int) -> List[float]:
            if k >= TRIES:
                return self.space.draw(request.rng)
            return self.propose(request.rng.randrange(2**32), request.point)

        point = self.seen.pick(draw, request.rng, request.point)
        if point is None:
            return tunehost.EXHAUSTED
        self.put(point)
        self.asked[request.trial] = point
        return point

    def propose(self, seed: int, given: Optional[List[float]]) -> List[float]:
        """A point of the sampler's, who is made anew and leaves nothing behind, so that the point
        depends on the study and the seed alone."""
        count, notes = self.storage.count, self.storage.get_study_system_attrs(0)
        try:
            return self.run(self.make(seed), given)
        finally:
            self.storage.cut(count, notes)

    def run(self, sampler: optuna.samplers.BaseSampler, given: Optional[List[float]]) -> List[float]:
        """Asks for the parameters that exist, in order, as a define-by-run objective would."""
        self.study.sampler = sampler
        fixed = {p.name: encode(p, x) for p, x in zip(self.space, given or ()) if x == x}
        if fixed:
            self.study.enqueue_trial(fixed)
        trial = self.study.ask()
        point = [space.NAN] * len(self.space)
        for i, (p, d) in enumerate(zip(self.space, self.distributions)):
            if self.space.active(point, i):
                point[i] = decode(p, ask(trial, p.name, d))
        return point

    @property
    def family(self) -> str:
        return short(self.kind.__name__)

    def make(self, seed: int) -> optuna.samplers.BaseSampler:
        """The sampler. Scrambled sequences are the same in the whole experiment."""
        arguments = dict(self.arguments)
        if self.family in ("cmaes", "gp", "qmc"):
            arguments.setdefault("warn_independent_sampling", False)
        if self.family == "qmc":
            arguments["independent_sampler"] = optuna.samplers.RandomSampler(seed=seed % 2**32)
            seed = self.problem.seed
        if "crossover" in arguments:
            arguments["crossover"] = crossover(arguments["crossover"])
        return self.kind(seed=seed % 2**32, **arguments)


# Optuna's own things by name.


def short(name: str) -> str:
    """The name without case, dashes and Sampler."""
    return name.lower().replace("-", "").replace("_", "").removesuffix("sampler")


def sampler_class(name: str) -> Any:
    samplers = {short(n): getattr(optuna.samplers, n) for n in optuna.samplers.__all__ if n.endswith("Sampler") and not n.startswith("Base")}
    key = short(name)
    if key in REFUSED:
        raise tunehost.Refused(f"the sampler {name} {REFUSED[key]}")
    if key not in samplers:
        near = get_close_matches(key, samplers, 1, 0)
        raise tunehost.Refused(f"sampler {name!r} is unknown; nearest: {near[0]!r}; Optuna {optuna.__version__} has {', '.join(sorted(samplers))}")
    for module in NEEDS.get(key, ()):
        try:
            importlib.import_module(module)
        except ImportError as e:
            raise tunehost.Refused(f"the sampler {name} needs {module} ({e}): run  {sys.executable} -m pip install {module}") from e
    return samplers[key]


def check_arguments(kind: Any, arguments: Dict[str, Any]) -> None:
    known = [n for n in inspect.signature(kind).parameters if n != "seed"]
    for name in arguments:
        if name == "seed":
            raise tunehost.Refused("the seed is the experiment's: leave it out of arguments")
        if name == "with_margin":
            raise tunehost.Refused("with_margin needs what each point was rounded from, which a restarted searcher cannot know: leave it out")
        if name not in known:
            near = get_close_matches(name, known, 1, 0)
            raise tunehost.Refused(f"{kind.__name__} has no argument {name!r}" + (f"; nearest: {near[0]!r}" if near else ""))


def crossover(name: Any) -> Any:
    """One of the crossovers of NSGA, such as sbx."""
    module = optuna.samplers.nsgaii
    known = {n.removesuffix("Crossover").lower(): n for n in module.__all__ if n.endswith("Crossover") and n != "BaseCrossover"}
    if name not in known:
        raise ValueError(f"crossover {name!r} is unknown; there are {', '.join(sorted(known))}")
    return getattr(module, known[name])()


# Parameters as Optuna has them: choices are their indices, normal ones their place between 0 and 1.


def distribution(p: space.Param) -> BaseDistribution:
    if p.kind == space.Kind.NORMAL:
        return FloatDistribution(0, 1)
    if p.kind == space.Kind.CHOICE:
        return CategoricalDistribution(list(range(len(p.choices))))
    if p.kind == space.Kind.ORDINAL:
        return IntDistribution(0, len(p.choices) - 1)
    if p.lattice is None:
        return FloatDistribution(p.low, p.high, log=p.log)
    low, high = p.nth(0), p.nth((p.count or 1) - 1)
    if p.kind == space.Kind.INT:
        return IntDistribution(int(low), int(high), log=p.log, step=1 if p.log else int(p.step or 1))
    return FloatDistribution(low, high, log=p.log, step=None if p.log else p.step)


def encode(p: space.Param, x: float) -> Any:
    if p.kind == space.Kind.NORMAL:
        return p.to_unit(x)
    return x if p.kind == space.Kind.REAL else round(x)


def decode(p: space.Param, value: Any) -> float:
    if p.kind == space.Kind.NORMAL:
        return p.from_unit(value)
    return p.quantise(float(value))


def ask(trial: Trial, name: str, d: BaseDistribution) -> Any:
    if isinstance(d, CategoricalDistribution):
        return trial.suggest_categorical(name, d.choices)
    if isinstance(d, IntDistribution):
        return trial.suggest_int(name, d.low, d.high, log=d.log, step=d.step)
    assert isinstance(d, FloatDistribution)
    return trial.suggest_float(name, d.low, d.high, log=d.log, step=d.step)


class Storage(InMemoryStorage):
    """One study in memory, from which trials can be taken back: Optuna's have no such thing."""

    @property
    def count(self) -> int:
        return len(self._studies[0].trials)

    def trial(self, place: int) -> FrozenTrial:
        return self._studies[0].trials[place]

    def reopen(self, place: int) -> None:
        """Lets a trial that has ended run again."""
        trial = copy.copy(self.trial(place))
        trial.state = TrialState.RUNNING
        self._studies[0].trials[place] = trial

    def cut(self, count: int, notes: Dict[str, Any]) -> None:
        """Takes back the trials from count on, and the study's notes since."""
        study = self._studies[0]
        for trial in study.trials[count:]:
            del self._trial_id_to_study_id_and_number[trial._trial_id]
        del study.trials[count:]
        self._max_trial_id = count - 1
        self._prev_waiting_trial_number[0] = min(self._prev_waiting_trial_number[0], count)
        study.system_attrs = notes


if __name__ == "__main__":
    tunehost.serve(Optuna)
