// scaffold-name is a searcher for tunehost.
//
// Everything here may be changed. What must stay true: answers depend on the problem, the
// options, the events and the requests' seeds alone, so that a crashed searcher can be
// started again and told the same.

import { EXHAUSTED, Seen } from "tunehost";

/** How often a step from the best may miss the constraints. */
const tries = 100;

/** @type {import("tunehost").SearcherPlugin} */
export const plugin = {
  name: "scaffold-name",
  version: "0.1.0",
  summary: "Draws points at random, every other one near the best so far.",
  // What users may write beside the name; tunehost checks it for you.
  options: {
    type: "object",
    additionalProperties: false,
    properties: {
      spread: {
        type: "number", exclusiveMinimum: 0, maximum: 1, default: 0.2,
        description: "how far a step from the best may go, as a part of each parameter's range",
      },
    },
  },

  // Called once, before anything else.
  open({ space }, { spread }) {
    const seen = new Seen(space); // so that no point of a finite space comes twice
    const points = new Map(); // by trial
    let best = { loss: Infinity, point: null };

    // A step from a point. In units every parameter goes from 0 to 1, on a log scale where
    // the user asked for one; NaN says that it does not exist in the origin: it is drawn.
    function near(origin, random) {
      const drawn = space.draw(random);
      return origin.map((x, i) =>
        Number.isNaN(x) ? drawn[i] : space.fromUnit(i, space.toUnit(i, x) + spread * (random.float64() - 0.5)));
    }

    return {
      // Hears of every trial: its point when it is added, its losses (one for each objective,
      // smaller is better) when it has ended.
      observe(events) {
        for (const { kind, trial, point, losses } of events) {
          if (kind === "trial_added") {
            points.set(trial, point);
            seen.add(point);
          } else if (kind === "trial_completed" && losses[0] < best.loss) {
            best = { loss: losses[0], point: points.get(trial) ?? best.point };
          }
        }
      },

      // Answers one request: with the first draw that is new and satisfies the constraints,
      // or that there are no more. The request's random is the only randomness to use.
      suggest({ trial, random, given }) {
        const origin = trial % 2 === 1 ? best.point : null;
        const draw = (attempt) => (origin && attempt < tries ? near(origin, random) : space.draw(random));
        return seen.pick(given, random, draw) ?? EXHAUSTED;
      },
    };
  },
};
