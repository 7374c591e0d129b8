"""Writes docs/RAY.md: every public name of ray.tune, and what becomes of it in tunehost.tune.

    python raytable.py > ../../../docs/RAY.md

The names and their arguments are read from the sources of the ray that is installed, which is not imported.
A name is "same" if it exists here with all arguments of Ray's and REMARKS says nothing else, or only what is accepted
beside them. tests/test_raytable.py
compares docs/RAY.md with what this prints.
"""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import inspect
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set

MODULES = [
    "ray.tune",
    "ray.tune.schedulers",
    "ray.tune.schedulers.pb2",
    "ray.tune.schedulers.resource_changing_scheduler",
    "ray.tune.search",
    "ray.tune.search.ax",
    "ray.tune.search.bayesopt",
    "ray.tune.search.bohb",
    "ray.tune.search.hebo",
    "ray.tune.search.hyperopt",
    "ray.tune.search.nevergrad",
    "ray.tune.search.optuna",
    "ray.tune.search.zoopt",
    "ray.tune.stopper",
    "ray.tune.logger",
    "ray.tune.logger.aim",
    "ray.tune.integration.keras",
    "ray.tune.integration.lightgbm",
    "ray.tune.integration.pytorch_lightning",
    "ray.tune.integration.xgboost",
    "ray.tune.utils.log",
    "ray.tune.utils.util",
]
HERE = Path(__file__).resolve().parent
SAME, DIFFERS, NO = "same", "differs", "no"
_ITSELF = "with arguments of the library it is the library itself; without them the same method of tunehost: "
_OWN = "the method is tunehost's own, the library is not needed: "

_MILESTONES = (
    "where it is tunehost's `asha` (`time_attr=\"training_iteration\"`, whole numbers, `stop_last_trials=True`), the best "
    "⌊n/reduction_factor⌋ of n trials at a milestone go on, the new one among them, as in the paper; Ray interpolates a "
    "percentile of those before it, so that sometimes a trial more goes on. In all other cases Ray's rule holds"
)

# Ray rounds a draw, or cuts it off; tunehost gives every value its own share (plugins/sdk/space/unit.go).
_AS_RAY = "; `BasicVariantGenerator(random_state=…)` draws as Ray does"
_ENDS = (
    "the values are the same. The first and the last one have the share of the others here; Ray rounds a draw from lower to "
    "upper, which gives them half of it" + _AS_RAY
)
_CELLS = (
    "the values are the same. The logarithm is cut half a step to either side of each value here; Ray rounds it down, so "
    "that the lowest values come less often: 1 of `lograndint(1, 11)` has 36 % here and 29 % in Ray" + _AS_RAY
)

# What is not the same, and why: [state, remark]. Every remark is true of the code; tests hold many of them.
REMARKS: Dict[str, List[str]] = {
    "Callback": [
        DIFFERS,
        "trials wait for its `on_trial_result`, and what that changes in a result is reported so, also to the scheduler;"
        " they do not wait for other hooks, or for a `LoggerCallback`",
    ],
    "register_env": [NO, "belongs to RLlib"],
    "run_experiments": [DIFFERS, "experiments that run at the same time have a scheduler each"],
    "Tuner": [SAME, "`restore` needs the trainable only if it has changed; the directory may have been moved or copied"],
    "TuneConfig": [
        SAME,
        "`search_alg` and `scheduler` may also be names of plugins; without `search_alg` points are random, as in Ray, and "
        '`search_alg="auto"` learns from results; `seed` and `constraints` are additional',
    ],
    "ResumeConfig": [DIFFERS, "with `finished=RESUME` a new trial goes on from the checkpoint of the old one"],
    "RunConfig": [
        DIFFERS,
        "`storage_filesystem` is refused; `storage_path` is a directory, by default `./results`. As in Ray, "
        '`stop={"time_total_s": 60}` is tested on results: no iteration is cut',
    ],
    "quniform": [DIFFERS, _ENDS],
    "qloguniform": [
        DIFFERS,
        "the values are the same. The logarithm is cut half a step to either side of each value, the first and the last one "
        "as well; Ray rounds a draw from lower to upper, whose part below the first value and above the last one is missing"
        + _AS_RAY,
    ],
    **dict.fromkeys(("lograndint", "qlograndint"), [DIFFERS, _CELLS]),
    "SyncConfig": [SAME, "results are where `storage_path` says at once, with all files"],
    "Result": [SAME, 'nested metrics are read as `metrics["val"]["acc"]` and as `metrics["val/acc"]`'],
    "Searcher": [
        SAME,
        "numbers outside of the bounds of `param_space` are trained and recorded; a value that a choice does not have, or "
        "another one than a constant of `param_space`, is an error",
    ],
    **dict.fromkeys(
        ("PopulationBasedTraining", "PB2"),
        [
            SAME,
            "values that leave the bounds of `param_space` are trained and recorded; a parameter that mutates cannot be a "
            "`grid_search`",
        ],
    ),
    "grid_search": [SAME, "of several grids, the last one varies fastest; in Ray the first one does"],
    "ResultGrid": [SAME, "is also made of the experiment's directory"],
    **dict.fromkeys(("ASHAScheduler", "AsyncHyperBandScheduler"), [SAME, _MILESTONES]),
    "create_scheduler": [SAME, "names of tunehost's plugins work, too"],
    "create_searcher": [SAME, "names of tunehost's plugins work, too"],
    "AxSearch": [DIFFERS, _OWN + "`gp`; constraints and arguments of Ax are refused"],
    "BayesOptSearch": [SAME, _ITSELF + "`gp`"],
    "TuneBOHB": [SAME, "the method is tunehost's own, the library is not needed"],
    "HEBOSearch": [DIFFERS, _OWN + "`gp`"],
    "HyperOptSearch": [SAME, _ITSELF + "`tpe`"],
    "NevergradSearch": [SAME, _ITSELF + "`cmaes`"],
    "OptunaSearch": [SAME, _ITSELF + "`tpe`, with several metrics `nsga2`"],
    "ZOOptSearch": [SAME, "the library is not needed: without it, it is tunehost's `evolution`"],
    "AimLoggerCallback": [NO, "Aim is not supported: `TBXLoggerCallback` writes what its importer reads"],
    "BOHB": [NO, "a part of HpBandSter: use `TuneBOHB`"],
}


