use super::lattice::is_multiple;
use super::portable::round_even;
use super::{Kind, Param, Space};

impl Space {
    /// Returns an error if `p` is not a point of the space: one line that names the parameter,
    /// its value and the allowed values. [`Space::holds`] checks constraints.
    pub fn check(&self, p: &[f64]) -> Result<(), String> {
        self.check_length("the point", p)?;
        (0..p.len()).try_for_each(|i| self.check_at(p, i))
    }

    /// Returns an error if `p` is not a valid partial point: each value must be NaN or allowed
    /// for its parameter.
    pub fn check_given(&self, p: &[f64]) -> Result<(), String> {
        self.check_length("the given point", p)?;
        let mut known = self.params.iter().zip(p).filter(|(_, x)| !x.is_nan());
        known.try_for_each(|(param, x)| param.check_value(*x))
    }

    fn check_length(&self, what: &str, p: &[f64]) -> Result<(), String> {
        let n = self.params.len();
        if p.len() == n {
            return Ok(());
        }
        Err(format!("{} has length {}; allowed: {}, one for each parameter of the space", what, p.len(), n))
    }

    fn check_at(&self, p: &[f64], i: usize) -> Result<(), String> {
        let (param, x) = (&self.params[i], p[i]);
        match (self.active(p, i), x.is_nan()) {
            (false, true) => Ok(()),
            (false, false) => Err(format!(
                "parameter {:?} is {}; allowed: no value, because its condition does not hold",
                param.name, x
            )),
            (true, true) => {
                Err(format!("parameter {:?} has no value; allowed: {}", param.name, param.allowed()))
            }
            (true, false) => param.check_value(x),
        }
    }
}

impl Param {
    fn check_value(&self, x: f64) -> Result<(), String> {
        if self.contains(x) {
            return Ok(());
        }
        Err(format!("parameter {:?} is {}; allowed: {}", self.name, x, self.allowed()))
    }

    /// Bounds, integers and choices are compared exactly. Steps of reals may differ by rounding,
    /// because languages round multiples of 0.1 in different ways.
    fn contains(&self, x: f64) -> bool {
        match self.lattice() {
            _ if !x.is_finite() => false,
            Some(l) if self.kind == Kind::Real => is_multiple(x, l.step, l.nearest(x)),
            Some(l) => x == l.value(l.nearest(x)),
            None if self.kind == Kind::Real => self.low <= x && x <= self.high,
            None => self.step == 0.0 || is_multiple(x, self.step, round_even(x / self.step)),
        }
    }

    fn allowed(&self) -> String {
        let steps = if self.step > 0.0 { format!(", multiples of {}", self.step) } else { String::new() };
        match self.kind {
            Kind::Choice | Kind::Ordinal => format!("an index from 0 to {}", self.choices.len() - 1),
            Kind::Normal => format!("any finite number{}", steps),
            Kind::Int => format!("integers from {} to {}{}", self.low, self.high, steps),
            Kind::Real => format!("numbers from {} to {}{}", self.low, self.high, steps),
        }
    }
}
