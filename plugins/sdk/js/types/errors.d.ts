/** Thrown by a report when training has to end now; do not catch it. */
export declare class StoppedError extends Error {
    paused: boolean;
    /** @param {boolean} [paused] the trial will continue later */
    constructor(paused?: boolean);
}
/**
 * Thrown by a report when nobody has decided that training ends: the host is gone, or has killed the trial. The last
 * result may be missing in the record, so nothing that the trial writes from now on is final; do not catch it.
 */
export declare class KilledError extends Error {
    /** @param {string} [message] */
    constructor(message?: string);
}
/** Fails a trial that could not start to train; retrying does not help. */
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
 * The message of a thrown value.
 * @param {unknown} thrown
 */
export declare function messageOf(thrown: unknown): string;
/**
 * Where it was thrown, without the lines of this package if there are others.
 * @param {unknown} thrown
 */
export declare function stackOf(thrown: unknown): string;
/**
 * The message of a thrown value with its type and the author's line, in one line.
 * @param {unknown} thrown
 */
export declare function describe(thrown: unknown): string;
