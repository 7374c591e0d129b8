"""What the searcher answers, without a host."""

import importlib.util
import math
import unittest
from pathlib import Path
from typing import Any, Dict, List, Tuple

import tunehost
from tunehost._expr import IN, LE, NUMBER, Expr
from tunehost.events import Event, EventKind, Objective, Problem, Request
from tunehost.space import Kind, Param, Space

spec = importlib.util.spec_from_file_location("searcher", Path(__file__).parent / "searcher" / "main.py")
assert spec and spec.loader
searcher = importlib.util.module_from_spec(spec)
spec.loader.exec_module(searcher)

LR = Param("lr", Kind.REAL, 1e-4, 1, log=True)
TREE = Space([
    Param("optimizer", Kind.CHOICE, choices=("sgd", "adam", None)), LR,
    Param("momentum", Kind.REAL, 0, 1, when=Expr(IN, param=0, set=(0,))),
    Param("units", Kind.INT, 1, 64, log=True), Param("drop", Kind.REAL, 0.05, 1, step=0.1), Param("most", Kind.INT, 3, 60, step=4),
    Param("bias", Kind.NORMAL, mean=0, sd=2), Param("size", Kind.ORDINAL, choices=(1, 2, 4)),
], [Expr(LE, args=(Expr(NUMBER, param=3), Expr(NUMBER, param=5)))])
FLAT = Space([LR, Param("bias", Kind.NORMAL, mean=0, sd=2)])
SMALL = Space([Param("optimizer", Kind.CHOICE, choices=("sgd", "adam")),
               Param("momentum", Kind.REAL, 0, 1, step=0.25, when=Expr(IN, param=0, set=(0,)))])
Case = Tuple[str, Dict[str, Any], Space, int]
NAN = math.nan


def opened(case: Case) -> Any:
    name, arguments, space, objectives = case
    s = searcher.Optuna()
    s.space, s.problem = space, Problem(space, [Objective("loss", False)] * objectives, 2**63 + 5, 100, 4)
    s.configure({"sampler": name, "arguments": arguments})
    s.open()
    return s


def loss(space: Space, point: List[float]) -> float:
    params = space.params(point)
    return (math.log10(params.get("lr", 1)) + 2) ** 2 + params.get("momentum", 0.3) + abs(params.get("bias", 0) - 1)


def same(a: List[float], b: List[float]) -> bool:
    return len(a) == len(b) and all(x == y or x != x and y != y for x, y in zip(a, b))


class Story:
    """An experiment in which four trials run at a time, every seventh fails, and every ninth
    never reports."""

    def __init__(self, case: Case, trials: int) -> None:
        self.case, self.events, self.answers = case, [], []
        self.searcher, space = opened(case), case[2]
        for n in range(trials):
            answer = self.searcher.suggest(Request(n, 1000 + n, None, space))
            self.answers.append((len(self.events), answer))
            self.tell(EventKind.TRIAL_ADDED, n, point=answer, space=space)
            if n >= 3:
                self.end(n - 3)

    def end(self, n: int) -> None:
        value = loss(self.case[2], self.answers[n][1])
        losses = [value, -value + n % 3][:self.case[3]]
        if n % 7 == 5:
            self.tell(EventKind.TRIAL_FAILED, n)
        elif n % 9 == 4:
            self.tell(EventKind.TRIAL_COMPLETED, n)
        else:
            self.tell(EventKind.RESULT_REPORTED, n, losses=[math.inf] * self.case[3], iteration=1)
            self.tell(EventKind.TRIAL_COMPLETED, n, losses=losses)

    def tell(self, kind: EventKind, trial: int, **rest: Any) -> None:
        self.events.append(Event(len(self.events) + 1, kind, trial, **rest))
        self.searcher.observe(self.events[-1])


