"""Sends JSON over a socket between processes of one plugin, each text prefixed with its length. The process that
serves may be one of tunehost itself, in Go (plugins/sdk/serve/forks)."""

from __future__ import annotations

import json
import math
import os
import select
import socket
import struct
from typing import Any, List, Sequence, Tuple

_HEAD = struct.Struct("<I")
_CHUNK = 1 << 16
_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":"), default=bytes.decode).encode


_decode = json.JSONDecoder().raw_decode  # without the regular expressions of json.loads, which cost each fork memory


def decoded(text: str) -> Any:
    """The value of a text that is JSON."""
    return _decode(text.strip())[0]


def _encoded(value: Any) -> bytes:
    """JSON, with bytes as text, and with "nan", "inf" and "-inf" for what JSON has no number for."""
    try:
        return _encode(value).encode()
    except ValueError:
        return _encode(_named(value)).encode()


def _named(value: Any) -> Any:
    if isinstance(value, float) and not -math.inf < value < math.inf:
        return repr(value)
    if isinstance(value, dict):
        return {k: _named(v) for k, v in value.items()}
    return [_named(v) for v in value] if isinstance(value, (list, tuple)) else value


class Frames:
    """One end of a socket pair. Values are returned when complete; a partial one never blocks."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._buffer = bytearray()
        self.ended = False  #: whether the other end is gone
        self.fds: List[int] = []  #: file descriptors that came with objects

    def fileno(self) -> int:
        return self.sock.fileno()

    def close(self) -> None:
        self.sock.close()

    @property
    def closed(self) -> bool:
        """Whether this end was closed."""
        return self.sock.fileno() < 0

    def send(self, value: Any, fds: Sequence[int] = ()) -> None:
        """Sends an object; OSError when the other end is gone."""
        body = _encoded(value)
        data = _HEAD.pack(len(body)) + body
        if fds:
            sent = socket.send_fds(self.sock, [data], fds)
            data = data[sent:]
        if data:
            self.sock.sendall(data)

    def ready(self, timeout: float = 0) -> bool:
        """Whether something can be read within that time."""
        p = select.poll()
        p.register(self.sock, select.POLLIN)
        return bool(p.poll(timeout * 1000))

    def take(self) -> List[Any]:
        """Reads once, waiting if there is no data, and returns the complete objects."""
        try:
            data, fds, _, _ = socket.recv_fds(self.sock, _CHUNK, 4)
        except ConnectionError:
            data, fds = b"", []
        for fd in fds:
            os.set_inheritable(fd, False)
        self.fds += fds
        self.ended = not data
        self._buffer += data
        return self._whole()

    def drain(self) -> List[Any]:
        """Everything that was sent so far, without waiting."""
        found: List[Any] = []
        while not self.ended and self.ready():
            found += self.take()
        return found

    def next(self) -> List[Any]:
        """Waits for at least one object; EOFError when the other end is gone."""
        while True:
            found = self.take()
            if found:
                return found
            if self.ended:
                raise EOFError

    def _whole(self) -> List[Any]:
        found: List[Any] = []
        while len(self._buffer) >= _HEAD.size:
            (size,) = _HEAD.unpack_from(self._buffer)
            end = _HEAD.size + size
            if len(self._buffer) < end:
                break
            found.append(decoded(self._buffer[_HEAD.size:end].decode()))
            del self._buffer[:end]
        return found


def pair() -> Tuple[Frames, Frames]:
    """Two ends that are connected."""
    a, b = socket.socketpair()
    return Frames(a), Frames(b)
