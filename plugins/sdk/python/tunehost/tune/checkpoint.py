"""Checkpoints: directories with the state of a training."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, Dict, Iterator, Mapping, Optional, Union

from .error import Unsupported

__all__ = ["Checkpoint"]

_METADATA = ".metadata.json"

PathLike = Union[str, "os.PathLike[str]"]


class Checkpoint:
    """A directory with the state of a training, of any form."""

    def __init__(self, path: PathLike, filesystem: Any = None) -> None:
        """path is a local directory; other file systems are not supported."""
        if filesystem is not None:
            raise Unsupported("a Checkpoint on another file system is not supported: copy it to a local directory")
        self.path = os.path.abspath(os.path.expanduser(os.fspath(path)))  #: the directory

    @classmethod
    def from_directory(cls, path: PathLike) -> Checkpoint:
        """The checkpoint in a directory. tune.report copies it."""
        return cls(path)

    def to_directory(self, path: Optional[PathLike] = None) -> str:
        """Copies the checkpoint into a directory, by default a new temporary one, and returns its path."""
        target = tempfile.mkdtemp(prefix="checkpoint-") if path is None else os.fspath(path)
        _copy(self.path, target)
        return target

    @contextlib.contextmanager
    def as_directory(self) -> Iterator[str]:
        """The path of the directory, which must not be changed:

        with checkpoint.as_directory() as dir:
            model.load(os.path.join(dir, "model.pt"))
        """
        yield self.path

    def get_metadata(self) -> Dict[str, Any]:
        """What set_metadata stored; {} if nothing was."""
        try:
            found: Dict[str, Any] = json.loads(Path(self.path, _METADATA).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        return found

    def set_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Stores values that JSON has in the checkpoint, before it is reported: a reported one is read-only."""
        Path(self.path, _METADATA).write_text(json.dumps(dict(metadata)), encoding="utf-8")

    def update_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Adds to what set_metadata stored."""
        self.set_metadata({**self.get_metadata(), **metadata})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Checkpoint) and self.path == other.path

    def __hash__(self) -> int:
        return hash(self.path)

    def __repr__(self) -> str:
        return f"Checkpoint({self.path!r})"


def _copy(source: str, target: str) -> None:
    """Copies the files of a checkpoint. Its own are read-only; the copy may be changed."""
    if not os.path.isdir(source):
        raise FileNotFoundError(f"there is no checkpoint at {source}: it must be a directory")
    shutil.copytree(source, target, dirs_exist_ok=True, copy_function=_copy_file)


def _copy_file(source: str, target: str) -> str:
    shutil.copyfile(source, target)
    return target


def keep(checkpoint: Checkpoint, dir: PathLike) -> str:
    """Copies a checkpoint into a new directory in dir, which the host may take: the original may vanish
    as soon as it was reported."""
    target = tempfile.mkdtemp(prefix=".reported-", dir=dir)
    try:
        _copy(checkpoint.path, target)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    return target
