"""The functions for a plain script that tunehost runs for each trial.

Only the standard library is imported, so that such a script starts fast.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import warnings
from pathlib import Path
from typing import Any, Collection, Dict, Iterator, List, Optional, Union

from . import _stop
from ._metrics import Metrics, flatten, jsonable, left_out, whole
from .errors import Killed, Paused, ReportError, Stopped

__all__ = ["NewCheckpoint", "checkpoint", "new_checkpoint", "params", "report", "seed", "trial_dir"]

PathLike = Union[str, "os.PathLike[str]"]


def params(**defaults: Any) -> Dict[str, Any]:
    """The trial's parameters, and the given defaults for the others; outside a trial the defaults.

    A group of the space is a dict, as in the file: params()["model"]["lr"]. It replaces the default of its name whole."""
    path = os.environ.get("TUNEHOST_PARAMS")
    if not path:
        return defaults
    with open(path, encoding="utf-8") as f:
        return {**defaults, **json.load(f)}


def seed(default: int = 0) -> int:
    """The trial's seed, from 0 to 2**64 - 1; for numpy use seed % 2**32."""
    return int(os.environ.get("TUNEHOST_SEED") or default)


def trial_dir() -> Path:
    """The trial's directory; outside a trial the working directory."""
    return Path(os.environ.get("TUNEHOST_TRIAL_DIR") or os.getcwd())


def checkpoint() -> Optional[Path]:
    """The directory of the checkpoint to continue from, or None when the trial starts anew."""
    path = os.environ.get("TUNEHOST_CHECKPOINT")
    return Path(path) if path else None


class NewCheckpoint(os.PathLike[str]):
    """A directory that is being filled: a path; `/` joins it with names of files in it."""

    def __init__(self, path: Path) -> None:
        self.path = path  #: where it is now

    def __fspath__(self) -> str:
        return str(self.path)

    def __truediv__(self, name: PathLike) -> Path:
        return self.path / name

    def __repr__(self) -> str:
        return f"NewCheckpoint({str(self.path)!r})"


@contextlib.contextmanager
def new_checkpoint() -> Iterator[NewCheckpoint]:
    """Makes a checkpoint that is either complete or absent:

        with tunehost.new_checkpoint() as ckpt:
            torch.save(model.state_dict(), ckpt / "model.pt")
        tunehost.report(loss=loss, checkpoint=ckpt)

    The directory gets its final name when the block ends without an error or when it is
    reported; otherwise it is removed. Outside a trial it is made in ./checkpoints.
    """
    parent = Path(os.environ.get("TUNEHOST_CHECKPOINT_DIR") or "checkpoints").absolute()
    parent.mkdir(parents=True, exist_ok=True)
    import shutil
    import tempfile

    made = NewCheckpoint(Path(tempfile.mkdtemp(prefix=".new-", dir=parent)))
    new = os.path.abspath(made)
    _filling[new] = made
    try:
        yield made
        _finished(new)
    except BaseException:
        if _filling.pop(new, None):  # otherwise it belongs to tunehost already
            shutil.rmtree(new, ignore_errors=True)
        raise


_filling: Dict[str, NewCheckpoint] = {}  # by path, those that are not finished


def _finished(checkpoint: PathLike) -> str:
    """The path of a complete checkpoint: it may be reported before the end of its block."""
    path = os.path.abspath(checkpoint)
    made = _filling.get(path)
    if made is None:
        return path
    made.path = _settle(made.path)
    del _filling[path]
    return str(made.path)


def _settle(new: Path) -> Path:
    """Gives a finished directory an unused name."""
    for entry in os.scandir(new):
        _sync(entry.path)
    _sync(str(new))
    final = new.with_name("checkpoint-" + new.name[len(".new-"):])
    os.rename(new, final)
    return final


