/**
 * A signal that is aborted, with a StoppedError, when the trial shall end. Asking for it
 * means that the program ends by itself from then on; so does reporting. Outside of a
 * trial it is never aborted.
 * @returns {AbortSignal}
 */
export declare function stopped(): AbortSignal;
/** Takes SIGTERM, in the program of a trial and not in what that starts. */
export declare function listen(): void;
/**
 * Aborts the signal, once: what happens later does not disturb the program's cleanup.
 * @param {boolean} paused
 */
export declare function tell(paused: boolean): void;
