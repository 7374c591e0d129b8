"""What the process that trains needs: the trainable, its objects and the plan of the space, in files
beside the experiment."""

from __future__ import annotations

import functools
import inspect
import io
import json
import mmap
import os
import pickle
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from .. import _places
from .error import TuneError

if TYPE_CHECKING:
    from ._code import Pickler
    from ._encode import Group

_ALIGN = 64
_MAINS = ("__main__", "__mp_main__")  # the script, also in a process that multiprocessing has spawned


@dataclass
class Payload:
    """Everything about a trainable."""

    trainable: Any  #: a function, or a subclass of Trainable
    name: str
    stop: Optional[Callable[..., Any]] = None  #: of (trial_id, result)
    resources: Optional[Callable[..., Any]] = None  #: a request that depends on the config
    counts: bool = False  #: training_iteration is the objective
    repeat: int = 1  #: how many trials in a row have the same parameters; 1: the config says nothing of it


def write(dir: Path, payload: Payload, plan: Group, objects: Dict[str, Any]) -> None:
    """Writes a payload. TuneError names what cannot be pickled."""
    (dir / "objects").mkdir(parents=True, exist_ok=True)
    for name, value in objects.items():
        replace(dir / "objects" / f"{name}.bin", packed(value, f"the parameter {name} of with_parameters"))
    _write_path(dir)
    replace(dir / "space.pkl", pickled(plan, "the param_space"))
    pickler = _pickler(vars(payload), "the trainable")
    replace(dir / "payload.pkl", pickler.text())
    replace(dir / "sources.json", json.dumps(pickler.sources).encode())


def read(dir: Path) -> Payload:
    """Reads a payload."""
    sources = dir / "sources.json"
    if sources.exists() and sources.stat().st_size > len("{}"):
        from ._code import know

        know(json.loads(sources.read_bytes()))
    return Payload(**_loaded((dir / "payload.pkl").read_bytes()))


def read_as_main(dir: Path) -> Payload:
    """Reads a payload into a process whose `__main__` gets the functions and classes of the script's, so that they can be
    pickled by name: for checkpoints, and for the processes of a pool."""
    found, made = _read_and_heard(dir)
    for one in made:
        setattr(sys.modules["__main__"], one.__qualname__, one)
        sys.modules.setdefault(one.__module__, sys.modules["__main__"])
    return found


def of_script(name: str) -> Any:
    """A function or class of the script, in a process that multiprocessing has spawned from a trial. AttributeError: it has
    none of this name that the trainable uses."""
    if not name.startswith("__") and len(sys.argv) > 1:
        for one in _of_script(sys.argv[1]):
            if one.__qualname__ == name:
                return one
    raise AttributeError(f"the script has no {name} that the trainable uses")


@functools.lru_cache(maxsize=None)
def _of_script(dir: str) -> List[Any]:
    return _read_and_heard(Path(dir))[1] if Path(dir, "payload.pkl").exists() else []


def _read_and_heard(dir: Path) -> Tuple[Payload, List[Any]]:
    """Reads a payload, and which functions and classes of the script it has."""
    made: List[Any] = []
    _Loader.made = made.append
    try:
        found = read(dir)
    finally:
        del _Loader.made
    return found, [one for one in made if one.__module__ in _MAINS and one.__qualname__.isidentifier()]


def load(file: Path) -> Any:
    """Reads an object that a user's code has made."""
    return loads(file.read_bytes())


def loads(content: bytes) -> Any:
    """An object of such a file."""
    return _loaded(content)


def _loaded(content: bytes) -> Any:
    return _Loader(io.BytesIO(content)).load()


def refuse_while_loading(call: str) -> None:
    """Refuses a call that begins an experiment while code of the user is imported for another one: the call is in the
    module itself, and each process that imports it would begin another experiment. Other threads may load something
    meanwhile: only the caller's own frames count."""
    frame, module = sys._getframe(1), "the module"
    while frame.f_code is not _loaded.__code__:
        if frame.f_code.co_name == "<module>":
            module = f"the module {frame.f_globals.get('__name__')}"
        if frame.f_back is None:
            return
        frame = frame.f_back
    raise TuneError(
        f"{module} calls {call} while it is imported, and the processes of the trials import it: put the call under "
        'if __name__ == "__main__": or into a function'
    )


def dump(file: Path, value: Any, what: str) -> None:
    """Writes an object; TuneError if it cannot be pickled."""
    replace(file, pickled(value, what))


def _write_path(dir: Path, before: Sequence[str] = ()) -> None:
    """Writes where modules are found: it is read before anything is unpickled."""
    paths = [_places.absolute(p) for p in sys.path if os.path.isabs(p) or os.path.exists(".")]
    paths = [*before, *(p for p in paths if p not in before)]
    replace(dir / "path.txt", "".join(f"{p}\n" for p in paths if "\n" not in p).encode())


def add_path(dir: Path) -> None:
    """Has modules also found where this process finds them."""
    _write_path(dir, (dir / "path.txt").read_text(encoding="utf-8").splitlines())


