"""scaffold-name is a scheduler for tunehost.

Everything here may be changed. What must stay true: answers depend on the problem, the
options and the events alone, so that a crashed scheduler can be started again and told
the same.
"""

from statistics import median

import tunehost


class Plugin(tunehost.Scheduler):
    """Stops trials that are worse than the median of the others."""

    name = "scaffold-name"
    version = "0.1.0"

    # What users may write beside the name.
    grace: int = tunehost.option(2, "iterations before which no trial is stopped", minimum=1)
    others: int = tunehost.option(3, "results of other trials that a result is compared with, at the least", minimum=1)

    def open(self):
        """Called once, before anything else."""
        self.history = tunehost.History()

    def observe(self, event):
        """Hears of every trial: when it is added, of its results, when it has ended."""
        self.history.observe(event)

    def on_result(self, event):
        """Decides on one result, which was observed before: event.stop(reason),
        event.pause(reason), event.until(iteration), or None to continue. A loss is smaller
        where it is better, and infinite if there is none."""
        if event.iteration < self.grace:
            return event.until(self.grace)
        losses = self.history.losses_at(event.iteration)
        others = [loss for trial, loss in losses.items() if trial != event.trial]
        if len(others) >= self.others and event.loss > median(others):
            return event.stop(f"worse than the median of {len(others)} trials at iteration {event.iteration}")
        return None


if __name__ == "__main__":
    tunehost.serve(Plugin)
