import tempfile
import unittest

from main import Plugin
from tunehost import ReportedKind, ReporterEvent


def opened(dir):
    reporter = Plugin()
    reporter.dir = dir
    reporter.open()
    return reporter


class TestPlugin(unittest.TestCase):
    def test_writes_each_event_once(self):
        result = ReporterEvent(7, ReportedKind.RESULT_REPORTED, trial={"number": 0},
                               result={"iteration": 3, "again": False, "metrics": {"loss": 0.5}})
        ended = ReporterEvent(9, ReportedKind.TRIAL_COMPLETED, trial={"number": 0, "state": "TERMINATED"})
        with tempfile.TemporaryDirectory() as dir:
            reporter = opened(dir)
            self.assertEqual(reporter.after(), 0)
            reporter.report([result, ReporterEvent(8, 99)])
            reporter.report([ended])
            self.assertEqual(reporter.path.read_text().splitlines(),
                             ["7 trial 0 iteration 3: {'loss': 0.5}", "9 trial 0 ended: TERMINATED"])
            self.assertEqual(opened(dir).after(), 9)


if __name__ == "__main__":
    unittest.main()
