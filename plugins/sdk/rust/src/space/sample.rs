use super::{Point, Rng, Space};
use std::fmt;

/// The maximum number of draws that are tested against the constraints.
pub(super) const MAX_TRIES: usize = 10_000;

/// Sampling did not find a point that satisfies the constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tight;

impl fmt::Display for Tight {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("no point satisfies the constraints in 10000 draws: they are too tight for sampling; narrow the parameters' bounds instead, or loosen the constraints")
    }
}

impl std::error::Error for Tight {}

impl Space {
    /// Draws a value for every parameter, whether it exists or not. Each uses one number of
    /// `rng`, in order.
    pub fn draw(&self, rng: &mut Rng) -> Point {
        (0..self.params.len()).map(|i| self.from_unit(i, rng.uniform())).collect()
    }

    /// Draws a point by each parameter's own distribution. Draws again if a constraint is
    /// violated.
    pub fn sample(&self, rng: &mut Rng) -> Result<Point, Tight> {
        self.sample_given(rng, None)
    }

    /// Like `sample`, but values of `given` that are not NaN are fixed. Values of parameters
    /// that do not exist are dropped.
    pub fn sample_given(&self, rng: &mut Rng, given: Option<&[f64]>) -> Result<Point, Tight> {
        for _ in 0..MAX_TRIES {
            let p = self.complete(given, &self.draw(rng));
            if self.holds(&p) {
                return Ok(p);
            }
        }
        Err(Tight)
    }

    /// Replaces values of `p` by those of `given` that are not NaN, and drops parameters that
    /// then do not exist.
    pub fn complete(&self, given: Option<&[f64]>, p: &[f64]) -> Point {
        let mut p = p.to_vec();
        for (x, given) in p.iter_mut().zip(given.unwrap_or(&[])) {
            if !given.is_nan() {
                *x = *given;
            }
        }
        self.prune(&mut p);
        p
    }
}
