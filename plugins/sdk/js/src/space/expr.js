// Expressions over the parameters of a space: conditions and constraints.

/**
 * An expression. Truth is 1 and 0; what is not known is NaN.
 * @typedef {object} Expr
 * @property {number} op one of {@link Op}
 * @property {number} [param] index of a parameter (Number, In)
 * @property {number} [number] (Const)
 * @property {number[]} [set] indices of choices (In)
 * @property {Expr[]} [args]
 */

/** The operations, by their number in the protocol. */
export const Op = Object.freeze({
  Const: 1, Number: 2, In: 3, Neg: 4, Add: 5, Sub: 6, Mul: 7, Div: 8, IntDiv: 9, Mod: 10,
  Lt: 11, Le: 12, Gt: 13, Ge: 14, Eq: 15, Ne: 16, And: 17, Or: 18, Not: 19, If: 20,
});

/**
 * The value of e at a point in which parameters that do not exist, or are not
 * known yet, are NaN.
 * @param {Expr} e
 * @param {import("./space.js").Param[]} params
 * @param {ArrayLike<number>} p
 * @returns {number}
 */
export function evaluate(e, params, p) {
  switch (e.op) {
    case Op.Const: return e.number ?? 0;
    case Op.Number: return numberOf(params[e.param ?? 0], p[e.param ?? 0]);
    case Op.In: return isIn(e.set ?? [], p[e.param ?? 0]);
    case Op.And: return fold(e, params, p, 0);
    case Op.Or: return fold(e, params, p, 1);
    case Op.If: return branch(e, params, p);
  }
  const args = e.args ?? [];
  const a = evaluate(args[0], params, p);
  const b = args.length > 1 ? evaluate(args[1], params, p) : 0;
  return Number.isNaN(a) || Number.isNaN(b) ? NaN : arithmetic(e.op, a, b);
}

/**
 * What a parameter counts for in arithmetic; NaN for a choice that is no number.
 * @param {import("./space.js").Param} param
 * @param {number} x
 */
function numberOf(param, x) {
  if (!param.choices) {
    return x;
  }
  const choice = x >= 0 && x < param.choices.length ? param.choices[Math.trunc(x)] : undefined;
  return typeof choice === "number" ? choice : NaN;
}

/**
 * @param {number[]} set
 * @param {number} x
 */
function isIn(set, x) {
  return Number.isNaN(x) ? NaN : truth(set.includes(x));
}

/**
 * And (decided by a 0) and Or (decided by a 1).
 * @param {Expr} e
 * @param {import("./space.js").Param[]} params
 * @param {ArrayLike<number>} p
 * @param {number} decides
 */
function fold(e, params, p, decides) {
  let result = 1 - decides;
  for (const arg of e.args ?? []) {
    const x = evaluate(arg, params, p);
    if (x === decides) {
      return decides;
    }
    if (Number.isNaN(x)) {
      result = NaN;
    }
  }
  return result;
}

/**
 * @param {Expr} e
 * @param {import("./space.js").Param[]} params
 * @param {ArrayLike<number>} p
 */
function branch(e, params, p) {
  const [condition, then, otherwise] = /** @type {Expr[]} */ (e.args);
  const x = evaluate(condition, params, p);
  return Number.isNaN(x) ? x : evaluate(x === 1 ? then : otherwise, params, p);
}

/**
 * The operations on numbers; no argument is NaN.
 * @param {number} op
 * @param {number} a
 * @param {number} b
 */
function arithmetic(op, a, b) {
  switch (op) {
    case Op.Neg: return -a;
    case Op.Not: return 1 - a;
    case Op.Add: return a + b;
    case Op.Sub: return a - b;
    case Op.Mul: return a * b;
    case Op.Div: return b === 0 ? NaN : a / b;
    case Op.IntDiv: return b === 0 ? NaN : Math.trunc(a / b);
    case Op.Mod: return b === 0 ? NaN : a % b;
    case Op.Lt: return truth(a < b);
    case Op.Le: return truth(a <= b);
    case Op.Gt: return truth(a > b);
    case Op.Ge: return truth(a >= b);
    case Op.Eq: return truth(a === b);
    case Op.Ne: return truth(a !== b);
  }
  throw new Error(`unknown operation ${op}`);
}

/** @param {boolean} b */
function truth(b) {
  return b ? 1 : 0;
}
