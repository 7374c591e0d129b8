"""Populations change as Ray's do: with the same random numbers the same trials go on from the same others, with the
same parameters."""

import json
import logging
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Dict, List, Tuple

import pytest
import ray.tune
from ray.tune.schedulers import pbt as theirs

from tunehost import tune
from tunehost.tune.schedulers import _pbt as ours
from tunehost.tune.trial import Trial

logging.getLogger(theirs.__name__).setLevel(logging.ERROR)


def a_value() -> float:
    return random.uniform(0, 10)


MUTATIONS: Dict[str, Any] = {
    "lr": a_value,
    "layers": [1, 2, 4, 8],
    "kind": ("a", "b"),
    "units": lambda: random.randint(1, 99),
    "deep": {"rate": a_value, "flag": lambda: random.random() < 0.5},
}
CONFIG: Dict[str, Any] = {
    "lr": 0.3, "layers": 4, "kind": "a", "units": 17, "deep": {"rate": 2.5, "flag": True, "own": 1}, "other": "kept"
}


@pytest.mark.parametrize("resample", [0, 0.25, 1])
def test_configs_are_explored_as_by_ray(resample: float) -> None:
    for seed in range(200):
        config = {**CONFIG, "layers": random.Random(seed).choice([1, 2, 4, 8, 3])}  # 3: not in the list
        random.seed(seed)
        changed = ours.explored(config, MUTATIONS, resample, [1.2, 0.8, 3])
        random.seed(seed)
        assert changed == theirs._explore(config, MUTATIONS, resample, [1.2, 0.8, 3], None)[0]
    domains = {"lr": tune.uniform(0, 1), "units": tune.randint(1, 99)}
    random.seed(1)
    changed = ours.explored(CONFIG, domains, 0, [1.2, 0.8])
    random.seed(1)
    known = {"lr": ray.tune.uniform(0, 1), "units": ray.tune.randint(1, 99)}
    assert changed == theirs._explore(CONFIG, known, 0, (1.2, 0.8), None)[0]


class Member(Trial):
    """A trial that Ray's scheduler can use, too."""

    _saved = 0
    saved_at, saved_score = 0, 0.0  # of its checkpoint

    def __init__(self, number: int) -> None:
        super().__init__(number, f"{number:05d}", {"lr": 0.1 * (number + 1), "layers": 2}, "f")
        manager = SimpleNamespace(checkpoint_config=SimpleNamespace(num_to_keep=None))
        self.run_metadata = SimpleNamespace(checkpoint_manager=manager)
        self.temporary_state = SimpleNamespace(saving_to=None)

    def set_experiment_tag(self, tag: str) -> None:
        pass

    def has_saved(self, at: int, score: float) -> None:
        self._saved = self.saved_at = at
        self.saved_score = score
        self._checkpoint = f"/checkpoint/{at}"


