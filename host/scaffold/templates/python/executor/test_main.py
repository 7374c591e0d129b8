import tempfile
import unittest

from main import Plugin
from tunehost import Execution, LeaseRequest


def opened(dir):
    executor = Plugin()
    executor.execution = Execution("experiment", dir, "e-")
    executor.open()
    return executor


def told(executor):
    return [(e.lease, e.kind) for e in executor.news.take()]


class TestPlugin(unittest.TestCase):
    def test_leases_outlive_the_process(self):
        with tempfile.TemporaryDirectory() as dir:
            first = opened(dir)
            first.adopt([])
            first.allocate([LeaseRequest("e-1", [{"cpu": 1}]), LeaseRequest("e-2", [{"cpu": 99}])])
            first.allocate([LeaseRequest("e-1", [{"cpu": 1}])])  # once more: nothing is allocated twice
            self.assertEqual(told(first), [("e-2", "refused"), ("e-1", "granted"), ("e-1", "granted")])
            second = opened(dir)
            second.adopt(["e-1", "e-9"])
            self.assertEqual(told(second), [("e-9", "lost"), ("e-1", "granted")])
            second.release(["e-1", "e-1"])
            self.assertEqual([n.free for n in second.capacity()], [n.total for n in second.capacity()])

    def test_nothing_of_an_unknown_resource_has_room(self):
        with tempfile.TemporaryDirectory() as dir:
            executor = opened(dir)
            executor.adopt([])
            executor.allocate([LeaseRequest("e-1", [{"cpu": 1, "tpu": 0}]), LeaseRequest("e-2", [{"cpu": 1, "tpu": 1}])])
            self.assertEqual(told(executor), [("e-2", "refused"), ("e-1", "granted")])
            self.assertEqual([n.free["cpu"] for n in executor.capacity()], [3, 4])

    def test_what_finds_no_room_waits(self):
        with tempfile.TemporaryDirectory() as dir:
            executor = opened(dir)
            executor.adopt([])
            executor.allocate([LeaseRequest(f"e-{n}", [{"cpu": 3}]) for n in range(3)])
            executor.allocate([LeaseRequest("e-4", [{"cpu": 1}])])  # there is room for it, but it is not its turn
            self.assertEqual(told(executor), [("e-0", "granted"), ("e-1", "granted"), ("e-2", "pending"), ("e-4", "pending")])
            again = opened(dir)
            again.adopt(["e-0", "e-1", "e-2"])
            self.assertEqual(told(again), [("e-0", "granted"), ("e-1", "granted"), ("e-2", "pending")])
            again.release(["e-0"])
            self.assertEqual(told(again), [("e-2", "granted")])


if __name__ == "__main__":
    unittest.main()
