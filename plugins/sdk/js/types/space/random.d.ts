/** Random numbers that depend on the seed alone. */
export declare class Random {
    #private;
    /** @param {bigint | number} seed 64 bits; take a request's or the problem's */
    constructor(seed: bigint | number);
    /** The next 64 bits. */
    uint64(): bigint;
    /** A uniform number in [0, 1). */
    float64(): number;
    /**
     * A whole number from 0 to n - 1.
     * @param {number} n
     */
    below(n: number): number;
    /** A number of the standard normal distribution. */
    normal(): number;
}
