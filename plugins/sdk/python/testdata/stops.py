#!/usr/bin/env python3
"""A trainable that is long between reports, and notes how it was stopped."""

import sys
import time
from pathlib import Path
from typing import Any, Iterator

import tunehost


class Stops(tunehost.Trainable):
    """Reports once, and then not for long."""

    saves = True

    def train(self, run: tunehost.Run) -> Any:
        return self.generate(run) if run.params.get("generator") else self.loop(run)

    def loop(self, run: tunehost.Run) -> None:
        run.report(loss=1)
        try:
            note(run, "begun")
            wait_for(run.dir / "go")
            run.report(loss=2, save=lambda dir: (dir / "model").write_text("weights"))
        except tunehost.Stopped as stop:
            note(run, f"paused {stop.paused}")
            raise
        finally:
            self.clean(run)

    def generate(self, run: tunehost.Run) -> Iterator[Any]:
        yield {"loss": 1}
        try:
            note(run, "begun")
            wait_for(run.dir / "go")
        finally:
            self.clean(run)

    def clean(self, run: tunehost.Run) -> None:
        note(run, "cleaning")
        if run.params.get("slow"):
            wait_for(run.dir / "cleaned")
        note(run, "clean")


def note(run: tunehost.Run, what: str) -> None:
    (run.dir / what).touch()


def wait_for(file: Path) -> None:
    while not file.exists():
        time.sleep(0.001)


if __name__ == "__main__":
    Stops.reusable = True
    if "--unforked" in sys.argv:
        Stops.fork = False
    tunehost.serve(Stops)
