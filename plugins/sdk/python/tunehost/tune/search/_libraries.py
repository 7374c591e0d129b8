"""Searchers of other libraries themselves, for arguments that tunehost's own methods do not have. Each runs in a
process of its own, which imports the library."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import json
import math
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from .. import sample
from ..error import TuneError
from ..sample import Categorical, Domain
from .searcher import Searcher


def installed(module: str) -> bool:
    """Whether a library is there. It is not imported."""
    return importlib.util.find_spec(module) is not None


def domains(space: Mapping[str, Any], prefix: str = "") -> Dict[str, Domain]:
    """The domains of a space, nested names joined with "/"."""
    found: Dict[str, Domain] = {}
    for name, value in space.items():
        if isinstance(value, Domain):
            found[f"{prefix}{name}"] = value
        elif isinstance(value, Mapping):
            found.update(domains(value, f"{prefix}{name}/"))
    return found


def unflat(values: Mapping[str, Any]) -> Dict[str, Any]:
    """A config of joined names."""
    found: Dict[str, Any] = {}
    for name, value in values.items():
        *groups, last = name.split("/")
        place = found
        for group in groups:
            place = place.setdefault(group, {})
        place[last] = value
    return found


class Library(Searcher):
    """What they have in common: a subclass makes its optimizer when it is first asked, in the process that asks."""

    module = ""  #: that must be installed
    package = ""  #: that has it

    def __init__(self, space: Any, metric: Optional[str], mode: Optional[str], points: Any) -> None:
        super().__init__(metric, mode)
        if not installed(self.module):
            raise TuneError(f"{type(self).__name__} needs the library {self.package}: pip install {self.package}")
        self._space, self._points = space, [dict(p) for p in points or ()]
        self._optimizer: Any = None
        self._asked: Dict[str, Any] = {}

    def set_search_properties(self, metric: Any, mode: Any, config: Dict[str, Any], **spec: Any) -> bool:
        self._metric, self._mode = self._metric or metric, self._mode or mode
        if self._space is None:
            self._space = self.convert(config)
        return True

    def convert(self, param_space: Mapping[str, Any]) -> Any:
        """The space of the library for that of an experiment."""
        raise NotImplementedError

    def begin(self) -> Any:
        """Makes the optimizer."""
        raise NotImplementedError

    @property
    def optimizer(self) -> Any:
        """The library's optimizer."""
        if self._optimizer is None:
            self._optimizer = self.begin()
        return self._optimizer

    def loss(self, result: Mapping[str, Any]) -> float:
        """The value of a result, smaller is better."""
        value = float(result[self._metric])
        return -value if self._mode == "max" else value


class HyperOpt(Library):
    """Tree-structured Parzen estimators of hyperopt."""

    module = package = "hyperopt"

    def __init__(
        self,
        space: Any,
        metric: Optional[str],
        mode: Optional[str],
        points: Any,
        n_initial_points: Optional[int],
        seed: Optional[int],
        gamma: Optional[float],
    ) -> None:
        super().__init__(space, metric, mode, points)
        given = {"n_startup_jobs": n_initial_points, "gamma": gamma}
        self._given = {k: v for k, v in given.items() if v is not None}
        self._seed = seed
        self._tried = 0

    def begin(self) -> Any:
        import hyperopt
        import numpy
        from hyperopt.fmin import generate_trials_to_calculate

        self._domain = hyperopt.Domain(_same, self._space)
        self._random = numpy.random.RandomState(self._seed)
        self._suggest = functools.partial(hyperopt.tpe.suggest, **self._given)
        if not self._points:
            return hyperopt.Trials()
        trials = generate_trials_to_calculate([self._indices(p) for p in self._points])
        trials.refresh()
        return trials

    def _indices(self, point: Mapping[str, Any]) -> Dict[str, Any]:
        """A point with the numbers of choices instead of their values."""
        found = dict(point)
        for name, node in self._space.items():
            if name in found and getattr(node, "name", "") == "switch":
                values = [a.obj for a in node.pos_args[1:] if a.name == "literal"]
                if found[name] not in values:
                    raise TuneError(f"points_to_evaluate: {found[name]!r:.60} is no value of {name}")
                found[name] = values.index(found[name])
        return found

    def suggest(self, trial_id: str) -> Any:
        import hyperopt

        trials = self.optimizer
        if self._tried < len(self._points):
            trial = trials.trials[self._tried]
            self._tried += 1
        else:
            ids = trials.new_trial_ids(1)
            trials.refresh()
            trials.insert_trial_docs(
                self._suggest(ids, self._domain, trials, int(self._random.randint(2**31 - 1)))
            )
            trials.refresh()
            trial = next(t for t in trials.trials if t["tid"] == ids[0])
        self._asked[trial_id] = trial["tid"]
        return dict(hyperopt.space_eval(self._space, hyperopt.base.spec_from_misc(trial["misc"])))

    def on_trial_complete(self, trial_id: str, result: Optional[Dict[str, Any]] = None, error: bool = False) -> None:
        import hyperopt

        number = self._asked.pop(trial_id)
        trial = next(t for t in self.optimizer.trials if t["tid"] == number)
        if error or not result:
            trial["state"] = hyperopt.base.JOB_STATE_ERROR
            trial["misc"]["error"] = ("TuneError", "the trial failed")
        else:
            trial["state"] = hyperopt.base.JOB_STATE_DONE
            trial["result"] = {"loss": self.loss(result), "status": "ok"}
        self.optimizer.refresh()


