use super::portable::round_even;
use super::{Kind, Param};

/// The largest integer up to which an f64 holds every integer.
const MAX_EXACT: f64 = (1u64 << 53) as f64;

/// The set of values k·step for integers k from first to last: integers, stepped reals and
/// the indices of choices.
#[derive(Clone, Copy)]
pub(super) struct Lattice {
    pub first: f64,
    pub last: f64,
    pub step: f64,
}

impl Param {
    /// The values, or None if they are continuous or, for normal parameters, unbounded.
    pub(super) fn lattice(&self) -> Option<Lattice> {
        let of = |first, last, step| Some(Lattice { first, last, step });
        match self.kind {
            Kind::Choice | Kind::Ordinal => of(0.0, self.choices.len() as f64 - 1.0, 1.0),
            Kind::Int if self.step == 0.0 => of(self.low, self.high, 1.0),
            Kind::Int | Kind::Real if self.step > 0.0 => {
                of(-near_floor(-self.low / self.step), near_floor(self.high / self.step), self.step)
            }
            _ => None,
        }
    }
}

/// The floor of x, or the integer above when x misses it by no more than rounding: 0.3/0.1
/// is 3.
fn near_floor(x: f64) -> f64 {
    let near = x.round();
    if (x - near).abs() <= 1e-9 + 1e-15 * x.abs() {
        near
    } else {
        x.floor()
    }
}

impl Lattice {
    /// The number of values.
    pub fn count(self) -> f64 {
        self.last - self.first + 1.0
    }

    /// The k-th multiple of the step.
    pub fn value(self, k: f64) -> f64 {
        multiple(k, self.step)
    }

    /// The k whose value is nearest to x.
    pub fn nearest(self, x: f64) -> f64 {
        round_even(x / self.step).clamp(self.first, self.last) + 0.0
    }
}

/// Whether x is the k-th multiple of step, up to rounding.
pub(super) fn is_multiple(x: f64, step: f64, k: f64) -> bool {
    (x - multiple(k, step)).abs() <= 1e-9 * step + 1e-15 * x.abs()
}

/// k·step as people write it: three steps of 0.1 are 0.3, unlike the binary product. If step
/// is a short decimal m/10^d, k·m/10^d is rounded only once.
pub(super) fn multiple(k: f64, step: f64) -> f64 {
    let mut power = 1.0;
    for _ in 0..15 {
        let m = round_even(step * power);
        if m / power == step && (k * m).abs() <= MAX_EXACT {
            return k * m / power + 0.0; // no negative zero
        }
        power *= 10.0;
    }
    k * step + 0.0
}