_DOWNLOADS = "downloads data"
_LIBRARY = "its library's own method, arguments or space are refused: see the table"

# Ray's own examples, and why they do not run; "": they run, with no other lines changed than those that import.
# testdata/tune/test_examples.py runs them.
EXAMPLES = {
    "async_hyperband_example": "",
    "custom_checkpointing_with_callback": "",
    "custom_func_checkpointing": "",
    "hyperband_example": "",
    "hyperband_function_example": "",
    "lightgbm_example": "",
    "logging_example": "",
    "optuna_define_by_run_example": "",
    "optuna_example": "",
    "optuna_multiobjective_example": "",
    "pb2_example": "",
    "pbt_example": "",
    "pbt_function": "",
    "tune_basic_example": "",
    "xgboost_example": "",
    "ax_example": _LIBRARY,
    "bayesopt_example": "",
    "bohb_example": "",
    "hyperopt_conditional_search_space_example": "",
    "nevergrad_example": "",
    "mlflow_example": "",
    "xgboost_dynamic_resources_example": "",
    **dict.fromkeys(
        (
            "cifar10_pytorch",
            "mlflow_ptl",
            "mnist_pytorch",
            "mnist_pytorch_trainable",
            "mnist_ptl_mini",
            "pbt_convnet_example",
            "pbt_convnet_function_example",
            "pbt_memnn_example",
            "pbt_tune_cifar10_with_keras",
            "tf_mnist_example",
            "tune_mnist_keras",
        ),
        _DOWNLOADS,
    ),
    "pb2_ppo_example": "belongs to RLlib",
    "pbt_ppo_example": "belongs to RLlib",
}

# Those that find the same over Ray, trial by trial, with the same seeds.
COMPARED = (
    "async_hyperband_example",
    "bayesopt_example",
    "custom_checkpointing_with_callback",
    "custom_func_checkpointing",
    "hyperband_function_example",
    "hyperopt_conditional_search_space_example",
    "logging_example",
    "optuna_define_by_run_example",
    "tune_basic_example",
)


class Name(NamedTuple):
    """A public name of Ray, and its state."""

    module: str
    name: str
    state: str
    remark: str


def table() -> List[Name]:
    """All names, in the order of their modules. Each once, but those of integrations, which are alike in name only."""
    seen: Set[str] = set()
    found = []
    for module in MODULES:
        for name in sorted(_public(module), key=str.lower):
            if name not in seen or ".integration." in module:
                seen.add(name)
                found.append(Name(module, name, *_state(module, name)))
    unknown = set(REMARKS) - seen
    if unknown:
        sys.exit(f"REMARKS has names that Ray does not have: {', '.join(sorted(unknown))}")
    return found


def _state(module: str, name: str) -> List[str]:
    """The state of a name, and the remark."""
    remark = REMARKS.get(name)
    ours = _ours(module, name)
    if ours is None:
        return remark or [NO, "not done yet"]
    if remark is None or remark[0] == SAME:
        missing = _arguments(module, name) - ours
        without = [DIFFERS, "without " + ", ".join(f"`{m}`" for m in sorted(missing))]
        return without if missing else remark or [SAME, ""]
    return remark


def _ours(module: str, name: str) -> Optional[Set[str]]:
    """The arguments that a name has here; None: it is not there."""
    own = "tunehost" + module[len("ray") :]
    try:
        value = getattr(importlib.import_module(own), name, None)
        return None if value is None else _own_arguments(value)
    except ModuleNotFoundError:
        if not HERE.joinpath(*own.split(".")).with_suffix(".py").exists():
            return None
    return _arguments(own, name)  # its library is not installed


