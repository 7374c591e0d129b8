"""Takes the results of trials that wait for callbacks: the other side of _heard."""

from __future__ import annotations

import pickle
import queue
import shutil
import socket
import tempfile
import threading
from pathlib import Path
from typing import Any, Dict, List, Mapping

from ._heard import FILE, Place, dumped, receive, send


class Ask:
    """A result of a trial that waits for its callbacks."""

    def __init__(self, place: Place, result: Dict[str, Any], seconds: float, connection: socket.socket) -> None:
        self.place, self.result, self.seconds = place, result, seconds
        self._connection = connection

    def answer(self, changes: Mapping[str, Any]) -> None:
        """Lets the trial go on, with what was changed of its result."""
        try:
            send(self._connection, dumped(dict(changes)))
        except OSError:
            pass  # the trial has ended meanwhile


class Listener:
    """Takes the asks of all trials."""

    def __init__(self, folder: Path) -> None:
        self.ready = threading.Event()  #: set when a trial asks
        self._asks: queue.SimpleQueue[Ask] = queue.SimpleQueue()
        self._dir = tempfile.mkdtemp(prefix="tunehost-")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(f"{self._dir}/s")
        self._socket.listen(128)
        self._file = folder / FILE
        self._file.write_text(f"{self._dir}/s\n{folder}", encoding="utf-8")
        threading.Thread(target=self._accept, daemon=True).start()

    def asks(self) -> List[Ask]:
        """The trials that have asked since."""
        self.ready.clear()
        found = []
        while not self._asks.empty():
            found.append(self._asks.get())
        return found

    def close(self) -> None:
        """From now on no trial waits."""
        self._file.unlink(missing_ok=True)
        self._socket.close()
        shutil.rmtree(self._dir, ignore_errors=True)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._take, args=(connection,), daemon=True).start()

    def _take(self, connection: socket.socket) -> None:
        with connection:
            while True:
                try:
                    message = receive(connection)
                except OSError:
                    return
                if message is None:
                    return
                place, result, seconds = pickle.loads(message)
                self._asks.put(Ask(place, result, seconds, connection))
                self.ready.set()
