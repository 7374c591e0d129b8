"""Modules of the package do not import each other in circles, neither at once nor later in functions."""

import ast
from pathlib import Path
from typing import Dict, Iterator, List, Set

SDK = Path(__file__).resolve().parent.parent


def modules(folder: Path) -> Dict[str, Path]:
    """The files of a package by the names of their modules."""
    found = {}
    for file in sorted(folder.rglob("*.py")):
        parts = file.relative_to(folder.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """The imports in a tree, but for those that only type checkers read."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child
        yield from statements(child)


def imported(module: str, file: Path, known: Dict[str, Path]) -> Set[str]:
    """The modules of the package that one of them imports."""
    found: Set[str] = set()
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    for statement in statements(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(statement, ast.Import):
            found |= {alias.name for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom):
            parts = package.split(".")[: len(package.split(".")) - statement.level + 1] if statement.level else []
            base = ".".join([*parts, *([statement.module] if statement.module else [])])
            for alias in statement.names:
                inner = f"{base}.{alias.name}"
                found.add(inner if inner in known else base)
    return {name for name in found if name in known and name != module}


def circles(folder: Path) -> List[str]:
    """Each module that imports itself over others, with the way back to it."""
    known = modules(folder)
    edges = {module: imported(module, file, known) for module, file in known.items()}
    return [" -> ".join(way) for module in known for way in [way_back(module, edges)] if way]


def way_back(start: str, edges: Dict[str, Set[str]]) -> List[str]:
    """The shortest way from a module to itself; nothing if there is none."""
    ways, seen = [[start]], {start}
    for way in ways:
        for name in sorted(edges[way[-1]]):
            if name == start:
                return [*way, start]
            if name not in seen:
                seen.add(name)
                ways.append([*way, name])
    return []


def test_there_are_no_circles() -> None:
    assert len(modules(SDK / "tunehost")) > 90
    assert circles(SDK / "tunehost") == []


def test_circles_are_found(tmp_path: Path) -> None:
    package = tmp_path / "p"
    (package / "q").mkdir(parents=True)
    (package / "__init__.py").write_text("from . import a\n")
    (package / "a.py").write_text("import os\nfrom .q import b\n")
    (package / "q" / "__init__.py").write_text("")
    (package / "q" / "b.py").write_text("def f():\n    from .. import c\n")
    (package / "c.py").write_text("import p.a\nif TYPE_CHECKING:\n    from . import d\n")
    (package / "d.py").write_text("from .c import x\n")
    assert circles(package) == [
        "p.a -> p.q.b -> p.c -> p.a",
        "p.c -> p.a -> p.q.b -> p.c",
        "p.q.b -> p.c -> p.a -> p.q.b",
    ]
