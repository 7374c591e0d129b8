import tempfile
import unittest
from pathlib import Path

from main import Plugin


class Run:
    """What train is given, without tunehost; it is stopped after some iterations."""

    def __init__(self, restore=None, iteration=0, stop=100):
        self.params, self.restore, self.iteration, self.stop = {"lr": 0.2}, restore, iteration, stop
        self.losses = []

    def report(self, loss, save, done):
        self.losses.append(loss)
        self.iteration += 1
        if self.iteration == self.stop:
            self.dir = Path(tempfile.mkdtemp())
            save(self.dir)
            raise InterruptedError


class TestPlugin(unittest.TestCase):
    def test_trains(self):
        run = Run()
        Plugin().train(run)
        self.assertEqual(len(run.losses), 10)
        self.assertLess(run.losses[-1], run.losses[0])

    def test_goes_on(self):
        """A trial that continues from a checkpoint ends as one that was never stopped."""
        whole, first = Run(), Run(stop=4)
        Plugin().train(whole)
        with self.assertRaises(InterruptedError):
            Plugin().train(first)
        second = Run(first.dir, 4)
        Plugin().train(second)
        self.assertEqual(first.losses + second.losses, whole.losses)


if __name__ == "__main__":
    unittest.main()
