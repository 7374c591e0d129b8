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

from ..errors import Paused, Stopped
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
from .run import run, run_experiments
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
