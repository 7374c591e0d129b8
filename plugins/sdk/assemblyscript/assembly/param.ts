import { Expr } from "./expr";
import { EDGE, exp, ln, normalBelow, quantile, round } from "./portable";
import { Reader } from "./proto";

/** The forms of parameters, by their number in the protocol. */
export enum Kind {
  Real = 1,
  Int = 2,
  Normal = 3,
  Choice = 4,
  Ordinal = 5,
}

/** The largest integer up to which a double can represent every integer: 2^53. */
const MAX_EXACT: f64 = 9007199254740992;

/** The values k·step for integers k from first to last. */
export class Lattice {
  constructor(public first: f64, public last: f64, public step: f64) {}

  get count(): f64 {
    return this.last - this.first + 1;
  }

  value(k: f64): f64 {
    return multiple(k, this.step);
  }

  /** The k whose value is nearest to x. */
  nearest(x: f64): f64 {
    return clamp(nearest(x / this.step), this.first, this.last) + 0;
  }
}

/** One dimension of a space. */
export class Param {
  name: string = "";
  kind: Kind = Kind.Real;
  low: f64 = 0;
  high: f64 = 0;
  log: bool = false;
  step: f64 = 0;
  mean: f64 = 0;
  sd: f64 = 0;
  /** The values of choices, as JSON. */
  choices: string[] = [];
  grid: bool = false;
  when: Expr | null = null;
  /** The allowed values; null if they are continuous or unbounded. */
  lattice: Lattice | null = null;

  static read(r: Reader): Param {
    const p = new Param();
    while (r.next()) {
      switch (r.field) {
        case 1: p.name = r.string(); break;
        case 2: p.kind = <Kind>r.uint(); break;
        case 3: p.low = r.double(); break;
        case 4: p.high = r.double(); break;
        case 5: p.log = r.bool(); break;
        case 6: p.step = r.double(); break;
        case 7: p.mean = r.double(); break;
        case 8: p.sd = r.double(); break;
        case 9: p.choices.push(r.string()); break;
        case 10: p.grid = r.bool(); break;
        case 11: p.when = Expr.read(r.message()); break;
        default: r.skip();
      }
    }
    p.lattice = p.makeLattice();
    return p;
  }

  get isChoice(): bool {
    return this.kind == Kind.Choice || this.kind == Kind.Ordinal;
  }

  private makeLattice(): Lattice | null {
    if (this.isChoice) return new Lattice(0, <f64>(this.choices.length - 1), 1);
    if (this.kind == Kind.Int && this.step == 0) return new Lattice(this.low, this.high, 1);
    if (this.kind == Kind.Int || (this.kind == Kind.Real && this.step > 0)) {
      return new Lattice(-nearFloor(-this.low / this.step), nearFloor(this.high / this.step), this.step);
    }
    return null;
  }

  /** The numeric value of x in expressions; NaN for a choice that is not a number. */
  number(x: f64): f64 {
    if (!this.isChoice) return x;
    if (!(x >= 0 && x < <f64>this.choices.length)) return NaN;
    const text = this.choices[<i32>x];
    const first = text.length > 0 ? text.charCodeAt(0) : 0;
    return first == 0x2d || (first >= 0x30 && first <= 0x39) ? parseFloat(text) : NaN;
  }

  /** The value at u in [0, 1] under its own distribution. */
  fromUnit(u: f64): f64 {
    if (isNaN(u)) return u;
    u = clamp(u, 0, 1);
    if (this.kind == Kind.Normal) {
      const x = this.mean + this.sd * quantile(clamp(u, EDGE / 2, 1 - EDGE));
      return this.step > 0 ? multiple(nearest(x / this.step), this.step) : x;
    }
    const l = this.lattice;
    return l ? latticeFromUnit(l, u, this.log) : this.realFromUnit(u);
  }

  private realFromUnit(u: f64): f64 {
    if (u == 0 || this.low == this.high) return this.low;
    if (u == 1) return this.high;
    if (!this.log) return clamp(this.low + u * (this.high - this.low), this.low, this.high);
    const low = ln(this.low);
    return clamp(exp(low + u * (ln(this.high) - low)), this.low, this.high);
  }

  /** The position of x in [0, 1]. */
  toUnit(x: f64): f64 {
    if (this.kind == Kind.Normal) return isNaN(x) ? x : normalBelow((x - this.mean) / this.sd);
    const l = this.lattice;
    let u: f64 = 0.5;
    if (l) u = latticeToUnit(l, x, this.log);
    else if (this.low < this.high && this.log) u = (ln(Math.max(x, this.low)) - ln(this.low)) / (ln(this.high) - ln(this.low));
    else if (this.low < this.high) u = (x - this.low) / (this.high - this.low);
    return clamp(u, 0, 1);
  }

  /** The allowed value nearest to x. NaN stays. */
  quantise(x: f64): f64 {
    if (isNaN(x)) return x;
    const l = this.lattice;
    if (l) return l.value(l.nearest(x));
    if (this.kind != Kind.Normal) return clamp(x, this.low, this.high);
    return this.step > 0 ? multiple(nearest(x / this.step), this.step) : x;
  }

  /** Whether x is allowed; for steps of reals, up to rounding. */
  contains(x: f64): bool {
    if (!isFinite(x)) return false;
    const l = this.lattice;
    if (l) return this.kind == Kind.Real ? isMultiple(x, l.step, l.nearest(x)) : x == l.value(l.nearest(x));
    if (this.kind == Kind.Real) return this.low <= x && x <= this.high;
    return this.step == 0 || isMultiple(x, this.step, nearest(x / this.step));
  }
}

function latticeFromUnit(l: Lattice, u: f64, log: bool): f64 {
  let k = l.first + Math.floor(u * l.count);
  if (log) {
    const low = ln(l.first - 0.5);
    k = round(exp(low + u * (ln(l.last + 0.5) - low)));
  }
  return l.value(clamp(k, l.first, l.last));
}

function latticeToUnit(l: Lattice, x: f64, log: bool): f64 {
  if (l.first == l.last) return 0.5;
  if (log) {
    const low = ln(l.first - 0.5);
    return (ln(Math.max(x / l.step, l.first - 0.5)) - low) / (ln(l.last + 0.5) - low);
  }
  return (x / l.step - l.first + 0.5) / l.count;
}

function clamp(x: f64, low: f64, high: f64): f64 {
  return Math.max(low, Math.min(high, x));
}

/** The floor of x, or the integer above when x misses it by no more than rounding. */
function nearFloor(x: f64): f64 {
  const near = round(x);
  return Math.abs(x - near) <= 1e-9 + 1e-15 * Math.abs(x) ? near : Math.floor(x);
}

/** k·step as it is usually written: three steps of 0.1 are 0.3. */
function multiple(k: f64, step: f64): f64 {
  let power: f64 = 1;
  for (let i = 0; i < 15; i++) {
    const m = nearest(step * power);
    if (m / power == step && Math.abs(k * m) <= MAX_EXACT) return (k * m) / power + 0;
    power *= 10;
  }
  return k * step + 0;
}

/** Within a billionth of a step or 1e-15 of x. */
function isMultiple(x: f64, step: f64, k: f64): bool {
  return Math.abs(x - multiple(k, step)) <= 1e-9 * step + 1e-15 * Math.abs(x);
}
