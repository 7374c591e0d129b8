import unittest

from main import Plugin
from tunehost import Event, EventKind, Objective, Problem, Request, Space
from tunehost.space import Kind, Param


class TestPlugin(unittest.TestCase):
    def test_finds(self):
        """It finds the minimum of a parabola better than chance would."""
        searcher = Plugin()
        searcher.space = Space([Param("x", Kind.REAL, -10, 10)])
        searcher.problem = Problem(searcher.space, [Objective("loss", False)], seed=0, trials=0, concurrency=0)
        searcher.open()
        losses = []
        for trial in range(40):
            point = searcher.suggest(Request(trial, seed=trial, space=searcher.space))
            losses.append((point[0] - 3) ** 2)
            searcher.observe(Event(2 * trial + 1, EventKind.TRIAL_ADDED, trial, point=point, space=searcher.space))
            searcher.observe(Event(2 * trial + 2, EventKind.TRIAL_COMPLETED, trial, losses=losses[-1:]))
        self.assertLess(min(losses), 0.1)


if __name__ == "__main__":
    unittest.main()
