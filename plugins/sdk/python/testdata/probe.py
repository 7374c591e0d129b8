#!/usr/bin/env python3
"""Plugins that misbehave as their option or parameter `do` says."""

import ctypes
import json
import logging
import os
import random
import signal
import subprocess
import sys
import threading
import time
from typing import Any, Dict, List, Mapping, Optional, Sequence

import tunehost

print("printed before the handshake")


class Probe:
    name = "probe"
    version = "1.2.3"
    do: str = tunehost.option("", "what to do")


class Searcher(Probe, tunehost.Searcher):
    """Suggests points made of the request's seed and what it observed."""

    requires = ("loss",)
    seen = 0

    def open(self) -> None:
        if self.do == "refuse":
            raise tunehost.Refused("population must be even")
        if self.do == "raise in open":
            raise KeyError("no luck")
        self.thread = threading.get_ident()

    def observe(self, event: tunehost.Event) -> None:
        if self.do == "raise in observe":
            raise RuntimeError("observed too much")
        if event.number != self.seen + 1:
            raise RuntimeError(f"event {event.number} after {self.seen}")
        self.seen = event.number

    def suggest(self, request: tunehost.Request) -> Any:
        assert self.thread == threading.get_ident() == threading.main_thread().ident
        if self.do == "exit":
            print("last words", file=sys.stderr)
            os._exit(3)
        if self.do == "hang":
            time.sleep(1000)
        answers: Dict[str, Any] = {
            "wait": tunehost.WAIT, "nothing": None, "short": [0.0], "unknown": {"lf": 0.5},
            "outside": {"lr": 7}, "words": ["a", 0.0], "partial": {"opt": "b"}, "whole": {"lr": 0.5, "opt": "b"},
        }
        if self.do == "raise":
            raise RuntimeError("the matrix\nis singular")
        if self.do == "log":
            logging.getLogger("mine").warning("half of it, %d%%", 50)
            print("printed")
        return answers.get(self.do, [request.seed + self.seen / 1000] * len(self.space))

    def suggest_all(self, requests: Sequence[tunehost.Request]) -> List[Any]:
        return [] if self.do == "few" else super().suggest_all(requests)

    def snapshot(self) -> bytes:
        return json.dumps(self.seen).encode()

    def restore(self, snapshot: bytes) -> None:
        self.seen = json.loads(snapshot)


class Scheduler(Probe, tunehost.Scheduler):
    """Stops what has a loss above 1 and resumes trial 7."""

    saves = True

    def on_result(self, event: tunehost.Event) -> Optional[tunehost.Decision]:
        self.resume(7, "its turn")
        if self.do == "exploit":
            self.exploit(1, 2, 3, {"lr": 0.25}, "better")
            self.resize(4, {"cpu": 2})
            self.stop_trial(5, "enough")
        return event.stop("too large") if event.loss > 1 else event.until(event.iteration + 1)

    def decide(self, events: Sequence[tunehost.Event]) -> List[tunehost.Decision]:
        decisions = super().decide(events)
        return decisions * 2 if self.do == "twice" else decisions


class Trainable(Probe, tunehost.Trainable):
    """Reports n results of loss 1/iteration."""

    saves = True
    data = "not loaded"

    def open(self) -> None:
        self.data = "loaded"
        if self.do == "refuse":
            raise tunehost.Refused("no such data set")

    def request(self, params: Dict[str, Any]) -> Mapping[str, Any]:
        if params["do"] == "raise":
            raise RuntimeError("no luck")
        return {"cpu": params["n"]}

    def train(self, run: tunehost.Run) -> None:
        do = run.params.get("do", "")
        run.log(f"training {run.trial.id}")
        if hasattr(self, "do_" + do.replace(" ", "_")):
            getattr(self, "do_" + do.replace(" ", "_"))(run)
        for i in range(run.params.get("n", 0)):
            run.report({"loss": 1 / (i + 1), "nan": float("nan")}, done=i == run.params["n"] - 1, save=self.saver(do))

    def saver(self, do: str) -> Any:
        def save(dir: Any) -> None:
            if do == "fail to save":
                raise OSError("disk full")
            (dir / "model").write_text("weights")

        return None if do == "cannot save" else save

    def do_raise(self, run: tunehost.Run) -> None:
        raise ValueError("the loss\nis NaN")

    def do_cannot_restore(self, run: tunehost.Run) -> None:
        raise tunehost.RestoreError("bad magic")

    def do_exit(self, run: tunehost.Run) -> None:
        print("last words", file=sys.stderr)
        os._exit(3)

    def do_sys_exit(self, run: tunehost.Run) -> None:
        sys.exit("that was that")

    def do_segfault(self, run: tunehost.Run) -> None:
        ctypes.string_at(0)

    def do_hang(self, run: tunehost.Run) -> None:
        """Until it is killed: with a child in its group, one that left it, and that one's child."""
        processes = [subprocess.Popen(["sleep", "1000"]),
                     subprocess.Popen(["sh", "-c", "sleep 1000 & echo $! >sleeping; wait"], cwd=run.dir, start_new_session=True)]
        (run.dir / "pids").write_text(" ".join(str(p.pid) for p in processes))
        run.report(loss=1)
        time.sleep(1000)

    def do_leave_a_child(self, run: tunehost.Run) -> None:
        child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        (run.dir / "pids").write_text(str(child.pid))

    def do_until_stopped(self, run: tunehost.Run) -> None:
        while not run.stopped:
            time.sleep(0.001)

    def do_swallow(self, run: tunehost.Run) -> None:
        try:
            while True:
                try:
                    run.report(loss=1)
                except Exception:
                    pass
        except tunehost.Stopped as stop:
            run.log(f"paused {stop.paused}")
            raise

    def do_facts(self, run: tunehost.Run) -> None:
        print("to stdout")
        print("to stderr", file=sys.stderr)
        logging.getLogger("mine").info("logged")
        print(json.dumps({
            "gpus": os.environ["CUDA_VISIBLE_DEVICES"], "data": self.data, "random": random.random(), "pid": os.getpid(),
            "plugin": os.environ.get("TUNEHOST_PLUGIN"), "grpc": "grpc" in sys.modules, "threads": threading.active_count(),
            "bundles": [[b.node, b.resources["cpu"], *b.devices] for b in run.trial.bundles],
        }))

    def do_count_too_far(self, run: tunehost.Run) -> None:
        run.report(loss=1, iteration=2**70)

    def do_nowhere(self, run: tunehost.Run) -> None:
        run.report(loss=1, checkpoint="\udcff")

    def do_not_numbers(self, run: tunehost.Run) -> None:
        run.report(loss="small")


if __name__ == "__main__":
    if "--unforked" in sys.argv:
        Trainable.fork, Trainable.reusable, Trainable.shared = False, "--reusable" in sys.argv, "--shared" in sys.argv
    if "--signals" not in sys.argv:  # else the signals are those of any program
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    tunehost.serve(Searcher, Scheduler, Trainable)
