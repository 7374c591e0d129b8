"""Runs the author's code in one attempt of one trial."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Mapping
from typing import Any

from . import _traces
from .errors import Killed, RestoreError, StartError, Stopped
from .plugin import Trainable
from .run import ENDED, LOG, Run, Told, cut, describe

_DROPPED = ("it returned a dict after it had reported, which is dropped: report the last result too, with done=True, or "
            "return nothing")
_EXPECTED = "report results with run.report, or return a dict if there is only one"


def attempt(trainable: Trainable, run: Run) -> Told:
    """Runs the author's code; returns the run's last event. Processes that the code has forked end here."""
    ended = _attempt(trainable, run)
    run.leave_fork(1 if "error" in ended else 0)
    if "error" not in ended:
        run._hand_over()
    return ended


def _attempt(trainable: Trainable, run: Run) -> Told:
    ended: Told = {"kind": ENDED}
    try:
        with run.trains():
            results = trainable.train(run)
            if inspect.isgenerator(results):
                _report_all(run, results)
            elif isinstance(results, Mapping):
                _report_returned(run, results)
            elif results is not None:
                _hint(run, f"it returned a value of type {type(results).__name__}, which is dropped: {_EXPECTED}")
    except (Stopped, Killed):
        pass
    except SystemExit as e:
        if e.code not in (None, 0):
            ended["error"] = f"exited with status {e.code}" if isinstance(e.code, int) else cut(str(e.code))
    except (RestoreError, StartError) as e:
        _traces.show()
        ended.update(error=cut(str(e)), restore_failed=isinstance(e, RestoreError), never_started=isinstance(e, StartError))
    except BaseException as e:
        _traces.show()
        ended["error"] = describe(e) + "\n" + cut(_traces.formatted(e))
    return ended


def _report_returned(run: Run, result: Mapping[str, Any]) -> None:
    """Reports a dict that the author's code has returned, if it is the trial's only result."""
    run.leave_fork()
    if run._iteration == 0:
        run.report(result, done=True)
    else:  # it may be another result, or the last one again
        _hint(run, _DROPPED)


def _hint(run: Run, text: str) -> None:
    run._link.send({"kind": LOG, "text": text, "hint": True})


def _report_all(run: Run, results: Any) -> None:
    """Reports the results that a generator yields; when the trial must end, its `yield` raises Stopped or Killed."""
    try:
        for metrics in results:
            run.leave_fork()
            run.report(metrics)
    except (Stopped, Killed) as stop:
        if inspect.getgeneratorstate(results) != inspect.GEN_SUSPENDED:
            raise  # it came from within
        with contextlib.suppress(StopIteration):
            results.throw(stop)
        results.close()
