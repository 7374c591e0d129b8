export type Space = import("./space.js").Space;
export type Random = import("./random.js").Random;
/** How many draws are tested against the constraints. */
export declare const maxTries = 10000;
/** What is thrown when no point is found that satisfies the constraints. */
export declare class TightError extends Error {
    constructor();
}
/**
 * Helps searchers not to suggest a point of a finite space twice. It remembers
 * points; in spaces that are large, infinite or without parameters, and where the
 * host knows more conditions than the space (opaque), it remembers none and
 * everything is new.
 */
export declare class Seen {
    #private;
    /**
     * Remembers the points of the space if they are at most limit. Throws when the
     * space has no points.
     * @param {Space} space
     * @param {number} [limit]
     */
    constructor(space: Space, limit?: number);
    /**
     * Remembers p, unless it is no point of the space.
     * @param {Float64Array} p
     */
    add(p: Float64Array): void;
    /**
     * Says whether p is remembered.
     * @param {Float64Array} p
     */
    has(p: Float64Array): boolean;
    /** Whether every point of the space is remembered. */
    get full(): boolean;
    /**
     * The points with the given coordinates that are not remembered; none where
     * nothing is remembered.
     * @param {ArrayLike<number> | null} [given]
     */
    left(given?: ArrayLike<number> | null): Float64Array<ArrayBufferLike>[];
    /**
     * Chooses a new point, and remembers it: given completed by the first of the
     * draws, for tries from 0, that makes it new and satisfies the constraints. When
     * draws find none, random picks one of those that are left. When none is left it
     * returns null, or, if coordinates were given, repeats a point with them: whoever
     * gives them wants an answer for each. Throws a {@link TightError}, or what is
     * wrong with given.
     * @param {ArrayLike<number> | null} given
     * @param {Random} random
     * @param {(attempt: number) => ArrayLike<number>} draw
     * @returns {Float64Array | null}
     */
    pick(given: ArrayLike<number> | null, random: Random, draw: (attempt: number) => ArrayLike<number>): Float64Array | null;
}
