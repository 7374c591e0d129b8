// A scheduler that stops a trial at the first result that it reports once more.

import { Decision, Event, Info, Problem, scheduler, Scheduler, Values } from "../assembly";

export { tunehost_abi, tunehost_alloc, tunehost_invoke } from "../assembly";

class Again extends Scheduler {
  constructor() {
    super();
    this.traits.again = true;
  }

  decide(event: Event): Decision | null {
    return event.again ? Decision.stop("attempt " + event.attempt.toString()) : null;
  }
}

scheduler(
  new Info("again", "1.0.0", "Stops what is reported again.", '{"type": "object"}'),
  (problem: Problem, options: Values): Scheduler => new Again(),
);
