"""The exceptions that tunehost or the author's code raises."""

from __future__ import annotations

__all__ = ["Killed", "Paused", "Refused", "ReportError", "RestoreError", "StartError", "Stopped", "UnknownFormat"]


class Stopped(SystemExit):
    """The trial must end now because it was stopped or paused. report raises it, and so does SIGTERM,
    which stops a trial between its reports.

    It is a SystemExit, so that a script that does not catch it ends cleanly: `finally` and
    `with` are executed, nothing is printed. Its status is 0, or 143 after SIGTERM: the host
    treats either as a stop, and 143 as a failure if the host did not send the signal. Like
    KeyboardInterrupt it is not an Exception, so that an `except Exception` around a training
    step does not treat it as a failure and continue.
    """

    paused = False  #: whether the trial will continue later, from its last checkpoint; a signal does not say

    def __init__(self, status: int = 0) -> None:
        super().__init__(status)


class Paused(Stopped):
    """Stopped, for a trial that will continue later."""

    paused = True


class Killed(SystemExit):
    """The trial must end now, and nobody has decided that: its host is gone, or has killed it. The last result may be
    missing in the record, so nothing that the trial writes from now on is final; the next host runs it again.

    It is no Stopped, so that `except Stopped` does not take it for a decision. Like Stopped it is a
    SystemExit: `finally` and `with` are executed. In a script its text says what has happened; the script ends with
    status 1, which is that of no decision. The process is killed soon after.
    """


class ReportError(RuntimeError):
    """A report was refused. One that nobody answers, because the host is gone, raises Killed."""


class Refused(ValueError):
    """Raised by a plugin's open when the problem or the options are wrong: the user
    sees the message and must change something."""


class RestoreError(RuntimeError):
    """The checkpoint could not be loaded. The host may try once more without it."""


class StartError(RuntimeError):
    """The trial could not start at all; retrying does not help."""


class UnknownFormat(ValueError):
    """Raised by an export function for a format that the trainable does not support."""

    def __init__(self, text: str = "the trainable does not know this format") -> None:
        super().__init__(text)
