// Search spaces: their parameters, the conditions under which a parameter exists,
// and the points in them.

import { evaluate } from "./expr.js";
import * as values from "./param.js";
import { maxTries, TightError } from "./seen.js";
import { axes, walk } from "./walk.js";

/** @typedef {import("./expr.js").Expr} Expr */
/** @typedef {import("./random.js").Random} Random */

/**
 * One dimension of a space.
 * @typedef {object} Param
 * @property {string} name parts of nested names are joined with "/"
 * @property {"real" | "int" | "normal" | "choice" | "ordinal"} kind
 * @property {number} low the bounds of reals and integers, both included
 * @property {number} high
 * @property {boolean} log differences matter on a logarithmic scale
 * @property {number} step values are multiples of it; 0: any
 * @property {number} mean of a normal distribution
 * @property {number} sd its standard deviation
 * @property {any[] | null} choices the values of a choice or ordinal
 * @property {boolean} grid the host gives the value in each request
 * @property {Expr | null} when the condition under which the parameter exists
 */

/**
 * A point as people write it: the names of the parameters that exist, and their
 * values.
 * @typedef {Record<string, any>} Params
 */

const paramDefaults = {
  low: 0, high: 0, log: false, step: 0, mean: 0, sd: 0, choices: null, grid: false, when: null,
};

/**
 * An ordered list of parameters, parents before children, and what must hold.
 *
 * A point is a Float64Array with one number for each parameter: reals and integers
 * are themselves, choices are the index of the chosen value, and NaN says that the
 * parameter does not exist in this point. {@link Space.object} and
 * {@link Space.point} translate to names and values.
 */
export class Space {
  /** @param {{params: (Partial<Param> & {name: string, kind: Param["kind"]})[], constraints?: Expr[], opaque?: boolean}} description */
  constructor({ params, constraints = [], opaque = false }) {
    /** @type {readonly Param[]} */
    this.params = params.map((p) => ({ ...paramDefaults, ...p }));
    /** @type {readonly Expr[]} */
    this.constraints = constraints;
    /** Whether there are conditions or constraints that only the host can check. */
    this.opaque = opaque;
  }

  /**
   * The value of an expression at p; truth is 1 and 0, not known is NaN.
   * @param {Expr} e
   * @param {ArrayLike<number>} p
   */
  evaluate(e, p) {
    return evaluate(e, /** @type {Param[]} */ (this.params), p);
  }

  /**
   * Whether parameter i exists, given the values before it.
   * @param {ArrayLike<number>} p
   * @param {number} i
   */
  active(p, i) {
    const { when } = this.params[i];
    return when === null || this.evaluate(when, p) === 1;
  }

  /**
   * Sets the parameters that do not exist to NaN, parents first.
   * @param {Float64Array} p
   */
  prune(p) {
    for (let i = 0; i < p.length; i++) {
      if (!this.active(p, i)) {
        p[i] = NaN;
      }
    }
  }

  /**
   * Whether no constraint is broken at p. A constraint on parameters that do not
   * exist holds.
   * @param {ArrayLike<number>} p
   */
  holds(p) {
    return this.constraints.every((e) => this.evaluate(e, p) !== 0);
  }

  /**
   * The value of parameter i at u, its place in [0, 1] under the parameter's own
   * distribution, so that a uniform u gives a sample. NaN stays.
   * @param {number} i
   * @param {number} u
   */
  fromUnit(i, u) {
    return values.fromUnit(this.params[i], u);
  }

  /**
   * The place of value x of parameter i in [0, 1].
   * @param {number} i
   * @param {number} x
   */
  toUnit(i, x) {
    return values.toUnit(this.params[i], x);
  }

  /**
   * The value that parameter i can have nearest to x. NaN stays.
   * @param {number} i
   * @param {number} x
   */
  quantise(i, x) {
    return values.quantise(this.params[i], x);
  }

  /**
   * Draws a value for every parameter, whether it exists or not, with one number of
   * random for each.
   * @param {Random} random
   */
  draw(random) {
    return Float64Array.from(this.params, (_, i) => this.fromUnit(i, random.float64()));
  }

  /**
   * Draws a point, again where constraints do not hold; throws a
   * {@link TightError}. Coordinates that are given stay as they are.
   * @param {Random} random
   * @param {ArrayLike<number> | null} [given]
   */
  sample(random, given = null) {
    for (let attempt = 0; attempt < maxTries; attempt++) {
      const p = this.complete(given, this.draw(random));
      if (this.holds(p)) {
        return p;
      }
    }
    throw new TightError();
  }

  /**
   * Lays points over each other: a parameter's value is the first that is not NaN.
   * Parameters that then do not exist are dropped. Layers may be null.
   * @param {...(ArrayLike<number> | null | undefined)} layers
   */
  complete(...layers) {
    const p = Float64Array.from(this.params, (_, i) => {
      const layer = layers.find((l) => l && i < l.length && !Number.isNaN(l[i]));
      return layer ? layer[i] : NaN;
    });
    this.prune(p);
    return p;
  }

