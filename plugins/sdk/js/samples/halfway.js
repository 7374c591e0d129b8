#!/usr/bin/env node
// A scheduler that ends trials which are worse than half of the others, once.

import { scheduler, serve } from "tunehost";

/** How many other trials a trial is compared with at least. */
const others = 3;

serve(scheduler({
  name: "halfway",
  version: "1.0.0",
  summary: "Stops a trial whose loss at one iteration is above the others' median.",
  options: {
    type: "object",
    additionalProperties: false,
    properties: {
      at: { type: "integer", minimum: 1, default: 5, description: "the iteration at which trials are compared" },
    },
  },

  open(_, { at }) {
    /** @type {Map<number, number>} the loss of each trial at that iteration */
    const losses = new Map();

    /** @param {import("tunehost").Event} event @returns {import("tunehost").Decision} */
    function decide({ number: event, trial, iteration, losses: [loss] }) {
      if (iteration < at) {
        return { event, verdict: "continue", until: at };
      }
      if (iteration === at) {
        losses.delete(trial); // it may have been here before, in another attempt
        const bar = median([...losses.values()]);
        losses.set(trial, loss);
        if (losses.size > others && loss > bar) {
          return { event, verdict: "stop", reason: `loss ${loss} at iteration ${at} is above the median ${bar} of ${losses.size - 1} others` };
        }
      }
      return { event, verdict: "continue", until: Number.MAX_SAFE_INTEGER };
    }

    return {
      decide: (events) => events.filter((e) => e.kind === "result_reported").map(decide),
    };
  },
}));

/** @param {number[]} values */
function median(values) {
  const sorted = values.sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
