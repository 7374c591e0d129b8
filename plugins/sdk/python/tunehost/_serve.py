"""Starts a plugin's process, before any large module is imported."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Dict, Mapping, Type

from . import _log, _output, _stop
from ._frames import Frames
from .plugin import Plugin, Trainable

COOKIE_KEY = "TUNEHOST_PLUGIN"
COOKIE = "d2f0a5be-3a0f-4a55-8f63-2b8a4f2c9d17"
_SETTINGS = (COOKIE_KEY, "PLUGIN_PROTOCOL_VERSIONS", "PLUGIN_UNIX_SOCKET_DIR", "PLUGIN_CLIENT_CERT")
_FORKS, _FORKS_VERSION = "TUNEHOST_FORKS", "1"


def run(table: Mapping[str, Type[Plugin]]) -> int:
    """Serves until the host ends the plugin, and returns the exit status."""
    settings = _settings()
    if settings[COOKIE_KEY] != COOKIE:
        print(_by_hand(table), file=sys.stderr)
        return 1
    for name in _SETTINGS[1:]:
        if not settings[name]:
            print(f"{name} is not set: this host speaks another protocol", file=sys.stderr)
            return 1
    forks = _fork_server()
    stdout = _take_stdout()
    _log.install()
    _stop.leave_end_to_host()
    trainable = table.get("trainable")
    if trainable and issubclass(trainable, Trainable):
        from . import _zygote

        if _zygote.wanted(trainable):
            program = forks if len(table) == 1 else ""
            return _zygote.run(trainable, lambda control: _server(table, settings, stdout, control), stdout,
                               lambda control: _become(program, settings, stdout, control))
    return _server(table, settings, stdout, None)


def _fork_server() -> str:
    """The program of the host that serves for programs that fork; "" if there is none, or one of another version."""
    version, _, path = os.environ.pop(_FORKS, "").partition(":")
    return path if version == _FORKS_VERSION else ""


def _become(program: str, settings: Mapping[str, str], stdout: int, control: Frames) -> None:
    """Replaces this process by the program; returns if that is impossible."""
    if not program:
        return
    output = os.dup(1)
    os.dup2(stdout, 1)
    os.set_inheritable(control.fileno(), True)
    with contextlib.suppress(OSError):
        os.execve(program, [program, "plugin-forks", _FORKS_VERSION, str(control.fileno())], {**os.environ, **settings})
    os.set_inheritable(control.fileno(), False)
    os.dup2(output, 1)
    os.close(output)


def _server(table: Mapping[str, Type[Plugin]], settings: Mapping[str, str], stdout: int, control: Frames | None) -> int:
    from . import _server  # gRPC: never in the zygote, which has one thread

    return _server.Server(table, control).serve(settings, stdout)


def _settings() -> Dict[str, str]:
    """Returns the variables that the host has set, and removes them from the environment, so that
    child processes are not taken for plugins."""
    return {name: os.environ.pop(name, "") for name in _SETTINGS}


def _by_hand(table: Mapping[str, Type[Plugin]]) -> str:
    plugin = next(iter(table.values()))
    return (f'this is the {plugin.kind} "{plugin.title()}" for tunehost, which starts it by itself; '
            f"name it in an experiment file, or try it with: tunehost plugins check {sys.argv[0]}")


def _take_stdout() -> int:
    """Keeps stdout for the handshake; all other output goes to the log."""
    stdout = os.dup(1)
    os.dup2(2, 1)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(line_buffering=True)
    _output.be_patient()
    return stdout
