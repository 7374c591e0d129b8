use super::{Kind, Param, Point, Space};

/// A small expression over the parameters of a space. True is 1 and false is 0; a parameter
/// that does not exist, and any value computed from it, is NaN ("unknown").
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A number.
    Const(f64),
    /// The number of a parameter; choices that are numbers count as their value.
    Number(usize),
    /// 1 if a parameter (a choice) is one of these indices.
    In(usize, Vec<u32>),
    /// An operation on one to three arguments, or on any number (`And`, `Or`).
    Call(Op, Vec<Expr>),
}

/// An operation of an [`Expr`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// −a
    Neg,
    /// a + b
    Add,
    /// a − b
    Sub,
    /// a · b
    Mul,
    /// a / b; NaN for division by zero
    Div,
    /// Truncated toward zero.
    IntDiv,
    /// The remainder with the sign of a.
    Mod,
    /// a < b
    Lt,
    /// a ≤ b
    Le,
    /// a > b
    Gt,
    /// a ≥ b
    Ge,
    /// a = b
    Eq,
    /// a ≠ b
    Ne,
    /// 0 if any is 0, whatever the others.
    And,
    /// 1 if any is 1, whatever the others.
    Or,
    /// 1 − a
    Not,
    /// a ? b : c
    If,
}

/// The operations in the order of their numbers in the protocol, from 4.
pub(crate) const OPS: [Op; 17] = [
    Op::Neg,
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::Div,
    Op::IntDiv,
    Op::Mod,
    Op::Lt,
    Op::Le,
    Op::Gt,
    Op::Ge,
    Op::Eq,
    Op::Ne,
    Op::And,
    Op::Or,
    Op::Not,
    Op::If,
];

impl Op {
    /// Whether it takes this number of arguments.
    pub(crate) fn takes(self, n: usize) -> bool {
        match self {
            Op::Neg | Op::Not => n == 1,
            Op::And | Op::Or => n >= 1,
            Op::If => n == 3,
            _ => n == 2,
        }
    }
}

impl Expr {
    /// The value at a point. Parameters that do not exist must be NaN. Expressions of a space
    /// that the SDK created are valid; others may panic.
    pub fn eval(&self, space: &Space, p: &[f64]) -> f64 {
        match self {
            Expr::Const(x) => *x,
            Expr::Number(i) => number(&space.params[*i], p[*i]),
            Expr::In(i, _) if p[*i].is_nan() => f64::NAN,
            Expr::In(i, set) => truth(set.iter().any(|k| f64::from(*k) == p[*i])),
            Expr::Call(Op::And, args) => fold(args, space, p, 0.0),
            Expr::Call(Op::Or, args) => fold(args, space, p, 1.0),
            Expr::Call(Op::If, args) => branch(args, space, p),
            Expr::Call(op, args) => {
                let a = args[0].eval(space, p);
                let b = args.get(1).map_or(0.0, |arg| arg.eval(space, p));
                if a.is_nan() || b.is_nan() {
                    return f64::NAN;
                }
                arithmetic(*op, a, b)
            }
        }
    }
}

fn number(param: &Param, x: f64) -> f64 {
    match param.kind {
        Kind::Choice | Kind::Ordinal if x >= 0.0 => {
            param.choices.get(x as usize).map_or(f64::NAN, |json| json_number(json))
        }
        Kind::Choice | Kind::Ordinal => f64::NAN,
        _ => x,
    }
}

/// The value of a JSON number, NaN for other JSON.
fn json_number(json: &str) -> f64 {
    let digit = json.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
    match json.parse::<f64>() {
        Ok(x) if digit && x.is_finite() => x,
        _ => f64::NAN,
    }
}

/// And (decided by a 0) and Or (decided by a 1).
fn fold(args: &[Expr], space: &Space, p: &[f64], decides: f64) -> f64 {
    let mut result = 1.0 - decides;
    for arg in args {
        let x = arg.eval(space, p);
        if x == decides {
            return decides;
        }
        if x.is_nan() {
            result = x;
        }
    }
    result
}

fn branch(args: &[Expr], space: &Space, p: &[f64]) -> f64 {
    let condition = args[0].eval(space, p);
    if condition.is_nan() {
        return condition;
    }
    args[if condition == 1.0 { 1 } else { 2 }].eval(space, p)
}

fn arithmetic(op: Op, a: f64, b: f64) -> f64 {
    match op {
        Op::Neg => -a,
        Op::Not => 1.0 - a,
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Mul => a * b,
        Op::Div | Op::IntDiv | Op::Mod if b == 0.0 => f64::NAN,
        Op::Div => a / b,
        Op::IntDiv => (a / b).trunc(),
        Op::Mod => a % b,
        Op::Lt => truth(a < b),
        Op::Le => truth(a <= b),
        Op::Gt => truth(a > b),
        Op::Ge => truth(a >= b),
        Op::Eq => truth(a == b),
        Op::Ne => truth(a != b),
        Op::And | Op::Or | Op::If => unreachable!("evaluated by their own rules"),
    }
}

fn truth(b: bool) -> f64 {
    f64::from(u8::from(b))
}

impl Space {
    /// Whether parameter `i` exists, given the values before it.
    pub fn active(&self, p: &[f64], i: usize) -> bool {
        self.params[i].when.as_ref().map_or(true, |when| when.eval(self, p) == 1.0)
    }

    /// Sets the parameters that do not exist to NaN, parents first.
    pub fn prune(&self, p: &mut Point) {
        for i in 0..self.params.len() {
            if !self.active(p, i) {
                p[i] = f64::NAN;
            }
        }
    }

    /// Whether all constraints are satisfied. A constraint on parameters that do not exist is
    /// satisfied.
    pub fn holds(&self, p: &[f64]) -> bool {
        self.constraints.iter().all(|c| c.eval(self, p) != 0.0)
    }
}
