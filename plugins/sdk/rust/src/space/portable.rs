//! Functions with bit-identical results on every machine and in every SDK. They use only
//! exactly defined operations, unlike those of the standard library.

use std::f64::consts::{LN_2, SQRT_2};

/// Has so few bits that its product with an exponent is exact.
const LN2_HI: f64 = 6.931_471_803_691_238e-1;
const LN2_LO: f64 = 1.908_214_929_270_587_7e-10;

/// The natural logarithm of a positive, finite x, right to about an ulp.
/// With x = m·2^e and s = (m-1)/(m+1), ln m is the series 2(s + s³/3 + s⁵/5 …).
pub fn ln(x: f64) -> f64 {
    let (mut m, mut e) = frexp(x);
    if m < SQRT_2 / 2.0 {
        m *= 2.0;
        e -= 1;
    }
    let s = (m - 1.0) / (m + 1.0);
    let s2 = s * s;
    let mut sum = 0.0;
    for k in (3..=23).rev().step_by(2) {
        sum = (sum + 1.0 / f64::from(k)) * s2;
    }
    let frac = 2.0 * s + 2.0 * s * sum;
    f64::from(e) * LN2_HI + (frac + f64::from(e) * LN2_LO)
}

/// e^x for finite x, right to about an ulp: Taylor's series around the nearest multiple of
/// ln 2.
pub fn exp(x: f64) -> f64 {
    let k = (x / LN_2 + 0.5).floor();
    let r = (x - k * LN2_HI) - k * LN2_LO;
    let mut sum = 1.0;
    for n in (1..=14).rev() {
        sum = 1.0 + sum * r / f64::from(n);
    }
    ldexp(sum, k as i32)
}

/// x as m·2^e with m in [0.5, 1), for a positive, finite x.
fn frexp(x: f64) -> (f64, i32) {
    const MANTISSA: u64 = (1 << 52) - 1;
    let (x, shift) = if x < f64::MIN_POSITIVE { (x * (1u64 << 54) as f64, 54) } else { (x, 0) };
    let bits = x.to_bits();
    let e = (bits >> 52) as i32 - 1022 - shift;
    (f64::from_bits(bits & MANTISSA | 1022 << 52), e)
}

/// x·2^e, rounded once.
fn ldexp(x: f64, e: i32) -> f64 {
    let power = |e: i32| f64::from_bits(((e + 1023) as u64) << 52);
    match e {
        1024.. => x * power(1023) * power((e - 1023).min(1023)),
        -1021..=1023 => x * power(e),
        -1075..=-1022 => x * power(e + 53) * power(-53),
        _ => 0.0,
    }
}

/// The integer nearest to x, the even one of two.
pub fn round_even(x: f64) -> f64 {
    let near = x.round();
    if (x - x.trunc()).abs() == 0.5 {
        return 2.0 * (x / 2.0).round();
    }
    near
}

// Coefficients of the rational approximations of quantile, lowest power first.
#[rustfmt::skip]
mod coefficients {
    #![allow(clippy::excessive_precision, clippy::unreadable_literal)]
    pub const MID_TOP: [f64; 8] = [
        3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
        4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3];
    pub const MID_BOTTOM: [f64; 8] = [1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
        2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3];
    pub const SIDE_TOP: [f64; 8] = [
        1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
        1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4];
    pub const SIDE_BOTTOM: [f64; 8] = [1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
        1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9];
    pub const TAIL_TOP: [f64; 8] = [
        6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
        2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7];
    pub const TAIL_BOTTOM: [f64; 8] = [1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
        7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15];
}
use coefficients::*;

/// The inverse of the standard normal distribution function for 0 < u < 1 (M. J. Wichura,
/// Algorithm AS 241, Applied Statistics 37, 1988).
pub fn quantile(u: f64) -> f64 {
    let q = u - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180625 - q * q;
        return q * (polynomial(&MID_TOP, r) / polynomial(&MID_BOTTOM, r));
    }
    let r = (-ln(u.min(1.0 - u))).sqrt();
    let z = if r <= 5.0 {
        polynomial(&SIDE_TOP, r - 1.6) / polynomial(&SIDE_BOTTOM, r - 1.6)
    } else {
        polynomial(&TAIL_TOP, r - 5.0) / polynomial(&TAIL_BOTTOM, r - 5.0)
    };
    z.copysign(q)
}

fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// The standard normal distribution function: a series near 0, a continued fraction
/// beyond (Abramowitz and Stegun, 26.2.11 and 26.2.14).
pub fn normal_cdf(z: f64) -> f64 {
    let density = exp(-z * z / 2.0) * 0.398_942_280_401_432_7;
    if z.abs() < 3.0 {
        let (mut term, mut sum, mut n) = (z, z, 1.0);
        while f64::abs(term) > 1e-18 {
            n += 2.0;
            term *= z * z / n;
            sum += term;
        }
        return 0.5 + density * sum;
    }
    let beyond = (1..100).rev().fold(0.0, |below, n| f64::from(n) / (z.abs() + below));
    let tail = density / (z.abs() + beyond);
    if z < 0.0 {
        tail
    } else {
        1.0 - tail
    }
}
