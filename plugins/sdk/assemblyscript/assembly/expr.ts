import { Reader } from "./proto";
import { Param } from "./param";

/** The operations of expressions, by their number in the protocol. */
export namespace Op {
  export const Const: u32 = 1;
  export const Number: u32 = 2;
  export const In: u32 = 3;
  export const Neg: u32 = 4;
  export const Add: u32 = 5;
  export const Sub: u32 = 6;
  export const Mul: u32 = 7;
  export const Div: u32 = 8;
  export const IntDiv: u32 = 9;
  export const Mod: u32 = 10;
  export const Lt: u32 = 11;
  export const Le: u32 = 12;
  export const Gt: u32 = 13;
  export const Ge: u32 = 14;
  export const Eq: u32 = 15;
  export const Ne: u32 = 16;
  export const And: u32 = 17;
  export const Or: u32 = 18;
  export const Not: u32 = 19;
  export const If: u32 = 20;
}

/** An expression over the parameters of a space. True is 1, false is 0, an unknown value is NaN. */
export class Expr {
  op: u32 = 0;
  param: u32 = 0;
  number: f64 = 0;
  set: u32[] = [];
  args: Expr[] = [];

  static read(r: Reader): Expr {
    const e = new Expr();
    while (r.next()) {
      if (r.field == 1) e.op = <u32>r.uint();
      else if (r.field == 2) e.param = <u32>r.uint();
      else if (r.field == 3) e.number = r.double();
      else if (r.field == 4) r.uints(e.set);
      else if (r.field == 5) e.args.push(Expr.read(r.message()));
      else r.skip();
    }
    return e;
  }

  /** The error of the expression in a space of that many parameters; "" if there is none. */
  check(params: i32): string {
    if (this.op < Op.Const || this.op > Op.If) return "unknown operation " + this.op.toString();
    if (this.param > 0 && <i32>this.param >= params) return "parameter " + this.param.toString() + " of " + params.toString();
    for (let i = 0; i < this.args.length; i++) {
      const why = this.args[i].check(params);
      if (why.length > 0) return why;
    }
    return "";
  }

  /** Its value at a point. */
  evaluate(params: Param[], p: f64[]): f64 {
    if (this.op == Op.Const) return this.number;
    if (this.op == Op.Number) return params[this.param].number(p[this.param]);
    if (this.op == Op.In) return this.isIn(p[this.param]);
    if (this.op == Op.And) return this.fold(params, p, 0);
    if (this.op == Op.Or) return this.fold(params, p, 1);
    const a = this.args[0].evaluate(params, p);
    if (this.op == Op.If) return isNaN(a) ? a : this.args[a == 1 ? 1 : 2].evaluate(params, p);
    const b = this.args.length > 1 ? this.args[1].evaluate(params, p) : 0;
    return isNaN(a) || isNaN(b) ? NaN : arithmetic(this.op, a, b);
  }

  private isIn(x: f64): f64 {
    if (isNaN(x)) return x;
    for (let i = 0; i < this.set.length; i++) {
      if (<f64>this.set[i] == x) return 1;
    }
    return 0;
  }

  /** And (decided by a 0) and Or (decided by a 1). */
  private fold(params: Param[], p: f64[], decides: f64): f64 {
    let result = 1 - decides;
    for (let i = 0; i < this.args.length; i++) {
      const x = this.args[i].evaluate(params, p);
      if (x == decides) return decides;
      if (isNaN(x)) result = x;
    }
    return result;
  }
}

function arithmetic(op: u32, a: f64, b: f64): f64 {
  switch (op) {
    case Op.Neg: return -a;
    case Op.Not: return 1 - a;
    case Op.Add: return a + b;
    case Op.Sub: return a - b;
    case Op.Mul: return a * b;
    case Op.Div: return b == 0 ? NaN : a / b;
    case Op.IntDiv: return b == 0 ? NaN : Math.trunc(a / b);
    case Op.Mod: return b == 0 ? NaN : a % b;
    case Op.Lt: return truth(a < b);
    case Op.Le: return truth(a <= b);
    case Op.Gt: return truth(a > b);
    case Op.Ge: return truth(a >= b);
    case Op.Eq: return truth(a == b);
  }
  return truth(a != b);
}

function truth(b: bool): f64 {
  return b ? 1 : 0;
}
