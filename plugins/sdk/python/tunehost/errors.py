"""What is raised, by tunehost and by authors."""

from __future__ import annotations

__all__ = ["Paused", "Refused", "ReportError", "RestoreError", "StartError", "Stopped", "UnknownFormat"]


class Stopped(SystemExit):
    """The trial shall end now: it was stopped or paused. report raises it, and so does SIGTERM,
    by which a trial is stopped between its reports.

    It is a SystemExit, so that a script that does nothing about it ends cleanly: `finally` and
    `with` are carried out, nothing is printed. Its status is 0, or 143 after SIGTERM: the host
    takes either for a stop, and 143 for a failure if it was not the host that sent it. Like
    KeyboardInterrupt it is no Exception, so that an `except Exception` around a training
    step does not take it for a failure and go on.
    """

    paused = False  #: whether the trial will go on later, from its last checkpoint; a signal does not say

    def __init__(self, status: int = 0) -> None:
        super().__init__(status)


class Paused(Stopped):
    """Stopped, for a trial that will go on later."""

    paused = True


class ReportError(RuntimeError):
    """A report was refused, or the host is gone."""


class Refused(ValueError):
    """What a plugin's open raises when the problem or the options are wrong: the user
    sees the message, and must change something."""


class RestoreError(RuntimeError):
    """The checkpoint could not be loaded. The host may try once more without it."""


class StartError(RuntimeError):
    """The trial could not begin at all; trying again does not help."""


class UnknownFormat(ValueError):
    """What an export function raises for a format that the trainable does not have."""

    def __init__(self, text: str = "the trainable does not know this format") -> None:
        super().__init__(text)
