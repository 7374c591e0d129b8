"""Runs experiments with a client that a generator has made of docs/openapi.json.

usage: client.py TUNEHOST, with the generated package tunehost_client on the path. `make client` does all of it.

Sixteen workers ask for trials, report and tell, while they and the server are killed again and again. At the end
each trial has each of its results exactly once.
"""

import json
import multiprocessing
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time

import httpx
from tunehost_client import AuthenticatedClient
from tunehost_client.api.read import best, importance, status, trials
from tunehost_client.api.steer import add, ask, pause, report, resume, start, stop, tell
from tunehost_client.models import (AddRequest, AddRequestParams, AskRequest, PauseRequest, Problem, ReportRequest,
                                    ReportRequestMetrics, StartRequest, TellRequest)

TRIALS, ITERATIONS, WORKERS = 60, 9, 16

FILE = f"""version: 1
name: workers
seed: 1
objective: {{metric: loss, mode: min}}
space: {{x: {{uniform: [0, 1]}}}}
scheduler: {{plugin: asha, max: {ITERATIONS}}}
trials: {TRIALS}
"""

SLEEPERS = """version: 1
name: sleepers
objective: {metric: loss, mode: min}
space: {x: {uniform: [0, 1]}}
trainable: {command: [sh, -c, 'echo "{\\\\"loss\\\\": 1}"; sleep 60']}
concurrency: 1
trials: 50
"""


def loss(params, iteration):
    return params["x"] + 1 / iteration


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """A server that can be killed and started again."""

    def __init__(self, program, home):
        self.program, self.home, self.port = program, home, free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self):
        env = dict(os.environ, HOME=self.home)
        env.pop("XDG_CONFIG_HOME", None)
        self.process = subprocess.Popen([self.program, "serve", f"--listen=127.0.0.1:{self.port}"],
                                        cwd=self.home, env=env, stderr=subprocess.PIPE, text=True)
        assert self.url in self.process.stderr.readline(), "the server did not start"

    def kill(self):
        self.process.kill()
        self.process.wait()

    def client(self):
        with open(os.path.join(self.home, ".config/tunehost/serve-token")) as f:
            token = f.read().strip()
        return AuthenticatedClient(base_url=self.url, token=token, timeout=20.0)


def call(f):
    """Repeats a call until it is answered: a server that was killed starts again."""
    while True:
        try:
            answer = f()
        except httpx.TransportError:
            time.sleep(0.05)
            continue
        if isinstance(answer, Problem) and answer.status >= 500:
            raise SystemExit(f"the server failed: {answer.detail}")
        return answer


def work(server):
    """A worker: it trains trials until there are no more. It has a connection of its own."""
    client = server.client()
    while True:
        t = call(lambda: ask.sync("workers", client=client, body=AskRequest(lease_s=1)))
        assert not isinstance(t, Problem), t
        if t.finished:
            return
        if not t.trial:
            time.sleep(0.05)
            continue
        train(client, t)


def worker(server):
    return multiprocessing.get_context("fork").Process(target=work, args=(server,))


def train(client, t):
    for iteration in range((t.resume_from or 0) + 1, ITERATIONS + 1):
        time.sleep(random.random() * 0.02)
        metrics = ReportRequestMetrics.from_dict({"loss": loss(t.params, iteration)})
        d = call(lambda: report.sync("workers", t.trial, client=client,
                                     body=ReportRequest(attempt=t.attempt, iteration=iteration, metrics=metrics)))
        if isinstance(d, Problem):
            assert d.status == 409, d  # the lease has ended: another worker has the trial
            return
        t.attempt = d.attempt
        if d.decision != "continue":
            return
    call(lambda: tell.sync("workers", t.trial, client=client, body=TellRequest(attempt=t.attempt)))


def ask_and_tell(server):
    client = server.client()
    begun = call(lambda: start.sync(client=client, body=StartRequest(file=FILE, ask_and_tell=True),
                                    idempotency_key="begin"))
    again = start.sync(client=client, body=StartRequest(file=FILE, ask_and_tell=True), idempotency_key="begin")
    assert begun.id == again.id == "workers", (begun, again)
    workers = [worker(server) for _ in range(WORKERS)]
    for w in workers:
        w.start()
    for round in range(12):
        time.sleep(0.4)
        if round % 4 == 3:
            server.kill()
            server.start()
            continue
        i = random.randrange(WORKERS)
        workers[i].kill()
        workers[i].join()
        workers[i] = worker(server)
        workers[i].start()
    for w in workers:
        w.join()
        assert w.exitcode == 0, f"a worker ended with {w.exitcode}"
    check(server, client)


def check(server, client):
    """Compares the answers of the API with the record."""
    s = status.sync("workers", client=client)
    assert s.state == "finished" and s.counts["TERMINATED"] == TRIALS, s
    page = trials.sync("workers", client=client, limit=TRIALS)
    assert page.found == len(page.trials) == TRIALS
    least = None
    for t in page.trials:
        lines = subprocess.run([server.program, "results", "results/workers", t.trial, "--json"], cwd=server.home,
                               check=True, capture_output=True, text=True).stdout.splitlines()
        results = [json.loads(line) for line in lines]
        assert [r["iteration"] for r in results] == list(range(1, t.iteration + 1)), (t.trial, results)
        assert t.results == t.iteration, f"trial {t.number} has {t.results} results at iteration {t.iteration}"
        for r in results:
            assert r["metrics"]["loss"] == loss(t.params, r["iteration"]), r
        least = min(least or results[-1]["metrics"]["loss"], results[-1]["metrics"]["loss"])
    assert best.sync("workers", client=client).value == least
    assert importance.sync("workers", client=client).trials == TRIALS


def whole(server):
    """An experiment from start to end whose host is a process of its own."""
    client = server.client()
    begun = start.sync(client=client, body=StartRequest(file=SLEEPERS))
    assert begun.id == "sleepers", begun
    server.kill()  # the host continues
    server.start()
    assert call(lambda: status.sync("sleepers", client=client)).state == "running"
    added = add.sync("sleepers", client=client, body=AddRequest(params=AddRequestParams.from_dict({"x": 0.5})))
    assert added.trial is not None, added
    lost = pause.sync("sleepers", client=client)
    assert isinstance(lost, Problem) and lost.status == 409 and lost.loses, lost
    assert pause.sync("sleepers", client=client, body=PauseRequest(force=True)).message.startswith("pausing")
    assert resume.sync("sleepers", client=client).message.startswith("continuing")
    with open(os.path.join(server.home, "results", "sleepers", "LOCK")) as f:
        os.kill(int(f.readline().split()[1]), signal.SIGKILL)  # the host
    while (s := status.sync("sleepers", client=client)).state == "running":
        time.sleep(0.05)
    assert s.state == "interrupted", s
    assert "has a host again" in resume.sync("sleepers", client=client).message
    assert status.sync("sleepers", client=client).state == "running"
    assert stop.sync("sleepers", client=client).message.startswith("stopping")
    while (s := status.sync("sleepers", client=client)).state == "running":
        time.sleep(0.05)
    assert s.state == "stopped", s


def main():
    with tempfile.TemporaryDirectory() as home:
        server = Server(os.path.abspath(sys.argv[1]), home)
        server.start()
        try:
            whole(server)
            ask_and_tell(server)
        finally:
            server.kill()
    print("the generated client has run its experiments")


if __name__ == "__main__":
    main()
