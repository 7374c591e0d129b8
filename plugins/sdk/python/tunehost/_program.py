"""The process that answers ask and tell: `tunehost asktell`."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
import weakref
from typing import Any, Dict, List, Mapping, Optional

from . import _binary, _integers, _system, _words
from ._asked import AskError
from ._plain import plain

__all__ = ["Program", "opened"]

_IN_USE = " is in use by process "
_GIVE_UP_S = 5.0


def opened(file: Mapping[str, Any], storage: str) -> Program:
    """Starts the program. That of a script that was killed a moment ago uses the experiment until it notices. AskError: it
    refuses the experiment."""
    end = time.monotonic() + _GIVE_UP_S
    while True:
        program = Program(file, storage)
        try:
            program.request({"best": True})  # it has read the experiment then, or refuses it
            return program
        except AskError as e:
            program.close()
            if _IN_USE not in str(e) or time.monotonic() > end:
                raise
            time.sleep(0.1)


class Program:
    """`tunehost asktell`, which answers each line with a line."""

    def __init__(self, file: Mapping[str, Any], storage: str) -> None:
        self._file = json.dumps(file, default=plain(AskError))
        self._child: subprocess.Popen[str] = subprocess.Popen(
            [_binary.find(), "asktell", "-", "--storage", storage],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C is for the caller, who then closes the session
        )
        self._owner = os.getpid()
        _programs.add(self)
        self._messages: List[str] = []
        self.pump = threading.Thread(target=self._pass_on, daemon=True)
        self.pump.start()
        self._write(file)

    def request(self, request: Mapping[str, Any]) -> Dict[str, Any]:
        """Sends a request and waits for its answer. AskError: the program has ended. Ctrl-C in between, or what another
        signal raises, ends the session: the next answer would be that of this request."""
        assert self._child.stdout
        try:
            self._write(request)
            line = self._child.stdout.readline()
        except AskError:
            raise
        except BaseException:
            self.close()
            raise
        if not line:
            raise AskError(self._why())
        answer: Dict[str, Any] = _integers.loads(line)
        return answer

    def check_owner(self) -> None:
        """AskError: this is another process than the one that began the session."""
        if os.getpid() != self._owner:
            raise AskError("the session is that of another process, which this one was forked from: return results to it, and "
                           "tell them there")

    def let_go(self) -> None:
        """In a forked process: keeps none of the pipes open, so that they end when the session does."""
        null = os.open(os.devnull, os.O_RDWR)
        for pipe in self._child.stdin, self._child.stdout, self._child.stderr:
            if pipe and not pipe.closed:
                os.dup2(null, pipe.fileno(), inheritable=False)  # not closed: what is in its buffer is the other's
        os.close(null)

    def last(self, request: Mapping[str, Any]) -> Optional[Dict[str, Any]]:
        """The answer to a request, or None if the program has ended."""
        try:
            return self.request(request)
        except AskError:
            return None

    def closed(self) -> bool:
        """Whether close was called."""
        return self._child.stdin is None or self._child.stdin.closed

    def close(self) -> None:
        """Ends the program, which keeps what it was told."""
        assert self._child.stdin and self._child.stdout
        try:
            self._child.stdin.close()
        except BrokenPipeError:
            pass  # it has ended by itself
        self._child.wait()
        self.pump.join()
        self._child.stdout.close()

    def _write(self, value: Mapping[str, Any]) -> None:
        assert self._child.stdin
        if self.closed():
            raise AskError("the session was closed: make another AskTell with the same name to continue")
        try:
            self._child.stdin.write(json.dumps(value, default=plain(AskError)) + "\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            raise AskError(self._why()) from None

    def _pass_on(self) -> None:
        """Passes the program's warnings on."""
        assert self._child.stderr
        with self._child.stderr as stream:
            for line in stream:
                self._messages.append(line.strip())
                del self._messages[:-10]
                if not _words.is_error(line):
                    with contextlib.suppress(AttributeError, OSError, ValueError):  # nobody reads it
                        sys.stderr.write(_words.advised(line))

    def _why(self) -> str:
        status = self._child.wait()
        self.pump.join()
        if status < 0:
            return f"tunehost {_system.ended_by(status)}; AskTell with the same arguments and name continues"
        last = self._messages[-1] if self._messages else f"tunehost ended with status {status}"
        return _words.refused(last.removeprefix("tunehost: "), self._file, {"objective": "metric"})


_programs: weakref.WeakSet[Program] = weakref.WeakSet()


def _let_go() -> None:
    for program in list(_programs):
        program.let_go()


os.register_at_fork(after_in_child=_let_go)
