import { Expr } from "./expr";
import { Kind, Lattice, Param } from "./param";
import { Reader } from "./proto";
import { Random } from "./random";

/** How many draws are tested against the constraints. */
export const MAX_TRIES: i32 = 10000;
/** How many draws look for a new point before all remaining ones are listed. */
const SEEN_TRIES: i32 = 100;

/**
 * The parameters, parents before children, and the constraints. A point is one number
 * for each parameter: reals and integers stand for themselves, choices are the index of the
 * chosen value, and NaN means that the parameter does not exist in this point.
 */
export class Space {
  params: Param[] = [];
  constraints: Expr[] = [];
  /** There are conditions or constraints that only the host can check. */
  opaque: bool = false;

  static read(r: Reader): Space {
    const s = new Space();
    while (r.next()) {
      if (r.field == 1) s.params.push(Param.read(r.message()));
      else if (r.field == 2) s.constraints.push(Expr.read(r.message()));
      else if (r.field == 3) s.opaque = r.bool();
      else r.skip();
    }
    return s;
  }

  /** What this SDK does not know of it; "" if it knows everything. */
  unknown(): string {
    for (let i = 0; i < this.params.length; i++) {
      const p = this.params[i];
      if (p.kind < 1 || p.kind > 5) return 'parameter "' + p.name + '" has the unknown kind ' + (<i32>p.kind).toString();
      const when = p.when;
      const why = when ? when.check(this.params.length) : "";
      if (why.length > 0) return 'condition of parameter "' + p.name + '": ' + why;
    }
    for (let i = 0; i < this.constraints.length; i++) {
      const why = this.constraints[i].check(this.params.length);
      if (why.length > 0) return "constraint: " + why;
    }
    return "";
  }

  /** Whether parameter i exists, given the values before it. */
  active(p: f64[], i: i32): bool {
    const when = this.params[i].when;
    return when == null || when.evaluate(this.params, p) == 1;
  }

  /** Sets the parameters that do not exist to NaN, parents first. */
  prune(p: f64[]): void {
    for (let i = 0; i < p.length; i++) {
      if (!this.active(p, i)) p[i] = NaN;
    }
  }

  /** Whether all constraints hold. One on parameters that do not exist holds. */
  holds(p: f64[]): bool {
    for (let i = 0; i < this.constraints.length; i++) {
      if (this.constraints[i].evaluate(this.params, p) == 0) return false;
    }
    return true;
  }

  /** Whether p is a point of the space, apart from constraints. */
  check(p: f64[]): bool {
    if (p.length != this.params.length) return false;
    for (let i = 0; i < p.length; i++) {
      if (this.active(p, i) ? !this.params[i].contains(p[i]) : !isNaN(p[i])) return false;
    }
    return true;
  }

  /** A value for every parameter, whether it exists or not. */
  draw(random: Random): f64[] {
    const p = new Array<f64>(this.params.length);
    for (let i = 0; i < p.length; i++) p[i] = this.params[i].fromUnit(random.float64());
    return p;
  }

  /**
   * A random point around the coordinates that are given (not NaN); null when none was
   * found that satisfies the constraints.
   */
  sample(random: Random, given: f64[] | null = null): f64[] | null {
    for (let i = 0; i < MAX_TRIES; i++) {
      const p = this.complete(given, this.draw(random));
      if (this.holds(p)) return p;
    }
    return null;
  }

  /** The coordinates of below, replaced by those that are given, pruned. */
  complete(given: f64[] | null, below: f64[]): f64[] {
    const p = below.slice();
    if (given) {
      for (let i = 0; i < min(given.length, p.length); i++) {
        if (!isNaN(given[i])) p[i] = given[i];
      }
    }
    this.prune(p);
    return p;
  }

  /** A string that is equal for two points if and only if they are equal. */
  key(p: f64[]): string {
    let key = "";
    for (let i = 0; i < p.length; i++) key += reinterpret<u64>(this.params[i].quantise(p[i]) + 0).toString(36) + ",";
    return key;
  }
}

/**
 * Goes through the points whose parameters have values of the axes, the last parameter
 * fastest, one parameter a step. No point occurs twice; branches that violate a constraint
 * in any case are skipped.
 */
export class Walk {
  private point: f64[];
  private at: f64[];
  private depth: i32 = 0;
  private started: bool = false;
  private holds: bool = true;

  constructor(private space: Space, private axes: Lattice[]) {
    this.point = new Array<f64>(axes.length).fill(NaN);
    this.at = new Array<f64>(axes.length).fill(0);
  }

  /** Every parameter's values; null if one has infinitely many. */
  static axes(space: Space, given: f64[] | null): Lattice[] | null {
    const axes: Lattice[] = [];
    for (let i = 0; i < space.params.length; i++) {
      const p = space.params[i];
      const l = p.lattice;
      if (given && !isNaN(given[i])) axes.push(new Lattice(given[i], given[i], 1));
      else if (l) axes.push(l);
      else if (p.kind == Kind.Real && p.low == p.high) axes.push(new Lattice(p.low, p.low, 1));
      else return null;
    }
    return axes;
  }

  /** Takes a step; false at the end. */
  advance(): bool {
    if (!this.started) this.started = true;
    else if (this.holds && this.depth < this.axes.length) this.set(this.axes[this.depth].first);
    else if (!this.next()) return false;
    this.holds = this.space.holds(this.point);
    return true;
  }

