// scaffold-name is a scheduler for tunehost.
//
// Everything here may be changed. What must stay true: answers depend on the problem, the
// options and the events alone, and not on how the events were cut into calls, so that a
// crashed scheduler can be started again and told the same.

/** @type {import("tunehost").SchedulerPlugin} */
export const plugin = {
  name: "scaffold-name",
  version: "0.1.0",
  summary: "Stops trials that are worse than the median of the others.",
  // What users may write beside the name; tunehost checks it for you.
  options: {
    type: "object",
    additionalProperties: false,
    properties: {
      grace: { type: "integer", minimum: 1, default: 2, description: "iterations before which no trial is stopped" },
      others: {
        type: "integer", minimum: 1, default: 3,
        description: "results of other trials that a result is compared with, at the least",
      },
    },
  },

  // Called once, before anything else.
  open(_, { grace, others }) {
    const last = new Map(); // by trial, the last iteration that was judged
    const losses = new Map(); // by iteration

    // Why a trial is to stop, or nothing. Losses are smaller where better, and infinite if
    // there is none.
    function judge({ iteration, losses: [loss] }) {
      const known = losses.get(iteration) ?? [];
      losses.set(iteration, [...known, loss].sort((a, b) => a - b));
      if (iteration >= grace && known.length >= others && loss > known[known.length >> 1]) {
        return `worse than the median of ${known.length} trials at iteration ${iteration}`;
      }
      return "";
    }

    return {
      // Hears what happened, in order, and answers the results. A result without an answer
      // continues.
      decide(events) {
        const decisions = [];
        for (const event of events) {
          // A trial that continues from a checkpoint may repeat iterations.
          if (event.kind !== "result_reported" || event.iteration <= (last.get(event.trial) ?? 0)) {
            continue;
          }
          last.set(event.trial, event.iteration);
          const reason = judge(event);
          if (reason) {
            decisions.push({ event: event.number, verdict: "stop", reason });
          }
        }
        return decisions;
      },
    };
  },
};
