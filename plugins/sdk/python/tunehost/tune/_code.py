"""Functions in files of pickles, such that tracebacks of their trials show where they were written."""

from __future__ import annotations

import io
import linecache
import os
import sys
import types
from typing import Any, Callable, Dict, List, Optional

import cloudpickle


class Pickler(cloudpickle.CloudPickler):  # type: ignore[misc]
    """Keeps the files of functions: cloudpickle writes "<dynamic-code>" instead from release 3.1.2 on."""

    def __init__(self, buffers: Optional[Callable[[Any], Any]] = None) -> None:
        self._out = io.BytesIO()
        super().__init__(self._out, protocol=5, buffer_callback=buffers)
        self._started = sys.modules.get("__mp_main__")  #: the script, in a process that multiprocessing has spawned
        self.sources: Dict[str, List[str]] = {}  #: the lines of files that exist in this process alone: cells of notebooks

    def dump(self, obj: Any) -> None:
        """Pickles an object. What the script has defined goes along, as it does in the script's own process."""
        if self._started is None or self._started.__name__ in cloudpickle.list_registry_pickle_by_value():
            super().dump(obj)
            return
        cloudpickle.register_pickle_by_value(self._started)
        try:
            super().dump(obj)
        finally:
            cloudpickle.unregister_pickle_by_value(self._started)

    def text(self) -> bytes:
        """What was pickled."""
        return self._out.getvalue()

    def reducer_override(self, obj: Any) -> Any:
        if not isinstance(obj, types.CodeType):
            return super().reducer_override(obj)
        if not os.path.exists(obj.co_filename):
            self.sources.setdefault(obj.co_filename, linecache.getlines(obj.co_filename))
        found: Any = self.dispatch_table[types.CodeType](obj)
        make, arguments = found
        return make, tuple(obj.co_filename if a == "<dynamic-code>" else a for a in arguments)


def know(sources: Dict[str, List[str]]) -> None:
    """Has tracebacks of this process show lines of such files."""
    for file, lines in sources.items():
        if lines:
            linecache.cache[file] = (sum(map(len, lines)), None, lines, file)
