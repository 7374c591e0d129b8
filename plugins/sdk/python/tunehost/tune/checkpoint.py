"""Checkpoints: directories with the state of a training."""

from __future__ import annotations

import contextlib
import json
import os
import posixpath
import shutil
import tempfile
from pathlib import Path
from typing import Any, Dict, Iterator, Mapping, Optional, Union

from .. import _places
from . import _files

__all__ = ["Checkpoint"]

_METADATA = ".metadata.json"
_MANIFEST = "MANIFEST.json"  #: beside the files of a checkpoint that the host keeps
_BESIDE = "metadata.json"  #: the metadata that such a checkpoint got later

PathLike = Union[str, "os.PathLike[str]"]


class Checkpoint:
    """A directory with the state of a training, of any form."""

    def __init__(self, path: PathLike, filesystem: Any = None) -> None:
        """path is a local directory, a URL such as s3://bucket/dir, or a path on a file system of pyarrow. Everything
        but local directories needs pyarrow."""
        given = str(os.fspath(path))
        if filesystem is None and "://" in given:
            filesystem, given = _files.of_url(given)
        self._filesystem = None if _files.is_local(filesystem) else filesystem
        local = self._filesystem is None
        self.path: str = _places.absolute(given) if local else given  #: the directory

    @property
    def filesystem(self) -> Any:
        """The file system of pyarrow that has the directory."""
        return _files.local() if self._filesystem is None else self._filesystem

    @classmethod
    def from_directory(cls, path: PathLike) -> Checkpoint:
        """The checkpoint in a directory. tune.report copies it."""
        return cls(path)

    def to_directory(self, path: Optional[PathLike] = None) -> str:
        """Copies the checkpoint into a directory, by default a new temporary one, and returns its path."""
        target = tempfile.mkdtemp(prefix="checkpoint-") if path is None else os.path.expanduser(os.fspath(path))
        if self._filesystem is not None:
            _files.download(self._filesystem, self.path, target)
            return target
        _copy(self.path, target)
        if self._later().exists():
            shutil.copyfile(self._later(), os.path.join(target, _METADATA))
        return target

    @contextlib.contextmanager
    def as_directory(self) -> Iterator[str]:
        """The path of the directory, which must not be changed; of one that is not local, a copy that is deleted at the
        end of the block:

        with checkpoint.as_directory() as dir:
            model.load(os.path.join(dir, "model.pt"))
        """
        if self._filesystem is None:
            yield self.path
            return
        with tempfile.TemporaryDirectory(prefix="checkpoint-") as dir:
            yield self.to_directory(dir)

    def get_metadata(self) -> Dict[str, Any]:
        """What set_metadata stored; {} if nothing was."""
        if self._filesystem is not None:
            text = _files.read(self._filesystem, posixpath.join(self.path, _METADATA))
            return {} if text is None else dict(json.loads(text))
        for file in (self._later(), Path(self.path, _METADATA)):
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                return dict(json.loads(file.read_text(encoding="utf-8")))
        return {}

    def set_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Stores values that JSON has in the checkpoint. Of one that was reported, whose files do not change, they are
        kept beside the files."""
        text = json.dumps(dict(metadata))
        if self._filesystem is not None:
            _files.write(self._filesystem, posixpath.join(self.path, _METADATA), text)
            return
        kept = Path(self.path).with_name(_MANIFEST).exists()
        (self._later() if kept else Path(self.path, _METADATA)).write_text(text, encoding="utf-8")

    def _later(self) -> Path:
        """The file with the metadata that it got after it was reported."""
        return Path(self.path).with_name(_BESIDE)

    def update_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Adds to what set_metadata stored."""
        self.set_metadata({**self.get_metadata(), **metadata})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Checkpoint) and (self.path, self._filesystem) == (other.path, other._filesystem)

    def __hash__(self) -> int:
        return hash(self.path)

    def __repr__(self) -> str:
        kind = "local" if self._filesystem is None else self._filesystem.type_name
        return f"Checkpoint(filesystem={kind}, path={self.path})"


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
        checkpoint.to_directory(target)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    return target
