// Finite spaces, point by point.

import { count, lattice, multiple } from "./param.js";

/** @typedef {import("./space.js").Space} Space */

/**
 * The values that a walk gives to one parameter.
 * @typedef {{count: number, value: (k: number) => number}} Axis
 */

/**
 * Every parameter's values in ascending order; null where one has no end of them.
 * @param {Space} space
 * @returns {Axis[] | null}
 */
export function axes(space) {
  /** @type {Axis[]} */
  const list = [];
  for (const p of space.params) {
    const l = lattice(p);
    if (l) {
      list.push({ count: count(l), value: (k) => multiple(l.first + k, l.step) });
    } else if (p.kind === "real" && p.low === p.high) {
      list.push(fixed(p.low));
    } else {
      return null;
    }
  }
  return list;
}

/**
 * @param {number} x
 * @returns {Axis}
 */
function fixed(x) {
  return { count: 1, value: () => x };
}

/**
 * The axes with those of given coordinates fixed to them.
 * @param {Axis[]} list
 * @param {ArrayLike<number> | null | undefined} given
 */
export function givenAxes(list, given) {
  return list.map((axis, i) => (given && i < given.length && !Number.isNaN(given[i]) ? fixed(given[i]) : axis));
}

/**
 * Goes through the points whose parameters have values of the axes, the last
 * parameter fastest, one parameter a step: yields the point that a step completed
 * (a copy) or null. No point comes twice; branches that break a constraint whatever
 * follows are cut. Many steps may pass without a point where constraints are tight.
 * @param {Space} space
 * @param {Axis[]} list
 * @returns {Generator<Float64Array | null, void>}
 */
export function* walk(space, list) {
  const point = new Float64Array(list.length).fill(NaN);
  const at = new Array(list.length).fill(0);
  let depth = 0;
  /** @param {number} k */
  const set = (k) => {
    const i = depth++;
    at[i] = k;
    if (space.active(point, i)) {
      point[i] = list[i].value(k);
    }
  };
  const next = () => {
    while (depth > 0) {
      depth--;
      const exists = !Number.isNaN(point[depth]);
      point[depth] = NaN;
      if (exists && at[depth] + 1 < list[depth].count) {
        set(at[depth] + 1);
        return true;
      }
    }
    return false;
  };
  for (;;) {
    const holds = space.holds(point);
    yield holds && depth === list.length ? point.slice() : null;
    if (holds && depth < list.length) {
      set(0);
    } else if (!next()) {
      return;
    }
  }
}
