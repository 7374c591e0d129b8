// A scheduler that ends trials which are worse than half of the others, once.

import { Decision, Event, Info, Problem, scheduler, Scheduler, Values } from "../assembly";

export { tunehost_abi, tunehost_alloc, tunehost_invoke } from "../assembly";

/** How many other trials a trial is compared with at least. */
const OTHERS: i32 = 3;

class Halfway extends Scheduler {
  private at: u64;
  private losses: Map<u32, f64> = new Map<u32, f64>();

  constructor(options: Values) {
    super();
    this.at = options.integer("at", 5);
    if (<i64>this.at < 1) options.refuse('option "at" must be at least 1');
  }

  decide(event: Event): Decision | null {
    if (event.iteration < this.at) return Decision.continueUntil(this.at);
    if (event.iteration == this.at) {
      const loss = event.losses[0];
      this.losses.delete(event.trial); // it may have been here before, in another attempt
      const others = this.losses.values();
      this.losses.set(event.trial, loss);
      if (others.length >= OTHERS) {
        const bar = median(others);
        if (loss > bar) {
          return Decision.stop("loss " + loss.toString() + " at iteration " + this.at.toString() + " is above the median "
            + bar.toString() + " of " + others.length.toString() + " others");
        }
      }
    }
    return Decision.continueUntil(<u64>1 << 53);
  }
}

function median(values: f64[]): f64 {
  values.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const half = values.length >> 1;
  return values.length % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

scheduler(
  new Info("halfway", "1.0.0", "Stops a trial whose loss at one iteration is above the others' median.", `{
    "type": "object",
    "additionalProperties": false,
    "properties": {
      "at": {"type": "integer", "minimum": 1, "default": 5, "description": "the iteration at which trials are compared"}
    }
  }`),
  (problem: Problem, options: Values): Scheduler => new Halfway(options),
);
