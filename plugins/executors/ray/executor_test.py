"""The executor on a real cluster: RAY_ADDRESS is that of internal/engines/ray, with nodes of 4 CPUs and 2 GPUs."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, List

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "executor"))

import actor
import main
import ray
import tunehost

# An agent that says what it was started with, and continues until it is ended.
AGENT = """#!/bin/sh
env > "$TUNEHOST_AGENT.$TUNEHOST_AGENT_BUNDLE"
echo $$ > "$TUNEHOST_AGENT.$TUNEHOST_AGENT_BUNDLE.pid"
[ ! -e "$TUNEHOST_AGENT.fails" ] || { echo "no host at any address" >&2; exit 3; }
exec sleep 1000
"""
PATIENCE_S = 120.0


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Desk:
    """A host, without the protocol."""

    def __init__(self, test: unittest.TestCase, prefix: str, dir: str, **options: Any) -> None:
        self.test = test
        program = os.path.join(dir, "agent")
        if not os.path.exists(program):
            Path(program).write_text(AGENT)
            os.chmod(program, 0o600)  # so that the nodes must fetch it
        sum = hashlib.sha256(Path(program).read_bytes()).hexdigest()
        self.executor = main.Ray()
        self.executor.execution = tunehost.Execution("e", dir, prefix, tunehost.Agent(program, sum))
        self.executor.configure(options)
        self.executor.open()
        self.heard: List[tunehost.LeaseEvent] = []

    def hears(self, lease: str, kind: str) -> tunehost.LeaseEvent:
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            with self.executor.news._changed:
                self.heard += self.executor.news._events
                self.executor.news._events = []
            for i, event in enumerate(self.heard):
                if event.lease == lease and event.kind == kind:
                    del self.heard[i]
                    return event
            time.sleep(0.05)
        self.test.fail(f"{lease} was not {kind}: {self.heard}")


class Case(unittest.TestCase):
    def setUp(self) -> None:
        self.dir = tempfile.mkdtemp()
        self.prefix = f"t{os.getpid()}-{self._testMethodName.replace('_', '-')}-"
        self.desk = Desk(self, self.prefix, self.dir)
        self.executor = self.desk.executor
        self.executor.adopt([])
        self.addCleanup(self.executor.adopt, [])

    def name(self, n: int) -> str:
        return f"{self.prefix}{n}"

    def ask(self, n: int, *bundles: Any, strategy: str = "pack") -> str:
        """Asks for a lease, and returns its agents' secret: a path where they write."""
        secret = os.path.join(self.dir, f"secret{n}")
        self.executor.allocate([tunehost.LeaseRequest(self.name(n), bundles or [{"cpu": 1}], strategy, secret)])
        return secret

    def eventually(self, condition: Any) -> None:
        end = time.monotonic() + PATIENCE_S
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)


