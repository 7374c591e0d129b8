export type Metrics = import("./metrics.js").Metrics;
export type Decision = "continue" | "pause" | "stop";
/** @typedef {import("./metrics.js").Metrics} Metrics */
/** @typedef {"continue" | "pause" | "stop"} Decision */
/**
 * What this program is to train; null outside of a trial.
 * @returns {{id: string, experiment: string, dir: string, seed: bigint} | null}
 */
export declare function trial(): {
    id: string;
    experiment: string;
    dir: string;
    seed: bigint;
} | null;
/**
 * The trial's parameters laid over defaults, which are all there is outside of a
 * trial. Nested parameters are nested objects.
 * @template {Record<string, any>} T
 * @param {T} [defaults]
 * @returns {T & Record<string, any>}
 */
export declare function params<T extends Record<string, any>>(defaults?: T): T & Record<string, any>;
/**
 * The directory of the checkpoint to go on from; null on a fresh start.
 * @returns {string | null}
 */
export declare function checkpoint(): string | null;
/**
 * Reports one result and waits for what becomes of the trial. After "pause" and
 * "stop" the program shall exit; it has the time that stop_grace says. Once a program has
 * reported, SIGTERM does not end it: it is told "stop" by its next report, or see stopped.
 *
 * Numbers are metrics; what is none (text, boolean, array) is kept beside them in
 * result.jsonl. `done: true` among them makes it the last result. With `save`, a directory is made that save writes the state into before the
 * result is reported; `checkpoint` is one that is there already. Outside of a trial
 * the result is printed, nothing is saved, and the answer is "continue".
 * @param {Metrics} metrics
 * @param {{iteration?: number, checkpoint?: string, save?: (dir: string) => unknown}} [options]
 * @returns {Promise<Decision>}
 */
export declare function report(metrics: Metrics, { iteration, checkpoint, save }?: {
    iteration?: number;
    checkpoint?: string;
    save?: (dir: string) => unknown;
}): Promise<Decision>;
