export type Expr = {
    /**
     * one of {@link Op}
     */
    op: number;
    /**
     * index of a parameter (Number, In)
     */
    param?: number;
    /**
     * (Const)
     */
    number?: number;
    /**
     * indices of choices (In)
     */
    set?: number[];
    args?: Expr[];
};
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
export declare const Op: Readonly<{
    Const: 1;
    Number: 2;
    In: 3;
    Neg: 4;
    Add: 5;
    Sub: 6;
    Mul: 7;
    Div: 8;
    IntDiv: 9;
    Mod: 10;
    Lt: 11;
    Le: 12;
    Gt: 13;
    Ge: 14;
    Eq: 15;
    Ne: 16;
    And: 17;
    Or: 18;
    Not: 19;
    If: 20;
}>;
/**
 * The value of e at a point in which parameters that do not exist, or are not
 * known yet, are NaN.
 * @param {Expr} e
 * @param {import("./space.js").Param[]} params
 * @param {ArrayLike<number>} p
 * @returns {number}
 */
export declare function evaluate(e: Expr, params: import("./space.js").Param[], p: ArrayLike<number>): number;