def _own_arguments(value: Any) -> Set[str]:
    try:
        return set(inspect.signature(value).parameters)
    except (TypeError, ValueError):
        return set()


def _source(module: str) -> ast.Module:
    """The parsed source of a module of Ray, which is not imported."""
    installed = HERE if module.startswith("tunehost.") else importlib.metadata.distribution("ray").locate_file("")
    root = Path(str(installed), *module.split("."))
    file = root / "__init__.py" if root.is_dir() else root.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8"))


def _public(module: str) -> List[str]:
    for node in _source(module).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            names: List[str] = ast.literal_eval(node.value)
            return names
    classes = [n.name for n in _source(module).body if isinstance(n, ast.ClassDef) and not n.name.startswith("_")]
    marked: List[str] = [n.name for n in _source(module).body if _is_marked(n)]  # type: ignore[attr-defined]
    return marked or classes


def _is_marked(node: Any) -> bool:
    """Whether Ray marks a class or function as one for users."""
    marks = [d.func if isinstance(d, ast.Call) else d for d in getattr(node, "decorator_list", ())]
    return any(isinstance(mark, ast.Name) and mark.id == "PublicAPI" for mark in marks)


def _arguments(module: str, name: str) -> Set[str]:
    """The arguments of a function or class in sources, without those that begin with _."""
    for node in _definitions(module, name):
        if isinstance(node, ast.ClassDef):
            inits = [m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == "__init__"]
            if not inits:
                return {
                    m.target.id
                    for m in node.body
                    if isinstance(m, ast.AnnAssign)
                    and isinstance(m.target, ast.Name)
                    and not m.target.id.startswith("_")
                }
            node = inits[0]
        a = node.args
        return {
            p.arg for p in [*a.posonlyargs, *a.args, *a.kwonlyargs] if p.arg != "self" and not p.arg.startswith("_")
        }
    return set()


def _definitions(module: str, name: str) -> Iterator[Any]:
    """The definition of a name, where the module imports it from."""
    for node in _source(module).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name:
            yield node
        elif (
            isinstance(node, ast.ImportFrom) and node.module and any((a.asname or a.name) == name for a in node.names)
        ):
            if node.module.startswith("ray."):
                yield from _definitions(node.module, name)


def page() -> str:
    """The text of docs/RAY.md."""
    names = table()
    count = {state: sum(n.state == state for n in names) for state in (SAME, DIFFERS, NO)}
    lines = [
        "# tunehost.tune and Ray Tune",
        "",
        "Every public name of `ray.tune`, and what becomes of it in `tunehost.tune`. This file is generated by",
        "`plugins/sdk/python/raytable.py` from the sources of Ray " + importlib.metadata.version("ray") + ".",
        "",
        (
            f"**same**: {count[SAME]} names have Ray's arguments and do what Ray does. **differs**:"
            f" {count[DIFFERS]} work, with what the remark says. **no**: {count[NO]} are not there, or raise"
            " `tune.Unsupported`, with what to do instead. Nothing is ignored silently."
        ),
        "",
        "| name | state | remark |",
        "|---|---|---|",
    ]
    module = ""
    for n in names:
        if n.module != module:
            module = n.module
            lines.append(f"| **{module}** | | |")
        lines.append(f"| `{n.name}` | {n.state} | {n.remark} |")
    return "\n".join([*lines, "", *_examples()]) + "\n"


def _examples() -> List[str]:
    """The part of docs/RAY.md about Ray's examples."""
    run = [f"`{name}`" for name, why in EXAMPLES.items() if not why]
    others = [f"| `{name}` | {why} |" for name, why in sorted(EXAMPLES.items()) if why]
    return [
        "## Ray's own examples",
        "",
        f"`ray/tune/examples` has {len(EXAMPLES)} files. {len(run)} of them run to their end here, with `--smoke-test`. Only"
        " lines that import are changed: `from ray` to `from tunehost`, `from ray.air.integrations` to",
        "`from tunehost.tune.integration`, and `import ray` to `from tunehost.tune import cluster as ray`.",
        "`make ray-examples` runs them.",
        "",
        f"### The {len(run)} that run",
        "",
        ", ".join(run),
        "",
        f"### The {len(COMPARED)} of these that find the same as over Ray",
        "",
        "`make ray-examples` also runs these over Ray itself, with the same seeds and one trial at a time. Each trial has the"
        " same parameters, the same results and the same end. For that, those with `AsyncHyperBandScheduler` have"
        " `stop_last_trials=False`, with which Ray's rule of a milestone holds here, too. With tunehost's own `asha` the"
        " parameters are the same, and some trials end at another milestone, see the table. The other examples are not"
        " compared.",
        "",
        ", ".join(f"`{name}`" for name in COMPARED),
        "",
        "### Those that do not run",
        "",
        "| example | why |",
        "|---|---|",
        *others,
    ]


if __name__ == "__main__":
    sys.stdout.write(page())
