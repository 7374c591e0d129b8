"""TunedCV: a search for scikit-learn, in the place of GridSearchCV."""

from __future__ import annotations

import math
import re
import warnings
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy
from joblib import effective_n_jobs
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import check_cv
from sklearn.model_selection._search import BaseSearchCV
from sklearn.model_selection._validation import _warn_or_raise_about_fit_failures
from sklearn.utils import check_random_state

from ._asktell import AskTell, Asked, TellFirst
from .tune import choice, loguniform, randint, uniform
from .tune._encode import is_grid

__all__ = ["TunedCV"]

Evaluate = Callable[[List[Dict[str, Any]]], Mapping[str, Any]]


class TunedCV(BaseSearchCV):  # type: ignore[misc]
    """Searches the parameters of an estimator by cross-validation, and is an estimator with the best ones:

        search = TunedCV(SVC(), {"C": tune.loguniform(1e-3, 1e3), "kernel": tune.choice(["rbf", "linear"])}, trials=50)
        search.fit(x, y).best_params_

    param_space is that of tune.Tuner, with names as set_params takes them ("svc__C" in a pipeline). As in GridSearchCV,
    a list, tuple, range or array is a choice of its values, as tune.grid_search is here, and as in RandomizedSearchCV,
    scipy's uniform, loguniform and randint are those distributions. A constant tuple is [(50, 50)]. A list of spaces is
    searched one after the other, each with its share of the trials and a record of its own. trials is how many points
    are tried; spaces with fewer points are tried whole. searcher is the name of a searcher of tunehost or a class of
    tune.search. storage is a directory for the record of each fit, under name and a number; None: nothing is recorded.
    random_state is the searcher's seed: an int gives the same points at each fit.

    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score and return_train_score are those of GridSearchCV, and
    so are the attributes after fit: best_estimator_, best_params_, best_score_, best_index_, cv_results_, scorer_,
    n_splits_ and refit_time_. With several metrics, refit must name the one that is searched for. fit evaluates as many
    points at a time as n_jobs allows, in this process and where joblib has its workers: a backend of joblib, and no
    executor of tunehost, takes the fits to other machines. A point whose fits fail has error_score in cv_results_, and is a failed trial if
    that is nan; fit fails if all of them do. cv_results_ has the points in the order in which they were tried.
    """

    def __init__(
        self,
        estimator: Any,
        param_space: Union[Mapping[str, Any], Sequence[Mapping[str, Any]]],
        *,
        trials: int = 50,
        searcher: Any = "auto",
        scoring: Any = None,
        n_jobs: Optional[int] = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = numpy.nan,
        return_train_score: bool = False,
        storage: Optional[str] = None,
        name: str = "tunedcv",
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.param_space = param_space
        self.trials = trials
        self.searcher = searcher
        self.random_state = random_state
        self.storage = storage
        self.name = name

    def _run_search(self, evaluate_candidates: Evaluate) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Called by fit: evaluates points, a few at a time, and tells the searcher their scores."""
        jobs: Any = self.n_jobs
        batch = max(1, effective_n_jobs(jobs) // self._folds())
        self._evaluation = evaluation = _Evaluation(evaluate_candidates, self._scores, self.error_score)
        try:
            self._search_all(evaluation, batch)
        finally:
            del self._evaluation

    def _search_all(self, evaluation: _Evaluation, batch: int) -> None:
        for space, trials in _shares(self.param_space, _count(self.trials)):
            self._search(space, trials, evaluation, batch)
        evaluation.complete()
        if evaluation.formatted:
            points, n_splits, fits, more = evaluation.formatted
            _warn_or_raise_about_fit_failures(fits, self.error_score)
            super()._format_results(points, n_splits, fits, more)

    def _format_results(self, candidate_params: Any, n_splits: int, out: Any, more_results: Any = None) -> Any:
        """Called by fit with all points that it has evaluated: leaves out what was evaluated again, and puts the others in
        the order in which they were tried."""
        rows = self._evaluation.rows(len(candidate_params))
        points = [candidate_params[row] for row in rows]
        fits = [fit for row in rows for fit in out[row * n_splits : (row + 1) * n_splits]]
        self._evaluation.formatted = points, n_splits, fits, more_results
        return super()._format_results(points, n_splits, fits, more_results)

    def __getstate__(self) -> Any:
        """scikit-learn hands the object to the processes that fit."""
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_evaluation"}

    def _search(self, space: Mapping[str, Any], trials: int, evaluation: _Evaluation, batch: int) -> None:
        """Searches one space."""
        with self._session(space, trials) as session:
            asked = _next(session, batch)
            while asked:
                for trial, score in zip(asked, evaluation.scores([trial.params for trial in asked])):
                    if numpy.isfinite(score):
                        session.tell(trial, float(score))
                    else:
                        session.fail(trial, f"its score is {score}: its fits failed")
                asked = _next(session, batch)

    def _session(self, space: Mapping[str, Any], trials: int) -> AskTell:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        name, storage = self._place()
        return AskTell(
            {key: _varied(key, value) for key, value in space.items()},
            "score",
            "max",
            trials=trials,
            searcher=self.searcher,
            seed=seed,
            name=name,
            storage=storage,
        )

    def _place(self) -> Tuple[str, str]:
        """The name and storage of this fit's record: a new one each time."""
        if self.storage is None:
            return self.name, "none"
        from .tune.tuner import claim

        return claim(self.storage, self.name)[1], self.storage

    def _folds(self) -> int:
        """How many fits a point takes at least."""
        cv: Any = self.cv
        try:
            splits: Any = check_cv(cv)
            return max(1, int(splits.get_n_splits()))
        except (TypeError, ValueError):  # it depends on the data
            return 1

    def _scores(self, results: Mapping[str, Any]) -> Any:
        """The score of all points so far."""
        if "mean_test_score" in results:
            return results["mean_test_score"]
        if not isinstance(self.refit, str):
            raise ValueError(f"refit is {self.refit!r:.40}: with several metrics it names the one that is searched for")
        return results[f"mean_test_{self.refit}"]


class _Evaluation:
    """Evaluates points. scikit-learn raises when all fits of one call fail, and keeps nothing of them then. So points
    that failed alone are evaluated again beside others: with the next ones, and in the end beside a good one."""

    def __init__(
        self, evaluate: Evaluate, scores: Callable[[Mapping[str, Any]], Any], error_score: Any = numpy.nan
    ) -> None:
        self._evaluate, self._scores, self._error_score = evaluate, scores, error_score
        self._kept: List[int] = []  #: what scikit-learn has: the points by their numbers, in its order
        self._asked: List[int] = []  #: the points of the present call
        self._good: List[Tuple[int, Dict[str, Any]]] = []  #: points of a call in which not all fits failed
        self._failed: List[Tuple[int, Dict[str, Any]]] = []  #: those that scikit-learn does not have
        self._errors: List[ValueError] = []
        self._tried = 0
        self.formatted: Any = None  #: what results were made of last: of all points

    def rows(self, count: int) -> List[int]:
        """The rows of scikit-learn's, which has count of them, in the order of the points. One that comes again is left
        out."""
        numbers = [*self._kept, *self._asked][:count]
        first = {number: row for row, number in reversed(list(enumerate(numbers)))}
        return [first[number] for number in sorted(first)]

    def scores(self, points: List[Dict[str, Any]]) -> List[float]:
        """The scores of points; error_score of those whose fits failed."""
        numbered = list(enumerate(points, self._tried))
        self._tried += len(points)
        found = self._found([*(self._failed if self._good else []), *numbered])
        if found is None:
            self._failed += numbered
            return [float(self._error_score)] * len(points)
        if not self._good or len(numbered) < len(self._good):
            self._good = numbered
        return [float(score) for score in found[-len(points) :]]

    def complete(self) -> None:
        """Evaluates beside good points those that failed since. Raises what scikit-learn has raised if all fits have
        failed."""
        if not self._kept and self._errors:
            raise self._all_failed()
        if self._failed:
            self._found([*self._failed, *self._good])

    def _found(self, numbered: Sequence[Tuple[int, Any]]) -> Any:
        """The scores of all points that scikit-learn has; None if all fits of these failed."""
        self._asked = [number for number, _ in numbered]
        try:
            with warnings.catch_warnings():  # what they say of all points follows in the end
                warnings.simplefilter("ignore", FitFailedWarning)
                warnings.filterwarnings("ignore", "One or more of the .* scores are non-finite")
                results = self._evaluate([point for _, point in numbered])
        except ValueError as e:
            if not _ALL_FAILED.search(str(e)):
                raise
            self._errors.append(e)
            return None
        self._kept, self._asked = self._kept + self._asked, []
        self._failed = [one for one in self._failed if one[0] not in self._kept]
        return self._scores(results)

    def _all_failed(self) -> ValueError:
        """The error of all calls together; that of the last one has the details."""
        fits = sum(int(found[1]) for found in map(_ALL_FAILED.search, map(str, self._errors)) if found)
        return ValueError(_ALL_FAILED.sub(f"All the {fits} fits failed", str(self._errors[-1]), count=1))


_ALL_FAILED = re.compile(r"All the (\d+) fits failed")


def _count(trials: Any) -> int:
    if isinstance(trials, bool) or not isinstance(trials, (int, numpy.integer)) or not (trials > 0 or trials == -1):
        raise ValueError(f"trials is {trials!r:.40}: expected a whole number from 1 on, or -1 for no limit")
    return int(trials)


def _shares(spaces: Any, trials: int) -> Iterator[Tuple[Mapping[str, Any], int]]:
    """The spaces that are searched, and with how many trials."""
    listed = list(spaces) if isinstance(spaces, (list, tuple)) else [spaces]
    if not listed:
        raise ValueError(f"param_space is {spaces!r}: expected a dict of parameters, or a list of such dicts")
    for space in listed:
        if not isinstance(space, Mapping):
            raise ValueError(f"param_space has {space!r:.60}: expected a dict of parameters, or a list of such dicts")
    for i, space in enumerate(listed):
        share = trials if trials < 0 else trials // len(listed) + (i < trials % len(listed))
        if share:
            yield space, share


def _varied(key: str, value: Any) -> Any:
    """A parameter as scikit-learn's searches take it."""
    if _lists(value):
        return choice(list(value))
    if is_grid(value):
        return choice(value["grid_search"])
    if not hasattr(value, "rvs"):
        return value
    name = getattr(getattr(value, "dist", None), "name", type(value).__name__)
    if name not in _DISTRIBUTIONS:
        raise ValueError(f"{key} is scipy's {name}: expected uniform, loguniform, randint, or one of tunehost.tune")
    low, high = value.support()
    if name in ("loguniform", "reciprocal") and not math.isclose(value.median(), math.sqrt(low * high)):
        raise ValueError(f"{key} is a loguniform of scipy's with a loc, which tunehost does not have: leave loc out")
    return _DISTRIBUTIONS[name](low, high)


def _lists(value: Any) -> bool:
    """Whether a value lists values, as GridSearchCV takes them, or as a column or an index of pandas does."""
    if isinstance(value, Sequence):
        return not isinstance(value, (str, bytes))
    return hasattr(value, "__array__") and numpy.ndim(value) > 0


#: What stands for the distributions of scipy, by the least and the largest value.
_DISTRIBUTIONS: Dict[str, Callable[[Any, Any], Any]] = {
    "uniform": lambda low, high: uniform(float(low), float(high)),
    "loguniform": lambda low, high: loguniform(float(low), float(high)),
    "reciprocal": lambda low, high: loguniform(float(low), float(high)),
    "randint": lambda low, high: randint(int(low), int(high) + 1),
}


def _next(session: AskTell, most: int) -> List[Asked]:
    """The next points, as many as the searcher has without a result of one of them."""
    found: List[Asked] = []
    while len(found) < most:
        try:
            trial = session.ask()
        except TellFirst:
            break
        if trial is None:
            break
        found.append(trial)
    return found
