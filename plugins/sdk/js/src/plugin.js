// The types of plugins that authors write: one object for each kind.

/** @typedef {import("./space/space.js").Space} Space */
/** @typedef {import("./space/space.js").Params} Params */
/** @typedef {import("./space/random.js").Random} Random */
/** @typedef {import("./metrics.js").Metrics} Metrics */

/**
 * A point: raw, or the parameters that exist by name.
 * @typedef {Float64Array | number[] | Params} Point
 */

/**
 * @typedef {object} Info
 * @property {string} name the name that users write in the experiment file: lower case, digits and dashes
 * @property {string} version the plugin's own
 * @property {string} summary one sentence
 * @property {object} [options] JSON Schema of the options: an object with
 *   additionalProperties false, a description and a default for each
 */

/**
 * @typedef {object} Problem
 * @property {Space} space
 * @property {{metric: string, mode: "min" | "max"}[]} objectives at least one
 * @property {bigint} seed the plugin's own
 * @property {number} trials how many are planned; 0 when unbounded
 * @property {number} concurrency how many may run at a time; 0 when unbounded
 * @property {Record<string, string | number>} request what each trial requests, as in the
 *   experiment file: {cpu: "2"}; empty if it is not known or consists of several bundles
 * @property {Record<string, string | number>} capacity the total resources when the
 *   experiment began, in the same form; empty if another system runs the trials
 */

/**
 * One event. Its kind determines which fields are set; kinds that are
 * not known yet may occur and must be ignored.
 * @typedef {object} Event
 * @property {bigint} number the event's position in the history, from 1
 * @property {"trial_added" | "trial_started" | "result_reported" | "trial_paused" | "trial_completed" | "trial_failed" |
 *   "trial_removed" | "checkpoint_saved" | "trial_requeued" | "experiment_ended" | "search_ended" | "unknown"} kind
 * @property {number} trial the trial's number, from 0
 * @property {number} attempt the number of its starts, from 1
 * @property {number} iteration the result's or checkpoint's, from 1
 * @property {Float64Array | null} point the trial's point (trial_added); see Space.object
 * @property {number[]} losses one for each objective: smaller is better in either
 *   mode, never NaN; empty for a trial that ended without a result
 * @property {{name: string, value: number}[]} metrics empty unless asked for (Traits)
 * @property {number} seconds the trial's training time so far
 * @property {boolean} secondsTold whether all of seconds was told by the caller of ask and tell, and nothing of it
 *   measured, so that the same requests give the same seconds
 * @property {boolean} again whether a restarted trial reports this iteration once more; only told with the trait again
 * @property {string} reason the reason, for users
 */

/**
 * The properties of an opened searcher or scheduler.
 * @typedef {object} Traits
 * @property {boolean} [independent] suggestions do not depend on results, which are not sent then (searchers)
 * @property {boolean} [quiet] it never decides anything (schedulers)
 * @property {number} [runAhead] results that may be reported beyond the last decided one (schedulers)
 * @property {boolean} [metrics] events must carry all metrics, not only losses
 * @property {boolean} [saves] trials must be able to make checkpoints (schedulers)
 * @property {string[]} [requires] metrics that every result must have
 * @property {boolean} [combinesGrid] it combines the grid axes itself, so requests do not fix them; each combination once before
 *   one is repeated (searchers)
 * @property {boolean} [again] it is told results of a restarted trial also for iterations that the trial had reported before,
 *   and decides on them; without it, it is told each iteration once
 */

/**
 * @typedef {object} Request
 * @property {number} trial the suggestion's number, from 0
 * @property {bigint} seed
 * @property {Random} random made from the seed: the only source of randomness that may be used
 * @property {Float64Array | null} given fixed coordinates, NaN for the others; they
 *   replace those of the answer
 */

/**
 * State to continue from, for plugins that can be restored faster than by reading
 * the whole history again. Implement both methods or neither.
 * @typedef {object} Snapshots
 * @property {() => Uint8Array | Promise<Uint8Array>} [snapshot] the state after the events observed so far
 * @property {(state: Uint8Array) => unknown} [restore] called once, before any other method
 */

/**
 * An opened searcher. Calls come one at a time. Its answers must depend only on
 * the problem, its options, the events so far and the requests' seeds.
 * @typedef {object} Searcher
 * @property {Traits} [traits]
 * @property {(events: Event[]) => unknown} [observe] receives the events, in order
 * @property {(request: Request) => Point | symbol | Promise<Point | symbol>} suggest answers
 *   one request: a point, WAIT or EXHAUSTED
 */

/**
 * The decision on one result. Without one the trial continues.
 * @typedef {object} Decision
 * @property {bigint} event the number of the result's event
 * @property {"continue" | "pause" | "stop"} verdict
 * @property {number | bigint} [until] (continue) no decision is needed before this
 *   iteration of the trial, and earlier results are not reported
 * @property {string} [reason] the reason, for users; expected with pause and stop
 */

/**
 * A command that does not answer a result.
 * @typedef {object} Command
 * @property {"resume" | "stop" | "exploit" | "resize" | "stop all"} kind
 * @property {number} trial
 * @property {number} [donor] the trial whose checkpoint is used (exploit)
 * @property {number} [iteration] which one
 * @property {Point | null} [point] the trial's new point (exploit)
 * @property {object} [resources] the new request (resize)
 * @property {string} [reason]
 */

/**
 * An opened scheduler. Calls come one at a time.
 * @typedef {object} Scheduler
 * @property {Traits} [traits]
 * @property {(events: Event[]) => Answer | Promise<Answer>} decide
 *   receives the events, in order, and returns decisions on the results among them
 */

/** @typedef {Decision[] | {decisions?: Decision[], commands?: Command[]} | void | null} Answer */

