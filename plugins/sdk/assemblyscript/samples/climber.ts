// A searcher that begins with random points and then takes small steps from the best.

import { Drawer, Event, EventKind, Info, Kind, Problem, Random, Request, searcher, Searcher, Seen, Space, Suggestion, Values } from "../assembly";

export { tunehost_abi, tunehost_alloc, tunehost_invoke } from "../assembly";

/** How many steps from the best are tried before random points again. */
const STEPS: i32 = 50;

class Climber extends Searcher implements Drawer {
  private space: Space;
  private start: u32;
  private step: f64;
  private seen: Seen;
  private points: Map<u32, f64[]> = new Map<u32, f64[]>();
  private best: f64[] | null = null;
  private least: f64 = Infinity;
  private first: bool = true;

  constructor(problem: Problem, options: Values) {
    super();
    this.space = problem.space;
    this.start = options.integer("start", 10);
    this.step = options.number("step", 0.1);
    this.seen = new Seen(problem.space);
    if (this.start < 1) options.refuse('option "start" must be at least 1');
    if (!(this.step > 0 && this.step <= 1)) options.refuse('option "step" must be above 0 and at most 1');
    if (this.seen.empty) options.refuse("no point of the space satisfies the constraints: loosen them");
  }

  observe(event: Event): void {
    if (event.kind == EventKind.TrialAdded) {
      this.points.set(event.trial, event.point);
      this.seen.add(event.point);
    } else if (event.losses.length > 0 && event.losses[0] < this.least && this.points.has(event.trial)) {
      this.best = this.points.get(event.trial);
      this.least = event.losses[0];
    }
  }

  suggest(request: Request): Suggestion {
    this.first = request.trial < this.start;
    return this.seen.pick(request.given, request.random, this);
  }

  draw(attempt: i32, random: Random): f64[] {
    const best = this.best;
    if (!best || this.first || attempt >= STEPS) return this.space.draw(random);
    return this.near(best, random);
  }

  private near(from: f64[], random: Random): f64[] {
    const p = new Array<f64>(from.length);
    for (let i = 0; i < p.length; i++) {
      const param = this.space.params[i];
      const anywhere = random.float64();
      const move = random.normal() * this.step;
      const jumps = param.kind == Kind.Choice ? Math.abs(move) > anywhere : isNaN(from[i]);
      p[i] = param.fromUnit(jumps ? random.float64() : param.toUnit(from[i]) + move);
    }
    return p;
  }
}

searcher(
  new Info("climber", "1.0.0", "Random points first, then small random steps from the best one.", `{
    "type": "object",
    "additionalProperties": false,
    "properties": {
      "start": {"type": "integer", "minimum": 1, "default": 10, "description": "how many random points come first"},
      "step": {"type": "number", "exclusiveMinimum": 0, "maximum": 1, "default": 0.1, "description": "size of a step; 1 is the whole range of a parameter"}
    }
  }`),
  (problem: Problem, options: Values): Searcher => new Climber(problem, options),
);
