"""What the scheduler decides, without a host."""

import importlib.util
import unittest
from pathlib import Path
from typing import Any, Dict, List

import tunehost
from tunehost.events import Event, EventKind, Objective, Problem, Verdict
from tunehost.space import Space

spec = importlib.util.spec_from_file_location("scheduler", Path(__file__).parent / "scheduler" / "main.py")
assert spec and spec.loader
scheduler = importlib.util.module_from_spec(spec)
spec.loader.exec_module(scheduler)


def opened(name: str, arguments: Dict[str, Any], objectives: int = 1) -> Any:
    s = scheduler.Optuna()
    s.problem = Problem(Space([]), [Objective("loss", False)] * objectives, 7, 20, 4)
    s.configure({"pruner": name, "arguments": arguments})
    s.open()
    return s


class Story:
    """Twelve trials, one after the other, each worse than the one before."""

    def __init__(self, scheduler: Any) -> None:
        self.scheduler, self.number, self.reasons = scheduler, 0, {}
        for trial in range(12):
            self.tell(EventKind.TRIAL_ADDED, trial)
            for iteration in range(1, 17):
                decisions = self.tell(EventKind.RESULT_REPORTED, trial, iteration=iteration, losses=[trial + 1 / iteration])
                if decisions and decisions[0].verdict == Verdict.STOP:
                    self.reasons[trial] = decisions[0].reason
                    break
            self.tell(EventKind.TRIAL_FAILED if trial == 3 else EventKind.TRIAL_COMPLETED, trial)

    def tell(self, kind: EventKind, trial: int, **rest: Any) -> List[tunehost.Decision]:
        self.number += 1
        decisions: List[tunehost.Decision] = self.scheduler.decide([Event(self.number, kind, trial, **rest)])
        return decisions


class Pruners(unittest.TestCase):
    def test_pruners(self) -> None:
        for name, arguments, stopped in [
            ("median", {"n_startup_trials": 5, "n_warmup_steps": 2}, [6, 7, 8, 9, 10, 11]),
            ("PercentilePruner", {"percentile": 90.0, "n_startup_trials": 5}, [6, 7, 8, 9, 10, 11]),
            ("successivehalving", {}, list(range(2, 12))),
            ("threshold", {"upper": 8.5}, [8, 9, 10, 11]),
            ("patient", {"wrapped_pruner": {"pruner": "threshold", "upper": 8.5}, "patience": 2}, []),
            ("nop", {}, []),
        ]:
            with self.subTest(name=name):
                self.assertEqual(sorted(Story(opened(name, arguments)).reasons), stopped)

    def test_hyperband(self) -> None:
        """The brackets are the same after a restart."""
        arguments = {"min_resource": 1, "max_resource": 16}
        first, second = (Story(opened("hyperband", arguments)).reasons for _ in range(2))
        self.assertEqual(first, second)
        self.assertTrue(0 < len(first) < 12)

    def test_reason(self) -> None:
        reasons = Story(opened("threshold", {"upper": 8.5})).reasons
        self.assertEqual(reasons[8], "Optuna's ThresholdPruner: loss 9 at iteration 1")

    def test_mistakes(self) -> None:
        for name, arguments, objectives, message in [
            ("meidan", {}, 1, "pruner 'meidan' is unknown; nearest: 'median'"),
            ("median", {"n_startup": 3}, 1, "MedianPruner has no argument 'n_startup'; nearest: 'n_startup_trials'"),
            ("percentile", {}, 1, "missing 1 required positional argument: 'percentile'"),
            ("patient", {"wrapped_pruner": "median", "patience": 1}, 1, "wrapped_pruner is no pruner; write {pruner: median"),
            ("median", {}, 2, "compare one metric"),
        ]:
            with self.subTest(message=message), self.assertRaises(tunehost.Refused) as e:
                opened(name, arguments, objectives)
            self.assertIn(message, str(e.exception))


if __name__ == "__main__":
    unittest.main()
