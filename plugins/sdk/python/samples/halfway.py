#!/usr/bin/env python3
"""A scheduler: stops what is worse than the median at one iteration."""

from statistics import median
from typing import Optional

import tunehost


@tunehost.scheduler(name="halfway", version="1.0.0")
def halfway(event: tunehost.Event, history: tunehost.History,
            at: int = tunehost.option(5, "the iteration at which trials are compared", minimum=1)) -> Optional[tunehost.Decision]:
    """Stops a trial that is worse than the median of the others at one iteration."""
    if event.iteration < at:
        return event.until(at)
    others = [loss for trial, loss in history.losses_at(at).items() if trial != event.trial]
    if event.iteration == at and len(others) >= 3 and event.loss > median(others):
        return event.stop(f"its loss {event.loss:g} at iteration {at} is worse than {median(others):g}, "
                          f"the median of {len(others)} others")
    return event.until(2**53)


if __name__ == "__main__":
    tunehost.serve(halfway)
