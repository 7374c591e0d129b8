"""Ray's callbacks of Keras and PyTorch Lightning, with stand-ins for the libraries; Ray's helpers."""

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Dict, List, Tuple

import pytest

from tunehost import tune
from tunehost.tune import utils
from tunehost.tune.integration import _hooks
from tunehost.tune.utils import Verbosity, util, validate_warmstart, wait_for_gpu


class Callback:
    """That of a library."""

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        """A hook."""

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """A hook."""


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch) -> List[Tuple[Dict[str, Any], List[str]]]:
    """What callbacks report: metrics, and the files of the checkpoint."""
    found: List[Tuple[Dict[str, Any], List[str]]] = []

    def report(metrics: Dict[str, Any], checkpoint: Any = None) -> None:
        found.append((metrics, sorted(os.listdir(checkpoint.path)) if checkpoint else []))

    keras, lightning, inner = ModuleType("keras"), ModuleType("lightning"), ModuleType("lightning.pytorch")
    keras.callbacks = SimpleNamespace(Callback=Callback)  # type: ignore[attr-defined]
    inner.Callback = Callback  # type: ignore[attr-defined]
    for name, module in (("keras", keras), ("lightning", lightning), ("lightning.pytorch", inner)):
        monkeypatch.setitem(sys.modules, name, module)
    for name in ("keras", "pytorch_lightning"):
        monkeypatch.delitem(sys.modules, f"tunehost.tune.integration.{name}", raising=False)
        monkeypatch.setattr(importlib.import_module(f"tunehost.tune.integration.{name}"), "report", report)
    return found


class Saved:
    """A model and a trainer."""

    sanity_checking = False

    def __init__(self, **metrics: float) -> None:
        self.callback_metrics = {k: SimpleNamespace(item=lambda v=v: v) for k, v in metrics.items()}

    def save(self, path: str) -> None:
        """As Keras does."""
        Path(path).touch()

    save_checkpoint = save


def test_keras_reports_at_hooks(reported: List[Any]) -> None:
    from tunehost.tune.integration.keras import TuneReportCheckpointCallback

    made = TuneReportCheckpointCallback("train_end", ["epoch_end"], {"loss": "val_loss"})
    made.model = Saved()
    made.on_epoch_begin(0, {"val_loss": 3.0})
    made.on_epoch_end(0, {"val_loss": 2.0, "acc": 0.5})
    made.on_epoch_end(1, logs={"val_loss": 1.0})
    made.on_train_end({"val_loss": 0.5})
    assert reported == [({"loss": 2.0}, []), ({"loss": 1.0}, []), ({"loss": 0.5}, ["model.keras"])]
    with pytest.raises(ValueError, match="there is no hook 'ever'"):
        TuneReportCheckpointCallback("ever")


def test_lightning_reports_at_hooks(reported: List[Any]) -> None:
    from tunehost.tune.integration.pytorch_lightning import TuneReportCheckpointCallback

    made = TuneReportCheckpointCallback(["val_loss", "later"], "trainer.ckpt")
    trainer = Saved(val_loss=2.0, acc=0.5)
    made.on_train_end(trainer, None)
    made.on_validation_end(trainer=trainer, pl_module=None)
    trainer.sanity_checking = True
    made.on_validation_end(trainer, None)
    TuneReportCheckpointCallback(save_checkpoints=False, on="train_end").on_train_end(Saved(acc=1.0), None)
    assert reported == [({"val_loss": 2.0}, ["trainer.ckpt"]), ({"acc": 1.0}, [])]
    with pytest.raises(ValueError, match="train_end, validation_end"):
        TuneReportCheckpointCallback(on="ever")
    assert _hooks.chosen({"a": 1}, "a") == {"a": 1}


def test_a_trial_waits_for_its_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    used = iter([0.5, 0.2, 0.0, 0.0])
    monkeypatch.setattr(util, "_used", lambda: dict.fromkeys(("0", "GPU-a"), next(used)))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-a,GPU-b")
    assert wait_for_gpu(delay_s=0) and wait_for_gpu(0)
    monkeypatch.setattr(util, "_used", lambda: {"0": 0.5})
    with pytest.raises(RuntimeError, match="was not freed"):
        wait_for_gpu(0, retry=2, delay_s=0)
    with pytest.raises(ValueError, match="there is no GPU 7; there are 0"):
        wait_for_gpu(7)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    with pytest.raises(RuntimeError, match="the trial has no GPU"):
        wait_for_gpu()
    monkeypatch.undo()
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho '0, GPU-a, 20, 80'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert util._used() == {"0": 0.25, "GPU-a": 0.25}


def test_what_a_searcher_begins_with_is_checked() -> None:
    validate_warmstart(["x"], [{"x": 1}], [2.0])
    validate_warmstart(["x"], None, None)
    for points, rewards, error in (({"x": 1}, [], TypeError), ([3], [], TypeError), ([{"x": 1, "y": 2}], [], ValueError),
                                   ([[1]], 3, TypeError), ([[1]], [1, 2], ValueError)):
        with pytest.raises(error):
            validate_warmstart(["x"], points, rewards)


def test_verbosity_has_names() -> None:
    assert utils.__all__ == ["Verbosity", "validate_warmstart", "wait_for_gpu"]
    tuner = tune.Tuner(print, run_config=tune.RunConfig(verbose=Verbosity.V2_TRIAL_NORM))
    assert tuner._verbosity() == ["-v", "2"]
