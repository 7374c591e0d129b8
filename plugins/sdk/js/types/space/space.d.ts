export type Expr = import("./expr.js").Expr;
export type Random = import("./random.js").Random;
export type Param = {
    /**
     * parts of nested names are joined with "/"
     */
    name: string;
    kind: "real" | "int" | "normal" | "choice" | "ordinal";
    /**
     * the bounds of reals and integers, both included
     */
    low: number;
    high: number;
    /**
     * differences matter on a logarithmic scale
     */
    log: boolean;
    /**
     * values are multiples of it; 0: any
     */
    step: number;
    /**
     * of a normal distribution
     */
    mean: number;
    /**
     * its standard deviation
     */
    sd: number;
    /**
     * the values of a choice or ordinal
     */
    choices: any[] | null;
    /**
     * the host gives the value in each request
     */
    grid: boolean;
    /**
     * the condition under which the parameter exists
     */
    when: Expr | null;
};
export type Params = Record<string, any>;
/**
 * An ordered list of parameters, parents before children, and what must hold.
 *
 * A point is a Float64Array with one number for each parameter: reals and integers
 * are themselves, choices are the index of the chosen value, and NaN says that the
 * parameter does not exist in this point. {@link Space.object} and
 * {@link Space.point} translate to names and values.
 */
export declare class Space {
    #private;
    /** @type {readonly Param[]} */
    params: readonly Param[];
    /** @type {readonly Expr[]} */
    constraints: readonly Expr[];
    /** Whether there are conditions or constraints that only the host can check. */
    opaque: boolean;
    /** @param {{params: (Partial<Param> & {name: string, kind: Param["kind"]})[], constraints?: Expr[], opaque?: boolean}} description */
    constructor({ params, constraints, opaque }: {
        params: (Partial<Param> & {
            name: string;
            kind: Param["kind"];
        })[];
        constraints?: Expr[];
        opaque?: boolean;
    });
    /**
     * The value of an expression at p; truth is 1 and 0, not known is NaN.
     * @param {Expr} e
     * @param {ArrayLike<number>} p
     */
    evaluate(e: Expr, p: ArrayLike<number>): number;
    /**
     * Whether parameter i exists, given the values before it.
     * @param {ArrayLike<number>} p
     * @param {number} i
     */
    active(p: ArrayLike<number>, i: number): boolean;
    /**
     * Sets the parameters that do not exist to NaN, parents first.
     * @param {Float64Array} p
     */
    prune(p: Float64Array): void;
    /**
     * Whether no constraint is broken at p. A constraint on parameters that do not
     * exist holds.
     * @param {ArrayLike<number>} p
     */
    holds(p: ArrayLike<number>): boolean;
    /**
     * The value of parameter i at u, its place in [0, 1] under the parameter's own
     * distribution, so that a uniform u gives a sample. NaN stays.
     * @param {number} i
     * @param {number} u
     */
    fromUnit(i: number, u: number): number;
    /**
     * The place of value x of parameter i in [0, 1].
     * @param {number} i
     * @param {number} x
     */
    toUnit(i: number, x: number): number;
    /**
     * The value that parameter i can have nearest to x. NaN stays.
     * @param {number} i
     * @param {number} x
     */
    quantise(i: number, x: number): number;
    /**
     * Draws a value for every parameter, whether it exists or not, with one number of
     * random for each.
     * @param {Random} random
     */
    draw(random: Random): Float64Array<ArrayBuffer>;
    /**
     * Draws a point, again where constraints do not hold; throws a
     * {@link TightError}. Coordinates that are given stay as they are.
     * @param {Random} random
     * @param {ArrayLike<number> | null} [given]
     */
    sample(random: Random, given?: ArrayLike<number> | null): Float64Array<ArrayBuffer>;
    /**
     * Lays points over each other: a parameter's value is the first that is not NaN.
     * Parameters that then do not exist are dropped. Layers may be null.
     * @param {...(ArrayLike<number> | null | undefined)} layers
     */
    complete(...layers: (ArrayLike<number> | null | undefined)[]): Float64Array<ArrayBuffer>;
    /**
     * What is wrong with p as a point of the space, in one line; null if nothing is.
     * Constraints are {@link Space.holds}'s matter.
     * @param {ArrayLike<number>} p
     * @returns {string | null}
     */
    check(p: ArrayLike<number>): string | null;
    /**
     * Throws an error if p is not a valid partial point.
     * @param {ArrayLike<number> | null} p
     */
    checkGiven(p: ArrayLike<number> | null): void;
    /**
     * The parameters that p has, by name.
     * @param {ArrayLike<number>} p
     * @returns {Params}
     */
    object(p: ArrayLike<number>): Params;
    /**
     * The point with these values, pruned; parameters that are not there are NaN.
     * Throws when a name or a choice is unknown.
     * @param {Params} object
     */
    point(object: Params): Float64Array<ArrayBuffer>;
    /**
     * How many points the space has, constraints respected; null where they are
     * infinitely many, more than limit, or too long to count.
     * @param {number} limit
     * @returns {number | null}
     */
    size(limit: number): number | null;
    /** Every point of a finite space; none for other spaces. */
    all(): Generator<Float64Array<ArrayBufferLike>, void, unknown>;
    /**
     * A string that two points share if and only if they are the same, where values
     * that differ by the rounding of a step are the same. It is not for people.
     * @param {ArrayLike<number>} p
     */
    key(p: ArrayLike<number>): string;
}
