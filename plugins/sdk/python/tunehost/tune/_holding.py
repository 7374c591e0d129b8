"""Who has an experiment: one script at a time, and only where no other host is at work. Until that is known, a script
that continues an experiment writes nothing there, and its callbacks hear nothing."""

from __future__ import annotations

import datetime
import fcntl
import json
import os
import re
import shlex
import time
import weakref
from pathlib import Path
from typing import Any, Dict, Optional

from . import _host
from .error import TuneError

_FILE = "LOCK"  #: of a host in the experiment's directory, of a script in its folder `tune`
_SOON_S = 5.0  # in which a host ends whose script was killed, and a script whose host has ended
_MORE_S = 10.0  # for the end of a host that has waited for its executor
_EVERY_S = 0.1
_TRIES = 3
_LEAVES = "which still waits for its executor to give leases back"

Holder = Dict[str, str]


class Hold:
    """Keeps other scripts from an experiment, from take on until it is left."""

    def __init__(self) -> None:
        self._fd = -1
        _holds.add(self)

    def __enter__(self) -> Hold:
        return self

    def __exit__(self, *_: object) -> None:
        self.drop()

    def take(self, dir: str) -> None:
        """Takes an experiment; waits for a host that is about to end, as the program does. TuneError: it is in use."""
        end, leaving = time.monotonic() + _SOON_S, False
        while True:
            script, host = self._lock(dir), _host_of(dir)
            if script is None and host is None:
                return
            self.drop()
            left = _leaves_in(dir) if host else 0.0
            if left > 0 and host and not leaving:
                leaving, end = True, time.monotonic() + left + _MORE_S
                _host.warn(f"{_used(dir, host)}, {_LEAVES}, {left:.0f}s more at most; this one waits for its end, and "
                           "then continues")
            if script and host and not leaving or time.monotonic() > end:
                raise TuneError(_refusal(dir, script, host, left))
            time.sleep(_EVERY_S)

    def drop(self) -> None:
        """Lets others have it."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _lock(self, dir: str) -> Optional[Holder]:
        """Locks the file of scripts, or returns who has it."""
        self._fd = os.open(Path(dir, "tune", _FILE), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return _read(self._fd)
        os.truncate(self._fd, 0)
        now = f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%dT%H:%M:%SZ}"
        os.pwrite(self._fd, f"pid {os.getpid()}\nstarted {now}\nhost {os.uname().nodename}\n".encode(), 0)
        return None


_holds: weakref.WeakSet[Hold] = weakref.WeakSet()


def _drop_all() -> None:
    for hold in list(_holds):
        hold.drop()


os.register_at_fork(after_in_child=_drop_all)  # or it would keep others out when the script has ended


def refuse_beginning(dir: str) -> None:
    """TuneError if another script is about to begin the experiment in a directory that has none yet."""
    for _ in range(_TRIES):
        script = _holder(Path(dir, "tune", _FILE))
        if script is not None:
            raise TuneError(f"{_used(dir, script)}, which is just beginning this experiment; try again in a moment")
        if os.path.exists(os.path.join(dir, "tune", _FILE)):
            return  # it has ended
        time.sleep(_EVERY_S)  # the directory may have been made a moment ago


def _host_of(dir: str) -> Optional[Holder]:
    """The host that is at work; None if there is none, or if the program has to say why that is not known."""
    return _holder(Path(dir, _FILE))


def _holder(file: Path) -> Optional[Holder]:
    try:
        fd = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None
    except BlockingIOError:
        return _read(fd)
    except OSError:
        return None
    finally:
        os.close(fd)


def _read(fd: int) -> Holder:
    """Who has a lock, as far as its file says it."""
    return dict(re.findall(r"(?m)^(pid|started|host) (.+)$", os.pread(fd, 1024, 0).decode("utf-8", "replace")))


def _leaves_in(dir: str) -> float:
    """For how many seconds a host that ends may still wait for its executors; 0 or less: it waits for none."""
    try:
        noted = json.loads(Path(dir, "unreleased.json").read_bytes())
        return max((_moment(one.get("waits")) for one in noted), default=0.0) - time.time()
    except (OSError, ValueError, TypeError, AttributeError):
        return 0.0


def _moment(text: Any) -> float:
    """A moment as Go writes it."""
    found = re.fullmatch(r"(.{19})(?:\.\d+)?(Z|[+-]\d\d:\d\d)", text or "")
    return datetime.datetime.fromisoformat(found[1] + found[2].replace("Z", "+00:00")).timestamp() if found else 0.0


def _used(dir: str, by: Holder) -> str:
    who = f"process {by['pid']} on {by['host']}" if len(by) == 3 else "another process"
    return f"{dir} is in use by {who}"


def _refusal(dir: str, script: Optional[Holder], host: Optional[Holder], left: float) -> str:
    """Why the experiment cannot be had, in the program's words."""
    by = host or script or {}
    if len(by) < 3:
        return f"{_used(dir, by)}, which is just starting or leaving; try again in a moment"
    if left > 0:
        return f"{_used(dir, by)}, {_LEAVES}; try again when it has ended"
    word, why = shlex.quote(dir), f"{_used(dir, by)} since {by['started']}: stop that one first"
    if host is None:
        return why
    ends = f"`tunehost interrupt {word}` ends its host such that it can continue"
    return f"{why}; `tunehost watch {word}` follows it, {ends}"
