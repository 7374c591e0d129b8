"""scaffold-name is a trainable for tunehost: a stand-in for training, which walks down a
parabola. The parameter lr is its step.

Everything here may be changed. What must stay true: each epoch is reported. Load data in
open, or at the top of the file: each trial is a fork of what is there then.
"""

import json

import tunehost


class Plugin(tunehost.Trainable):
    """Walks down a parabola."""

    name = "scaffold-name"
    version = "0.1.0"
    saves = True  # it can continue from a checkpoint

    # What users may write under options.
    epochs: int = tunehost.option(10, "results of each trial", minimum=1)

    def train(self, run):
        """Trains one trial, from its checkpoint if there is one. report calls save when a
        checkpoint is wanted, and raises tunehost.Stopped when the trial is to end."""
        model = load(run.restore) if run.restore else {"x": 10.0}
        while run.iteration < self.epochs:
            model["x"] -= run.params.get("lr", 0.1) * 2 * model["x"]
            run.report(loss=model["x"] ** 2, save=lambda dir: save(model, dir), done=run.iteration + 1 == self.epochs)


def save(model, dir):
    (dir / "model.json").write_text(json.dumps(model))


def load(dir):
    try:
        return json.loads((dir / "model.json").read_text())
    except (OSError, ValueError) as e:
        raise tunehost.RestoreError(f"cannot read the checkpoint in {dir}: {e}") from e


if __name__ == "__main__":
    tunehost.serve(Plugin)