def read_plan(dir: Path) -> Group:
    """Reads the plan of the space."""
    plan: Group = load(dir / "space.pkl")
    if plan.suggestions is not None:
        plan.suggestions = str(dir / "suggestions")  # the experiment may have moved since
    return plan


def write_suggestion(folder: Path, number: int, values: Mapping[str, Any]) -> None:
    """Writes the values of a suggestion."""
    folder.mkdir(exist_ok=True)
    dump(folder / f"{number}.pkl", dict(values), "a suggestion")


def read_objects(dir: Path) -> Dict[str, Any]:
    """Maps the objects of with_parameters into memory."""
    return {file.stem: unpacked(file) for file in sorted((dir / "objects").glob("*.bin"))}


class _Loader(pickle.Unpickler):
    """Says which module is missing, and what to do."""

    made: Callable[[Any], Any]  #: hears of functions and classes that a pickle contains

    def find_class(self, module: str, name: str) -> Any:
        try:
            found = super().find_class(module, name)
            return self._heard(found) if name in _MAKERS and hasattr(self, "made") else found
        except ModuleNotFoundError as e:
            raise ValueError(
                f"the module {e.name} of the experiment's code cannot be imported in its process: install it, or "
                "put it where the script finds it by sys.path or PYTHONPATH"
            ) from e

    def _heard(self, make: Callable[..., Any]) -> Callable[..., Any]:
        def heard(*arguments: Any) -> Any:
            made = make(*arguments)
            self.made(made)
            return made

        return heard


_MAKERS = ("_make_function", "_make_skeleton_class")  # of cloudpickle


def pickled(value: Any, what: str, buffers: Optional[Callable[[Any], Any]] = None) -> bytes:
    """An object as bytes; TuneError if it cannot be pickled."""
    return _pickler(value, what, buffers).text()


def _pickler(value: Any, what: str, buffers: Optional[Callable[[Any], Any]] = None) -> Pickler:
    from ._code import Pickler

    pickler = Pickler(buffers)
    try:
        pickler.dump(value)
    except Exception as e:
        found = _culprit(value)
        raise TuneError(
            f"{what} cannot be pickled{found} ({' '.join(str(e).split())}): create such objects where they are used, such as in the trainable"
        ) from e
    return pickler


def _culprit(value: Any) -> str:
    """Which variable of a function, or which parameter, it is that cannot be pickled."""
    members = getattr(value, "members", None)
    if isinstance(members, dict):
        return _culprit_of_space(members)
    function = value.get("trainable") if isinstance(value, dict) else value
    if not inspect.isfunction(function):
        return ""
    used = inspect.getclosurevars(function)
    for name, one in {**used.globals, **used.nonlocals}.items():
        if not _can_be_pickled(one):
            return f", because of its variable {name}, a {type(one).__name__}"
    return ""


def _culprit_of_space(members: Mapping[Any, Any], path: str = "") -> str:
    """Which parameter of a plan it is."""
    for name, node in members.items():
        inner = getattr(node, "members", None)
        if isinstance(inner, dict):
            found = _culprit_of_space(inner, f"{path}{name}/")
            if found:
                return found
        elif not _can_be_pickled(node):
            value = getattr(node, "value", None)
            return f", because of its parameter {path}{name}" + (f", a {type(value).__name__}" if value is not None else "")
    return ""


def _can_be_pickled(value: Any) -> bool:
    import cloudpickle

    try:
        cloudpickle.dumps(value)
    except Exception:
        return False
    return True


def packed(value: Any, what: str = "the object") -> bytes:
    """An object as a file whose arrays can be mapped: the length of the pickle, the number of buffers and
    their places, the pickle, and the buffers."""
    found: List[pickle.PickleBuffer] = []
    head = pickled(value, what, found.append)
    raw = [b.raw() for b in found]
    at = 16 + 16 * len(raw) + len(head)
    places = b""
    parts: List[Any] = [head]
    for buffer in raw:
        pad = -at % _ALIGN
        places += struct.pack("<QQ", at + pad, buffer.nbytes)
        parts += [b"\0" * pad, buffer]
        at += pad + buffer.nbytes
    return b"".join([struct.pack("<QQ", len(head), len(raw)), places, *parts])


def unpacked(file: Path) -> Any:
    """The object in a file. Its arrays are the file's memory, and read-only."""
    with open(file, "rb") as f:
        view = memoryview(mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ))
    size, count = struct.unpack_from("<QQ", view)
    places = [struct.unpack_from("<QQ", view, 16 + 16 * i) for i in range(count)]
    start = 16 + 16 * count
    return pickle.loads(view[start : start + size], buffers=[view[at : at + n] for at, n in places])


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def replace(file: Path, content: bytes) -> None:
    """Writes a file so that it is complete or as before."""
    new = file.with_name(f".{file.name}.new")
    with open(new, "wb", opener=_private) as f:
        f.write(content)
        f.flush()
        os.fsync(f.fileno())
    os.replace(new, file)
