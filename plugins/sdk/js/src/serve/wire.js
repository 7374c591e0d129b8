// Converts between the protocol's messages and the types that authors see. Messages are
// plain objects as proto.js loads them; no other file uses them.

import { inspect } from "node:util";
import { none } from "./options.js";
import { EXHAUSTED, WAIT } from "../answers.js";
import { Op } from "../space/expr.js";
import { Random } from "../space/random.js";
import { Space } from "../space/space.js";

/** @typedef {import("../plugin.js").Event} Event */
/** @typedef {import("../plugin.js").Decision} Decision */
/** @typedef {import("../plugin.js").Command} Command */
/** @typedef {import("../plugin.js").Trial} Trial */

/** @type {(import("../space/space.js").Param["kind"] | undefined)[]} */
const paramKinds = [undefined, "real", "int", "normal", "choice", "ordinal"];

/** @type {Event["kind"][]} */
const eventKinds = ["unknown", "trial_added", "trial_started", "result_reported", "trial_paused", "trial_completed",
  "trial_failed", "trial_removed", "checkpoint_saved", "trial_requeued", "experiment_ended", "search_ended"];

const verdicts = ["continue", "pause", "stop"];
const commands = [undefined, "resume", "stop", "exploit", "resize", "stop all"];

/** RunAhead need not be larger. */
const maxRunAhead = 2 ** 30;

/**
 * All 64 bits of an unsigned number.
 * @param {{low: number, high: number}} long
 */
export function big(long) {
  return (BigInt(long.high >>> 0) << 32n) | BigInt(long.low >>> 0);
}

/**
 * An unsigned number that is never larger than 2^53 where it is a count.
 * @param {{low: number, high: number}} long
 */
export function count(long) {
  return (long.high >>> 0) * 2 ** 32 + (long.low >>> 0);
}

/**
 * @param {Uint8Array} bytes
 * @returns {any}
 */
function json(bytes) {
  return bytes.length === 0 ? {} : JSON.parse(new TextDecoder().decode(bytes));
}

/**
 * A text that protobuf can carry.
 * @param {unknown} s
 */
export function text(s) {
  return s === undefined || s === null ? "" : Buffer.from(String(s)).toString();
}

/**
 * @param {import("../plugin.js").Info} info
 * @param {string} kind
 */
export function info({ name, version, summary, options }, kind) {
  return { kind, name, version, summary: summary.trim(), options_schema: Buffer.from(JSON.stringify(options ?? none)) };
}

/**
 * @param {import("../plugin.js").Traits | undefined} traits
 * @param {boolean} snapshots
 */
export function traits({ independent, quiet, runAhead = 0, metrics, saves, requires = [], combinesGrid, again } = {}, snapshots) {
  return {
    independent: Boolean(independent), quiet: Boolean(quiet), run_ahead: Math.max(0, Math.min(runAhead, maxRunAhead)),
    metrics: Boolean(metrics), saves: Boolean(saves), requires, snapshots, combines_grid: Boolean(combinesGrid),
    again: Boolean(again),
  };
}

/**
 * Throws when the problem is one that this package does not know.
 * @param {any} m
 * @returns {import("../plugin.js").Problem}
 */
export function problem(m) {
  m ??= { objectives: [], seed: { low: 0, high: 0 }, trials: { low: 0, high: 0 }, concurrency: { low: 0, high: 0 },
    request: [], capacity: [] };
  return {
    space: space(m.space ?? { params: [], constraints: [], opaque: false }),
    objectives: m.objectives.map((/** @type {any} */ o) => ({ metric: o.metric, mode: o.maximize ? "max" : "min" })),
    seed: big(m.seed),
    trials: count(m.trials),
    concurrency: count(m.concurrency),
    request: json(m.request),
    capacity: json(m.capacity),
  };
}

/** @param {any} m */
function space(m) {
  const size = m.params.length;
  return new Space({
    params: m.params.map((/** @type {any} */ p) => param(p, size)),
    constraints: m.constraints.map((/** @type {any} */ e) => expr(e, size)),
    opaque: m.opaque,
  });
}

/**
 * @param {any} m
 * @param {number} size
 */
