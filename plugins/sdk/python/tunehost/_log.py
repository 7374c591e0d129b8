"""Writes log lines in the JSON format of hclog, so that the host knows their levels."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Dict, Optional

from . import _traces

_LEVELS = {logging.DEBUG: "debug", logging.INFO: "info", logging.WARNING: "warn", logging.ERROR: "error", logging.CRITICAL: "error"}

log = logging.getLogger("tunehost")


class Hclog(logging.Formatter):
    """One JSON object a record."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "@level": _LEVELS.get(record.levelno, "info"),
            "@message": record.getMessage(),
            "@module": record.name,
            "@timestamp": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs * 1000):06d}Z",
        }
        if record.exc_info:
            line.update(_traced(record.exc_info[1]))
        return json.dumps(line)


class _Plain(logging.Formatter):
    """Lines of plain text."""


_PLAIN = _Plain("%(asctime)s %(levelname)s %(name)s: %(message)s")  # made once, rather than in each trial's process


def _traced(error: Optional[BaseException]) -> Dict[str, str]:
    """The shortened traceback, and the whole one if it differs."""
    if error is None:
        return {}
    traced = {"traceback": _traces.formatted(error), "whole_traceback": _traces.full(error)}
    if traced["traceback"] == traced["whole_traceback"]:
        del traced["whole_traceback"]
    return traced


def install() -> None:
    """Sends the records of `logging` to stderr as JSON, unless the author has installed handlers."""
    root = logging.getLogger()
    for handler in root.handlers:
        if isinstance(handler.formatter, _Plain):
            handler.setFormatter(Hclog())
    if not root.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(Hclog())
        root.addHandler(handler)
        root.setLevel(logging.INFO)


def plain() -> None:
    """From now on stderr is a trial's log file, which is read as plain text."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler.formatter, Hclog):
            handler.setFormatter(_PLAIN)
