/**
 * Plugins for tunehost, and reports from plain programs.
 *
 * Importing it is fast: only {@link serve} loads gRPC.
 *
 * @module tunehost
 */

export { report, params, checkpoint, trial } from "./script.js";
export { stopped } from "./stop.js";
export { scheduler, searcher, serve, trainable } from "./plugin.js";
export { KilledError, RestoreError, StartError, StoppedError } from "./errors.js";
export { EXHAUSTED, WAIT } from "./answers.js";
export { log } from "./log.js";
export { Op } from "./space/expr.js";
export { Random } from "./space/random.js";
export { Seen, TightError } from "./space/seen.js";
export { Space } from "./space/space.js";

/** @typedef {import("./plugin.js").Answer} Answer */
/** @typedef {import("./plugin.js").Command} Command */
/** @typedef {import("./plugin.js").Decision} Decision */
/** @typedef {import("./plugin.js").Event} Event */
/** @typedef {import("./plugin.js").Info} Info */
/** @typedef {import("./plugin.js").Plugin} Plugin */
/** @typedef {import("./plugin.js").Point} Point */
/** @typedef {import("./plugin.js").Problem} Problem */
/** @typedef {import("./plugin.js").ReportOptions} ReportOptions */
/** @typedef {import("./plugin.js").Request} Request */
/** @typedef {import("./plugin.js").Run} Run */
/** @typedef {import("./plugin.js").Scheduler} Scheduler */
/** @typedef {import("./plugin.js").SchedulerPlugin} SchedulerPlugin */
/** @typedef {import("./plugin.js").Searcher} Searcher */
/** @typedef {import("./plugin.js").SearcherPlugin} SearcherPlugin */
/** @typedef {import("./plugin.js").Snapshots} Snapshots */
/** @typedef {import("./plugin.js").Trainable} Trainable */
/** @typedef {import("./plugin.js").TrainablePlugin} TrainablePlugin */
/** @typedef {import("./plugin.js").Traits} Traits */
/** @typedef {import("./plugin.js").Bundle} Bundle */
/** @typedef {import("./plugin.js").Logs} Logs */
/** @typedef {import("./plugin.js").Trial} Trial */
/** @typedef {import("./space/space.js").Param} Param */
/** @typedef {import("./space/space.js").Params} Params */
/** @typedef {import("./space/expr.js").Expr} Expr */
/** @typedef {import("./metrics.js").Metrics} Metrics */
