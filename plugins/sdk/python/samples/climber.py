#!/usr/bin/env python3
"""A searcher: small random steps from the best point so far."""

import tunehost
from tunehost import space
from tunehost.finite import Seen


class Climber(tunehost.Searcher):
    """Takes small random steps from the best point so far."""

    name = "climber"
    version = "1.0.0"

    start: int = tunehost.option(10, "random points before the first step", minimum=1)
    step: float = tunehost.option(0.1, "the standard deviation of a step, in units of each parameter's range",
                                  exclusiveMinimum=0, maximum=1)

    def open(self) -> None:
        self.history = tunehost.History()
        self.seen = Seen(self.space)

    def observe(self, event: tunehost.Event) -> None:
        self.history.observe(event)
        if event.point is not None:
            self.seen.add(event.point)

    def suggest(self, request: tunehost.Request) -> tunehost.Suggestion:
        best = self.history.best
        if request.trial < self.start or best is None or best.point is None:
            draw = self.space.draw(request.rng)
            found = self.seen.pick(lambda k: draw if k == 0 else self.space.draw(request.rng), request.rng, request.point)
        else:
            origin = best.point
            found = self.seen.pick(lambda k: self.near(origin, request.rng), request.rng, request.point)
        return tunehost.EXHAUSTED if found is None else found

    def near(self, origin: space.Point, rng: space.Rand) -> space.Point:
        """A step from the origin. What does not exist there is drawn, in case it exists here."""
        drawn = self.space.draw(rng)
        units = [u + rng.gauss(0, self.step) for u in self.space.to_units(origin)]
        return [p.from_unit(u) if u == u else x for p, u, x in zip(self.space, units, drawn)]


if __name__ == "__main__":
    tunehost.serve(Climber)