def _same(value: Any) -> Any:
    return value


class BayesOpt(Library):
    """The Gaussian process of bayesian-optimization."""

    module, package = "bayes_opt", "bayesian-optimization"

    def __init__(
        self,
        space: Optional[Mapping[str, Any]],
        metric: Optional[str],
        mode: Optional[str],
        points: Any,
        utility: Optional[Mapping[str, Any]],
        seed: int,
        steps: int,
        verbose: int,
        patience: int,
        skip_duplicate: bool,
        analysis: Any,
        precision: int,
    ) -> None:
        if patience <= 0:
            raise ValueError(f"patience is {patience}: expected a number above 0")
        if isinstance(precision, bool) or not isinstance(precision, int) or precision < 0:
            raise ValueError(f"repeat_float_precision is {precision!r}: expected an integer from 0")
        super().__init__(dict(space) if space else None, metric, mode, points)
        self._utility = dict(utility or {"kind": "ucb", "kappa": 2.576, "xi": 0.0})
        self._seed, self._steps, self._verbose = seed, steps, verbose
        self._patience, self._skip, self._precision = patience, skip_duplicate, precision
        self._known = _measured(analysis, metric, mode)
        self._waiting: List[Tuple[Dict[str, float], float]] = []
        self._drawn = 0
        self._seen: Dict[str, int] = {}

    def convert(self, param_space: Mapping[str, Any]) -> Any:
        return {name: _bounds(name, domain, "BayesOptSearch") for name, domain in domains(param_space).items()}

    def begin(self) -> Any:
        import bayes_opt

        given: Dict[str, Any] = {"pbounds": self._space, "verbose": self._verbose, "random_state": self._seed}
        if hasattr(bayes_opt, "UtilityFunction"):
            made = bayes_opt.BayesianOptimization(f=None, **given)
            self._next = functools.partial(made.suggest, bayes_opt.UtilityFunction(**self._utility))
        else:
            made = bayes_opt.BayesianOptimization(f=None, acquisition_function=_acquisition(self._utility), **given)
            self._next = made.suggest
        for params, value in self._known:
            made.register(params, value if self._mode == "max" else -value)
        return made

    def suggest(self, trial_id: str) -> Any:
        self.optimizer  # it exists from here on
        given = self._points.pop(0) if self._points else None
        point = {k: float(v) for k, v in (given or self._next()).items()}
        key = json.dumps({k: round(v, self._precision) for k, v in sorted(point.items())})
        times = self._seen[key] = self._seen.get(key, 0) + 1
        if max(self._seen.values()) > self._patience:
            return Searcher.FINISHED  # it has converged
        if times > 1 and self._skip:
            return None
        if len(self._waiting) < self._steps:
            if self._drawn == self._steps:
                return None  # the random ones must end first
            self._drawn += 1
        self._asked[trial_id] = point
        return unflat(point)

    def on_trial_complete(self, trial_id: str, result: Optional[Dict[str, Any]] = None, error: bool = False) -> None:
        point = self._asked.pop(trial_id, None)
        if point is None or error or not result or not math.isfinite(self.loss(result)):
            return
        learned = len(self._waiting) >= self._steps
        self._waiting.append((point, -self.loss(result)))
        if learned:
            self.optimizer.register(*self._waiting[-1])
        elif len(self._waiting) == self._steps:
            for one in self._waiting:
                self.optimizer.register(*one)