  /** Whether the last step has completed a point. */
  get complete(): bool {
    return this.holds && this.depth == this.axes.length;
  }

  /** A copy of that point. */
  copy(): f64[] {
    return this.point.slice();
  }

  private next(): bool {
    while (this.depth > 0) {
      const i = --this.depth;
      const exists = !isNaN(this.point[i]);
      this.point[i] = NaN;
      if (exists && this.at[i] < this.axes[i].last) {
        this.set(this.at[i] + 1);
        return true;
      }
    }
    return false;
  }

  private set(k: f64): void {
    const i = this.depth++;
    this.at[i] = k;
    if (this.space.active(this.point, i)) {
      this.point[i] = this.axes[i].value(k);
    }
  }
}

/**
 * Helps searchers to suggest no point of a finite space twice. In spaces that are
 * large, infinite or opaque it remembers none, and every point is new.
 */
export class Seen {
  private keys: Set<string> | null = null;
  private size: i32 = 0;

  /** Remembers the points of a space that has at most limit of them. */
  constructor(private space: Space, limit: i32 = 10000) {
    const size = sizeOf(space, limit);
    if (size < 0) return this;
    this.size = size;
    this.keys = new Set<string>();
  }

  /** Whether the space has no points at all, so that a searcher must refuse it. */
  get empty(): bool {
    return this.keys != null && this.size == 0;
  }

  /** Remembers p, unless it is not a point of the space. */
  add(p: f64[]): void {
    const keys = this.keys;
    if (keys && this.space.check(p) && this.space.holds(p)) keys.add(this.space.key(p));
  }

  /** Whether p is remembered. */
  has(p: f64[]): bool {
    const keys = this.keys;
    return keys != null && keys.has(this.space.key(p));
  }

  /** Whether every point of the space is remembered. */
  get full(): bool {
    const keys = this.keys;
    return keys != null && keys.size >= this.size;
  }

  /**
   * Returns a new point, and remembers it: given, completed by the first of the draws that
   * makes it new and satisfies the constraints. When draws find none, random picks one of
   * the remaining points. When none remains, the searcher is exhausted; but if coordinates
   * were given, a point with them is repeated, because the request needs an answer.
   */
  pick(given: f64[] | null, random: Random, drawer: Drawer): Suggestion {
    if (this.full) return this.again(given, random);
    const tries = this.keys ? SEEN_TRIES : MAX_TRIES;
    for (let attempt = 0; attempt < tries; attempt++) {
      const p = this.space.complete(given, drawer.draw(attempt, random));
      if (this.space.holds(p) && !this.has(p)) return this.chosen(p);
    }
    if (!this.keys) return Suggestion.failed(TIGHT);
    const left = this.left(given);
    return left.length > 0 ? this.chosen(left[random.below(left.length)]) : this.again(given, random);
  }

  /** The points around given that are not remembered; none if nothing is remembered. */
  left(given: f64[] | null): f64[][] {
    const points: f64[][] = [];
    const axes = Walk.axes(this.space, given);
    if (!this.keys || !axes) return points;
    const walk = new Walk(this.space, axes);
    while (walk.advance()) {
      const p = walk.copy();
      if (walk.complete && !this.has(p)) points.push(p);
    }
    return points;
  }

  private chosen(p: f64[]): Suggestion {
    this.add(p);
    return Suggestion.of(p);
  }

  private again(given: f64[] | null, random: Random): Suggestion {
    if (!given || !anyGiven(given)) return Suggestion.exhausted();
    const p = this.space.sample(random, given);
    return p ? Suggestion.of(p) : Suggestion.failed(TIGHT);
  }
}

/** How many points a space has; -1 if they are too many or cannot be counted. */
function sizeOf(space: Space, limit: i32): i32 {
  const axes = Walk.axes(space, null);
  if (space.opaque || space.params.length == 0 || !axes) return -1;
  const walk = new Walk(space, axes);
  let size = 0;
  for (let budget = 64 * (limit + axes.length); walk.advance(); budget--) {
    if (walk.complete) size++;
    if (size > limit || budget == 0) return -1;
  }
  return size;
}

/** Draws the points that Seen chooses from. */
export interface Drawer {
  draw(attempt: i32, random: Random): f64[];
}

/** A searcher's answer. */
export class Suggestion {
  private constructor(
    public readonly point: f64[],
    /** By its number in the protocol: 0 a point, 1 wait, 2 exhausted. */
    public readonly status: i32,
    /** Why the call fails. */
    public readonly error: string,
  ) {}

  static of(point: f64[]): Suggestion {
    return new Suggestion(point, 0, "");
  }

  /** No suggestion now: the host asks again after the next events. */
  static wait(): Suggestion {
    return new Suggestion([], 1, "");
  }

  /** There will be no further suggestions. */
  static exhausted(): Suggestion {
    return new Suggestion([], 2, "");
  }

  static failed(why: string): Suggestion {
    return new Suggestion([], 0, why);
  }
}

/** The message when sampling fails. */
export const TIGHT: string = "no point satisfies the constraints in 10000 draws: they are too tight for sampling; "
  + "narrow the parameters' bounds instead, or loosen the constraints";

function anyGiven(p: f64[]): bool {
  for (let i = 0; i < p.length; i++) {
    if (!isNaN(p[i])) return true;
  }
  return false;
}
