"""What ask and tell hands out, and how it refuses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Dict, Optional, SupportsIndex, Union

from ._hands import Hands

__all__ = ["AskError", "Asked", "TellFirst", "id_of"]


class AskError(RuntimeError):
    """The program refused the experiment or a request, or has ended; the message is tunehost's."""


class TellFirst(AskError):
    """There is no trial now: the searcher or the scheduler needs a result of one that was handed out."""


@dataclass(frozen=True)
class Asked:
    """A trial that was handed out."""

    id: str  #: its name in files and commands
    params: Dict[str, Any]  #: its parameters; nested names are nested dicts
    resume_from: int = 0  #: the iteration that it continues after; 0: it begins
    number: Optional[int] = None  #: from 0; None if it continues

    _hands: ClassVar[Optional[Hands]] = None  # of the session, which knows by it which threads have the trial

    def __getattribute__(self, name: str) -> Any:
        if name == "params" and self._hands:
            self._hands.read(self.id)
        return super().__getattribute__(name)

    def __reduce__(self) -> Any:
        return Asked, (self.id, self.params, self.resume_from, self.number)


def id_of(trial: Union[Asked, str]) -> str:
    """The id of a trial, or its number, which the program takes, too. AskError: it is neither."""
    if not isinstance(trial, (Asked, str, SupportsIndex)):
        raise AskError(f"the trial is {trial!r:.60}: expected what ask returned, or its id")
    return trial.id if isinstance(trial, Asked) else trial
