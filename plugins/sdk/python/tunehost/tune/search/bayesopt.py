"""The module with the name that it has in Ray Tune."""

from ._methods import BayesOptSearch

__all__ = ["BayesOptSearch"]
