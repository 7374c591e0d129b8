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
     * Returns a new point, and remembers it: given, completed by the first of the
     * draws, from 0, with which it is new and satisfies the constraints. If the
     * draws find none, one of the remaining points is chosen at random. If none remains, it
     * returns null or, if coordinates were given, repeats a point with them, because a
     * request with coordinates needs an answer. Throws a {@link TightError}, or an error if
     * given is not valid.
     * @param {ArrayLike<number> | null} given
     * @param {Random} random
     * @param {(attempt: number) => ArrayLike<number>} draw
     * @returns {Float64Array | null}
     */
    pick(given: ArrayLike<number> | null, random: Random, draw: (attempt: number) => ArrayLike<number>): Float64Array | null;
}
