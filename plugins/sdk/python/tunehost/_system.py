"""Helpers to leave no processes behind. They work on Linux and do nothing on other systems."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
import time
from typing import Any, Collection, Iterable, List, Set

_SET_PDEATHSIG = 1
_SET_CHILD_SUBREAPER = 36
_WAIT_S = 2.0


@functools.lru_cache(maxsize=None)
def libc() -> Any:
    """The C library. Call it before a fork of a process with threads, which must not import."""
    import ctypes

    return ctypes.CDLL(None)


def ended_by(status: int) -> str:
    """How a process ended whose status is that of a signal, below 0."""
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = "unknown"
    return f"was ended by signal {-status} ({name})"


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        try:  # no contextlib here: each trial's process runs this, and pays for all that it touches
            libc().prctl(option, value, 0, 0, 0)
        except (OSError, AttributeError):
            pass


def die_with_parent(parent: int) -> None:
    """Has the kernel kill this process when its parent ends."""
    _prctl(_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Makes this process the parent of descendants whose parent ends, so that it finds them."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def children() -> Set[int]:
    """The child processes of this process, including dead ones; empty if the system does not tell."""
    pid = os.getpid()
    try:
        return {int(child) for child in _content(f"/proc/{pid}/task/{pid}/children").split()}
    except OSError:
        return set(_children_by_stat(pid))


def _content(path: str) -> bytes:
    """What a small file of the system has, without a file object: after each fork all memory that is touched costs."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts: List[bytes] = []
        while True:
            part = os.read(fd, 1 << 16)
            if not part:
                return b"".join(parts)
            parts.append(part)
    finally:
        os.close(fd)


def _children_by_stat(parent: int) -> Iterable[int]:
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit():
                with contextlib.suppress(OSError, ValueError, IndexError):
                    with open(f"/proc/{name}/stat", "rb") as f:
                        stat = f.read()
                    if int(stat[stat.rindex(b")") + 2:].split()[1]) == parent:
                        yield int(name)


def kill_group(pid: int) -> None:
    """Kills a process and the group that it leads."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass


def sweep(keep: Collection[int]) -> None:
    """Kills all children of this process except those in keep. Their children become children of
    this process and are killed too."""
    end = time.monotonic() + _WAIT_S
    while time.monotonic() < end:
        strays = children().difference(keep)
        if not strays:
            return
        for pid in strays:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for pid in strays:
            _collect(pid, end)


def _collect(pid: int, end: float) -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(pid, os.WNOHANG)[0] == 0 and time.monotonic() < end:
            time.sleep(0.001)
