"""Integrations with libraries that are large: make check-integrations runs these."""

import os
from pathlib import Path

from interrupted import checked, crashes

os.environ.update(KERAS_BACKEND="torch", HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1")


def test_lightning():
    def train(config):
        import lightning
        import torch

        from tunehost.integrations.lightning import ReportCallback

        class Line(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(1, 1)

            def training_step(self, batch, number):
                return torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])

            def validation_step(self, batch, number):
                self.log("val_loss", torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1]))

            def configure_optimizers(self):
                return torch.optim.Adam(self.parameters(), lr=0.1)

        class Crashes(lightning.Callback):
            def on_train_epoch_start(self, trainer, pl_module):
                crashes(config, trainer.current_epoch)

        lightning.seed_everything(0, verbose=False)
        x = torch.linspace(0, 1, 32)[:, None]
        data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, 2 * x), batch_size=8)
        report = ReportCallback({"loss": "val_loss"}, every=1)
        trainer = lightning.Trainer(max_epochs=4, callbacks=[report, Crashes()], enable_progress_bar=False,
                                    enable_checkpointing=False, logger=False, accelerator="cpu", enable_model_summary=False)
        trainer.fit(Line(), data, data, ckpt_path=report.path)
        Path("finished").touch()

    checked(train, 4)


def test_transformers():
    def train(config):
        import torch
        import transformers

        from tunehost.integrations.transformers import ReportCallback

        class Crashes(transformers.TrainerCallback):
            def on_epoch_begin(self, args, state, control, **more):
                crashes(config, round(state.epoch or 0))

        transformers.set_seed(0)
        shape = transformers.BertConfig(vocab_size=16, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
                                        intermediate_size=8, hidden_dropout_prob=0, attention_probs_dropout_prob=0)
        rows = [{"input_ids": torch.tensor([i % 16, 1, 2]), "labels": i % 2} for i in range(16)]
        arguments = transformers.TrainingArguments(
            "out", num_train_epochs=4, learning_rate=1e-2, eval_strategy="epoch", save_strategy="epoch",
            report_to=[], use_cpu=True, disable_tqdm=True, seed=0, data_seed=0, per_device_train_batch_size=8)
        report = ReportCallback({"loss": "eval_loss"}, save=True)
        model = transformers.BertForSequenceClassification(shape)
        trainer = transformers.Trainer(model, arguments, train_dataset=rows, eval_dataset=rows,
                                       callbacks=[report, Crashes()])
        trainer.train(resume_from_checkpoint=report.path)
        Path("finished").touch()

    checked(train, 4)


def test_keras():
    def train(config):
        import keras
        import numpy as np

        from tunehost.integrations.keras import ReportCallback

        class Crashes(keras.callbacks.Callback):
            def on_epoch_begin(self, epoch, logs=None):
                crashes(config, epoch)

        def build():
            keras.utils.set_random_seed(0)
            model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
            model.compile("adam", "mse")
            return model

        report = ReportCallback({"loss": "val_loss"}, every=1)
        model = report.restore() or build()
        x = np.linspace(0, 1, 32)[:, None]
        model.fit(x, 2 * x, validation_data=(x, 2 * x), epochs=4, initial_epoch=report.done, shuffle=False, verbose=0,
                  callbacks=[report, Crashes()])
        Path("finished").touch()

    checked(train, 4)
