"""Results that callbacks hear before the trial reports them, so that what they change takes effect: the process of the trial
asks the process that has called fit, over a socket on this machine. Where nobody listens, as after `tunehost resume`, and
on other machines, nobody is asked."""

from __future__ import annotations

import os
import pickle
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Tuple

if TYPE_CHECKING:
    import socket

FILE = Path("state", "listens.txt")  #: in the folder `tune` of the experiment: where the socket is, and of which folder
_SIZE = struct.Struct("<Q")

Place = Tuple[int, int, int]  #: a trial's number, its attempt, and the iteration of a result


def listens(folder: Path) -> bool:
    """Whether somebody listens, who does from before the first trial on."""
    return (folder / FILE).exists()


class Asking:
    """The side of a trial."""

    def __init__(self, folder: Optional[Path]) -> None:
        self._connection = _connected(folder) if folder else None

    def changes(self, place: Place, metrics: Mapping[str, Any], seconds: float) -> Dict[str, Any]:
        """What the callbacks change of a result; waits for them."""
        if self._connection is None:
            return {}
        try:
            told = {name: value for name, value in metrics.items() if name != "config"}
            send(self._connection, dumped((place, told, seconds)))
            answer = receive(self._connection)
        except OSError:
            answer = None
        if answer is None:  # nobody listens any more
            self._connection = None
            return {}
        found: Dict[str, Any] = pickle.loads(answer)
        return found


def _connected(folder: Path) -> Optional[socket.socket]:
    try:
        where, _, heard = (folder / FILE).read_text(encoding="utf-8").partition("\n")
        if heard and not os.path.samefile(heard, folder):
            return None  # the experiment is a copy of the one that the script listens to
        import socket

        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        made.connect(where)
        return made
    except OSError:
        return None


def dumped(value: Any) -> bytes:
    """A value of any kind as bytes."""
    try:
        return pickle.dumps(value)
    except Exception:  # a function of the script, for example
        from ._payload import pickled

        return pickled(value, "a result")


def send(connection: socket.socket, message: bytes) -> None:
    """Sends a message with its length."""
    connection.sendall(_SIZE.pack(len(message)) + message)


def receive(connection: socket.socket) -> Optional[bytes]:
    """The next message; None at the end."""
    head = _exactly(connection, _SIZE.size)
    return None if head is None else _exactly(connection, _SIZE.unpack(head)[0])


def _exactly(connection: socket.socket, size: int) -> Optional[bytes]:
    found = b""
    while len(found) < size:
        part = connection.recv(size - len(found))
        if not part:
            return None
        found += part
    return found
