"""Population based training."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from .._plugin import Choice, by_iteration, whole
from ..error import TuneError, Unsupported
from ..sample import Categorical, Domain, Float, uniform


class PopulationBasedTraining(Choice):
    """The worst trials continue from checkpoints of the best, with changed parameters.

    hyperparam_mutations says which parameters change: a domain, a list (values move to a neighbour), or
    None for the parameter's own domain. A parameter that is constant in param_space starts there in each
    trial. time_attr must be "training_iteration" here, and periods count iterations.
    """

    plugin = "pbt"

    def __init__(
        self,
        time_attr: str = "time_total_s",
        metric: Optional[str] = None,
        mode: Optional[str] = None,
        perturbation_interval: float = 60.0,
        burn_in_period: float = 0.0,
        hyperparam_mutations: Optional[Mapping[str, Any]] = None,
        quantile_fraction: float = 0.25,
        resample_probability: float = 0.25,
        perturbation_factors: Sequence[float] = (1.2, 0.8),
        custom_explore_fn: Optional[Callable[..., Any]] = None,
        log_config: bool = True,
        require_attrs: bool = True,
        synch: bool = False,
    ) -> None:
        me = type(self).__name__
        by_iteration(me, time_attr)
        if custom_explore_fn is not None:
            raise Unsupported(
                f"{me}(custom_explore_fn=…) is not supported: limit the domains in hyperparam_mutations, or "
                "compute derived values with tune.sample_from"
            )
        if not require_attrs:
            raise Unsupported(f"{me}(require_attrs=False) is not supported: report the metric in every result")
        if not hyperparam_mutations:
            raise TuneError(f"{me} needs hyperparam_mutations: the parameters that may change")
        if quantile_fraction <= 0 or quantile_fraction > 0.5:
            raise ValueError(f"quantile_fraction is {quantile_fraction}: expected a number above 0 and at most 0.5")
        self.metric, self.mode = metric, mode
        self.mutations = {name: _domain(me, name, given) for name, given in hyperparam_mutations.items()}
        self.log_config = log_config  # the lineage is always recorded: tunehost lineage DIR
        self.options: Dict[str, Any] = {
            "plugin": self.plugin,
            "interval": whole(me, "perturbation_interval", perturbation_interval),
            "burn_in": whole(me, "burn_in_period", burn_in_period, 0),
            "quantile": float(quantile_fraction),
            "resample": float(resample_probability),
            "factors": [float(f) for f in perturbation_factors],
            "mutate": list(self.mutations),
            "sync": bool(synch),
        }

    def entry(self) -> Dict[str, Any]:
        return self.options

    def space(self, param_space: Mapping[str, Any]) -> Dict[str, Any]:
        """The param_space with the domains of the mutations."""
        found = dict(param_space)
        for name, domain in self.mutations.items():
            own = found.get(name)
            if domain is None:
                if not isinstance(own, Domain):
                    raise TuneError(f"hyperparam_mutations: {name} has no domain, and none in param_space")
            elif not isinstance(own, Domain) or _fits(own, domain):
                found[name] = domain
            else:
                raise Unsupported(
                    f"{name} has one domain in param_space and another in hyperparam_mutations: give it the "
                    "same in both, or a constant in param_space"
                )
        return found

    def start(self, param_space: Mapping[str, Any]) -> Dict[str, Any]:
        """The constants at which parameters start that then change."""
        return {
            name: param_space[name]
            for name, domain in self.mutations.items()
            if domain is not None and name in param_space and not isinstance(param_space[name], Domain)
        }


def _domain(me: str, name: str, given: Any) -> Optional[Domain]:
    if given is None or isinstance(given, Domain):
        return given
    if isinstance(given, (list, tuple)):
        return Ordinal(list(given))
    if isinstance(given, Mapping):
        raise Unsupported(f"{me}: nested hyperparam_mutations ({name}) are not supported: use flat names")
    raise Unsupported(
        f"{me}: {name} is a function in hyperparam_mutations, which is not supported: give it a domain, such "
        "as tune.uniform(0, 1), or a list"
    )


class Ordinal(Categorical):
    """A list of mutations: its values are ordered."""

    kind = "ordinal"


def _fits(own: Domain, other: Domain) -> bool:
    """Whether the domains have the same values."""
    return own.form() == other.form()


class PB2(PopulationBasedTraining):
    """Population based bandits: a model chooses the values within hyperparam_bounds, {NAME: [least, most]}."""

    plugin = "pb2"

    def __init__(
        self,
        time_attr: str = "time_total_s",
        metric: Optional[str] = None,
        mode: Optional[str] = None,
        perturbation_interval: float = 60.0,
        hyperparam_bounds: Optional[Mapping[str, Any]] = None,
        quantile_fraction: float = 0.25,
        log_config: bool = True,
        require_attrs: bool = True,
        synch: bool = False,
        custom_explore_fn: Optional[Callable[..., Any]] = None,
    ) -> None:
        if not hyperparam_bounds:
            raise TuneError('PB2 needs hyperparam_bounds, such as {"lr": [0.0001, 0.1]}')
        self.bounds = {name: _range(name, bounds) for name, bounds in hyperparam_bounds.items()}
        super().__init__(
            time_attr,
            metric,
            mode,
            perturbation_interval,
            0.0,
            self.bounds,
            quantile_fraction,
            0.25,
            (1.2, 0.8),
            custom_explore_fn,
            log_config,
            require_attrs,
            synch,
        )

    def space(self, param_space: Mapping[str, Any]) -> Dict[str, Any]:
        """The param_space; a parameter that has a domain of numbers with these bounds keeps it."""
        found = dict(param_space)
        for name, bounds in self.bounds.items():
            own = found.get(name)
            if isinstance(own, Float) and next(iter(own.form().values())) == bounds.form()["uniform"]:
                continue
            if isinstance(own, Domain):
                raise Unsupported(
                    f"{name} has other bounds in param_space than in hyperparam_bounds: give it the same in "
                    "both, or a constant in param_space"
                )
            found[name] = bounds
        return found


def _range(name: str, bounds: Any) -> Float:
    values: List[Any] = list(bounds) if isinstance(bounds, (list, tuple)) else []
    if len(values) != 2:
        raise TuneError(f"hyperparam_bounds: {name} is {bounds!r:.60}, expected [least, most]")
    return uniform(values[0], values[1])


class PopulationBasedTrainingReplay(Choice):
    """Ray's replay of a policy file. Not supported: `tunehost lineage DIR TRIAL --policy` prints a policy for the
    scheduler Plugin("pbt-replay", policy=[…])."""

    def __init__(self, policy_file: str) -> None:
        raise Unsupported(
            "PopulationBasedTrainingReplay reads Ray's policy files: run `tunehost lineage DIR TRIAL --policy` "
            'and pass scheduler=tune.schedulers.Plugin("pbt-replay", policy=[…])'
        )
