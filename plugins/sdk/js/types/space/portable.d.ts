/**
 * The natural logarithm of a positive, finite x, right to about an ulp. With
 * x = m·2^e and s = (m-1)/(m+1), ln m is the series 2(s + s³/3 + s⁵/5 …).
 * @param {number} x
 */
export declare function ln(x: number): number;
/**
 * e^x for finite x, right to about an ulp: Taylor's series around the nearest
 * multiple of ln 2.
 * @param {number} x
 */
export declare function exp(x: number): number;
/**
 * The inverse of the standard normal distribution function for 0 < u < 1
 * (M. J. Wichura, Algorithm AS 241, Applied Statistics 37, 1988).
 * @param {number} u
 */
export declare function quantile(u: number): number;
/** The least and the greatest u whose quantile is used. */
export declare const edge: number;
/**
 * The standard normal distribution function, as the inverse of [quantile]: within
 * its range by halving, outside of it the range's end.
 * @param {number} z
 * @returns {number}
 */
export declare function normalBelow(z: number): number;
/**
 * The integer nearest to x; of two the even one.
 * @param {number} x
 */
export declare function roundToEven(x: number): number;
/**
 * The integer nearest to x; of two the one further from 0.
 * @param {number} x
 */
export declare function round(x: number): number;
