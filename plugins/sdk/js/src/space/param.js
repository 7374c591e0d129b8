// The values that one parameter can have, and their place in [0, 1].

import { edge, exp, ln, normalBelow, quantile, round, roundToEven } from "./portable.js";

/** @typedef {import("./space.js").Param} Param */

/**
 * The values k·step for integers k in [first, last]: integers, stepped reals and
 * the indices of choices.
 * @typedef {{first: number, last: number, step: number}} Lattice
 */

/** The largest integer up to which every integer is a number. */
const maxExact = 2 ** 53;

/**
 * The values of p, or null where they are a continuum or without end.
 * @param {Param} p
 * @returns {Lattice | null}
 */
export function lattice(p) {
  switch (p.kind) {
    case "choice":
    case "ordinal":
      return { first: 0, last: (p.choices ?? []).length - 1, step: 1 };
    case "int":
      return p.step === 0 ? { first: p.low, last: p.high, step: 1 } : stepped(p);
    case "real":
      return p.step > 0 ? stepped(p) : null;
  }
  return null;
}

/** @param {Param} p */
function stepped(p) {
  return { first: -nearFloor(-p.low / p.step), last: nearFloor(p.high / p.step), step: p.step };
}

/**
 * The floor of x, or the integer above when x misses it by no more than rounding.
 * @param {number} x
 */
function nearFloor(x) {
  const near = round(x);
  return Math.abs(x - near) <= 1e-9 + 1e-15 * Math.abs(x) ? near : Math.floor(x);
}

/** @param {Lattice} l */
export function count(l) {
  return l.last - l.first + 1;
}

/**
 * k·step as people write it: three steps of 0.1 are 0.3, which the product in
 * binary is not. Where step is a short decimal m/10^d, k·m/10^d has one rounding.
 * @param {number} k
 * @param {number} step
 */
export function multiple(k, step) {
  let power = 1;
  for (let i = 0; i < 15; i++) {
    const m = roundToEven(step * power);
    if (m / power === step && Math.abs(k * m) <= maxExact) {
      return (k * m) / power + 0;
    }
    power *= 10;
  }
  return k * step + 0;
}

/**
 * The k whose value is nearest to x.
 * @param {Lattice} l
 * @param {number} x
 */
function nearest(l, x) {
  return clamp(roundToEven(x / l.step), l.first, l.last) + 0;
}

/**
 * @param {number} x
 * @param {number} low
 * @param {number} high
 */
function clamp(x, low, high) {
  return Math.max(low, Math.min(high, x));
}

/**
 * The value of p at u in [0, 1] under its own distribution.
 * @param {Param} p
 * @param {number} u
 */
export function fromUnit(p, u) {
  if (Number.isNaN(u)) {
    return u;
  }
  u = clamp(u, 0, 1);
  if (p.kind === "normal") {
    const x = p.mean + p.sd * quantile(clamp(u, edge / 2, 1 - edge));
    return p.step > 0 ? multiple(roundToEven(x / p.step), p.step) : x;
  }
  const l = lattice(p);
  return l ? latticeFromUnit(l, u, p.log) : realFromUnit(p, u);
}

/**
 * @param {Param} p
 * @param {number} u
 */
function realFromUnit(p, u) {
  if (u === 0 || p.low === p.high) {
    return p.low;
  }
  if (u === 1) {
    return p.high;
  }
  if (!p.log) {
    return clamp(p.low + u * (p.high - p.low), p.low, p.high);
  }
  const low = ln(p.low);
  return clamp(exp(low + u * (ln(p.high) - low)), p.low, p.high);
}

/**
 * @param {Lattice} l
 * @param {number} u
 * @param {boolean} log
 */
function latticeFromUnit(l, u, log) {
  let k = l.first + Math.floor(u * count(l));
  if (log) {
    const low = ln(l.first - 0.5);
    k = round(exp(low + u * (ln(l.last + 0.5) - low)));
  }
  return multiple(clamp(k, l.first, l.last), l.step);
}

/**
 * The place of x in [0, 1]; inside its cell for values with a mass.
 * @param {Param} p
 * @param {number} x
 */
export function toUnit(p, x) {
  if (p.kind === "normal") {
    return Number.isNaN(x) ? x : normalBelow((x - p.mean) / p.sd);
  }
  const l = lattice(p);
  let u = 0.5;
  if (l) {
    u = latticeToUnit(l, x, p.log);
  } else if (p.low < p.high && p.log) {
    u = (ln(Math.max(x, p.low)) - ln(p.low)) / (ln(p.high) - ln(p.low));
  } else if (p.low < p.high) {
    u = (x - p.low) / (p.high - p.low);
  }
  return clamp(u, 0, 1);
}

/**
 * @param {Lattice} l
 * @param {number} x
 * @param {boolean} log
 */
function latticeToUnit(l, x, log) {
  if (l.first === l.last) {
    return 0.5;
  }
  if (log) {
    const low = ln(l.first - 0.5);
    return (ln(Math.max(x / l.step, l.first - 0.5)) - low) / (ln(l.last + 0.5) - low);
  }
  return (x / l.step - l.first + 0.5) / count(l);
}

/**
 * The value that p can have nearest to x. NaN stays.
 * @param {Param} p
 * @param {number} x
 */
export function quantise(p, x) {
  if (Number.isNaN(x)) {
    return x;
  }
  const l = lattice(p);
  if (l) {
    return multiple(nearest(l, x), l.step);
  }
  if (p.kind !== "normal") {
    return clamp(x, p.low, p.high);
  }
  return p.step > 0 ? multiple(roundToEven(x / p.step), p.step) : x;
}

/**
 * Whether p can be x. Steps of reals may be missed by rounding.
 * @param {Param} p
 * @param {number} x
 */
export function contains(p, x) {
  if (!Number.isFinite(x)) {
    return false;
  }
  const l = lattice(p);
  if (l) {
    const k = nearest(l, x);
    return p.kind === "real" ? isMultiple(x, l.step, k) : x === multiple(k, l.step);
  }
  if (p.kind === "real") {
    return p.low <= x && x <= p.high;
  }
  return p.step === 0 || isMultiple(x, p.step, roundToEven(x / p.step));
}

/**
 * Within a billionth of a step or 1e-15 of x.
 * @param {number} x
 * @param {number} step
 * @param {number} k
 */
function isMultiple(x, step, k) {
  return Math.abs(x - multiple(k, step)) <= 1e-9 * step + 1e-15 * Math.abs(x);
}

/**
 * Describes the values of p.
 * @param {Param} p
 */
export function allowed(p) {
  const steps = p.step === 0 ? "" : `, multiples of ${p.step}`;
  switch (p.kind) {
    case "choice":
    case "ordinal":
      return `an index from 0 to ${(p.choices ?? []).length - 1}`;
    case "normal":
      return `any finite number${steps}`;
    case "int":
      return `integers from ${p.low} to ${p.high}${steps}`;
  }
  return `numbers from ${p.low} to ${p.high}${steps}`;
}
