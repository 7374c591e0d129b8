#!/usr/bin/env python3
"""The trainable of plugins/sdk/samples/alike: with "one", one process runs trial after trial; with
"script" it is a program of its own."""

import os
import sys
from pathlib import Path
from typing import Any, Dict

import tunehost


def numbers(i: int) -> Dict[str, Any]:
    print("epoch", i, flush=True)
    print("warning", i, file=sys.stderr, flush=True)
    return {"loss": 1 / i, "whole": 2 * i, "note": f'epoch "{i}"', "ok": True, "sizes": [1, 2.5]}


class Alike(tunehost.Trainable):
    """Does what a trainable can do."""

    name = "alike"
    version = "1.0.0"
    saves = True
    fork = "one" not in sys.argv
    reusable = True

    def train(self, run: tunehost.Run) -> None:
        run.export_with(lambda _, dir: (dir / "model").write_text(f"model {run.iteration}") and None)
        try:
            for i in range(1, 10):
                run.report(numbers(i), save=lambda dir: (dir / "state").write_text(f"state {i}"))
        finally:
            print("cleaned up")


def script() -> None:
    i = 0
    try:
        for i in range(1, 10):
            made = None
            if i == 2:
                with tunehost.new_checkpoint() as made:
                    Path(made, "state").write_text(f"state {i}")
            tunehost.report(numbers(i), checkpoint=made)
    finally:
        print("cleaned up")
        Path(os.environ["TUNEHOST_EXPORT_DIR"], "text").write_text(f"model {i}")


if "script" in sys.argv:
    script()
else:
    tunehost.serve(Alike)
