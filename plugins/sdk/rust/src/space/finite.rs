use super::lattice::Lattice;
use super::{Kind, Point, Space};

/// The values that a [`Walk`] gives to one parameter, in ascending order.
#[derive(Clone, Copy)]
pub struct Axis(Values);

#[derive(Clone, Copy)]
enum Values {
    One(f64),
    Many(Lattice),
}

impl Axis {
    /// An axis of one value.
    pub fn fixed(x: f64) -> Axis {
        Axis(Values::One(x))
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        match self.0 {
            Values::One(_) => 1,
            Values::Many(l) => l.count() as u64,
        }
    }

    /// The k-th, from 0.
    pub fn value(&self, k: u64) -> f64 {
        match self.0 {
            Values::One(x) => x,
            Values::Many(l) => l.value(l.first + k as f64),
        }
    }
}

/// The axes, with given coordinates fixed.
pub fn given_axes(axes: &[Axis], given: Option<&[f64]>) -> Vec<Axis> {
    let mut axes = axes.to_vec();
    for (axis, x) in axes.iter_mut().zip(given.unwrap_or(&[])) {
        if !x.is_nan() {
            *axis = Axis::fixed(*x);
        }
    }
    axes
}

impl Space {
    /// Every parameter's values; None if those of one are continuous or unbounded.
    pub fn axes(&self) -> Option<Vec<Axis>> {
        self.params
            .iter()
            .map(|p| match p.lattice() {
                Some(l) => Some(Axis(Values::Many(l))),
                None if p.kind == Kind::Real && p.low == p.high => Some(Axis::fixed(p.low)),
                None => None,
            })
            .collect()
    }

    /// The number of points that satisfy the constraints; None if there are infinitely many or
    /// more than `limit`, or if counting would take too long.
    pub fn size(&self, limit: usize) -> Option<usize> {
        let mut walk = Walk::new(self, self.axes()?);
        let mut budget = 64 * (limit + self.params.len());
        let mut size = 0;
        while walk.advance() {
            size += usize::from(walk.point().is_some());
            budget = budget.saturating_sub(1);
            if size > limit || budget == 0 {
                return None;
            }
        }
        Some(size)
    }

    /// A key that is equal for two points if and only if they are equal up to rounding.
    pub fn key(&self, p: &[f64]) -> Vec<u64> {
        let bits = |(i, x): (usize, &f64)| match self.quantise(i, *x) + 0.0 {
            x if x.is_nan() => f64::NAN.to_bits(),
            x => x.to_bits(),
        };
        p.iter().enumerate().map(bits).collect()
    }
}

/// Visits every combination of the axes' values; the last parameter changes fastest. A
/// parameter that does not exist is NaN, once, so no point comes twice. Branches in which a
/// constraint is certainly violated are skipped.
pub struct Walk<'a> {
    space: &'a Space,
    axes: Vec<Axis>,
    point: Point,
    /// The index of each parameter's value on its axis.
    at: Vec<u64>,
    /// The number of parameters that have a value.
    depth: usize,
    started: bool,
    /// The values so far violate no constraint.
    holds: bool,
}

impl<'a> Walk<'a> {
    /// Starts before the first point. There is one axis for each parameter.
    pub fn new(space: &'a Space, axes: Vec<Axis>) -> Walk<'a> {
        let n = axes.len();
        Walk { space, axes, point: vec![f64::NAN; n], at: vec![0; n], depth: 0, started: false, holds: false }
    }

    /// Sets one parameter; returns false at the end. With strict constraints it may take many
    /// steps to the next point.
    pub fn advance(&mut self) -> bool {
        if !self.started {
            self.started = true;
        } else if self.holds && self.depth < self.axes.len() {
            self.set(0);
        } else if !self.change() {
            return false;
        }
        self.holds = self.space.holds(&self.point);
        true
    }

    /// The point that the last step completed.
    pub fn point(&self) -> Option<&[f64]> {
        match self.holds && self.depth == self.axes.len() {
            true => Some(&self.point),
            false => None,
        }
    }

    /// Changes the last value that can be changed.
    fn change(&mut self) -> bool {
        while self.depth > 0 {
            self.depth -= 1;
            let i = self.depth;
            let exists = !self.point[i].is_nan();
            self.point[i] = f64::NAN;
            if exists && self.at[i] + 1 < self.axes[i].count() {
                self.set(self.at[i] + 1);
                return true;
            }
        }
        false
    }

    /// Gives the next parameter the k-th value of its axis, if it exists.
    fn set(&mut self, k: u64) {
        let i = self.depth;
        self.depth += 1;
        self.at[i] = k;
        if self.space.active(&self.point, i) {
            self.point[i] = self.axes[i].value(k);
        }
    }
}
