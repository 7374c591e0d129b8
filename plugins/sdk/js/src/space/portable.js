// Functions that give the same bits on every machine and in every language that
// follows the Go package plugins/sdk/space: Math.log and its like are not exactly
// defined. Only exactly defined operations are used here.

const ln2Hi = 6.93147180369123816490e-1; // its product with an exponent is exact
const ln2Lo = 1.90821492927058770002e-10;

const view = new DataView(new ArrayBuffer(8));

/**
 * 2^k for -1022 <= k <= 1023.
 * @param {number} k
 */
function power2(k) {
  view.setUint32(0, (k + 1023) << 20);
  view.setUint32(4, 0);
  return view.getFloat64(0);
}

/**
 * Splits a positive, finite x into m·2^e with 0.5 <= m < 1.
 * @param {number} x
 * @returns {[m: number, e: number]}
 */
function split(x) {
  let e = -1022;
  if (x < 2.2250738585072014e-308) {
    x *= 2 ** 52;
    e -= 52;
  }
  view.setFloat64(0, x);
  const high = view.getUint32(0);
  e += (high >>> 20) & 0x7ff;
  view.setUint32(0, (high & 0x800fffff) | (1022 << 20));
  return [view.getFloat64(0), e];
}

/**
 * The natural logarithm of a positive, finite x, right to about an ulp. With
 * x = m·2^e and s = (m-1)/(m+1), ln m is the series 2(s + s³/3 + s⁵/5 …).
 * @param {number} x
 */
export function ln(x) {
  let [m, e] = split(x);
  if (m < Math.SQRT1_2) {
    m *= 2;
    e--;
  }
  const s = (m - 1) / (m + 1);
  const s2 = s * s;
  let sum = 0;
  for (let k = 23; k >= 3; k -= 2) {
    sum = (sum + 1 / k) * s2;
  }
  const frac = 2 * s + 2 * s * sum;
  return e * ln2Hi + (frac + e * ln2Lo);
}

/**
 * e^x for finite x, right to about an ulp: Taylor's series around the nearest
 * multiple of ln 2.
 * @param {number} x
 */
export function exp(x) {
  const k = Math.floor(x / Math.LN2 + 0.5);
  const r = x - k * ln2Hi - k * ln2Lo;
  let sum = 1;
  for (let n = 14; n >= 1; n--) {
    sum = 1 + (sum * r) / n;
  }
  return scale(sum, k);
}

/**
 * x·2^k, rounded once.
 * @param {number} x near 1
 * @param {number} k
 */
function scale(x, k) {
  if (k > 1023) {
    return k > 1025 ? Infinity : x * power2(1023) * power2(k - 1023);
  }
  if (k < -1022) {
    return k < -1080 ? 0 : x * power2(k + 100) * power2(-100);
  }
  return x * power2(k);
}

// Coefficients of the rational approximations of quantile, lowest power first.
const midTop = [3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
  4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3];
const midBottom = [1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
  2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3];
const sideTop = [1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
  1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4];
const sideBottom = [1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
  1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9];
const tailTop = [6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
  2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7];
const tailBottom = [1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
  7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15];

/**
 * The inverse of the standard normal distribution function for 0 < u < 1
 * (M. J. Wichura, Algorithm AS 241, Applied Statistics 37, 1988).
 * @param {number} u
 */
export function quantile(u) {
  const q = u - 0.5;
  if (Math.abs(q) <= 0.425) {
    const r = 0.180625 - q * q;
    return q * (polynomial(midTop, r) / polynomial(midBottom, r));
  }
  const r = Math.sqrt(-ln(Math.min(u, 1 - u)));
  const z = r <= 5
    ? polynomial(sideTop, r - 1.6) / polynomial(sideBottom, r - 1.6)
    : polynomial(tailTop, r - 5) / polynomial(tailBottom, r - 5);
  return q < 0 ? -z : z;
}

/** The least and the greatest u whose quantile is used. */
export const edge = 2 ** -53;

/**
 * The standard normal distribution function, as the inverse of [quantile]: within
 * its range by halving, outside of it the range's end.
 * @param {number} z
 * @returns {number}
 */
export function normalBelow(z) {
  if (z > 0) {
    return 1 - normalBelow(-z);
  }
  let low = edge / 2;
  let high = 0.5;
  if (!(z > quantile(low))) {
    return low;
  }
  for (;;) {
    const mid = low + (high - low) / 2;
    if (mid <= low || mid >= high) {
      return high;
    }
    if (quantile(mid) < z) {
      low = mid;
    } else {
      high = mid;
    }
  }
}

/**
 * The value at x of the polynomial with these coefficients.
 * @param {number[]} coefficients
 * @param {number} x
 */
function polynomial(coefficients, x) {
  let sum = 0;
  for (let i = coefficients.length - 1; i >= 0; i--) {
    sum = sum * x + coefficients[i];
  }
  return sum;
}

/**
 * The integer nearest to x; of two the even one.
 * @param {number} x
 */
export function roundToEven(x) {
  const floor = Math.floor(x);
  const rest = x - floor;
  if (rest !== 0.5) {
    return rest < 0.5 ? floor : floor + 1;
  }
  return floor % 2 === 0 ? floor : floor + 1;
}

/**
 * The integer nearest to x; of two the one further from 0.
 * @param {number} x
 */
export function round(x) {
  const whole = Math.trunc(x);
  return Math.abs(x - whole) < 0.5 ? whole : whole + Math.sign(x);
}
