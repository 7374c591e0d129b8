/** Thrown by a report when training shall return now; let it pass. */
export declare class StoppedError extends Error {
    paused: boolean;
    /** @param {boolean} [paused] the trial will go on later */
    constructor(paused?: boolean);
}
/** Fails a trial that never began to train; retrying does not help. */
export declare class StartError extends Error {
    /** @param {string} message @param {ErrorOptions} [options] */
    constructor(message: string, options?: ErrorOptions);
}
/** Fails a trial whose checkpoint could not be loaded. The host may try once more without it. */
export declare class RestoreError extends Error {
    /** @param {string} message @param {ErrorOptions} [options] */
    constructor(message: string, options?: ErrorOptions);
}
/**
 * What was thrown, in one text.
 * @param {unknown} thrown
 */
export declare function messageOf(thrown: unknown): string;
/**
 * Where it was thrown, without the lines of this package where there are others.
 * @param {unknown} thrown
 */
export declare function stackOf(thrown: unknown): string;
/**
 * What was thrown, with its type and the author's line, in one line.
 * @param {unknown} thrown
 */
export declare function describe(thrown: unknown): string;
