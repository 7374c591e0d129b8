// For plain programs that tunehost starts (a trainable with a command): the trial
// is in the environment, and results go over the socket named by TUNEHOST_CHANNEL.
// Everything works outside of a trial too, so that the program can be tested.

import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createConnection } from "node:net";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { KilledError } from "./errors.js";
import { flatten, leftOut } from "./metrics.js";
import { listen, tell } from "./stop.js";

/** @typedef {import("./metrics.js").Metrics} Metrics */
/** @typedef {"continue" | "pause" | "stop"} Decision */

/**
 * The trial that this program trains; null outside of a trial.
 * @returns {{id: string, experiment: string, dir: string, seed: bigint} | null}
 */
export function trial() {
  const { TUNEHOST_TRIAL_ID: id, TUNEHOST_EXPERIMENT: experiment = "", TUNEHOST_TRIAL_DIR: dir = "", TUNEHOST_SEED: seed } = process.env;
  return id === undefined ? null : { id, experiment, dir, seed: BigInt(seed ?? 0) };
}

/**
 * The trial's parameters, with defaults for missing ones; outside of a trial only the
 * defaults. Nested parameters are nested objects.
 * @template {Record<string, any>} T
 * @param {T} [defaults]
 * @returns {T & Record<string, any>}
 */
export function params(defaults) {
  const file = process.env.TUNEHOST_PARAMS;
  return { .../** @type {T} */ (defaults), ...(file ? JSON.parse(readFileSync(file, "utf8")) : {}) };
}

/**
 * The directory of the checkpoint to continue from; null on a fresh start.
 * @returns {string | null}
 */
export function checkpoint() {
  return process.env.TUNEHOST_CHECKPOINT || null;
}

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
export async function report(metrics, { iteration, checkpoint, save } = {}) {
  const said = flatten(metrics);
  const flat = { ...Object.fromEntries([...said.metrics].map(([name, value]) => [name, writable(value)])), ...said.values };
  if (said.leftOut.length > 0) {
    console.warn(leftOut(said.leftOut));
  }
  const path = process.env.TUNEHOST_CHANNEL;
  if (!path) {
    console.log(JSON.stringify(flat));
    return "continue";
  }
  listen();
  const dir = save ? await saved(save) : checkpoint && resolve(checkpoint);
  const answer = await channel(path).ask({ metrics: flat, iteration: iteration ?? (said.iteration || undefined), checkpoint: dir, done: said.done || undefined });
  if (answer.error) {
    throw new Error(`the report was refused: ${answer.error}`);
  }
  if (answer.decision !== "continue") {
    tell(answer.decision === "pause");
  }
  return answer.decision;
}

/**
 * A checkpoint gets its final name when it is complete. An incomplete one of a killed program
 * has another name, by which the next host recognises it.
 * @param {(dir: string) => unknown} save
 */
async function saved(save) {
  const parent = resolve(process.env.TUNEHOST_CHECKPOINT_DIR ?? "checkpoints");
  mkdirSync(parent, { recursive: true });
  const name = randomBytes(4).toString("hex");
  const begun = join(parent, `.new-${name}`);
  mkdirSync(begun);
  try {
    await save(begun);
    [...readdirSync(begun).map((file) => join(begun, file)), begun].forEach(sync);
  } catch (thrown) {
    rmSync(begun, { recursive: true, force: true });
    throw thrown;
  }
  const dir = join(parent, `checkpoint-${name}`);
  renameSync(begun, dir);
  return dir;
}

/**
 * Makes sure that a file survives a power loss, if the system supports it.
 * @param {string} path
 */
function sync(path) {
  try {
    const file = openSync(path, "r");
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch { // not everything can be synced
  }
}

/**
 * A number, or the string for a number that JSON cannot represent.
 * @param {number} x
 */
function writable(x) {
  return Number.isFinite(x) ? x : String(x);
}

/** @type {Channel | null} */
let open = null;

/** @param {string} path */
function channel(path) {
  open ??= new Channel(path);
  return open;
}

/** What the host leaves when it ends: a socket that nobody answers, or none. */
const gone = ["ECONNREFUSED", "ECONNRESET", "EPIPE", "ENOENT"];

/** @param {NodeJS.ErrnoException} why */
function broken(why) {
  const text = `cannot connect to the report channel: ${why.message}`;
  return gone.includes(why.code ?? "") ? new KilledError(text) : new Error(text);
}

/** The connection to the host: one line in each direction for each report, in order. */
class Channel {
  /** @type {{resolve: (answer: any) => void, reject: (why: Error) => void}[]} */
  #waiting = [];
  #socket;

  /** @param {string} path */
  constructor(path) {
    this.#socket = createConnection(path);
    this.#socket.on("error", (why) => this.#end(broken(why)));
    this.#socket.on("close", () => this.#end(new KilledError("the report channel ended without an answer: the host is gone")));
    createInterface({ input: this.#socket }).on("line", (line) => this.#answer(line)).on("error", () => {});
    this.#socket.unref(); // it does not keep the program alive
  }

  /**
   * @param {object} message
   * @returns {Promise<any>}
   */
  ask(message) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#socket.ref();
      this.#socket.write(`${JSON.stringify(message)}\n`);
    });
  }

  /** @param {string} line */
  #answer(line) {
    const asked = this.#waiting.shift();
    if (this.#waiting.length === 0) {
      this.#socket.unref();
    }
    try {
      asked?.resolve(JSON.parse(line));
    } catch {
      asked?.reject(new Error(`the report channel gave an invalid answer: ${line.slice(0, 80)}`));
    }
  }

  /** @param {Error} why */
  #end(why) {
    if (open === this) {
      open = null; // the next report tries again
    }
    for (const asked of this.#waiting.splice(0)) {
      asked.reject(why);
    }
  }
}
