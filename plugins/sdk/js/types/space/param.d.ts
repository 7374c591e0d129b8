export type Param = import("./space.js").Param;
export type Lattice = {
    first: number;
    last: number;
    step: number;
};
/**
 * The values of p, or null where they are a continuum or without end.
 * @param {Param} p
 * @returns {Lattice | null}
 */
export declare function lattice(p: Param): Lattice | null;
/** @param {Lattice} l */
export declare function count(l: Lattice): number;
/**
 * k·step as people write it: three steps of 0.1 are 0.3, which the product in
 * binary is not. Where step is a short decimal m/10^d, k·m/10^d has one rounding.
 * @param {number} k
 * @param {number} step
 */
export declare function multiple(k: number, step: number): number;
/**
 * The value of p at u in [0, 1] under its own distribution.
 * @param {Param} p
 * @param {number} u
 */
export declare function fromUnit(p: Param, u: number): number;
/**
 * The place of x in [0, 1]; inside its cell for values with a mass.
 * @param {Param} p
 * @param {number} x
 */
export declare function toUnit(p: Param, x: number): number;
/**
 * The value that p can have nearest to x. NaN stays.
 * @param {Param} p
 * @param {number} x
 */
export declare function quantise(p: Param, x: number): number;
/**
 * Whether p can be x. Steps of reals may be missed by rounding.
 * @param {Param} p
 * @param {number} x
 */
export declare function contains(p: Param, x: number): boolean;
/**
 * Describes the values of p.
 * @param {Param} p
 */
export declare function allowed(p: Param): string;