  /**
   * What is wrong with p as a point of the space, in one line; null if nothing is.
   * Constraints are {@link Space.holds}'s matter.
   * @param {ArrayLike<number>} p
   * @returns {string | null}
   */
  check(p) {
    if (p.length !== this.params.length) {
      return `the point has length ${p.length}; allowed: ${this.params.length}, one for each parameter of the space`;
    }
    for (const [i, param] of this.params.entries()) {
      const problem = this.#checkAt(param, this.active(p, i), p[i]);
      if (problem) {
        return `parameter ${JSON.stringify(param.name)} ${problem}`;
      }
    }
    return null;
  }

  /**
   * @param {Param} param
   * @param {boolean} active
   * @param {number} x
   */
  #checkAt(param, active, x) {
    if (!active) {
      return Number.isNaN(x) ? null : `is ${x}; allowed: no value, because its condition does not hold`;
    }
    if (Number.isNaN(x)) {
      return `has no value; allowed: ${values.allowed(param)}`;
    }
    return values.contains(param, x) ? null : `is ${x}; allowed: ${values.allowed(param)}`;
  }

  /**
   * Throws an error if p is not a valid partial point.
   * @param {ArrayLike<number> | null} p
   */
  checkGiven(p) {
    if (!p) {
      return;
    }
    if (p.length !== this.params.length) {
      throw new RangeError(`the given point has length ${p.length}; allowed: ${this.params.length}, one for each parameter of the space`);
    }
    for (const [i, param] of this.params.entries()) {
      if (!Number.isNaN(p[i]) && !values.contains(param, p[i])) {
        throw new RangeError(`parameter ${JSON.stringify(param.name)} is ${p[i]}; allowed: ${values.allowed(param)}`);
      }
    }
  }

  /**
   * The parameters that p has, by name.
   * @param {ArrayLike<number>} p
   * @returns {Params}
   */
  object(p) {
    /** @type {Params} */
    const out = {};
    for (const [i, param] of this.params.entries()) {
      if (!Number.isNaN(p[i])) {
        out[param.name] = param.choices ? param.choices[p[i]] : p[i];
      }
    }
    return out;
  }

  /**
   * The point with these values, pruned; parameters that are not there are NaN.
   * Throws when a name or a choice is unknown.
   * @param {Params} object
   */
  point(object) {
    const p = new Float64Array(this.params.length).fill(NaN);
    for (const [name, value] of Object.entries(object)) {
      const i = this.params.findIndex((q) => q.name === name);
      if (i < 0) {
        throw new RangeError(`parameter ${JSON.stringify(name)} is unknown; known: ${this.params.map((q) => q.name).join(", ")}`);
      }
      p[i] = number(this.params[i], value);
    }
    this.prune(p);
    return p;
  }

  /**
   * How many points the space has, constraints respected; null where they are
   * infinitely many, more than limit, or too long to count.
   * @param {number} limit
   * @returns {number | null}
   */
  size(limit) {
    const list = axes(this);
    let size = 0;
    let budget = 64 * (limit + this.params.length);
    for (const p of list ? walk(this, list) : []) {
      size += p ? 1 : 0;
      if (size > limit || budget-- === 0) {
        return null;
      }
    }
    return list ? size : null;
  }

  /** Every point of a finite space; none for other spaces. */
  *all() {
    const list = axes(this);
    for (const p of list ? walk(this, list) : []) {
      if (p) {
        yield p;
      }
    }
  }

  /**
   * A string that two points share if and only if they are the same, where values
   * that differ by the rounding of a step are the same. It is not for people.
   * @param {ArrayLike<number>} p
   */
  key(p) {
    return this.params.map((_, i) => String(this.quantise(i, p[i]) + 0)).join();
  }
}

/**
 * A value of p as a number.
 * @param {Param} p
 * @param {any} value
 */
function number(p, value) {
  if (!p.choices) {
    if (typeof value !== "number") {
      throw new RangeError(`parameter ${JSON.stringify(p.name)} is ${JSON.stringify(value)}; allowed: ${values.allowed(p)}`);
    }
    return value;
  }
  const text = meaning(value);
  const k = p.choices.findIndex((choice) => meaning(choice) === text);
  if (k < 0) {
    throw new RangeError(`parameter ${JSON.stringify(p.name)} is ${JSON.stringify(value)}; allowed: ${p.choices.map((c) => JSON.stringify(c)).join(", ")}`);
  }
  return k;
}

/**
 * JSON in which equal values are equal texts.
 * @param {any} value
 * @returns {string}
 */
function meaning(value) {
  return JSON.stringify(value, (_, v) => (v && typeof v === "object" && !Array.isArray(v)
    ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1))) : v));
}
