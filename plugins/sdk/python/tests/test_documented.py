"""Every public name says what it is, and what its documentation shows is true."""

import doctest
import importlib
import inspect
import pkgutil
from types import ModuleType
from typing import Any, Iterator, List, Tuple

import tunehost

#: Modules whose examples run the program: testdata/tune/test_shown.py runs them.
SHOWN = {"tunehost._asktell", "tunehost._minimize", "tunehost._reading", "tunehost.tune.tuner"}
LARGE = {"keras", "lightning", "mlflow", "transformers"}  # integrations whose libraries make check does not have


def modules() -> Iterator[ModuleType]:
    for info in pkgutil.walk_packages(tunehost.__path__, "tunehost."):
        if "_proto" not in info.name and not info.name.endswith("__main__") and info.name.split(".")[-1] not in LARGE:
            yield importlib.import_module(info.name)


def public(module: ModuleType) -> Iterator[Tuple[str, Any]]:
    """The public functions and classes of a module, with the methods and properties that classes define."""
    for name in getattr(module, "__all__", ()):
        value = getattr(module, name)
        if not (inspect.isclass(value) or inspect.isfunction(value)):
            continue
        yield f"{module.__name__}.{name}", value
        for member, found in vars(value).items() if inspect.isclass(value) else ():
            if not member.startswith("_") and (inspect.isfunction(found) or isinstance(found, (property, classmethod))):
                yield f"{module.__name__}.{name}.{member}", getattr(value, member)


def undocumented() -> List[str]:
    return sorted({name for module in [tunehost, *modules()] for name, value in public(module) if not inspect.getdoc(value)})


def test_every_public_name_has_a_docstring() -> None:
    assert undocumented() == []


def test_every_public_name_of_tunehost_exists() -> None:
    assert {name for name in tunehost.__all__ if not hasattr(tunehost, name)} == set()
    assert set(tunehost._HOMES) | {"serve"} == set(tunehost.__all__)
    assert set(tunehost.__all__) < set(dir(tunehost))


def test_examples_that_need_no_program() -> None:
    results = {m.__name__: doctest.testmod(m) for m in modules() if m.__name__ not in SHOWN}
    assert {name: r.failed for name, r in results.items() if r.failed} == {}
    shown = {name for name, r in results.items() if r.attempted}
    assert shown >= {"tunehost._script", "tunehost.tune.config", "tunehost.tune.session"}
