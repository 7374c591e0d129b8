//! Search spaces: their parameters, the conditions under which a parameter exists, and
//! the points in them.
//!
//! A [`Point`] has one number for each parameter: reals and integers are themselves,
//! choices are the index of the chosen value, and NaN says that the parameter does not
//! exist in this point. Searchers draw points ([`Space::sample`]), move between values
//! and the unit cube ([`Space::to_unit`], [`Space::from_unit`]) and remember points of
//! finite spaces ([`Seen`]). The results equal those of the Go package `plugins/sdk/space`,
//! bit by bit where that package promises it.

mod check;
mod expr;
mod finite;
mod lattice;
mod portable;
mod rng;
mod sample;
mod seen;
mod unit;

pub(crate) use expr::OPS;
pub use expr::{Expr, Op};
pub use finite::{given_axes, Axis, Walk};
pub use rng::Rng;
pub use sample::Tight;
pub use seen::Seen;

/// One value for each parameter of a space; NaN: the parameter does not exist here.
pub type Point = Vec<f64>;

/// The form of a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A number in `low..=high`.
    #[default]
    Real,
    /// An integer in `low..=high`, within ±2^53.
    Int,
    /// A real number around `mean`, unbounded.
    Normal,
    /// One of `choices`, without order.
    Choice,
    /// One of `choices`, in order.
    Ordinal,
}

/// One dimension of a space.
#[derive(Clone, Debug, Default)]
pub struct Param {
    /// The full name; parts of nested names are joined with `/`.
    pub name: String,
    /// Its form.
    pub kind: Kind,
    /// The lower bound of reals and integers, included.
    pub low: f64,
    /// The upper bound of reals and integers, included.
    pub high: f64,
    /// Differences matter on a logarithmic scale.
    pub log: bool,
    /// Values are multiples of it; 0: none.
    pub step: f64,
    /// The mean of a normal parameter.
    pub mean: f64,
    /// The standard deviation of a normal parameter.
    pub sd: f64,
    /// The values of choices, as JSON.
    pub choices: Vec<String>,
    /// The host combines every value with other grids and gives it in each request.
    pub grid: bool,
    /// The condition under which it exists; it refers to parameters before this one only.
    pub when: Option<Expr>,
}

/// An ordered list of parameters; parents come before children.
#[derive(Clone, Debug, Default)]
pub struct Space {
    /// The dimensions.
    pub params: Vec<Param>,
    /// Must hold for every point.
    pub constraints: Vec<Expr>,
    /// There are further conditions that only the host can check; if it refuses a point, it
    /// asks again.
    pub opaque: bool,
}

#[cfg(test)]
mod tests;
