"""tune.run: the older way to run an experiment."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import datetime
import os
import threading
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import _resuming, _skip
from .analysis import ExperimentAnalysis
from .config import CheckpointConfig, FailureConfig, ResumeConfig, RunConfig, SyncConfig, TuneConfig
from .error import TuneError
from .experiment import Experiment, listed
from .registry import registered
from .resources import with_resources
from .schedulers import create_scheduler
from .search import create_searcher
from .tuner import Tuner

__all__ = ["run", "run_experiments"]


def run(
    run_or_experiment: Any,
    *,
    name: Optional[str] = None,
    metric: Optional[str] = None,
    mode: Optional[str] = None,
    stop: Any = None,
    time_budget_s: Union[None, float, datetime.timedelta] = None,
    config: Optional[Dict[str, Any]] = None,
    resources_per_trial: Any = None,
    num_samples: int = 1,
    storage_path: Optional[str] = None,
    storage_filesystem: Any = None,
    search_alg: Any = None,
    scheduler: Any = None,
    checkpoint_config: Optional[CheckpointConfig] = None,
    verbose: Optional[int] = None,
    progress_reporter: Any = None,
    log_to_file: Union[bool, str, Tuple[str, str]] = False,
    trial_name_creator: Optional[Callable[..., str]] = None,
    trial_dirname_creator: Union[None, str, Callable[..., str]] = None,
    sync_config: Optional[SyncConfig] = None,
    export_formats: Optional[Sequence[str]] = None,
    max_failures: int = 0,
    fail_fast: Union[bool, str] = False,
    restore: Optional[str] = None,
    resume: Union[None, bool, str] = None,
    resume_config: Optional[ResumeConfig] = None,
    reuse_actors: bool = False,
    raise_on_failed_trial: bool = True,
    callbacks: Optional[Sequence[Any]] = None,
    max_concurrent_trials: Optional[int] = None,
    keep_checkpoints_num: Optional[int] = None,
    checkpoint_score_attr: Optional[str] = None,
    checkpoint_freq: int = 0,
    checkpoint_at_end: bool = False,
    chdir_to_trial_dir: Optional[bool] = None,
    local_dir: Optional[str] = None,
    executor: Union[None, str, Mapping[str, Any]] = None,
) -> ExperimentAnalysis:
    """Runs an experiment. Tuner is the newer way; the arguments are those of its configs.

    search_alg and scheduler may be Ray's names, such as "hyperopt" and "pbt". resume=True, or "AUTO", continues
    the experiment of this name if it exists; "AUTO+ERRORED" also its failed trials, as resume_config says it with more
    words; of the other arguments it takes verbose, and warns of those that say something else than the experiment has.
    restore is the directory of a checkpoint from which every trial starts. export_formats are those in which
    export_model of a class writes models at the end. keep_checkpoints_num, checkpoint_score_attr, checkpoint_freq and
    checkpoint_at_end are older names for a checkpoint_config; chdir_to_trial_dir and local_dir are refused, as in Ray.
    executor, which Ray does not have, is that of RunConfig: where trials run.
    TuneError: it could not run, or a trial failed and raise_on_failed_trial is set.
    """
    given = _resuming.given(run, locals())
    _refuse_deprecated(chdir_to_trial_dir, local_dir)
    if isinstance(run_or_experiment, Experiment):
        raise TuneError("pass an Experiment to tune.run_experiments")
    trainable = registered(run_or_experiment)
    if resources_per_trial is not None:
        trainable = with_resources(trainable, resources_per_trial)
    tune = TuneConfig(
        metric=metric,
        mode=mode,
        num_samples=num_samples,
        time_budget_s=time_budget_s,
        reuse_actors=reuse_actors,
        search_alg=create_searcher(search_alg) if isinstance(search_alg, str) else search_alg,
        scheduler=create_scheduler(scheduler) if isinstance(scheduler, str) else scheduler,
        max_concurrent_trials=max_concurrent_trials,
        trial_name_creator=trial_name_creator,
        trial_dirname_creator=trial_dirname_creator,
    )
    setting = RunConfig(
        name=name,
        storage_path=storage_path,
        storage_filesystem=storage_filesystem,
        stop=stop,
        verbose=verbose,
        checkpoint_config=_checkpoints(
            checkpoint_config, keep_checkpoints_num, checkpoint_score_attr, checkpoint_freq, checkpoint_at_end
        ),
        failure_config=FailureConfig(max_failures, fail_fast),
        progress_reporter=progress_reporter,
        log_to_file=log_to_file,
        sync_config=sync_config,
        callbacks=None if callbacks is None else list(callbacks),
        executor=executor,
    )
    tuner = _resumed(trainable, resume, resume_config, setting)
    if tuner:
        _resuming.tell_ignored(tuner, lambda: Tuner(trainable, param_space=config, tune_config=tune, run_config=setting), given)
    else:
        tuner = Tuner(trainable, param_space=config, tune_config=tune, run_config=setting)
        if restore is not None:
            tuner._start_from(restore)
        if export_formats:
            tuner._export(export_formats)
    tuner._flags += getattr(_shares, "flags", [])
    grid = tuner.fit()
    if grid.errors and raise_on_failed_trial:
        raise TuneError(f"{grid.num_errors} of {len(grid)} trials failed, the first with: {grid.errors[0]}")
    return ExperimentAnalysis(grid.experiment_path, default_metric=grid._metric, default_mode=grid._mode)


_shares = threading.local()  #: the flags of an experiment that runs beside others


@contextlib.contextmanager
def _sharing(shares: bool) -> Iterator[None]:
    """Makes the experiments of this thread share the machine."""
    _shares.flags = ["--share"] if shares else []
    try:
        yield
    finally:
        _shares.flags = []


def _refuse_deprecated(chdir_to_trial_dir: Optional[bool], local_dir: Optional[str]) -> None:
    """What Ray refuses, too."""
    if chdir_to_trial_dir is not None:
        raise DeprecationWarning(
            "`chdir_to_trial_dir` is deprecated: every trial runs in its directory; tune.get_context() has it"
        )
    if local_dir is not None:
        raise DeprecationWarning("The `local_dir` argument is deprecated. You should set the `storage_path` instead.")


def _checkpoints(
    given: Optional[CheckpointConfig], keep: Optional[int], score: Optional[str], every: int, at_end: bool
) -> Optional[CheckpointConfig]:
    """The configuration with what older names say."""
    found = dataclasses.replace(given) if given else CheckpointConfig()
    if keep is not None:
        found.num_to_keep = keep
    if score is not None:
        least = score.startswith("min-")
        found.checkpoint_score_attribute = score[len("min-") :] if least else score
        found.checkpoint_score_order = "min" if least else "max"
    found.checkpoint_frequency = every or found.checkpoint_frequency
    found.checkpoint_at_end = bool(at_end or found.checkpoint_at_end)  # None would be True, as for Tuner
    return given if found == (given or CheckpointConfig()) else found


def _resumed(
    trainable: Any, resume: Union[None, bool, str], chosen: Optional[ResumeConfig], setting: RunConfig
) -> Optional[Tuner]:
    """The experiment of this name, if it is to be continued."""
    if not resume:
        if chosen is not None:
            raise TuneError("resume_config is given and resume is not: write resume=True")
        return None
    words = ("AUTO" if resume is True else str(resume)).upper().split("+")
    if words[0] in ("LOCAL", "REMOTE", "PROMPT", "ERRORED_ONLY"):
        raise DeprecationWarning(f"resume={resume!r} is deprecated: write True or AUTO")
    if words[0] != "AUTO" or any(w not in _ERRORED for w in words[1:]):
        raise ValueError(f"resume is {resume!r}: expected True, or AUTO with +{', +'.join(_ERRORED)}")
    wanted = chosen or ResumeConfig(**{k: v for w in words[1:] for k, v in _ERRORED[w].items()})
    if not setting.name:
        raise TuneError("resume needs the name of the experiment: write name=NAME")
    path = os.path.join(os.path.expanduser(setting.storage_path or "results"), setting.name)
    if not Tuner.can_restore(path):
        return None
    kind = ResumeConfig.ResumeType
    made = Tuner.restore(path, trainable)
    made._goes_on = _skip.GoesOn(*(kind(one).value for one in (wanted.finished, wanted.unfinished, wanted.errored)))
    return made


_ONLY = {"unfinished": ResumeConfig.ResumeType.SKIP}
_ERRORED: Dict[str, Dict[str, Any]] = {
    "ERRORED": {"errored": ResumeConfig.ResumeType.RESUME},
    "RESTART_ERRORED": {"errored": ResumeConfig.ResumeType.RESTART},
    "ERRORED_ONLY": {"errored": ResumeConfig.ResumeType.RESUME, **_ONLY},
    "RESTART_ERRORED_ONLY": {"errored": ResumeConfig.ResumeType.RESTART, **_ONLY},
}


def run_experiments(
    experiments: Any,
    scheduler: Any = None,
    verbose: Optional[int] = None,
    progress_reporter: Any = None,
    resume: Union[None, bool, str] = None,
    resume_config: Optional[ResumeConfig] = None,
    reuse_actors: bool = False,
    raise_on_failed_trial: bool = True,
    concurrent: bool = True,
    callbacks: Optional[Sequence[Any]] = None,
) -> List[Any]:
    """Runs several experiments at the same time, or one after the other if concurrent is False, and returns their trials:
    an Experiment, a list of them, or {NAME: {"run": TRAINABLE, …}} with the arguments of tune.run. Experiments that run
    at the same time share the CPUs and GPUs of the machine. TuneError: a trial has failed, and raise_on_failed_trial
    is True."""
    more = {
        "scheduler": scheduler,
        "verbose": verbose,
        "progress_reporter": progress_reporter,
        "resume": resume,
        "resume_config": resume_config,
        "reuse_actors": reuse_actors,
        "callbacks": callbacks,
    }
    given = {k: v for k, v in more.items() if v}
    those = listed(experiments)
    shares = concurrent and len(those) > 1

    def one(experiment: Experiment) -> ExperimentAnalysis:
        arguments = {**copy.deepcopy({k: v for k, v in given.items() if k == "scheduler"}), **_others(given)}
        with _sharing(shares):
            return run(
                experiment.run_identifier,
                name=experiment.name,
                raise_on_failed_trial=False,
                **{**arguments, **experiment.arguments},
            )

    if shares:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(len(those)) as pool:
            analyses = list(pool.map(one, those))
    else:
        analyses = [one(experiment) for experiment in those]
    found = [trial for analysis in analyses for trial in analysis.trials]
    failed = [trial for trial in found if trial.error]
    if failed and raise_on_failed_trial:
        raise TuneError(f"{len(failed)} of {len(found)} trials failed, the first with: {failed[0].error}")
    return found


def _others(given: Mapping[str, Any]) -> Dict[str, Any]:
    return {k: v for k, v in given.items() if k != "scheduler"}
