#!/usr/bin/env node
// A searcher that begins with random points and then takes small steps from the best.

import { EXHAUSTED, searcher, Seen, serve } from "tunehost";

/** @typedef {import("tunehost").Random} Random */

/** How many steps from the best are tried before random points again. */
const steps = 50;

serve(searcher({
  name: "climber",
  version: "1.0.0",
  summary: "Random points first, then small random steps from the best one.",
  options: {
    type: "object",
    additionalProperties: false,
    properties: {
      start: { type: "integer", minimum: 1, default: 10, description: "how many random points come first" },
      step: { type: "number", exclusiveMinimum: 0, maximum: 1, default: 0.1, description: "size of a step; 1 is the whole range of a parameter" },
    },
  },

  open({ space }, options) {
    const seen = new Seen(space);
    /** @type {Map<number, Float64Array>} */
    const points = new Map();
    /** @type {Float64Array | null} */
    let best = null;
    let least = Infinity;

    /** @param {Float64Array} from @param {Random} random */
    function near(from, random) {
      return Float64Array.from(from, (x, i) => {
        const [anywhere, move] = [random.float64(), random.normal() * options.step];
        const jumps = space.params[i].kind === "choice" ? Math.abs(move) > anywhere : Number.isNaN(x);
        return space.fromUnit(i, jumps ? random.float64() : space.toUnit(i, x) + move);
      });
    }

    return {
      observe(events) {
        for (const { kind, trial, point, losses } of events) {
          if (kind === "trial_added" && point) {
            points.set(trial, point);
            seen.add(point);
          } else if (losses.length > 0 && losses[0] < least) {
            best = points.get(trial) ?? best;
            least = losses[0];
          }
        }
      },

      suggest({ trial, random, given }) {
        const from = trial < options.start ? null : best;
        return seen.pick(given, random, (attempt) => (from && attempt < steps ? near(from, random) : space.draw(random))) ?? EXHAUSTED;
      },
    };
  },
}));
