"""The Python package of tunehost: report results from a script, or write a plugin.

A script that tunehost runs for each trial:

    import tunehost

    params = tunehost.params(lr=0.1)
    for epoch in range(10):
        tunehost.report(loss=train(params["lr"]))

A plugin is a class, or a decorated function, and tunehost.serve(it); see README.md beside
the package. Importing tunehost imports only the standard library.
"""

from __future__ import annotations

import sys as _sys
from typing import NoReturn as _NoReturn
from typing import Type as _Type

from . import _other, _stop

_other.refuse()  # before anything that may come from the other project
from ._binary import NotFound
from ._minimize import Best, maximize, minimize
from ._reading import Experiment
from ._script import NewCheckpoint, checkpoint, new_checkpoint, params, report, seed, trial_dir
from .errors import Paused, Refused, ReportError, RestoreError, StartError, Stopped, UnknownFormat
from ._view import ReadError
from .events import (EXHAUSTED, WAIT, Command, Decision, Event, EventKind, Objective, Problem, ReportedKind, ReporterEvent,
                     Request, Suggestion)
from .executor import Agent, ClusterNode, Execution, Executor, GrantedBundle, LeaseEvent, LeaseRequest
from .history import History, TrialRecord
from .plugin import Plugin, Reporter, Scheduler, Searcher, Trainable, option, scheduler, searcher, trainable
from .run import Bundle, Logs, Run, Trial
from .space import Point, Rand, Space

__all__ = [
    "Agent", "Best", "Bundle", "ClusterNode", "Command", "Decision", "EXHAUSTED", "Event", "EventKind", "Execution",
    "Executor", "Experiment", "GrantedBundle", "History", "LeaseEvent", "LeaseRequest", "Logs", "NewCheckpoint",
    "NotFound", "Objective", "Paused", "Plugin", "Point", "Problem", "Rand", "ReadError", "Refused", "ReportError", "ReportedKind", "Reporter",
    "ReporterEvent", "Request", "RestoreError", "Run", "Scheduler", "Searcher", "Space", "StartError", "Stopped", "Suggestion",
    "Trainable", "Trial", "TrialRecord", "UnknownFormat", "WAIT", "checkpoint", "maximize", "minimize",
    "new_checkpoint", "option", "params", "report", "scheduler", "searcher", "seed", "serve", "trainable",
    "trial_dir",
]


_stop.watch()


def serve(*plugins: _Type[Plugin]) -> _NoReturn:
    """Makes this program a plugin: serves at most one plugin of each kind until tunehost ends it
    and then exits. Call it in the last line of the plugin's file. The program's output goes to the log.
    """
    from . import _serve
    from .plugin import chosen

    _sys.exit(_serve.run(chosen(plugins)))
