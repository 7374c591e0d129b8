"""Ray Tune's names over tunehost: a front end that writes an experiment, runs the program tunehost, and reads results.

    from tunehost import tune

    def train(config):
        for epoch in range(config["epochs"]):
            tune.report({"loss": ...})

    results = tune.Tuner(train, param_space={"lr": tune.loguniform(1e-4, 1e-1), "epochs": 20},
                         tune_config=tune.TuneConfig(metric="loss", mode="min", num_samples=100)).fit()

docs/PYTHON.md is the guide. docs/RAY.md lists what differs from Ray. What is not supported raises tune.Unsupported,
which says what to do instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any
from typing import List as _List

# Modules are imported when one of their names is used first: a script needs few of them, and trials fewer.
_MODULES = {
    "..errors": "Killed Paused Stopped",
    ".analysis": "ExperimentAnalysis",
    ".callback": "Callback",
    ".checkpoint": "Checkpoint",
    ".config": "CheckpointConfig FailureConfig ResumeConfig RunConfig SyncConfig TuneConfig",
    ".error": "TuneError Unsupported",
    ".experiment": "Experiment",
    ".progress_reporter": "CLIReporter JupyterNotebookReporter ProgressReporter",
    ".registry": "register_env register_trainable",
    ".resources": "PlacementGroupFactory with_resources",
    ".result": "Result",
    ".result_grid": "ResultGrid",
    "._running": "run run_experiments",
    ".sample": (
        "choice grid_search lograndint loguniform qlograndint qloguniform qrandint qrandn "
        "quniform randint randn sample_from uniform"
    ),
    ".schedulers": (
        "PB2 ASHAScheduler AsyncHyperBandScheduler FIFOScheduler HyperBandForBOHB "
        "HyperBandScheduler MedianStoppingRule PopulationBasedTraining create_scheduler"
    ),
    ".search": "create_searcher",
    ".session": "TuneContext get_checkpoint get_context report",
    ".stopper": "Stopper",
    ".trainable": "Trainable with_parameters",
    ".tuner": "Tuner",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}
_SUBMODULES = {
    *("analysis", "callback", "checkpoint", "cluster", "config", "error", "execution", "experiment", "integration"),
    *("logger", "progress_reporter", "registry", "resources", "result", "result_grid", "sample", "schedulers"),
    *("search", "session", "stopper", "trainable", "trial", "tuner", "utils"),
}

if _TYPE_CHECKING:
    from ..errors import Killed, Paused, Stopped
    from ._running import run, run_experiments
    from .analysis import ExperimentAnalysis
    from .callback import Callback
    from .checkpoint import Checkpoint
    from .config import CheckpointConfig, FailureConfig, ResumeConfig, RunConfig, SyncConfig, TuneConfig
    from .error import TuneError, Unsupported
    from .experiment import Experiment
    from .progress_reporter import CLIReporter, JupyterNotebookReporter, ProgressReporter
    from .registry import register_env, register_trainable
    from .resources import PlacementGroupFactory, with_resources
    from .result import Result
    from .result_grid import ResultGrid
    from .sample import (
        choice,
        grid_search,
        lograndint,
        loguniform,
        qlograndint,
        qloguniform,
        qrandint,
        qrandn,
        quniform,
        randint,
        randn,
        sample_from,
        uniform,
    )
    from .schedulers import (
        PB2,
        ASHAScheduler,
        AsyncHyperBandScheduler,
        FIFOScheduler,
        HyperBandForBOHB,
        HyperBandScheduler,
        MedianStoppingRule,
        PopulationBasedTraining,
        create_scheduler,
    )
    from .search import create_searcher
    from .session import TuneContext, get_checkpoint, get_context, report
    from .stopper import Stopper
    from .trainable import Trainable, with_parameters
    from .tuner import Tuner

__all__ = [
    "ASHAScheduler",
    "AsyncHyperBandScheduler",
    "CLIReporter",
    "Callback",
    "Checkpoint",
    "CheckpointConfig",
    "Experiment",
    "ExperimentAnalysis",
    "FIFOScheduler",
    "FailureConfig",
    "HyperBandForBOHB",
    "HyperBandScheduler",
    "JupyterNotebookReporter",
    "Killed",
    "MedianStoppingRule",
    "PB2",
    "Paused",
    "PlacementGroupFactory",
    "PopulationBasedTraining",
    "ProgressReporter",
    "Result",
    "ResultGrid",
    "ResumeConfig",
    "RunConfig",
    "Stopped",
    "Stopper",
    "SyncConfig",
    "Trainable",
    "TuneConfig",
    "TuneContext",
    "TuneError",
    "Tuner",
    "Unsupported",
    "choice",
    "create_scheduler",
    "create_searcher",
    "get_checkpoint",
    "get_context",
    "grid_search",
    "lograndint",
    "loguniform",
    "qlograndint",
    "qloguniform",
    "qrandint",
    "qrandn",
    "quniform",
    "randint",
    "randn",
    "register_env",
    "register_trainable",
    "report",
    "run",
    "run_experiments",
    "sample_from",
    "uniform",
    "with_parameters",
    "with_resources",
]


def __getattr__(name: str) -> _Any:
    """A public name, or a module, that was not used before."""
    from importlib import import_module

    if name in _HOMES:
        value = getattr(import_module(_HOMES[name], __name__), name)
    elif name in _SUBMODULES:
        value = import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def look_up() -> None:
    """Looks up the names of modules that are loaded, so that no trial's process does it anew."""
    from importlib.util import resolve_name
    from sys import modules

    for name, module in _HOMES.items():
        if resolve_name(module, __name__) in modules:
            __getattr__(name)


def __dir__() -> _List[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES})
