"""The reporter that writes down what happens, for callbacks of the script that runs the experiment (see _callbacks)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Dict, List, Sequence

import tunehost
from tunehost.events import ReportedKind, ReporterEvent

from ._serving import EVENTS


class Feeding(tunehost.Reporter):
    """Appends each event to a file. The file says how far it is, also after a kill."""

    name = "python-callbacks"
    version = "1.0.0"
    folder = Path()

    def open(self) -> None:
        self._path = self.folder.parent / "state" / EVENTS
        self._after = 0
        whole = b""
        if self._path.exists():
            written = self._path.read_bytes()
            whole = written[: written.rfind(b"\n") + 1]
        if whole:
            self._after = int(json.loads(whole.rstrip(b"\n").rpartition(b"\n")[2])["number"])
        self._file = open(self._path, "ab")
        self._file.truncate(len(whole))

    def after(self) -> int:
        return self._after

    def report(self, events: Sequence[ReporterEvent]) -> None:
        lines: List[str] = [json.dumps(_line(e)) for e in events if e.kind in ReportedKind._value2member_map_]
        self._file.write("".join(f"{line}\n" for line in lines).encode())
        self._file.flush()
        os.fsync(self._file.fileno())
        if events:
            self._after = events[-1].number


def _line(e: ReporterEvent) -> Dict[str, Any]:
    found = {**vars(e), "kind": ReportedKind(e.kind).name}
    return {k: v for k, v in found.items() if v or k == "number"}


def main(arguments: Sequence[str]) -> None:
    """Serves until the host ends the process."""
    Feeding.folder = Path(arguments[0])
    tunehost.serve(Feeding)
