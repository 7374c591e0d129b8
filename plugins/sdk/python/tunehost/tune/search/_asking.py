"""A searcher of tunehost in the process of one that is around it: the program itself is asked, and told."""

from __future__ import annotations

import os
import random
from typing import Any, Dict, List, Optional, Tuple

from ... import _asktell, _binary
from .searcher import Searcher


class Asking(Searcher):
    """Asks `tunehost asktell` for what a searcher suggests. After a restart it asks and tells everything again."""

    tells_late = False  #: nobody looks at what it knows in the end

    def __init__(self, searcher: Any) -> None:
        super().__init__(searcher.metric, searcher.mode)
        self.inner = searcher
        self.own_space: Any = getattr(searcher, "own_space", None)
        self._points = list(getattr(searcher, "points", None) or ())
        self._seed = searcher.keys().get("seed", random.randrange(2**31))
        self._program: Optional[_asktell.AskTell] = None
        self._asked: Dict[str, _asktell.Asked] = {}
        self._log: List[Tuple[str, Any, bool]] = []  # what was asked and told

    def set_search_properties(self, metric: Any, mode: Any, config: Dict[str, Any], **spec: Any) -> bool:
        self._metric, self._mode = self._metric or metric, self._mode or mode
        self._space, self._binary = config, _binary.find()
        return True

    def keys(self) -> Dict[str, Any]:
        return {"seed": self._seed}

    @property
    def program(self) -> _asktell.AskTell:
        """The program, which knows everything that was told."""
        if self._program is None:
            os.environ["TUNEHOST_BINARY"] = self._binary
            settings: Dict[str, Any] = {"seed": self._seed}
            if self._points:
                settings["points"] = self._points
            self._program = _asktell.AskTell(
                self._space, metric=self._metric, mode=self._mode, trials=-1, searcher=self.inner, storage="none", **settings
            )
            log, self._asked = self._log, {}
            for trial_id, value, error in log:
                self._ask(trial_id) if value is _ASKED else self._tell(trial_id, value, error)
        return self._program

    def _ask(self, trial_id: str) -> Any:
        """The program's answer: None if it has no suggestion now, FINISHED if it has none any more."""
        try:
            asked = self.program.ask()
        except _asktell.TellFirst:
            return None
        if asked is None:
            return Searcher.FINISHED
        self._asked[trial_id] = asked
        return asked

    def _tell(self, trial_id: str, value: Optional[float], error: bool) -> None:
        program = self.program  # it has asked for the trial
        asked = self._asked.pop(trial_id)
        if error or value is None:
            program.fail(asked, "the trial has failed, or has reported nothing")
        else:
            program.tell(asked, {self._metric: value})

    def suggest(self, trial_id: str) -> Any:
        asked = self._ask(trial_id)
        if not isinstance(asked, _asktell.Asked):
            return asked
        self._log.append((trial_id, _ASKED, False))
        return asked.params

    def on_trial_complete(self, trial_id: str, result: Optional[Dict[str, Any]] = None, error: bool = False) -> None:
        value = float(result[self._metric]) if result else None
        self._tell(trial_id, value, error)
        self._log.append((trial_id, value, error))

    def __getstate__(self) -> Dict[str, Any]:
        return {**vars(self), "_program": None, "_asked": {}}


_ASKED = "asked"