def _sync(path: str) -> None:
    """Makes sure that a file survives a power failure, where the system supports it."""
    with contextlib.suppress(OSError):
        fd = os.open(path, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def report(metrics: Optional[Metrics] = None, *, iteration: Optional[int] = None,
           checkpoint: Optional[PathLike] = None, **more: Any) -> None:
    """Reports one result and returns when the trial may continue.

    >>> report(accuracy=0.93, loss=0.2, iteration=3)  # outside a trial
    {"accuracy": 0.93, "loss": 0.2, "iteration": 3}

    Nested dicts are flattened with "/"; NaN and infinities are allowed. Values that are not
    numbers (text, bool, list) are not metrics; they are kept beside them in result.jsonl.
    iteration counts from 1; without it tunehost counts. done=True: this is the last result.
    checkpoint is a complete directory, which belongs to tunehost from now on; see
    new_checkpoint.

    When the trial was stopped it raises Stopped; when it was paused, Paused, which is a
    subclass of Stopped. If they are not caught, they end the script with status 0. The last
    report of a loop may raise it, so save a model in `finally`, not after the loop.
    When the host is gone it raises Killed, which is no Stopped: save no final model then. If it is not caught, it ends
    the script with status 1 and one line. ReportError: the report was refused. Outside a trial it prints the metrics.
    """
    r = flatten(metrics, more)
    message: Dict[str, Any] = {"metrics": {**{k: jsonable(v) for k, v in r.metrics.items()}, **r.values}}
    if iteration is not None or r.iteration is not None:
        message["iteration"] = whole(r.iteration if iteration is None else iteration)
    if r.done:
        message["done"] = True
    if r.left_out:
        warnings.warn(left_out(r.left_out), stacklevel=2)
    if checkpoint is not None:
        message["checkpoint"] = _finished(checkpoint)
    if not os.environ.get("TUNEHOST_CHANNEL"):
        print(json.dumps({**message["metrics"], **{k: v for k, v in message.items() if k != "metrics"}}), flush=True)
        return
    _stop.watch()
    _channel.integers(r.metrics, r.integers)
    _follow(_channel.ask(message))


def _follow(answer: Dict[str, Any]) -> None:
    """Raises Stopped or Paused if the answer says so."""
    decision = answer.get("decision")
    if decision in ("stop", "pause"):
        _stop.ignore()
        raise Stopped if decision == "stop" else Paused
    if decision != "continue":
        raise ReportError(f"the report was refused: {answer.get('error', answer)}")


#: What the host leaves when it ends: a socket that nobody answers, or none.
_GONE = (ConnectionError, FileNotFoundError)


class _Channel:
    """The connection of this process; threads take turns, and forks get their own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = 0
        self._lines: List[Any] = []
        self._integers: Any = None

    def integers(self, metrics: Collection[str], integers: Collection[str]) -> None:
        """Notes which metrics are integers, if any are."""
        if self._integers is None and integers:
            from ._integers import Integers

            self._integers = Integers(trial_dir())
        if self._integers is not None:
            with contextlib.suppress(OSError):  # a full disk: they are floats then
                self._integers.note(metrics, integers)

    def ask(self, message: Dict[str, Any]) -> Dict[str, Any]:
        """Sends one line and waits for its answer."""
        with self._lock:
            try:
                answer = self._exchange(json.dumps(message).encode() + b"\n")
            except BaseException as e:
                self._lines.clear()  # otherwise the next report would get this one's answer
                if isinstance(e, _GONE):
                    raise Killed(f"cannot report: {e}: the host is gone") from e
                if isinstance(e, OSError):
                    raise ReportError(f"cannot report: {e}") from e
                raise
        try:
            parsed = json.loads(answer)
        except ValueError:
            parsed = answer
        return parsed if isinstance(parsed, dict) else {"error": f"invalid answer: {parsed!r:.60}"}

    def _exchange(self, line: bytes) -> bytes:
        lines = self._connect()
        lines.write(line)
        lines.flush()
        answer: bytes = lines.readline()
        if not answer.endswith(b"\n"):
            raise Killed("the report channel ended without an answer: the host is gone")
        return answer

    def _connect(self) -> Any:
        if not self._lines or self._owner != os.getpid():
            import socket

            conn = socket.socket(socket.AF_UNIX)
            conn.connect(os.environ["TUNEHOST_CHANNEL"])
            self._lines[:] = [conn.makefile("rwb")]
            conn.close()  # the file keeps it open
            self._owner = os.getpid()
        return self._lines[0]


_channel = _Channel()
os.register_at_fork(after_in_child=lambda: _channel.__init__())  # type: ignore[misc]
