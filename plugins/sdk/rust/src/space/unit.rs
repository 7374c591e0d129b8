use super::lattice::{multiple, Lattice};
use super::portable::{exp, ln, normal_cdf, quantile, round_even};
use super::{Kind, Param, Space};

impl Space {
    /// The value of parameter `i` at `u`, its place in [0, 1] under the parameter's own
    /// distribution, so that a uniform `u` gives a sample. A `u` outside [0, 1] is moved
    /// inside; NaN stays.
    ///
    /// Reals are uniform, or uniform in the logarithm. Integers, stepped reals and choices
    /// have equal probabilities; on a logarithmic scale, the width of their cell. Normal
    /// parameters are the quantile. The same `u` gives the same bits on every machine.
    pub fn from_unit(&self, i: usize, u: f64) -> f64 {
        if u.is_nan() {
            return u;
        }
        let (p, u) = (&self.params[i], u.clamp(0.0, 1.0));
        match p.lattice() {
            _ if p.kind == Kind::Normal => p.normal_at(u),
            Some(l) => l.at_unit(u, p.log),
            None => p.real_at(u),
        }
    }

    /// The place of value `x` of parameter `i` in [0, 1]: `from_unit` of it is `x`, up to
    /// rounding for continuous parameters. For discrete values it lies inside their cell; if
    /// there is only one value, it is 0.5.
    pub fn to_unit(&self, i: usize, x: f64) -> f64 {
        let p = &self.params[i];
        let u = match p.lattice() {
            _ if p.kind == Kind::Normal => return normal_cdf((x - p.mean) / p.sd),
            Some(l) => l.unit_of(x, p.log),
            None if p.low >= p.high => 0.5,
            None if p.log => (ln(at_least(x, p.low)) - ln(p.low)) / (ln(p.high) - ln(p.low)),
            None => (x - p.low) / (p.high - p.low),
        };
        u.clamp(0.0, 1.0)
    }

    /// The allowed value of parameter `i` nearest to `x`. NaN stays.
    pub fn quantise(&self, i: usize, x: f64) -> f64 {
        let p = &self.params[i];
        match p.lattice() {
            _ if x.is_nan() => x,
            Some(l) => l.value(l.nearest(x)),
            None if p.kind != Kind::Normal => x.clamp(p.low, p.high),
            None => p.on_step(x),
        }
    }
}

/// The larger one of both; a NaN stays.
fn at_least(x: f64, low: f64) -> f64 {
    if x < low {
        low
    } else {
        x
    }
}

impl Param {
    fn real_at(&self, u: f64) -> f64 {
        if u == 0.0 || self.low == self.high {
            return self.low;
        }
        if u == 1.0 {
            return self.high;
        }
        let x = if self.log {
            let low = ln(self.low);
            exp(low + u * (ln(self.high) - low))
        } else {
            self.low + u * (self.high - self.low)
        };
        x.clamp(self.low, self.high)
    }

    fn normal_at(&self, u: f64) -> f64 {
        const EDGE: f64 = 1.0 / (1u64 << 53) as f64;
        let z = quantile(u.clamp(EDGE / 2.0, 1.0 - EDGE));
        self.on_step(self.mean + self.sd * z)
    }

    /// The multiple of the step nearest to x, if there is a step.
    fn on_step(&self, x: f64) -> f64 {
        if self.step > 0.0 {
            return multiple(round_even(x / self.step), self.step);
        }
        x
    }
}

impl Lattice {
    fn at_unit(self, u: f64, log: bool) -> f64 {
        let k = if log {
            let (low, width) = self.log_cells();
            exp(low + u * width).round()
        } else {
            self.first + (u * self.count()).floor()
        };
        self.value(k.clamp(self.first, self.last))
    }

    fn unit_of(self, x: f64, log: bool) -> f64 {
        if self.first == self.last {
            return 0.5;
        }
        if log {
            let (low, width) = self.log_cells();
            return (ln(at_least(x / self.step, self.first - 0.5)) - low) / width;
        }
        (x / self.step - self.first + 0.5) / self.count()
    }

    /// The logarithm of the first cell's lower edge, and the width up to the last one's
    /// upper edge.
    fn log_cells(self) -> (f64, f64) {
        let low = ln(self.first - 0.5);
        (low, ln(self.last + 0.5) - low)
    }
}
