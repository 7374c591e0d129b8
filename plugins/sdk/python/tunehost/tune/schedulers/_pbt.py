"""Population based training."""

from __future__ import annotations

import copy
import json
import math
import os
import random
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from .._plugin import Plugin, whole
from ..error import TuneError
from ..sample import Categorical, Domain, Float, uniform
from ..trial import Trial
from . import _bandit, _populations
from ._adaptive import Adaptive


class PopulationBasedTraining(Adaptive):
    """The worst trials continue from checkpoints of the best, with changed parameters.

    hyperparam_mutations says which parameters change: a domain, a list (values move to a neighbour), None for the
    parameter's own domain, a function that draws a value, or a dict of these for a nested config. A parameter that
    is constant in param_space starts there in each trial; one that is missing there starts at a value of its mutation.
    With time_attr="training_iteration", and without custom_explore_fn, functions, nested dicts and other domains than in
    param_space, it is tunehost's `pbt`; otherwise it follows Ray's rules in a process of its own. What custom_explore_fn
    returns is the config of the trial. synch: the trials wait for each other after each interval.
    """

    plugin = "pbt"

    def __init__(
        self,
        time_attr: str = "time_total_s",
        metric: Optional[str] = None,
        mode: Optional[str] = None,
        perturbation_interval: float = 60.0,
        burn_in_period: float = 0.0,
        hyperparam_mutations: Optional[Mapping[str, Any]] = None,
        quantile_fraction: float = 0.25,
        resample_probability: float = 0.25,
        perturbation_factors: Sequence[float] = (1.2, 0.8),
        custom_explore_fn: Optional[Callable[..., Any]] = None,
        log_config: bool = True,
        require_attrs: bool = True,
        synch: bool = False,
    ) -> None:
        me = type(self).__name__
        super().__init__(time_attr, metric, mode)
        if not hyperparam_mutations and custom_explore_fn is None:
            raise TuneError(f"{me} needs hyperparam_mutations: the parameters that may change")
        if quantile_fraction <= 0 or quantile_fraction > 0.5:
            raise ValueError(f"quantile_fraction is {quantile_fraction}: expected a number above 0 and at most 0.5")
        if perturbation_interval <= 0:
            raise ValueError(f"perturbation_interval is {perturbation_interval}: expected a number above 0")
        self.given: Dict[str, Any] = dict(hyperparam_mutations or {})
        self.mutations: Dict[str, Optional[Domain]] = {
            name: _domain(given) for name, given in self.given.items() if _is_domain(given)
        }
        self.explore = custom_explore_fn
        self.log_config = log_config  # the lineage is always recorded: tunehost lineage DIR
        self.interval: float
        self.burn_in: float
        self.interval, self.burn_in = perturbation_interval, burn_in_period
        self.quantile: float
        self.resample: float
        self.quantile, self.resample = float(quantile_fraction), float(resample_probability)
        self.factors: List[float] = [float(f) for f in perturbation_factors]
        self.require_attrs: bool
        self.synch: bool
        self.require_attrs, self.synch = require_attrs, bool(synch)
        self._population: Dict[int, _Member] = {}
        self._differs = False  # a parameter has another domain in param_space
        self.opens: bool = False  #: it follows Ray's rules: values leave their domains
        self._together = self.interval  # when synchronous trials are compared next

    def native(self) -> Optional[Dict[str, Any]]:
        odd = self.explore is not None or not self.require_attrs or len(self.mutations) < len(self.given)
        whole_numbers = self.interval == int(self.interval) and self.burn_in == int(self.burn_in)
        if odd or self._differs or self.time_attr != "training_iteration" or not whole_numbers:
            return None
        me = type(self).__name__
        return {
            "plugin": self.plugin,
            "interval": whole(me, "perturbation_interval", self.interval),
            "burn_in": whole(me, "burn_in_period", self.burn_in, 0),
            "quantile": self.quantile,
            "resample": self.resample,
            "factors": self.factors,
            "mutate": list(self.mutations),
            "sync": self.synch,
        }

    def space(self, param_space: Mapping[str, Any]) -> Dict[str, Any]:
        """The param_space with the domains of the mutations. With Ray's own rules a parameter gets values beside its domain:
        the space is wide enough for them."""
        found = dict(param_space)
        self._differs = any(
            d is not None and isinstance(found.get(name), Domain) and not _fits(found[name], d)
            for name, d in self.mutations.items()
        )
        for name, domain in self.mutations.items():
            own = found.get(name)
            if domain is None:
                if not isinstance(own, Domain):
                    raise TuneError(f"hyperparam_mutations: {name} has no domain, and none in param_space")
                self.given[name] = own
            elif not isinstance(own, Domain) or _fits(own, domain):
                found[name] = domain
        self.opens = self.opens or bool(self.served())
        return _populations.space(param_space, self.given) if self.opens else found

    def start(self, param_space: Mapping[str, Any]) -> Dict[str, Any]:
        """The values at which trials start, where these are not all that the space has: a list for each parameter."""
        if self.opens:
            return _populations.starts(param_space, self.given)
        return {
            name: [param_space[name]]
            for name, domain in self.mutations.items()
            if domain is not None and name in param_space and not isinstance(param_space[name], Domain)
        }

    # Ray's rules.

    def on_trial_add(self, tune_controller: Any, trial: Trial) -> None:
        self._population[trial.number] = _Member()

    def on_trial_result(self, tune_controller: Any, trial: Trial, result: Dict[str, Any]) -> str:
        score, time = self.score(result), result.get(self.time_attr)
        if time is None or self.metric not in result:
            if self.require_attrs:
                missing = self.time_attr if time is None else self.metric
                raise ValueError(f"a result has no {missing}: report it, or write require_attrs=False")
            return self.CONTINUE
        member = self._population[trial.number]
        if time < self.burn_in or time - member.perturbed < self.interval:
            return self.CONTINUE
        member.score, member.time, member.perturbed = score, time, time
        if self.synch:
            self._reason = f"it waits for the others at {time:g} of {self.time_attr}"
            return self.PAUSE
        worst, best = self._quantiles(tune_controller)
        member.gives = trial in best
        if member.gives:
            self._reason = f"{self.text(score or 0)} is among the best: it saves a checkpoint for others"
            return self.PAUSE
        if trial in worst and self._replaced(trial, best):
            return self.PAUSE
        waits = any(t.status == Trial.PENDING for t in tune_controller.get_trials())
        self._reason = "it makes room for others"
        return self.PAUSE if waits else self.CONTINUE

    def _quantiles(self, tune_controller: Any) -> Tuple[List[Trial], List[Trial]]:
        """The worst and the best trials that have not ended."""
        scores = {n: m.score for n, m in self._population.items() if m.score is not None}
        trials = [t for t in tune_controller.get_live_trials() if t.number in scores]
        trials.sort(key=lambda t: scores[t.number])
        count = min(math.ceil(len(trials) * self.quantile), len(trials) // 2)
        return (trials[:count], trials[len(trials) - count :]) if count else ([], [])

    def _replaced(self, trial: Trial, best: List[Trial]) -> bool:
        """Replaces a trial by one of the best, unless that one was not among the best when it was compared last: then it
        has saved no checkpoint for others."""
        donor = random.choice(best)
        ready = self._population[donor.number].gives and bool(getattr(donor, "_saved", 0))
        if ready:
            self._replace(trial, donor)
        return ready

    def _replace(self, trial: Trial, donor: Trial) -> None:
        """Makes a trial continue from another one, when it is resumed."""
        config = self.another(trial, donor)
        mine, its = self._population[trial.number], self._population[donor.number]
        self._reason = f"{self.text(mine.score or 0)} is among the worst: it goes on from trial {donor.number}"
        reason = f"{self._reason}, which has {self.text(its.score or 0)}"
        trial._exploit = (donor.number, donor._saved, config, reason)  # type: ignore[attr-defined]
        mine.perturbed, mine.time = its.perturbed, its.time

    def another(self, trial: Trial, donor: Trial) -> Dict[str, Any]:
        """A new config for a trial that continues from a donor; again, where the last one broke a constraint."""
        config = self.changed(trial, donor)
        if self.explore is not None:
            config = self.explore(config)
            if not isinstance(config, dict):
                raise TypeError(f"custom_explore_fn returned {config!r:.60}: expected the new config, a dict")
        return config

    def changed(self, trial: Trial, donor: Trial) -> Dict[str, Any]:
        """The donor's config with other values."""
        return explored(donor.config, self.given, self.resample, self.factors)

    def _compare(self, tune_controller: Any, trials: List[Trial]) -> None:
        """Replaces the worst of synchronous trials, once all of them wait."""
        live = [t for t in trials if not t.is_finished()]
        behind = [t for t in live if self._population[t.number].time < self._together]
        if not live or behind or any(t.status != Trial.PAUSED for t in live):
            return
        worst, best = self._quantiles(tune_controller)
        for trial in best:
            self._population[trial.number].gives = True  # it is paused, with a checkpoint
        for trial in worst:
            self._replaced(trial, best)
        last = max(self._population[t.number].time for t in live)
        self._together = max(self._together + self.interval, last)

    def choose_trial_to_run(self, tune_controller: Any) -> Optional[Trial]:
        if self.synch:
            self._compare(tune_controller, tune_controller.get_trials())
        trials: List[Trial] = tune_controller.get_trials()
        paused = [t for t in trials if t.status == Trial.PAUSED]
        given: List[Trial] = [t for t in paused if hasattr(t, "_exploit")]
        if given:
            return given[0]
        if any(t.status == Trial.PENDING for t in trials):
            return None
        if self.synch:
            paused = [t for t in paused if self._population[t.number].time < self._together]
        paused.sort(key=lambda t: self._population[t.number].time)
        return paused[0] if paused else None


class _Member:
    """A trial of the population."""

    def __init__(self) -> None:
        self.score: Optional[float] = None
        self.time = 0.0  # of its last comparison
        self.perturbed = 0.0
        self.gives = False  # it was among the best when it was compared last, and has saved a checkpoint for others


def explored(
    config: Mapping[str, Any], mutations: Mapping[str, Any], resample: float, factors: Sequence[float]
) -> Dict[str, Any]:
    """A config with other values, by Ray's rules: drawn anew, moved to a neighbour, or multiplied."""
    found = copy.deepcopy(dict(config))
    for name, given in mutations.items():
        old = config[name]
        if isinstance(given, Mapping):
            found[name] = explored(old, given, resample, factors)
            continue
        values = given.categories if isinstance(given, Categorical) else given
        if isinstance(values, (list, tuple)):
            found[name] = _neighbour(list(values), old, resample)
            continue
        new = (draw(given) if isinstance(given, Domain) else given()) if random.random() < resample else None
        new = old * random.choice(list(factors)) if new is None else new
        found[name] = bool(new) if isinstance(old, bool) else round(new) if isinstance(old, int) else new
    return found


def _neighbour(values: List[Any], old: Any, resample: float) -> Any:
    if random.random() < resample or old not in values:
        return random.choice(values)
    return values[min(max(values.index(old) + random.choice([-1, 1]), 0), len(values) - 1)]


def draw(domain: Domain) -> Any:
    """A random value of a domain."""
    if isinstance(domain, Categorical):
        return random.choice(domain.categories)
    form = domain.form()
    kind = next(k for k in ("uniform", "loguniform", "int", "normal") if k in form)
    low, high = form[kind]
    if kind == "normal":
        value = random.gauss(low, high)
    elif kind == "loguniform" or form.get("log"):
        value = math.exp(random.uniform(math.log(low), math.log(high)))
    elif kind == "int":
        value = random.randint(low, high)
    else:
        value = random.uniform(low, high)
    step = form.get("step")
    value = round(value / step) * step if step else value
    return int(value) if kind == "int" else value


def _is_domain(given: Any) -> bool:
    return given is None or isinstance(given, (Domain, list, tuple))


def _domain(given: Any) -> Optional[Domain]:
    return _populations.Ordinal(list(given)) if isinstance(given, (list, tuple)) else given


def _fits(own: Domain, other: Domain) -> bool:
    """Whether the domains have the same values."""
    return own.form() == other.form()


class PB2(PopulationBasedTraining):
    """Population based bandits: a model chooses the values within hyperparam_bounds, {NAME: [least, most]}. With
    time_attr="training_iteration" and no custom_explore_fn it is tunehost's `pb2`; otherwise it follows Ray's rules in a
    process of its own, which needs numpy."""

    plugin = "pb2"

    def __init__(
        self,
        time_attr: str = "time_total_s",
        metric: Optional[str] = None,
        mode: Optional[str] = None,
        perturbation_interval: float = 60.0,
        hyperparam_bounds: Optional[Mapping[str, Any]] = None,
        quantile_fraction: float = 0.25,
        log_config: bool = True,
        require_attrs: bool = True,
        synch: bool = False,
        custom_explore_fn: Optional[Callable[..., Any]] = None,
    ) -> None:
        if not hyperparam_bounds:
            raise TuneError('PB2 needs hyperparam_bounds, such as {"lr": [0.0001, 0.1]}')
        self.bounds: Dict[str, Float] = {name: _range(name, bounds) for name, bounds in hyperparam_bounds.items()}
        self._seen: List[_bandit.Seen] = []
        super().__init__(
            time_attr,
            metric,
            mode,
            perturbation_interval,
            0.0,
            self.bounds,
            quantile_fraction,
            0.25,
            (1.2, 0.8),
            custom_explore_fn,
            log_config,
            require_attrs,
            synch,
        )

    def space(self, param_space: Mapping[str, Any]) -> Dict[str, Any]:
        """The param_space; a parameter that has a domain of numbers with these bounds keeps it."""
        found = dict(param_space)
        for name, bounds in self.bounds.items():
            own = found.get(name)
            if isinstance(own, Float) and next(iter(own.form().values())) == bounds.form()["uniform"]:
                continue
            if isinstance(own, Domain):
                self._differs = True
            else:
                found[name] = bounds
        self.opens: bool = self.opens or bool(self.served())
        return _populations.space(param_space, self.given) if self.opens else found

    def on_trial_result(self, tune_controller: Any, trial: Trial, result: Dict[str, Any]) -> str:
        score, time = self.score(result), result.get(self.time_attr)
        if score is not None and time is not None:
            point = [float(trial.config[name]) for name in self.bounds]
            self._seen.append(_bandit.Seen(trial.number, float(time), score, point))
        return super().on_trial_result(tune_controller, trial, result)

    def changed(self, trial: Trial, donor: Trial) -> Dict[str, Any]:
        """The donor's config with the values at which a model expects the largest improvement."""
        bounds = [bounds.form()["uniform"] for bounds in self.bounds.values()]
        values = _bandit.best(self._seen, bounds, self._population[donor.number].time)
        config = copy.deepcopy(donor.config)
        for name, value in zip(self.bounds, values):
            config[name] = int(value) if isinstance(donor.config[name], int) else value
        return config


def _range(name: str, bounds: Any) -> Float:
    values: List[Any] = list(bounds) if isinstance(bounds, (list, tuple)) else []
    if len(values) != 2:
        raise TuneError(f"hyperparam_bounds: {name} is {bounds!r:.60}, expected [least, most]")
    return uniform(values[0], values[1])


class PopulationBasedTrainingReplay(Plugin):
    """Trains with the schedule of parameters in a policy file of Ray's PopulationBasedTraining: a line of JSON for each
    change. It becomes tunehost's `pbt-replay`. The trial begins with the first parameters of the file. The schedule
    that tunehost has found is printed by `tunehost lineage DIR TRIAL --policy`."""

    needs_metric = False

    def __init__(self, policy_file: str) -> None:
        with open(os.path.expanduser(policy_file), encoding="utf-8") as f:
            rows = [json.loads(line) for line in f if line.strip()]
        self.config: Dict[str, Any]
        self.config, changes = _policy(rows)  #: the parameters of the beginning
        super().__init__("pbt-replay", policy=[{"iteration": at, "params": params} for at, params in changes])

    def space(self, param_space: Mapping[str, Any]) -> Dict[str, Any]:
        """The param_space in which every parameter that changes may have the values of the policy."""
        found = {**self.config, **param_space}
        for name in dict.fromkeys(k for change in self.options["policy"] for k in change["params"]):
            values = [found[name]] if name in found and not isinstance(found[name], Domain) else []
            values += [c["params"][name] for c in self.options["policy"] if name in c["params"]]
            found[name] = Categorical([v for i, v in enumerate(values) if v not in values[:i]])
        return found

    def start(self, param_space: Mapping[str, Any]) -> Dict[str, Any]:
        """The parameters with which the trial begins, as lists of one."""
        changed = {k for change in self.options["policy"] for k in change["params"]}
        known = {**self.config, **param_space}
        return {k: [v] for k, v in known.items() if k in changed and not isinstance(v, Domain)}


def _policy(rows: Sequence[Any]) -> Tuple[Dict[str, Any], List[Tuple[int, Dict[str, Any]]]]:
    """The config of the beginning, and the changes with their iterations. Of Ray's rows, those before the last time that
    a trial was replaced do not count: their tags do not continue."""
    config: Dict[str, Any] = {}
    changes: List[Tuple[int, Dict[str, Any]]] = []
    last = None
    for old_tag, new_tag, _, at, old, new in reversed(rows):
        if last is not None and old_tag != last:
            break
        last, config = new_tag, old
        changes.insert(0, (int(at), new))
    return config, changes
