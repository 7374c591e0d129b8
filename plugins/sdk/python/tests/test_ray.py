"""What Ray's own code does with the same arguments. Ray is imported, and no cluster is started."""

import glob
import inspect
import json
import math
import random
from pathlib import Path
from typing import Any, Dict, List

import pytest
import ray.tune
import ray.tune.logger
import ray.tune.search
from tensorboardX.proto import event_pb2, plugin_hparams_pb2
from tensorboardX.summary import hparams

from tunehost import tune
from tunehost.tune import search
from tunehost.tune.logger import _pretty, pretty_print
from tunehost.tune.logger._tensorboard import Scalars

WORDS = ["abc", "a b", "1", "1.5", "true", "yes", "", "a: b", "x#y", "it's", "2024-01-01_10-11", "null", "1e5", "a\nb"]


def a_result(seed: int) -> Dict[str, Any]:
    """A result with values of many kinds."""
    r = random.Random(seed)

    def value(depth: int) -> Any:
        kind = r.randrange(9 if depth < 3 else 4)
        if kind < 4:
            return [r.choice([True, None, 3]), r.choice(WORDS), r.choice([1e-5, 0.1, math.inf, 1e20]), r.random()][kind]
        if kind < 6:
            return [value(depth + 1) for _ in range(r.randrange(6))]
        if kind < 8:
            return {r.choice(["a", "b c", "1", "x/y"]): value(depth + 1) for _ in range(r.randrange(4))}
        return [r.random() for _ in range(r.randrange(30))]

    return {"training_iteration": 1, "config": {"x": 1}, **{name: value(0) for name in "abcd"}}


def test_pretty_print() -> None:
    for seed in range(200):
        result = a_result(seed)
        assert pretty_print(result, {"b"}) == ray.tune.logger.pretty_print(result, {"b"})


def test_pretty_print_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    import yaml

    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for seed in range(200):
        result = {k: v for k, v in a_result(seed).items() if v is not None and k != "config"}
        assert yaml.safe_load(pretty_print(result)) == json.loads(json.dumps(result))
    assert _pretty.pretty_print({"config": {}}) == "{}\n"


def test_texts_for_searchers() -> None:
    for name in ("UNDEFINED_METRIC_MODE", "UNDEFINED_SEARCH_SPACE", "UNRESOLVED_SEARCH_SPACE"):
        assert getattr(search, name) == getattr(ray.tune.search, name)


GROUPS: List[Dict[str, Any]] = [
    {"bundles": [{"CPU": 1, "GPU": 0.5}]},
    {"bundles": [{"CPU": 0, "GPU": 0}, {"CPU": 2}, {"CPU": 2}], "strategy": "SPREAD"},
    {"bundles": [{}, {"CPU": 2}], "name": "group", "lifetime": "detached"},
]


