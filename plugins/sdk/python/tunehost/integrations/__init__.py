"""Callbacks that report from the training loops of libraries, each in a module of its own:

| module | for |
|---|---|
| tunehost.integrations.xgboost | xgboost.train and XGBModel |
| tunehost.integrations.lightgbm | lightgbm.train and LGBMModel |
| tunehost.integrations.sklearn | partial_fit |
| tunehost.integrations.lightning | PyTorch Lightning |
| tunehost.integrations.transformers | the Trainer of Hugging Face |
| tunehost.integrations.keras | Keras |

Each reports every result to tunehost, with a checkpoint if asked to, continues from a checkpoint, and ends the training
when the trial is stopped. A module imports its library when it is imported.
"""