/**
 * One granted share of a node.
 * @typedef {object} Bundle
 * @property {string} node
 * @property {Record<string, any>} resources
 * @property {string[]} devices ids of the node's GPUs
 * @property {string} address the address at which the trial's other nodes reach this one; empty: all bundles are on this machine
 */

/**
 * Files of the trial's directory for its output; "" if it is not kept.
 * @typedef {object} Logs
 * @property {string} stdout
 * @property {string} stderr
 */

/**
 * The trial that an attempt trains.
 * @typedef {object} Trial
 * @property {string} id
 * @property {number} number
 * @property {number} attempt counts from 1
 * @property {string} experiment
 * @property {Record<string, any>} params nested as in the experiment file
 * @property {Record<string, any>} options
 * @property {bigint} seed
 * @property {string} dir the trial's directory
 * @property {string | null} restore the checkpoint to continue from
 * @property {number} iteration the iteration of that checkpoint, or 0
 * @property {Record<string, any>} resources what was granted
 * @property {string[]} devices ids of the granted GPUs, each once
 * @property {Bundle[]} bundles the granted shares, in the order of the request
 * @property {number} checkpointEvery a checkpoint is made at multiples of this iteration; 0: none
 * @property {boolean} checkpointAtEnd a checkpoint is made of the last result
 * @property {number} runAhead
 * @property {boolean} confirms the host gives a credit for each recorded result, also for those that meet a stop
 * @property {number} graceSeconds the time that a stopped trial has to clean up
 * @property {Logs} logs the files of its output
 */

/**
 * @typedef {object} ReportOptions
 * @property {number} [iteration] the iteration as the trainable counts it, from 1; without it the host counts
 * @property {boolean} [done] this is the last result
 * @property {string} [checkpoint] a directory that already holds this result's checkpoint; it is kept after a stop, too
 * @property {(dir: string) => unknown} [save] writes the training's state into the empty
 *   directory, if the host requests it
 */

/**
 * One attempt of one trial, as the training code sees it.
 * @typedef {object} Run
 * @property {Trial} trial
 * @property {Record<string, any>} params the trial's
 * @property {Record<string, any>} options the trainable's
 * @property {AbortSignal} stopped aborted when training must end; its reason is what a report throws
 * @property {AbortSignal} killed aborted when training must end immediately
 * @property {(metrics: Metrics, options?: ReportOptions) => Promise<void>} report reports
 *   one result and returns when the trial may continue; throws a StoppedError
 *   when it may not, and a KilledError when nobody has decided that, because the host
 *   is gone or has killed the trial; neither must be caught
 * @property {(line: string) => void} log writes a line to the trial's log
 * @property {(text: string) => void} reject records output of a program that is not a result
 */

/**
 * An opened trainable.
 * @typedef {object} Trainable
 * @property {boolean} [reusable] one process may run several trials, one after the other
 * @property {boolean} [shared] one process may run several trials at a time
 * @property {boolean} [saves] it can save a checkpoint when the host requests one
 * @property {(run: Run) => unknown} train trains one attempt
 * @property {(params: Record<string, any>) => object | Promise<object>} [request] computes
 *   the resources of a trial with the parameters
 */

/**
 * @typedef {Info & {open: (problem: Problem, options: Record<string, any>) =>
 *   (Searcher & Snapshots) | Promise<Searcher & Snapshots>}} SearcherPlugin
 * @typedef {Info & {open: (problem: Problem, options: Record<string, any>) =>
 *   (Scheduler & Snapshots) | Promise<Scheduler & Snapshots>}} SchedulerPlugin
 * @typedef {Info & {open: (options: Record<string, any>) => Trainable | Promise<Trainable>}} TrainablePlugin
 */

/**
 * @typedef {{kind: "searcher", plugin: SearcherPlugin} | {kind: "scheduler", plugin: SchedulerPlugin} |
 *   {kind: "trainable", plugin: TrainablePlugin}} Plugin
 */

/**
 * Makes a searcher. Its open must check the problem and the options: the message that it throws
 * is shown to the user, who must change something.
 * @param {SearcherPlugin} plugin
 * @returns {Plugin}
 */
export function searcher(plugin) {
  return { kind: "searcher", plugin: checked("searcher", plugin) };
}

/**
 * Makes a scheduler; see {@link searcher}.
 * @param {SchedulerPlugin} plugin
 * @returns {Plugin}
 */
export function scheduler(plugin) {
  return { kind: "scheduler", plugin: checked("scheduler", plugin) };
}

/**
 * Makes a trainable; see {@link searcher}.
 * @param {TrainablePlugin} plugin
 * @returns {Plugin}
 */
export function trainable(plugin) {
  return { kind: "trainable", plugin: checked("trainable", plugin) };
}

/**
 * @template {Info & {open: Function}} T
 * @param {string} kind
 * @param {T} plugin
 * @returns {T}
 */
function checked(kind, plugin) {
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(plugin.name ?? "")) {
    throw new TypeError(`the ${kind}'s name is ${JSON.stringify(plugin.name)}; it must be lower case letters, digits and dashes`);
  }
  if (!plugin.version || !plugin.summary) {
    throw new TypeError(`the ${kind} ${JSON.stringify(plugin.name)} has no version or no summary`);
  }
  if (typeof plugin.open !== "function") {
    throw new TypeError(`the ${kind} ${JSON.stringify(plugin.name)} has no function open`);
  }
  return plugin;
}

/**
 * Serves the plugins, at most one of each kind, until the host ends them, and
 * exits the process. Nothing may be written to stdout before; later output
 * goes to the experiment's log.
 * @param {...Plugin} plugins
 * @returns {Promise<never>}
 */
export async function serve(...plugins) {
  const { run } = await import("./serve/serve.js");
  return run(plugins);
}
