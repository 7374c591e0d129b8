import unittest

from main import Plugin
from tunehost import Event, EventKind


class TestPlugin(unittest.TestCase):
    def test_stops_the_worst(self):
        """The worst of four trials is stopped, after the grace."""
        scheduler = Plugin()
        scheduler.open()
        stopped = []
        for number in range(8):
            event = Event(number + 1, EventKind.RESULT_REPORTED, trial=number % 4, iteration=number // 4 + 1, losses=[number % 4])
            stopped += [d.event for d in scheduler.decide([event]) if d.reason]
        self.assertEqual(stopped, [8])


if __name__ == "__main__":
    unittest.main()