@pytest.mark.parametrize("given", GROUPS)
def test_placement_groups(given: Dict[str, Any]) -> None:
    ours, theirs = tune.PlacementGroupFactory(**given), ray.tune.PlacementGroupFactory(**given)
    for name in ("bundles", "strategy", "head_cpus", "head_bundle_is_empty", "required_resources"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours == tune.PlacementGroupFactory(**given) and ours != tune.PlacementGroupFactory([{"CPU": 7}])
    ours.bundles.append({})
    assert ours.bundles == theirs.bundles


def test_placement_groups_with_unknown_arguments() -> None:
    with pytest.raises(TypeError):
        tune.PlacementGroupFactory([{"CPU": 1}], nonsense=1)


def records(dir: Path) -> List[Any]:
    """The events of the TensorBoard file in a directory."""
    (file,) = glob.glob(f"{dir}/events*")
    raw, found = Path(file).read_bytes(), []
    while raw:
        size = int.from_bytes(raw[:8], "little")
        found.append(event_pb2.Event.FromString(raw[12 : 12 + size]))
        raw = raw[16 + size :]
    return found


def parameters(summary: Any) -> Any:
    """The content of a summary of parameters, without times."""
    (value,) = summary.value
    content = plugin_hparams_pb2.HParamsPluginData.FromString(value.metadata.plugin_data.content)
    content.session_start_info.ClearField("start_time_secs")
    content.session_end_info.ClearField("end_time_secs")
    return value.tag, value.metadata.plugin_data.plugin_name, content


def test_parameters_for_tensorboard(tmp_path: Path) -> None:
    config, metrics = {"lr": 0.1, "n": 3, "b": True, "s": "x", "off": False}, {"ray/tune/loss": 1.5}
    writer = Scalars(str(tmp_path))
    writer.add_parameters(config, metrics)
    writer.close()
    _, *ours = records(tmp_path)
    theirs = hparams(hparam_dict=config, metric_dict=metrics)
    assert [parameters(e.summary) for e in ours] == [parameters(s) for s in theirs]


def test_arguments_of_experiments() -> None:
    """Every argument and attribute of Ray's Experiment exists."""
    ours, theirs = tune.Experiment, ray.tune.Experiment
    missing = set(inspect.signature(theirs).parameters) - set(inspect.signature(ours).parameters)
    assert missing <= {"local_dir"}
    made = tune.Experiment.from_json("name", {"run": lambda config: None, "stop": {"x": 1}, "num_samples": 3})
    assert (made.name, made.run_identifier, made.public_spec) == ("name", "lambda", {"stop": {"x": 1}, "num_samples": 3})
    with pytest.raises(tune.TuneError):
        tune.Experiment.from_json("name", {"config": {}})
    with pytest.raises(tune.TuneError):
        tune.Experiment.from_json("name", {"run": "lambda", "nonsense": 1})
    assert {n for n in vars(theirs) if not n.startswith("_")} - set(dir(made)) <= {"local_dir", "checkpoint_dir"}


def test_methods_of_analyses() -> None:
    """Every public method and property of Ray's classes for results exists."""
    for ours, theirs in (
        (tune.ExperimentAnalysis, ray.tune.ExperimentAnalysis),
        (tune.ResultGrid, ray.tune.ResultGrid),
        (tune.Result, ray.tune.Result),
        (tune.Checkpoint, ray.tune.Checkpoint),
        (search.SearchAlgorithm, ray.tune.search.SearchAlgorithm),
        (search.SearchGenerator, ray.tune.search.SearchGenerator),
        (search.Searcher, ray.tune.search.Searcher),
    ):
        names = {n for n in dir(theirs) if not n.startswith("_")}
        assert names - set(dir(ours)) <= {"path", "experiment_path"}, theirs  # attributes of objects here


def test_checkpoints_on_a_file_system(tmp_path: Path) -> None:
    from pyarrow import fs

    (tmp_path / "on" / "deep").mkdir(parents=True)
    (tmp_path / "on" / "deep" / "file").write_text("x")
    on = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    for kind in (tune.Checkpoint, ray.tune.Checkpoint):
        made = kind("on", on)
        made.set_metadata({"a": 1})
        made.update_metadata({"b": 2})
        assert made.get_metadata() == {"a": 1, "b": 2} and made.filesystem is on and made.path == "on"
        with made.as_directory() as dir:
            assert Path(dir, "deep", "file").read_text() == "x"
        assert not Path(dir).exists()
        assert Path(made.to_directory(), "deep", "file").read_text() == "x"
    local = tune.Checkpoint(f"file://{tmp_path}/on")
    assert local.path == str(tmp_path / "on") and isinstance(local.filesystem, fs.LocalFileSystem)
    assert repr(local) == repr(ray.tune.Checkpoint(f"file://{tmp_path}/on"))


def test_metadata_of_a_reported_checkpoint(tmp_path: Path) -> None:
    """Its files do not change."""
    files = tmp_path / "000001" / "files"
    files.mkdir(parents=True)
    (tmp_path / "000001" / "MANIFEST.json").write_text("{}")
    made = tune.Checkpoint(files)
    made.set_metadata({"a": 1})
    assert tune.Checkpoint(files).get_metadata() == {"a": 1} and not list(files.iterdir())
    assert tune.Checkpoint(made.to_directory(tmp_path / "copy")).get_metadata() == {"a": 1}


def test_names_with_arguments_that_they_do_not_have(capsys: pytest.CaptureFixture[str]) -> None:
    assert tune.create_scheduler("async_hyperband", max_t=9, nonsense=1).max_t == 9  # type: ignore[attr-defined]
    assert ray.tune.create_scheduler("async_hyperband", max_t=9, nonsense=1)._max_t == 9
    assert "async_hyperband has no argument nonsense" in capsys.readouterr().err
    tune.create_searcher("variant_generator", nonsense=1, max_concurrent=2)
    assert "no argument nonsense" in capsys.readouterr().err
