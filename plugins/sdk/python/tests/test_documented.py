"""Every public name says what it is, and what its documentation shows is true."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any, Dict, Iterator, List, Sequence, Tuple, Union

import tunehost
from tunehost import events, plugin, space

#: Modules whose examples run the program: testdata/tune/test_shown.py runs them.
SHOWN = {"tunehost._asktell", "tunehost._minimize", "tunehost._reading", "tunehost.tune.tuner"}
LARGE = {"keras", "lightning", "mlflow", "pytorch_lightning", "transformers"}  # integrations whose libraries make check does not have


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


def test_the_version_is_a_name() -> None:
    assert tunehost.__version__ == "(devel)" or tunehost.__version__[0].isdigit()


def fields_without_words() -> List[str]:
    plain = [events.Event, events.ReporterEvent, events.Request, events.Problem, events.Objective, space.Param]
    plugins = [plugin.Plugin, plugin._Learner, plugin.Searcher, plugin.Scheduler, plugin.Trainable, plugin.Reporter]
    return [
        f"{cls.__name__}.{name}"
        for cls in [*plain, *plugins]
        for name in vars(cls).get("__annotations__", {})
        if not name.startswith("_") and name != "lattice" and not re.search(rf"^(\w+, )*{name}(, \w+)*:", inspect.getdoc(cls) or "", re.M)
    ]


def test_pydoc_shows_what_the_fields_of_authors_classes_are() -> None:
    """pydoc prints docstrings, and no comments."""
    assert fields_without_words() == []
    kinds = [(kind.name, type(kind).__doc__ or "") for enum in (events.EventKind, events.ReportedKind) for kind in enum]
    assert [name for name, doc in kinds if name not in doc] == []


def test_pydoc_needs_no_library_of_an_integration() -> None:
    hidden = "import sys; sys.modules.update(numpy=None, sklearn=None, pandas=None, ray=None)\n"
    code = hidden + "import pydoc, tunehost; print(pydoc.plain(pydoc.render_doc(tunehost)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT.parent)
    assert shown.returncode == 0, shown.stderr
    assert "class Searcher" in shown.stdout and "class ReporterEvent" in shown.stdout and "serve(*plugins" in shown.stdout


def test_examples_that_need_no_program() -> None:
    results = {m.__name__: doctest.testmod(m) for m in modules() if m.__name__ not in SHOWN}
    assert {name: r.failed for name, r in results.items() if r.failed} == {}
    shown = {name for name, r in results.items() if r.attempted}
    assert shown >= {"tunehost._script", "tunehost.tune.config", "tunehost.tune.session"}


# All modules as they are written, without importing the libraries that they need.

Defined = Union[ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
ROOT = Path(tunehost.__file__).parent
SOURCES = {
    str(file.relative_to(ROOT)): ast.parse(file.read_text(encoding="utf-8"))
    for file in sorted(ROOT.rglob("*.py"))
    if "_proto" not in file.parts
}
CLASSES: Dict[str, List[ast.ClassDef]] = {}
for tree in SOURCES.values():
    for found in ast.walk(tree):
        if isinstance(found, ast.ClassDef):
            CLASSES.setdefault(found.name, []).append(found)


def for_users(file: str) -> bool:
    return not any(part.startswith("_") and part != "__init__.py" for part in Path(file).parts)


def defined(body: Sequence[ast.stmt]) -> Iterator[Tuple[str, Defined, List[ast.ClassDef]]]:
    """The functions and classes of users' modules, with the classes around them."""
    for node in body:
        if isinstance(node, (ast.ClassDef, *FUNCTIONS)):
            yield node.name, node, []
        if isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{name}", inner, [node, *around]) for name, inner, around in defined(node.body))


def bases(cls: ast.ClassDef) -> Iterator[ast.ClassDef]:
    for base in cls.bases:
        name = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
        yield from (found for found in CLASSES.get(name, ()) if found is not cls)


def documented(cls: ast.ClassDef, method: str) -> bool:
    """Whether a class or one of its bases says what a method does."""
    own = [node for node in cls.body if isinstance(node, FUNCTIONS) and node.name == method]
    return any(ast.get_docstring(node) for node in own) or any(documented(base, method) for base in bases(cls))


def test_every_module_is_documented_also_those_of_libraries_that_are_not_here() -> None:
    read = {f for f, tree in SOURCES.items() if for_users(f) and ast.get_docstring(tree)}
    assert read == {f for f in SOURCES if for_users(f) and SOURCES[f].body}
    assert {f"integrations/{name}.py" for name in LARGE - {"mlflow", "pytorch_lightning"}} | {"tune/integration/mlflow.py"} <= read
    missing = []
    for file in read:
        for name, node, around in defined(SOURCES[file].body):
            if any(part.startswith("_") for part in name.split(".")) or ast.get_docstring(node):
                continue
            if not (around and documented(around[-1], node.name)):
                missing.append(f"{file}: {name}")
    assert missing == []


def exported(tree: ast.Module) -> List[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            names: List[str] = ast.literal_eval(node.value)
            return names
    return []


def raised(function: Defined) -> Iterator[str]:
    for node in ast.walk(function):
        made = node.exc if isinstance(node, ast.Raise) else None
        made = made.func if isinstance(made, ast.Call) else made
        name = made.attr if isinstance(made, ast.Attribute) else getattr(made, "id", "")
        if name[:1].isupper() and name != "NotImplementedError":  # that one is for who writes a subclass
            yield name


def test_what_a_public_function_raises_is_documented() -> None:
    silent, checked = [], 0
    for file, tree in SOURCES.items():
        public_here = set(exported(tree))
        for name, node, around in defined(tree.body):
            own = isinstance(node, FUNCTIONS) and (not node.name.startswith("_") or node.name == "__init__")
            if not own or name.split(".")[0] not in public_here:
                continue
            says = "".join(ast.get_docstring(place) or "" for place in (node, *around))
            checked += 1
            silent += [f"{file}: {name} raises {error}" for error in raised(node) if error not in says]
    assert silent == []
    assert checked > 200


def examples() -> Iterator[Tuple[str, str]]:
    """What docstrings show and is no doctest: indented lines, after an empty one."""
    for file, tree in SOURCES.items():
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)):
                indent = 4 + (0 if isinstance(node, ast.Module) else node.col_offset + 4)
                text = (ast.get_docstring(node, clean=False) or "") + "\n"
                for shown in re.findall(rf"\n\n((?: {{{indent}}}.*\n|\n)+)", text):
                    if ">>>" not in shown:
                        yield file, textwrap.dedent(shown)


def test_examples_of_libraries_are_programs_and_use_names_that_exist() -> None:
    found = list(examples())
    assert {f"integrations/{name}.py" for name in LARGE - {"mlflow", "pytorch_lightning"}} <= {file for file, _ in found}
    for file, text in found:
        compile(text, file, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        for home in (tunehost, tunehost.tune):
            names = re.findall(rf"\b{home.__name__.split('.')[-1]}\.(\w+)", text)
            assert {name for name in names if not hasattr(home, name)} == set(), f"{file}\n{text}"
