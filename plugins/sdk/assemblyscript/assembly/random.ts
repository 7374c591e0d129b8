import { EDGE, quantile } from "./portable";

/** Random numbers that depend only on the seed: PCG-DXSM, as in Go's math/rand/v2. */
export class Random {
  private low: u64 = 0x74756e65686f7374; // "tunehost"

  constructor(private high: u64) {}

  /** The next 64 bits. */
  uint64(): u64 {
    const mulHigh: u64 = 2549297995355413924;
    const mulLow: u64 = 4865540595714422341;
    const low = this.low * mulLow;
    const high = multiplyHigh(this.low, mulLow) + this.high * mulLow + this.low * mulHigh;
    this.low = low + 1442695040888963407;
    this.high = high + 6364136223846793005 + (this.low < low ? 1 : 0);
    let x = this.high;
    x ^= x >> 32;
    x *= 0xda942042e4dd58b5;
    x ^= x >> 48;
    return x * (this.low | 1);
  }

  /** A uniform number in [0, 1). */
  float64(): f64 {
    return <f64>(this.uint64() & 0x1fffffffffffff) / 9007199254740992.0;
  }

  /** A whole number from 0 to n - 1. */
  below(n: i32): i32 {
    return min(n - 1, <i32>(this.float64() * <f64>n));
  }

  /** A number of the standard normal distribution. */
  normal(): f64 {
    return quantile(Math.max(EDGE / 2, Math.min(1 - EDGE, this.float64())));
  }
}

/** The upper half of the product of two numbers of 64 bits. */
function multiplyHigh(a: u64, b: u64): u64 {
  const mask: u64 = 0xffffffff;
  const low = (a & mask) * (b & mask);
  const one = (a >> 32) * (b & mask) + (low >> 32);
  const other = (a & mask) * (b >> 32) + (one & mask);
  return (a >> 32) * (b >> 32) + (one >> 32) + (other >> 32);
}