class Samplers(unittest.TestCase):
    def test_samplers(self) -> None:
        """Points are of the space; a restarted searcher gives the same answers (B-102, B-077)."""
        for case in [("random", {}, TREE, 1), ("tpe", {"n_startup_trials": 5}, TREE, 1), ("cmaes", {}, TREE, 1),
                     ("TPESampler", {"multivariate": True, "group": True}, TREE, 1), ("qmc", {"scramble": True}, FLAT, 1),
                     ("cmaes", {"popsize": 4}, FLAT, 1), ("nsgaii", {"population_size": 4, "crossover": "sbx"}, TREE, 2),
                     ("nsgaiii", {"population_size": 4}, TREE, 2), ("qmc", {}, TREE, 1)]:
            with self.subTest(case=case[:2]):
                self.check(Story(case, 32))

    def check(self, story: Story) -> None:
        space = story.case[2]
        for _, point in story.answers:
            self.assertIsNone(space.check(point))
            self.assertTrue(space.holds(point))
        for n in (0, 6, 30):
            told, point = story.answers[n]
            again = opened(story.case)
            for event in story.events[:told]:
                again.observe(event)
            got = again.suggest(Request(n, 1000 + n, None, space))
            self.assertTrue(same(got, point), f"trial {n}: {point}, after a restart {got}")

    def test_learns(self) -> None:
        """With what it is told TPE does better than Optuna's random sampler."""
        best = {name: min(loss(FLAT, p) for _, p in Story((name, {}, FLAT, 1), 50).answers) for name in ("tpe", "random")}
        self.assertLess(best["tpe"], best["random"])

    def test_retried(self) -> None:
        """Trials that failed, and that the user ran again, count by their results."""
        for name in ("tpe", "nsgaii", "cmaes"):
            s = opened((name, {}, FLAT, 1))
            for n in range(3):
                point = s.suggest(Request(n, n, None, FLAT))
                for kind in (EventKind.TRIAL_ADDED, EventKind.RESULT_REPORTED, EventKind.TRIAL_FAILED):
                    s.observe(Event(1, kind, n, point=point, losses=[9.0] if kind == EventKind.RESULT_REPORTED else []))
            s.observe(Event(1, EventKind.RESULT_REPORTED, 0, losses=[2.0]))
            for n in range(2):
                s.observe(Event(1, EventKind.TRIAL_COMPLETED, n))
            with self.subTest(name=name):
                self.assertEqual([(t.state.name, t.values) for t in s.study.trials], [("COMPLETE", [2.0]), ("FAIL", None), ("FAIL", None)])

    def test_batches(self) -> None:
        """Suggestions that are no trials yet are taken into account, and those asked for again are not."""
        for name in ("qmc", "tpe"):
            s = opened((name, {}, FLAT, 1))
            first, second = s.suggest_all([Request(n, n, None, FLAT) for n in range(2)])
            self.assertFalse(same(first, second))
            self.assertEqual(s.suggest_all([Request(1, 1, None, FLAT)]), [second])

    def test_given(self) -> None:  # B-104
        for name in ("tpe", "nsgaii", "cmaes"):
            given = [1.0, 0.01, NAN, NAN, NAN, 24.0, NAN, NAN]
            s = opened((name, {}, TREE, 1))
            point = s.suggest(Request(0, 1, given, TREE))
            self.assertIsNone(TREE.check(point))
            self.assertEqual([point[0], point[1], point[5]], [1, 0.01, 24])

    def test_finite(self) -> None:
        """No point of a small space comes twice, and then there are no more."""
        for name in ("bruteforce", "tpe"):
            story = Story((name, {}, SMALL, 1), 6)
            self.assertEqual(len({repr(p) for _, p in story.answers}), 6)
            self.assertEqual(story.searcher.suggest(Request(6, 0, None, SMALL)), tunehost.EXHAUSTED)

    def test_mistakes(self) -> None:
        for name, arguments, objectives, message in [
            ("tpee", {}, 1, "sampler 'tpee' is unknown; nearest: 'tpe'"),
            ("tpe", {"n_startup": 3}, 1, "TPESampler has no argument 'n_startup'; nearest: 'n_startup_trials'"),
            ("tpe", {"n_startup_trials": "x"}, 1, "cannot be used here"),
            ("tpe", {"seed": 3}, 1, "the seed is the experiment's"),
            ("grid", {}, 1, "use tunehost's own searcher grid"),
            ("cmaes", {}, 2, "multi-objective"),
            ("cmaes", {"with_margin": True}, 1, "leave it out"),
            ("bruteforce", {}, 1, "the search space will be infinite"),
            ("nsgaii", {"crossover": "q"}, 1, "crossover 'q' is unknown; there are blxalpha"),
        ]:
            with self.subTest(message=message), self.assertRaises(tunehost.Refused) as e:
                opened((name, arguments, TREE, objectives))
            self.assertIn(message, str(e.exception))
            self.assertNotIn("\n", str(e.exception))


if __name__ == "__main__":
    unittest.main()
