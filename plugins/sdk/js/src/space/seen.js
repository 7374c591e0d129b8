import { axes, givenAxes, walk } from "./walk.js";

/** @typedef {import("./space.js").Space} Space */
/** @typedef {import("./random.js").Random} Random */

/** How many draws look for a new point before all that are left are listed. */
const seenTries = 100;
/** How many draws are tested against the constraints. */
export const maxTries = 10_000;

/** What is thrown when no point is found that satisfies the constraints. */
export class TightError extends Error {
  constructor() {
    super(`no point satisfies the constraints in ${maxTries} draws: they are too tight for sampling; `
      + "narrow the parameters' bounds instead, or loosen the constraints");
    this.name = "TightError";
  }
}

/**
 * Helps searchers not to suggest a point of a finite space twice. It remembers
 * points; in spaces that are large, infinite or without parameters, and where the
 * host knows more conditions than the space (opaque), it remembers none and
 * everything is new.
 */
export class Seen {
  #space;
  /** @type {import("./walk.js").Axis[]} */
  #axes = [];
  /** @type {Set<string> | null} */
  #keys = null;
  #size = 0;

  /**
   * Remembers the points of the space if they are at most limit. Throws when the
   * space has no points.
   * @param {Space} space
   * @param {number} [limit]
   */
  constructor(space, limit = 10_000) {
    this.#space = space;
    const list = axes(space);
    if (space.opaque || space.params.length === 0 || !list) {
      return;
    }
    const size = space.size(limit);
    if (size === 0) {
      throw new Error("no point of the space satisfies the constraints: loosen them");
    }
    if (size !== null) {
      this.#axes = list;
      this.#size = size;
      this.#keys = new Set();
    }
  }

  /**
   * Remembers p, unless it is no point of the space.
   * @param {Float64Array} p
   */
  add(p) {
    if (this.#keys && this.#space.check(p) === null && this.#space.holds(p)) {
      this.#keys.add(this.#space.key(p));
    }
  }

  /**
   * Says whether p is remembered.
   * @param {Float64Array} p
   */
  has(p) {
    return this.#keys !== null && this.#keys.has(this.#space.key(p));
  }

  /** Whether every point of the space is remembered. */
  get full() {
    return this.#keys !== null && this.#keys.size >= this.#size;
  }

  /**
   * The points with the given coordinates that are not remembered; none where
   * nothing is remembered.
   * @param {ArrayLike<number> | null} [given]
   */
  left(given) {
    /** @type {Float64Array[]} */
    const points = [];
    if (this.#keys) {
      for (const p of walk(this.#space, givenAxes(this.#axes, given))) {
        if (p && !this.has(p)) {
          points.push(p);
        }
      }
    }
    return points;
  }

  /**
   * Returns a new point, and remembers it: given, completed by the first of the
   * draws, from 0, with which it is new and satisfies the constraints. If the
   * draws find none, one of the remaining points is chosen at random. If none remains, it
   * returns null or, if coordinates were given, repeats a point with them, because a
   * request with coordinates needs an answer. Throws a {@link TightError}, or an error if
   * given is not valid.
   * @param {ArrayLike<number> | null} given
   * @param {Random} random
   * @param {(attempt: number) => ArrayLike<number>} draw
   * @returns {Float64Array | null}
   */
  pick(given, random, draw) {
    this.#space.checkGiven(given);
    if (!this.#keys) {
      const p = this.#draw(given, maxTries, draw);
      if (!p) {
        throw new TightError();
      }
      return p;
    }
    const p = this.#pickNew(given, random, draw);
    if (!p && given && Array.from(given).some((x) => !Number.isNaN(x))) {
      return this.#space.sample(random, given);
    }
    if (p) {
      this.add(p);
    }
    return p;
  }

  /**
   * @param {ArrayLike<number> | null} given
   * @param {Random} random
   * @param {(attempt: number) => ArrayLike<number>} draw
   */
  #pickNew(given, random, draw) {
    if (this.full) {
      return null;
    }
    const p = this.#draw(given, seenTries, draw);
    if (p) {
      return p;
    }
    const left = this.left(given);
    return left.length === 0 ? null : left[random.below(left.length)];
  }

  /**
   * @param {ArrayLike<number> | null} given
   * @param {number} tries
   * @param {(attempt: number) => ArrayLike<number>} draw
   */
  #draw(given, tries, draw) {
    for (let attempt = 0; attempt < tries; attempt++) {
      const p = this.#space.complete(given, draw(attempt));
      if (this.#space.holds(p) && !this.has(p)) {
        return p;
      }
    }
    return null;
  }
}
