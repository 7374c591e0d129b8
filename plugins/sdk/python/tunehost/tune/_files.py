"""File systems of pyarrow, which is imported only where a user has one."""

from __future__ import annotations

import atexit
import os
import posixpath
import shutil
import tempfile
from typing import Any, Optional, Tuple

from .. import _places
from .error import TuneError


def _fs() -> Any:
    try:
        from pyarrow import fs
    except ImportError as e:
        raise TuneError("a file system needs the library pyarrow: pip install pyarrow") from e
    return fs


def local() -> Any:
    """The file system of this machine."""
    return _fs().LocalFileSystem()


def is_local(filesystem: Any) -> bool:
    """Whether it is that of this machine; None is."""
    return filesystem is None or getattr(filesystem, "type_name", None) == "local"


def of_url(url: str) -> Tuple[Any, str]:
    """The file system of a URL, and the path on it; None for file://."""
    if url.startswith("file://"):
        return None, url[len("file://") :]
    filesystem, path = _fs().FileSystem.from_uri(url)
    return filesystem, path


def brought(path: Any, filesystem: Any) -> str:
    """The local directory of an experiment: that of a path, or a copy of one that is on another file system or at a
    URL, which is removed when this process ends."""
    given = str(os.fspath(path))
    if filesystem is None and "://" in given:
        filesystem, given = of_url(given)
    if is_local(filesystem):
        return _places.absolute(given)
    copy = tempfile.mkdtemp(prefix="tunehost-")
    atexit.register(shutil.rmtree, copy, ignore_errors=True)
    target: str = os.path.join(copy, posixpath.basename(given.rstrip("/")))
    download(filesystem, given, target)
    return target


def download(filesystem: Any, path: str, target: str) -> None:
    """Copies a directory to a local one."""
    fs = _fs()
    if filesystem.get_file_info(path).type != fs.FileType.Directory:
        raise FileNotFoundError(f"there is no directory at {path}")
    os.makedirs(target, exist_ok=True)
    fs.copy_files(path, target, source_filesystem=filesystem)


def read(filesystem: Any, path: str) -> Optional[str]:
    """The text of a file; None if it does not exist."""
    try:
        with filesystem.open_input_stream(path) as f:
            return str(f.readall().decode("utf-8"))
    except FileNotFoundError:
        return None


def write(filesystem: Any, path: str, text: str) -> None:
    """Writes a file."""
    with filesystem.open_output_stream(path) as f:
        f.write(text.encode("utf-8"))
