"""Reports from the Trainer of Hugging Face:

    def train(config):
        report = ReportCallback(save=True)
        arguments = TrainingArguments("out", learning_rate=config["lr"], eval_strategy="epoch", save_strategy="epoch")
        Trainer(model, arguments, train_dataset=train_data, eval_dataset=test_data, callbacks=[report]).train(
            resume_from_checkpoint=report.path)

    tune.Tuner(train, param_space=space, tune_config=tune.TuneConfig(metric="eval_loss", mode="min"))
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Union

import transformers

from ._saving import chosen, report, restored

__all__ = ["ReportCallback"]

_FOLDER = "trainer"


class ReportCallback(transformers.TrainerCallback):  # type: ignore[misc]
    """Reports each evaluation: "eval_loss" and what compute_metrics returns.

    metrics: a list of those that are reported, or a dict {name to report: name here}; None: all. save: whether the
    checkpoint that the Trainer saves after the evaluation belongs to the result; save_strategy must then be that of
    eval_strategy. path is the checkpoint to continue from, or None: Trainer.train takes it as resume_from_checkpoint."""

    def __init__(self, metrics: Union[None, List[str], Mapping[str, str]] = None, save: bool = False) -> None:
        self._metrics, self._save = metrics, save
        self._last: Optional[Dict[str, Any]] = None  # waits for its checkpoint
        found = restored(_FOLDER)
        self.path: Optional[str] = str(found) if found else None

    def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Called by the Trainer at the start. ValueError: its checkpoints do not come with the evaluations."""
        steps = args.save_strategy == "steps" and args.save_steps != args.eval_steps
        if self._save and (steps or args.save_strategy != args.eval_strategy):
            raise ValueError("save=True needs a checkpoint for each evaluation: give TrainingArguments the same "
                             "save_strategy and eval_strategy, and the same save_steps and eval_steps")

    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any = None, **more: Any) -> None:
        """Called by the Trainer after each evaluation, before it saves."""
        found = {k: v for k, v in (metrics or {}).items() if isinstance(v, (int, float))}
        self._last = chosen(found, self._metrics)
        if not self._save:
            self._report(None)

    def on_save(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Called by the Trainer when it has saved."""
        if self._last is not None:
            self._report(Path(args.output_dir, f"checkpoint-{state.global_step}"))

    def _report(self, checkpoint: Optional[Path]) -> None:
        metrics, self._last = self._last or {}, None
        report(metrics, (lambda dir: _copy(checkpoint, dir / _FOLDER)) if checkpoint else None)


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target)