class Leases(Case):
    def test_agents(self) -> None:
        """A gang has an agent on each bundle, with the engine's GPUs and nothing of Ray's; release ends them."""
        secret = self.ask(1, {"cpu": 1, "gpu": 1}, {"cpu": 1, "gpu": 2}, strategy="strict_spread")
        bundles = self.desk.hears(self.name(1), "granted").bundles
        self.assertEqual({b.node for b in bundles}, {"n1", "n2"})
        self.assertEqual([len(b.devices) for b in bundles], [1, 2])
        pids = []
        for i, b in enumerate(bundles):
            self.eventually(lambda: os.path.exists(f"{secret}.{i}.pid") and Path(f"{secret}.{i}.pid").read_text())
            env = dict(line.split("=", 1) for line in Path(f"{secret}.{i}").read_text().splitlines() if "=" in line)
            self.assertEqual(env["CUDA_VISIBLE_DEVICES"], ",".join(b.devices))
            self.assertEqual(env["TUNEHOST_AGENT_BUNDLE"], str(i))
            self.assertEqual([name for name in env if name.startswith("RAY_")], [])
            pids.append(int(Path(f"{secret}.{i}.pid").read_text()))
            command = Path(f"/proc/{pids[-1]}/cmdline").read_text()
            self.assertNotIn("secret", command)
        self.executor.allocate([tunehost.LeaseRequest(self.name(1), [{"cpu": 1, "gpu": 1}, {"cpu": 1, "gpu": 2}], "strict_spread", secret)])
        self.assertEqual(self.desk.hears(self.name(1), "granted").bundles, bundles)
        self.executor.release([self.name(1), self.name(99)])
        self.eventually(lambda: not any(alive(p) for p in pids))
        self.assertEqual(self.executor.existing(), {})

    def test_an_agent_that_ends_loses_the_lease(self) -> None:
        Path(self.dir, "secret1.fails").touch()
        self.ask(1)
        lost = self.desk.hears(self.name(1), "lost")
        self.assertEqual(lost.why, "bundle 0: its agent ended with status 3: no host at any address")
        self.eventually(lambda: self.executor.existing() == {})

    def test_waits_and_refuses(self) -> None:
        self.ask(1, {"cpu": 4}, {"cpu": 4}, strategy="spread")
        self.desk.hears(self.name(1), "granted")
        self.ask(2, {"cpu": 4})
        self.assertEqual(self.desk.hears(self.name(2), "pending").why, "its placement group waits: NO_RESOURCES")
        for n, bundle in (3, {"cpu": 1000}), (4, {"no_such_resource": 1}), (5, {"gpu": 1.5}):
            self.ask(n, bundle)
            self.desk.hears(self.name(n), "refused")
        self.executor.release([self.name(1)])
        self.desk.hears(self.name(2), "granted")

    def test_elastic(self) -> None:
        self.executor.configure({"elastic": True})
        self.ask(1, {"cpu": 1000})
        self.assertIn("INFEASIBLE", self.desk.hears(self.name(1), "pending").why)

    def test_adopts(self) -> None:
        """B-134: a lease and its agent outlive the executor's process; what does not count is released."""
        code = ("import sys, unittest; sys.path.insert(0, sys.argv[1]); import executor_test as t, os, time\n"
                "d = t.Desk(unittest.TestCase(), sys.argv[2], sys.argv[3]); d.executor.adopt([])\n"
                "for n in 1, 2: d.executor.allocate([t.tunehost.LeaseRequest(f'{sys.argv[2]}{n}', [{'cpu': 1}], 'pack', "
                "f'{sys.argv[3]}/secret{n}')])\n"
                "g = [d.hears(f'{sys.argv[2]}{n}', 'granted') for n in (1, 2)]\n"
                "print(g[0].bundles[0].node, flush=True); os.kill(os.getpid(), 9)\n")
        ran = subprocess.run([sys.executable, "-c", code, str(HERE), self.prefix, self.dir], stdout=subprocess.PIPE, text=True)
        self.assertEqual(ran.returncode, -signal.SIGKILL)
        self.executor.adopt([self.name(1), self.name(7)])
        self.assertEqual(self.desk.hears(self.name(1), "granted").bundles[0].node, ran.stdout.strip())
        self.desk.hears(self.name(7), "lost")
        self.assertEqual(list(self.executor.existing()), [self.name(1)])
        pids = [int(Path(self.dir, f"secret{n}.0.pid").read_text()) for n in (1, 2)]
        self.eventually(lambda: [alive(p) for p in pids] == [True, False])

    def test_an_environment_that_cannot_be_made(self) -> None:
        """Ray's own reason is told; where no environment can be made for long, the request is refused."""
        self.executor.env = {"working_dir": "https://127.0.0.1:1/no.zip"}
        self.ask(1)
        self.assertRegex(self.desk.hears(self.name(1), "lost").why, "^bundle 0: its runtime_env cannot be made: .*(smart_open|127.0.0.1)")
        self.executor.failing -= main.FAILING_S
        self.ask(2)
        self.desk.hears(self.name(2), "refused")

    def test_an_agent_that_is_killed(self) -> None:
        secret = self.ask(1)
        self.desk.hears(self.name(1), "granted")
        self.eventually(lambda: os.path.exists(f"{secret}.0.pid") and Path(f"{secret}.0.pid").read_text())
        os.kill(int(Path(f"{secret}.0.pid").read_text()), signal.SIGKILL)
        self.assertEqual(self.desk.hears(self.name(1), "lost").why, "bundle 0: its agent was killed by signal 9 (out of memory?)")

    def test_wrong_address(self) -> None:
        ray.shutdown()
        try:
            with self.assertRaisesRegex(tunehost.Refused, "^no Ray cluster at 127.0.0.1:1: .*$"):
                Desk(self, self.prefix, self.dir, address="127.0.0.1:1")
        finally:
            self.executor.connect()


