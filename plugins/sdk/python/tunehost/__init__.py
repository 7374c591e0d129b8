"""The Python package of tunehost: report results from a script, or write a plugin.

A script that tunehost runs for each trial:

    import tunehost

    params = tunehost.params(lr=0.1)
    for epoch in range(10):
        tunehost.report(loss=train(params["lr"]))

A plugin is a class, or a decorated function, and tunehost.serve(it): tunehost.plugin has the methods
of each kind and tunehost.events what it is told; `tunehost plugins docs python` prints a text with
examples. Importing tunehost imports only the standard library, and little of it.
"""

from __future__ import annotations

import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any
from typing import List as _List
from typing import Type as _Type

from . import _other, _stop

_other.refuse()  # before anything that may come from the other project

# Modules are imported when one of their names is used first: a script that reports needs few of them.
_MODULES = {
    "_asked": "AskError Asked TellFirst",
    "_asktell": "AskTell",
    "_asynchronous": "AsyncAskTell",
    "_binary": "NotFound",
    "_minimize": "Best maximize minimize",
    "_reading": "Experiment",
    "_script": "NewCheckpoint checkpoint new_checkpoint params report seed trial_dir",
    "_view": "ReadError",
    "errors": "Killed Paused Refused ReportError RestoreError StartError Stopped UnknownFormat",
    "events": "Command Decision EXHAUSTED Event EventKind Objective Problem ReportedKind ReporterEvent Request Suggestion "
              "WAIT",
    "executor": "Agent ClusterNode Execution Executor GrantedBundle LeaseEvent LeaseRequest",
    "history": "History TrialRecord",
    "plugin": "Plugin Reporter Scheduler Searcher Trainable option scheduler searcher trainable",
    "run": "Bundle Logs Run Trial",
    "space": "Point Rand Space",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}
_SUBMODULES = {"errors", "events", "executor", "finite", "history", "integrations", "plugin", "run", "sklearn",
               "space", "tune"}

if _TYPE_CHECKING:
    from ._asked import AskError, Asked, TellFirst
    from ._asktell import AskTell
    from ._asynchronous import AsyncAskTell
    from ._binary import NotFound
    from ._minimize import Best, maximize, minimize
    from ._reading import Experiment
    from ._script import NewCheckpoint, checkpoint, new_checkpoint, params, report, seed, trial_dir
    from ._view import ReadError
    from .errors import Killed, Paused, Refused, ReportError, RestoreError, StartError, Stopped, UnknownFormat
    from .events import (EXHAUSTED, WAIT, Command, Decision, Event, EventKind, Objective, Problem, ReportedKind,
                         ReporterEvent, Request, Suggestion)
    from .executor import Agent, ClusterNode, Execution, Executor, GrantedBundle, LeaseEvent, LeaseRequest
    from .history import History, TrialRecord
    from .plugin import Plugin, Reporter, Scheduler, Searcher, Trainable, option, scheduler, searcher, trainable
    from .run import Bundle, Logs, Run, Trial
    from .space import Point, Rand, Space

    __version__: str  # of tunehost-hpo; "(devel)" where it is not installed

__all__ = [
    "Agent", "AskError", "AskTell", "Asked", "AsyncAskTell", "Best", "Bundle", "ClusterNode", "Command", "Decision",
    "EXHAUSTED", "Event", "EventKind", "Execution", "Executor", "Experiment", "GrantedBundle", "History",
    "Killed", "LeaseEvent", "LeaseRequest", "Logs", "NewCheckpoint", "NotFound", "Objective", "Paused", "Plugin", "Point",
    "Problem", "Rand", "ReadError", "Refused", "ReportError", "ReportedKind", "Reporter", "ReporterEvent", "Request",
    "RestoreError", "Run", "Scheduler", "Searcher", "Space", "StartError", "Stopped", "Suggestion", "TellFirst",
    "Trainable", "Trial", "TrialRecord", "UnknownFormat", "WAIT", "checkpoint", "maximize", "minimize",
    "new_checkpoint", "option", "params", "report",
    "scheduler", "searcher", "seed", "serve", "trainable", "trial_dir",
]


def __getattr__(name: str) -> _Any:
    """A public name, or a module, that was not used before."""
    from importlib import import_module

    if name in _HOMES:
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    elif name == "__version__":
        value = _version()
    elif name in _SUBMODULES:
        value = import_module(f"{__name__}.{name}")
    elif name in ("train", "air"):  # in scripts over Ray: from ray import train, tune
        raise ImportError(
            f"there is no {__name__}.{name}: write from tunehost import tune, and tune.report, tune.get_checkpoint, "
            "tune.Checkpoint, tune.RunConfig and so on for what Ray has there"
        )
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("tunehost-hpo")
    except PackageNotFoundError:
        return "(devel)"


def __dir__() -> _List[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES} - {"sklearn"})  # pydoc imports all of them, and it needs numpy


_stop.watch()


def serve(*plugins: _Type[Plugin]) -> None:
    """Makes this program a plugin: serves at most one plugin of each kind until tunehost ends it
    and then exits. Call it in the last line of the plugin's file. The program's output goes to the log. A process that
    multiprocessing spawns from a trial imports the file, too: there it returns at once.
    """
    if _sys._getframe(1).f_globals.get("__name__") == "__mp_main__":
        return
    from . import _serve
    from .plugin import chosen

    _sys.exit(_serve.run(chosen(plugins)))
