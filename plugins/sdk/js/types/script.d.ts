export type Metrics = import("./metrics.js").Metrics;
export type Decision = "continue" | "pause" | "stop";
/** @typedef {import("./metrics.js").Metrics} Metrics */
/** @typedef {"continue" | "pause" | "stop"} Decision */
/**
 * The trial that this program trains; null outside of a trial.
 * @returns {{id: string, experiment: string, dir: string, seed: bigint} | null}
 */
export declare function trial(): {
    id: string;
    experiment: string;
    dir: string;
    seed: bigint;
} | null;
/**
 * The trial's parameters, with defaults for missing ones; outside of a trial only the
 * defaults. Nested parameters are nested objects.
 * @template {Record<string, any>} T
 * @param {T} [defaults]
 * @returns {T & Record<string, any>}
 */
export declare function params<T extends Record<string, any>>(defaults?: T): T & Record<string, any>;
/**
 * The directory of the checkpoint to continue from; null on a fresh start.
 * @returns {string | null}
 */
export declare function checkpoint(): string | null;
/**
 * Reports one result and waits for the decision. After "pause" and
 * "stop" the program must exit within stop_grace. Once a program has
 * reported, SIGTERM does not end it: its next report returns "stop"; see also stopped.
 *
 * Numbers are metrics; other values (text, boolean, array) are kept beside them in
 * result.jsonl. `done: true` marks the last result. With `save`, a directory is created, and
 * save writes the state into it before the result is reported; `checkpoint` is an existing
 * one. Outside of a trial the result is printed, nothing is saved, and the answer is
 * "continue". It throws a KilledError if nobody answers: the program must exit then, and
 * save nothing as its final state.
 * @param {Metrics} metrics
 * @param {{iteration?: number, checkpoint?: string, save?: (dir: string) => unknown}} [options]
 * @returns {Promise<Decision>}
 */
export declare function report(metrics: Metrics, { iteration, checkpoint, save }?: {
    iteration?: number;
    checkpoint?: string;
    save?: (dir: string) => unknown;
}): Promise<Decision>;
