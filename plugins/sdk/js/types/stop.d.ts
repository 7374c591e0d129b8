/**
 * A signal that is aborted, with a StoppedError, when the trial must end. A program that reads it,
 * or that reports, is expected to end by itself. Outside of a
 * trial it is never aborted.
 * @returns {AbortSignal}
 */
export declare function stopped(): AbortSignal;
/** Handles SIGTERM in the program of a trial, but not in its child processes. */
export declare function listen(): void;
/**
 * Aborts the signal once: later signals do not disturb the program's cleanup.
 * @param {boolean} paused
 */
export declare function tell(paused: boolean): void;