function param(m, size) {
  const kind = paramKinds[m.kind];
  if (!kind) {
    throw new Error(`parameter ${JSON.stringify(m.name)} has the unknown kind ${m.kind}`);
  }
  const isChoice = kind === "choice" || kind === "ordinal";
  return {
    name: m.name, kind, low: m.low, high: m.high, log: m.log, step: m.step, mean: m.mean, sd: m.sd,
    choices: isChoice ? m.choices.map((/** @type {Uint8Array} */ c) => JSON.parse(new TextDecoder().decode(c))) : null,
    grid: m.grid, when: m.when ? expr(m.when, size) : null,
  };
}

/**
 * @param {any} m
 * @param {number} size
 * @returns {import("../space/expr.js").Expr}
 */
function expr(m, size) {
  if (m.op < Op.Const || m.op > Op.If) {
    throw new Error(`unknown operation ${m.op}`);
  }
  if (m.param > 0 && m.param >= size) {
    throw new Error(`parameter ${m.param} of ${size}`);
  }
  return { op: m.op, param: m.param, number: m.number, set: m.set, args: m.args.map((/** @type {any} */ a) => expr(a, size)) };
}

/**
 * @param {any} m
 * @returns {Event}
 */
export function event(m) {
  return {
    number: big(m.number), kind: eventKinds[m.kind] ?? "unknown", trial: m.trial, attempt: m.attempt,
    iteration: count(m.iteration), point: m.point && Float64Array.from(m.point.values), losses: m.losses,
    metrics: m.metrics, seconds: m.seconds, secondsTold: m.seconds_told, reason: m.reason, again: m.again,
  };
}

/**
 * @param {any} m
 * @returns {import("../plugin.js").Request}
 */
export function request(m) {
  const seed = big(m.seed);
  /** @type {Random | undefined} */
  let random;
  return {
    trial: m.trial, seed, given: m.given && Float64Array.from(m.given.values),
    get random() {
      return (random ??= new Random(seed));
    },
  };
}

/**
 * A searcher's answer, checked, with the coordinates that are given laid over it;
 * a symbol for WAIT and EXHAUSTED.
 * @param {Space} space
 * @param {any} answer
 * @param {import("../plugin.js").Request} request
 */
export function suggestion(space, answer, { trial, given }) {
  if (answer === WAIT || answer === EXHAUSTED) {
    return /** @type {symbol} */ (answer);
  }
  const what = `point for trial ${trial}`;
  const point = raw(space, answer && typeof answer === "object" && !isRaw(answer) ? pointOf(space, answer, what) : answer, what);
  given?.forEach((x, i) => {
    if (i < point.length && !Number.isNaN(x)) {
      point[i] = x;
    }
  });
  return { values: point };
}

/** Values that are outside of the space, as the host finds of the numbers of a point. */
export class OutsideError extends Error {}

/** @param {any} point */
const isRaw = (point) => Array.isArray(point) || ArrayBuffer.isView(point);

/**
 * @param {Space} space
 * @param {any} values
 * @param {string} what
 */
function pointOf(space, values, what) {
  try {
    return space.point(values);
  } catch (thrown) {
    throw new OutsideError(`its ${what}: ${/** @type {Error} */ (thrown).message}`);
  }
}

/**
 * @param {Space} space
 * @param {any} point
 * @param {string} what
 * @returns {number[]}
 */
function raw(space, point, what) {
  if (!point || typeof point !== "object") {
    throw new TypeError(`its ${what} is ${String(point)}; expected a point, WAIT or EXHAUSTED`);
  }
  const values = Array.from(/** @type {Float64Array} */ (isRaw(point) ? point : space.point(point)));
  if (values.length !== space.params.length) {
    throw new RangeError(`its ${what} has length ${values.length}; expected ${space.params.length}, one for each parameter`);
  }
  if (!values.every((x) => typeof x === "number")) {
    throw new TypeError(`its ${what} has a value that is no number; a raw point has NaN where a parameter does not exist`);
  }
  return values;
}

/**
 * A scheduler's answer, checked against the events that it was told.
 * @param {Space} space
 * @param {Event[]} events
 * @param {import("../plugin.js").Answer} answer
 */
export function decisions(space, events, answer) {
  const { decisions: list, commands: orders } = lists(answer);
  const open = new Set(events.filter((e) => e.kind === "result_reported").map((e) => e.number));
  return {
    decisions: list.map((d) => decision(open, d)),
    commands: orders.map((c) => command(space, c)),
  };
}

/**
 * The lists of a scheduler's answer. Anything else than an answer would be taken for none.
 * @param {any} answer
 * @returns {{decisions: Decision[], commands: Command[]}}
 */