class World:
    """Trains a population in turns. said has who went on from whom, from which iteration, and with which config."""

    search_alg = None

    def __init__(self, scheduler: Any, count: int, steps: int) -> None:
        self.scheduler, self.steps = scheduler, steps
        self.trials = [Member(n) for n in range(count)]
        self.done = [0] * count
        self.scores = [0.0] * count
        self.said: List[Any] = []

    def get_trials(self) -> List[Any]:
        return self.trials

    def get_live_trials(self) -> List[Any]:
        return [t for t in self.trials if not t.is_finished()]

    def _more(self) -> bool:
        return False

    def _schedule_trial_save(self, trial: Member, result: Any = None) -> Any:
        trial.has_saved(self.done[trial.number], self.scores[trial.number])
        return trial.checkpoint

    def pause_trial(self, trial: Member, should_checkpoint: bool = True) -> None:
        trial.status = Trial.PAUSED

    def run(self) -> List[Any]:
        for trial in self.trials:
            trial.status = Trial.RUNNING
            self.scheduler.on_trial_add(self, trial)
        for _ in range(self.steps * 4):
            for trial in self.trials:
                if trial.status == Trial.RUNNING:
                    self.step(trial)
                self.resume()
        assert all(t.is_finished() for t in self.trials)
        return self.said

    def step(self, trial: Member) -> None:
        n = trial.number
        self.done[n] += 1
        gain = trial.config["lr"] * (1.5 if trial.config["layers"] > 2 else 1)
        self.scores[n] += gain * (1 if n % 2 else self.done[n] % 3)
        result = {"training_iteration": self.done[n], "score": self.scores[n]}
        if self.done[n] >= self.steps:
            trial.status = Trial.TERMINATED
            self.scheduler.on_trial_complete(self, trial, result)
            return
        decision = self.scheduler.on_trial_result(self, trial, result)
        trial.last_result = result
        if decision == "PAUSE":
            trial.status = Trial.PAUSED
            if not hasattr(trial, "_exploit"):
                trial.has_saved(self.done[n], self.scores[n])

    def goes_on(self, trial: Member, donor: int, config: Dict[str, Any]) -> None:
        self.done[trial.number], self.scores[trial.number] = self.trials[donor].saved_at, self.trials[donor].saved_score
        self.said.append((trial.number, donor, self.done[trial.number], config))

    def resume(self) -> None:
        while True:
            chosen = self.scheduler.choose_trial_to_run(self)
            if chosen is None or chosen.status != Trial.PAUSED:
                return
            chosen.status = Trial.RUNNING
            exploit = vars(chosen).pop("_exploit", None)
            if exploit:
                chosen.config = exploit[2]
                self.goes_on(chosen, exploit[0], chosen.config)


class Rays(theirs.PopulationBasedTraining):  # type: ignore[misc]
    """Ray's, which changes a trial at once."""

    def _exploit(self, world: World, trial: Member, donor: Member) -> None:
        super()._exploit(world, trial, donor)
        world.goes_on(trial, donor.number, trial.config)


GIVEN: List[Tuple[Dict[str, Any], int]] = [
    ({"perturbation_interval": 3}, 8),
    ({"perturbation_interval": 2, "quantile_fraction": 0.5, "resample_probability": 0.6}, 5),
    ({"perturbation_interval": 4, "burn_in_period": 6, "perturbation_factors": (2, 0.5)}, 12),
    ({"perturbation_interval": 3, "synch": True}, 8),
    ({"perturbation_interval": 4, "synch": True, "quantile_fraction": 0.5, "resample_probability": 0.6}, 5),
    ({"perturbation_interval": 3, "custom_explore_fn": lambda config: {**config, "lr": config["lr"] / 2}}, 6),
]


@pytest.mark.parametrize("given, count", GIVEN)
def test_the_same_trials_go_on_from_others(given: Dict[str, Any], count: int) -> None:
    goal: Dict[str, Any] = {"metric": "score", "mode": "max", "time_attr": "training_iteration", "log_config": False}
    mutations = {"lr": a_value, "layers": [1, 2, 4, 8]}
    changes = 0
    for seed in range(5):
        random.seed(seed)
        said = World(tune.PopulationBasedTraining(**goal, **given, hyperparam_mutations=mutations), count, 24).run()
        random.seed(seed)
        known = World(Rays(**goal, **given, hyperparam_mutations=mutations), count, 24).run()
        if given.get("synch"):  # all that change at the same time: in any order
            said, known = sorted(said, key=repr), sorted(known, key=repr)
        assert said == known
        changes += len(said)
    assert changes > 10


def test_a_policy_of_ray_is_read_as_by_ray(tmp_path: Path) -> None:
    file = tmp_path / "policy.txt"
    for seed in range(100):
        r = random.Random(seed)
        tags = [str(r.randrange(3)) for _ in range(9)]
        rows = [
            [tags[i], tags[i + r.choice([1, 1, 0])], i, 2 * i + 1, {"x": r.randrange(9)}, {"x": r.randrange(9)}]
            for i in range(r.randrange(1, 8))
        ]
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        known = theirs.PopulationBasedTrainingReplay(str(file))
        made = ours.PopulationBasedTrainingReplay(str(file))
        assert made.config == known.config
        policy = made.options["policy"]
        assert [(change["iteration"], change["params"]) for change in policy] == known._policy
