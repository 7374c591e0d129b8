export type Space = import("./space.js").Space;
export type Axis = {
    count: number;
    value: (k: number) => number;
};
/** @typedef {import("./space.js").Space} Space */
/**
 * The values that a walk gives to one parameter.
 * @typedef {{count: number, value: (k: number) => number}} Axis
 */
/**
 * Every parameter's values in ascending order; null where one has no end of them.
 * @param {Space} space
 * @returns {Axis[] | null}
 */
export declare function axes(space: Space): Axis[] | null;
/**
 * The axes with those of given coordinates fixed to them.
 * @param {Axis[]} list
 * @param {ArrayLike<number> | null | undefined} given
 */
export declare function givenAxes(list: Axis[], given: ArrayLike<number> | null | undefined): Axis[];
/**
 * Goes through the points whose parameters have values of the axes, the last
 * parameter fastest, one parameter a step: yields the point that a step completed
 * (a copy) or null. No point comes twice; branches that break a constraint whatever
 * follows are cut. Many steps may pass without a point where constraints are tight.
 * @param {Space} space
 * @param {Axis[]} list
 * @returns {Generator<Float64Array | null, void>}
 */
export declare function walk(space: Space, list: Axis[]): Generator<Float64Array | null, void>;
