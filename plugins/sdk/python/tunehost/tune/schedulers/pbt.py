"""The module with the name that it has in Ray Tune."""

from ._pbt import PopulationBasedTraining, PopulationBasedTrainingReplay

__all__ = ["PopulationBasedTraining", "PopulationBasedTrainingReplay"]