function lists(answer) {
  const all = Array.isArray(answer) ? { decisions: answer } : answer ?? {};
  const { decisions = [], commands = [] } = all;
  if (!isPlain(all) || !Object.keys(all).every((key) => key === "decisions" || key === "commands")
    || !isList(decisions) || !isList(commands)) {
    throw new TypeError(`it returned ${shown(answer)}; expected a list of decisions, `
      + 'such as [{event: event.number, verdict: "stop"}], or {decisions: [], commands: []}');
  }
  return { decisions, commands };
}

/** @param {any} value */
const isPlain = (value) => typeof value === "object" && [Object.prototype, null].includes(Object.getPrototypeOf(value));

/** @param {any} value */
const isList = (value) => Array.isArray(value) && Array.from(value).every((x) => x !== null && typeof x === "object");

/** @param {any} value */
const shown = (value) => inspect(value, { depth: 2, compact: true, breakLength: Infinity, maxStringLength: maxShown })
  .slice(0, maxShown);

const maxShown = 200;

/**
 * @param {Set<bigint>} open
 * @param {Decision} d
 */
function decision(open, d) {
  if (d.event === undefined) {
    throw new TypeError(`its decision ${shown(d)} has no event; `
      + "expected the number of a result, as in {event: event.number, …}");
  }
  const event = whole("the event of its decision", d.event);
  const verdict = verdicts.indexOf(d.verdict);
  if (verdict < 0) {
    const gave = d.verdict === undefined ? "no verdict" : `the unknown verdict ${d.verdict}`;
    throw new Error(`it gave ${gave} on event ${event}; expected continue (also with until), pause or stop`);
  }
  if (!open.delete(BigInt(event))) {
    throw new Error(`it decided on event ${event}, which is not a result of this call or was decided already`);
  }
  const on = `of its decision on event ${event}`;
  return { event, verdict, until: whole(`until ${on}`, d.until ?? 0), reason: reason(on, d.reason) };
}

/**
 * @param {Space} space
 * @param {Command} c
 */
function command(space, c) {
  const kind = commands.indexOf(c.kind);
  if (kind < 1) {
    throw new Error(`it sent the unknown command ${c.kind} for trial ${c.trial}`);
  }
  const of = `of its command ${c.kind}`;
  return {
    kind, trial: Number(whole(`the trial ${of}`, c.kind === "stop all" ? c.trial ?? 0 : c.trial)),
    donor: Number(whole(`the donor ${of}`, c.donor ?? 0)), iteration: whole(`the iteration ${of}`, c.iteration ?? 0),
    point: c.point ? { values: raw(space, c.point, `point for trial ${c.trial}`) } : null,
    resources: c.resources ? Buffer.from(JSON.stringify(c.resources)) : Buffer.alloc(0), reason: reason(of, c.reason),
  };
}

/**
 * The digits of a whole number that a message can carry.
 * @param {string} what
 * @param {unknown} value
 */
function whole(what, value) {
  const fits = typeof value === "bigint" ? value >= 0n && value < 2n ** 64n
    : Number.isSafeInteger(value) && Number(value) >= 0;
  if (!fits) {
    throw new TypeError(`${what} is ${shown(value)}; expected a whole number from 0 on`);
  }
  return String(value);
}

/**
 * @param {string} of
 * @param {unknown} value
 */
function reason(of, value) {
  if (typeof (value ?? "") !== "string") {
    throw new TypeError(`the reason ${of} is ${shown(value)}; expected a text`);
  }
  return text(/** @type {string | undefined} */ (value ?? undefined));
}

/**
 * @param {any} m
 * @returns {Trial}
 */
export function trial(m) {
  return {
    id: m.id, number: m.number, attempt: m.attempt, experiment: m.experiment,
    params: json(m.params), options: json(m.options), seed: big(m.seed),
    dir: m.dir, restore: m.restore || null, iteration: count(m.iteration),
    resources: json(m.resources), devices: m.devices,
    bundles: m.bundles.map((/** @type {any} */ b) => ({ node: b.node, resources: json(b.resources), devices: b.devices,
      address: b.address })),
    checkpointEvery: count(m.checkpoint_every), checkpointAtEnd: m.checkpoint_at_end,
    runAhead: Math.min(m.run_ahead, maxRunAhead), graceSeconds: m.grace_seconds, confirms: Boolean(m.confirms),
    logs: m.logs ?? { stdout: "stdout", stderr: "stderr" },
  };
}
