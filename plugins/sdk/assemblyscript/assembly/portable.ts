// Functions with bit-identical results on every machine and in every language that
// follows the Go package plugins/sdk/space. Only operations with exactly defined results are
// used; WebAssembly has no others.

const LN2_HI: f64 = 6.93147180369123816490e-1; // its product with an exponent is exact
const LN2_LO: f64 = 1.90821492927058770002e-10;
const LN2: f64 = 0.693147180559945309417;
const SQRT1_2: f64 = 0.707106781186547524401;

/** 2^k for -1022 <= k <= 1023. */
function power2(k: i32): f64 {
  return reinterpret<f64>((<u64>(k + 1023)) << 52);
}

/** The natural logarithm of a positive, finite x, correct to about one ulp. */
export function ln(x: f64): f64 {
  let e = -1022;
  if (x < 2.2250738585072014e-308) {
    x *= 4503599627370496.0; // 2^52
    e -= 52;
  }
  const bits = reinterpret<u64>(x);
  e += <i32>((bits >> 52) & 0x7ff);
  let m = reinterpret<f64>((bits & 0x800fffffffffffff) | (<u64>1022 << 52));
  if (m < SQRT1_2) {
    m *= 2;
    e--;
  }
  const s = (m - 1) / (m + 1);
  const s2 = s * s;
  let sum: f64 = 0;
  for (let k = 23; k >= 3; k -= 2) sum = (sum + 1 / <f64>k) * s2;
  const frac = 2 * s + 2 * s * sum;
  return <f64>e * LN2_HI + (frac + <f64>e * LN2_LO);
}

/** e^x for finite x, correct to about one ulp. */
export function exp(x: f64): f64 {
  const k = Math.floor(x / LN2 + 0.5);
  const r = x - k * LN2_HI - k * LN2_LO;
  let sum: f64 = 1;
  for (let n: f64 = 14; n >= 1; n--) sum = 1 + (sum * r) / n;
  if (k > 1025) return Infinity;
  if (k < -1080) return 0;
  if (k > 1023) return sum * power2(1023) * power2(<i32>k - 1023);
  if (k < -1022) return sum * power2(<i32>k + 100) * power2(-100);
  return sum * power2(<i32>k);
}

// Coefficients of the rational approximations of quantile, lowest power first.
const midTop: StaticArray<f64> = [3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
  4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3];
const midBottom: StaticArray<f64> = [1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
  2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3];
const sideTop: StaticArray<f64> = [1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
  1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4];
const sideBottom: StaticArray<f64> = [1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
  1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9];
const tailTop: StaticArray<f64> = [6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
  2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7];
const tailBottom: StaticArray<f64> = [1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
  7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15];

/** The inverse of the standard normal distribution function for 0 < u < 1 (Wichura, AS 241). */
export function quantile(u: f64): f64 {
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

/** The distance of the least and the greatest u whose quantile is used from 0 and 1. */
export const EDGE: f64 = 1.1102230246251565e-16; // 2^-53

/** The standard normal distribution function, as the inverse of quantile, by halving. */
export function normalBelow(z: f64): f64 {
  if (z > 0) return 1 - normalBelow(-z);
  let low = EDGE / 2;
  let high: f64 = 0.5;
  if (!(z > quantile(low))) return low;
  for (let mid = high / 2; low < mid && mid < high; mid = low + (high - low) / 2) {
    if (quantile(mid) < z) low = mid;
    else high = mid;
  }
  return high;
}

function polynomial(coefficients: StaticArray<f64>, x: f64): f64 {
  let sum: f64 = 0;
  for (let i = coefficients.length - 1; i >= 0; i--) sum = sum * x + unchecked(coefficients[i]);
  return sum;
}

/** The integer nearest to x; of two the one further from 0. */
export function round(x: f64): f64 {
  const whole = Math.trunc(x);
  return Math.abs(x - whole) < 0.5 ? whole : whole + Math.sign(x);
}
