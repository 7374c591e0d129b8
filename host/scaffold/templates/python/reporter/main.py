"""scaffold-name is a reporter for tunehost.

Everything here may be changed. No trial waits for a reporter, and its failure ends no
experiment.
"""

import pathlib

import tunehost
from tunehost import ReportedKind


ENDS = ReportedKind.TRIAL_COMPLETED, ReportedKind.TRIAL_FAILED, ReportedKind.TRIAL_REMOVED


class Plugin(tunehost.Reporter):
    """Writes a line for each result and each end of a trial to a file."""

    name = "scaffold-name"
    version = "0.1.0"

    # What users may write beside the name.
    file: str = tunehost.option("told.txt", "the file's name, in the folder of the experiment")

    def open(self):
        """Called once, before anything else: connect to a service here, or open files."""
        self.path = pathlib.Path(self.dir, self.file)

    def report(self, events):
        """Called with events, in order. When it returns, they count as reported; if it fails,
        the reporter is started again and is told them once more. Of events of other kinds, also
        of those that a later tunehost has, nothing is needed."""
        lines = [line for line in map(self.line, events) if line]
        with self.path.open("a") as f:
            f.writelines(lines)

    def line(self, event):
        if event.kind == ReportedKind.RESULT_REPORTED:
            again = " again" if event.result["again"] else ""  # after a restart from an earlier checkpoint
            return f"{event.number} trial {event.trial['number']} iteration {event.result['iteration']}{again}: " \
                   f"{dict(event.result['metrics'])}\n"
        if event.kind in ENDS:
            return f"{event.number} trial {event.trial['number']} ended: {event.trial['state']}\n"
        return ""

    def after(self):
        """The number of the last event that is written: after a crash of the host no event is
        told twice. It can be left out where that does no harm."""
        if not self.path.exists():
            return 0
        lines = self.path.read_text().splitlines(keepends=True)
        numbers = [int(line.split()[0]) for line in lines if line.endswith("\n")]  # the last one may be cut off
        return max(numbers, default=0)


if __name__ == "__main__":
    tunehost.serve(Plugin)
