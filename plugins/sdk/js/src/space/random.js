// The generator of a request's seed: PCG-DXSM, as in Go's math/rand/v2, whose
// numbers are the same on every machine.

import { quantile, edge } from "./portable.js";

const mask = (1n << 128n) - 1n;
const mask64 = (1n << 64n) - 1n;
const multiplier = (2549297995355413924n << 64n) | 4865540595714422341n;
const increment = (6364136223846793005n << 64n) | 1442695040888963407n;
const cheap = 0xda942042e4dd58b5n;
const stream = 0x74756e65686f7374n; // "tunehost"

/** Random numbers that depend on the seed alone. */
export class Random {
  #state;

  /** @param {bigint | number} seed 64 bits; take a request's or the problem's */
  constructor(seed) {
    this.#state = (BigInt.asUintN(64, BigInt(seed)) << 64n) | stream;
  }

  /** The next 64 bits. */
  uint64() {
    this.#state = (this.#state * multiplier + increment) & mask;
    let high = this.#state >> 64n;
    high ^= high >> 32n;
    high = (high * cheap) & mask64;
    high ^= high >> 48n;
    return (high * ((this.#state & mask64) | 1n)) & mask64;
  }

  /** A uniform number in [0, 1). */
  float64() {
    return Number(this.uint64() & ((1n << 53n) - 1n)) / 2 ** 53;
  }

  /**
   * A whole number from 0 to n - 1.
   * @param {number} n
   */
  below(n) {
    return Math.min(n - 1, Math.floor(this.float64() * n));
  }

  /** A number of the standard normal distribution. */
  normal() {
    return quantile(Math.max(edge / 2, Math.min(1 - edge, this.float64())));
  }
}
