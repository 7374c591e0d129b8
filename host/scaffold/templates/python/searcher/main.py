"""scaffold-name is a searcher for tunehost.

Everything here may be changed. What must stay true: answers depend on the problem, the
options, the events and the requests' seeds alone, so that a crashed searcher can be
started again and told the same.
"""

import tunehost
from tunehost.finite import Seen

TRIES = 100  # how often a step from the best may miss the constraints


class Plugin(tunehost.Searcher):
    """Draws points at random, every other one near the best so far."""

    name = "scaffold-name"
    version = "0.1.0"

    # What users may write beside the name.
    spread: float = tunehost.option(
        0.2, "how far a step from the best may go, as a part of each parameter's range", exclusiveMinimum=0, maximum=1)

    def open(self):
        """Called once, before anything else."""
        self.history = tunehost.History()
        self.seen = Seen(self.space)  # so that no point of a finite space comes twice

    def observe(self, event):
        """Hears of every trial: when it is added, of its results, when it has ended."""
        self.history.observe(event)
        if event.point is not None:
            self.seen.add(event.point)

    def suggest(self, request):
        """Answers one request: with a point, or that there are no more. The request's rng is the
        only randomness to use; what it fixes is in request.point."""
        best, rng = self.history.best, request.rng

        def draw(k):
            if best is None or request.trial % 2 == 0 or k >= TRIES:
                return self.space.draw(rng)
            return self.near(best.point, rng)

        # The first draw that is new and satisfies the constraints.
        point = self.seen.pick(draw, rng, request.point)
        return tunehost.EXHAUSTED if point is None else point

    def near(self, origin, rng):
        """A step from a point. In units every parameter goes from 0 to 1, on a log scale where
        the user asked for one; NaN says that it does not exist in the origin: it is drawn."""
        units = [u + self.spread * (rng.random() - 0.5) for u in self.space.to_units(origin)]
        return [p.from_unit(u) if u == u else x for p, u, x in zip(self.space, units, self.space.draw(rng))]


if __name__ == "__main__":
    tunehost.serve(Plugin)