@unittest.skipUnless(os.environ.get("KILL_N2"), "it takes a node from the cluster")
class Losses(Case):
    """Run alone: python -m unittest executor_test.Losses.test_a_node_dies"""

    def test_a_node_dies(self) -> None:
        """B-133: the leases on a node that dies are lost, and no others."""
        self.ask(1, {"cpu": 1}, {"cpu": 1}, strategy="strict_spread")
        self.desk.hears(self.name(1), "granted")
        for p in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if os.environ["RAY_T_DIR"] in p.read_text() and "node-name=n2\0" in p.read_text() and "raylet" in p.read_text()[:300]:
                    os.kill(int(p.parent.name), signal.SIGKILL)
        self.desk.hears(self.name(1), "lost")
        self.ask(2)
        self.assertEqual(self.desk.hears(self.name(2), "granted").bundles[0].node, "n1")
        self.eventually(lambda: [n.name for n in self.executor.capacity() if not n.down] == ["n1"])


class Environment(unittest.TestCase):
    def test_nothing_of_ray(self) -> None:
        env = actor.environment({"PATH": "/bin", "RAY_AUTH_TOKEN": "x", "RAY_ADDRESS": "y", "TUNEHOST_AGENT": "z", "HOME": "/"})
        self.assertEqual(env, {"PATH": "/bin", "HOME": "/"})

    def test_options(self) -> None:
        env = main.checked_env({"env_vars": {"OMP_NUM_THREADS": 1, "A": "b"}, "pip": ["x"]})
        self.assertEqual(env, {"env_vars": {"OMP_NUM_THREADS": "1", "A": "b"}, "pip": ["x"]})
        for wrong, says in [({"env_var": {}}, "'env_var' is unknown; nearest: 'env_vars'"), ({"zzz": 1}, "Ray knows conda, "),
                            ({"env_vars": {"A": 1.5}}, "the value 1.5"), ({"working_dir": "/no/such"}, "/no/such is not"),
                            ({"pip": 3}, "runtime_env['pip']")]:
            with self.assertRaises(tunehost.Refused) as refused:
                main.checked_env(wrong)
            self.assertTrue(str(refused.exception).startswith("option runtime_env: "), refused.exception)
            self.assertIn(says, str(refused.exception))
            self.assertNotIn("\n", str(refused.exception))

    def test_addresses(self) -> None:
        for good in "auto", "10.0.0.1:6379", "ray://head:10001", "[::1]:6379":
            self.assertEqual(main.checked_address(good, "option address"), good)
        for wrong, says in ("10.0.0.1", "has no port"), ("", "has no port"), ("http://10.0.0.1:8265", "a URL"):
            with self.assertRaisesRegex(tunehost.Refused, says):
                main.checked_address(wrong, "RAY_ADDRESS")

    def test_names(self) -> None:
        self.assertEqual(main.to_ray({"cpu": 2, "gpu": 0, "memory": 5, "licence": 1}), {"CPU": 2, "memory": 5, "licence": 1})
        self.assertEqual(main.to_ray({}), {"CPU": main.LEAST_CPU})
        self.assertEqual(main.from_ray({"CPU": 2, "node:1.2.3.4": 1, "CPU_group_0_ab": 1, "object_store_memory": 9}), {"cpu": 2})


if __name__ == "__main__":
    unittest.main()