def _acquisition(utility: Mapping[str, Any]) -> Any:
    """The function of newer versions of the library."""
    from bayes_opt import acquisition

    if utility.get("kind", "ucb") == "ucb":
        return acquisition.UpperConfidenceBound(kappa=utility.get("kappa", 2.576))
    made = {"ei": acquisition.ExpectedImprovement, "poi": acquisition.ProbabilityOfImprovement}[utility["kind"]]
    return made(xi=utility.get("xi", 0.0))


def _measured(analysis: Any, metric: Optional[str], mode: Optional[str]) -> List[Tuple[Dict[str, float], float]]:
    """The points of another experiment, and their values."""
    if analysis is None:
        return []
    if not metric:
        raise TuneError("BayesOptSearch(analysis=…) needs metric=NAME")
    rows = []
    for trial in analysis.trials:
        if metric in trial.metric_analysis:
            value = trial.metric_analysis[metric][mode or "max"]
            rows.append(({k: v for k, v in trial.config.items() if isinstance(v, (int, float))}, value))
    return rows


def _bounds(name: str, domain: Domain, who: str) -> Tuple[float, float]:
    form = domain.form()
    for kind in ("uniform", "loguniform"):
        if kind in form:
            return float(form[kind][0]), float(form[kind][1])
    raise TuneError(f"{who} has real numbers only: {name} is {domain!r:.60}")


class Nevergrad(Library):
    """An optimizer of nevergrad."""

    module = package = "nevergrad"

    def __init__(
        self, optimizer: Any, settings: Mapping[str, Any], space: Any, metric: Any, mode: Any, points: Any
    ) -> None:
        super().__init__(space, metric, mode, points)
        made = not inspect.isclass(optimizer) and hasattr(optimizer, "ask")
        if made and settings:
            raise ValueError("optimizer_kwargs are for a class: this optimizer has been made already")
        if made and space is not None and not isinstance(space, list):
            raise ValueError("with an optimizer that has been made, space is a list of names, or left out")
        if not made and isinstance(space, Mapping) and not hasattr(space, "value"):
            self._space = self.convert(space)
        self._given, self._made, self._settings = optimizer, made, dict(settings)
        if made and self._space is None:
            self._space = []

    def convert(self, param_space: Mapping[str, Any]) -> Any:
        import nevergrad

        return nevergrad.p.Dict(**{name: _parameter(name, d) for name, d in domains(param_space).items()})

    def begin(self) -> Any:
        made = self._given if self._made else self._given(self._space, **self._settings)
        for point in reversed(self._points):
            made.suggest(point)
        return made

    def suggest(self, trial_id: str) -> Any:
        found = self._asked[trial_id] = self.optimizer.ask()
        if found.kwargs:
            return unflat(found.kwargs)
        if isinstance(self._space, list) and self._space:
            return unflat(dict(zip(self._space, map(float, found.args[0]))))
        return unflat(found.value)

    def on_trial_complete(self, trial_id: str, result: Optional[Dict[str, Any]] = None, error: bool = False) -> None:
        asked = self._asked.pop(trial_id)
        if result and not error:
            self.optimizer.tell(asked, self.loss(result))


