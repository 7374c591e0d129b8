#!/usr/bin/env python3
"""A trainable that prints who it is, in forks or, with --reusable, in one process."""

import logging
import os
import sys
from typing import Any

import tunehost


class Talker(tunehost.Trainable):
    """Prints who it is."""

    name = "talker"
    version = "1.0.0"
    fork = "--reusable" not in sys.argv
    reusable = True

    def open(self) -> None:
        print("opened")

    def train(self, run: tunehost.Run) -> Any:
        print("out", run.params["name"])
        os.system(f"echo child {run.params['name']}")
        run.report(loss=1, note=run.params["name"])
        print("err", run.params["name"], file=sys.stderr)
        logging.info("logged %s", run.params["name"])
        sys.stdout.write("no end")


tunehost.serve(Talker)