def _parameter(name: str, domain: Domain) -> Any:
    """A domain as a parameter of nevergrad."""
    import nevergrad

    p = nevergrad.p
    if isinstance(domain, Categorical):
        return p.Choice(choices=domain.categories)
    form = domain.form()
    if "loguniform" in form:
        return p.Log(lower=form["loguniform"][0], upper=form["loguniform"][1], exponent=math.e)
    if "uniform" in form:
        return p.Scalar(lower=form["uniform"][0], upper=form["uniform"][1])
    if "int" in form:
        low, high = form["int"]
        made = p.Log(lower=low, upper=high, exponent=math.e) if form.get("log") else p.Scalar(lower=low, upper=high)
        return made.set_integer_casting()
    raise TuneError(f"NevergradSearch has no parameter like {name}: {domain!r:.60}")


class ZOOpt(Library):
    """The optimizer of zoopt."""

    module = package = "zoopt"

    def __init__(
        self,
        algo: str,
        budget: int,
        space: Optional[Mapping[str, Any]],
        metric: Optional[str],
        mode: Optional[str],
        points: Any,
        parallel: int,
        more: Mapping[str, Any],
    ) -> None:
        super().__init__(dict(space) if space else None, metric, mode, points)
        self._algo, self._budget, self._parallel, self._more = algo, budget, parallel, dict(more)

    def convert(self, param_space: Mapping[str, Any]) -> Any:
        return {name: _dimension(name, domain) for name, domain in domains(param_space).items()}

    def begin(self) -> Any:
        import zoopt
        from zoopt.algos.opt_algorithms.racos.sracos import SRacosTune
        from zoopt.solution import Solution

        self._names = list(self._space)
        points = [Solution(x=tuple(point[name] for name in self._names)) for point in self._points]
        parameter = zoopt.Parameter(budget=self._budget, init_samples=points or None)
        dimension = zoopt.Dimension2(list(self._space.values()))
        return SRacosTune(dimension=dimension, parameter=parameter, parallel_num=self._parallel, **self._more)

    def suggest(self, trial_id: str) -> Any:
        solution = self.optimizer.suggest()
        if solution == "FINISHED":
            return Searcher.FINISHED
        if not solution:
            return None
        self._asked[trial_id] = solution
        return unflat(dict(zip(self._names, solution.get_x())))

    def on_trial_complete(self, trial_id: str, result: Optional[Dict[str, Any]] = None, error: bool = False) -> None:
        solution = self._asked.pop(trial_id)
        if result and not error:
            self.optimizer.complete(solution, self.loss(result))


def _dimension(name: str, domain: Domain) -> Any:
    """A domain as a dimension of zoopt."""
    from zoopt import ValueType

    if isinstance(domain, Categorical):
        return (ValueType.GRID, domain.categories)
    form = domain.form()
    if "uniform" in form:
        return (ValueType.CONTINUOUS, list(form["uniform"]), form.get("step", 1e-12))
    if "int" in form and not form.get("log"):
        return (ValueType.DISCRETE, list(form["int"]), True)
    raise TuneError(f"ZOOptSearch has no dimension like {name}: {domain!r:.60}")


def only_domains(space: Any) -> bool:
    """Whether a space is one of tunehost.tune, and not of a library."""
    return isinstance(space, Mapping) and bool(domains(space))


def configured(space: Any) -> Dict[str, Any]:
    """A space of the library ConfigSpace as a param_space."""
    if getattr(space, "conditions", None) or getattr(space, "forbidden_clauses", None):
        raise TuneError("a space of ConfigSpace with conditions or forbidden clauses is not supported: leave them out")
    return {name: _configured(name, one) for name, one in dict(space).items()}


def _configured(name: str, given: Any) -> Any:
    """A hyperparameter of ConfigSpace as a domain."""
    kind = type(given).__name__
    if kind == "UniformFloatHyperparameter":
        return (sample.loguniform if given.log else sample.uniform)(given.lower, given.upper)
    if kind == "UniformIntegerHyperparameter":
        return (sample.lograndint if given.log else sample.randint)(int(given.lower), int(given.upper) + 1)
    if kind == "CategoricalHyperparameter":
        return sample.choice(list(given.choices))
    if kind == "OrdinalHyperparameter":
        return sample.choice(list(given.sequence))
    if kind == "Constant":
        return given.value
    raise TuneError(f"the space of ConfigSpace has {name}, a {kind}: give a param_space")
