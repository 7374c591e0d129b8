// What trials print goes to their own files, also when many train at a time: what runs on
// behalf of a trial is known by its asynchronous context.

import { AsyncLocalStorage } from "node:async_hooks";
import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";
import { devNull } from "node:os";
import { join } from "node:path";
import { sink } from "../log.js";

/** @type {AsyncLocalStorage<Output>} */
const trials = new AsyncLocalStorage();

/** The files of a trial's directory that have what it prints. */
export class Output {
  /** @type {Record<string, number>} */
  #files = {};
  #open = true;

  /**
   * @param {string} dir
   * @param {import("../plugin.js").Logs} logs
   */
  constructor(dir, logs) {
    try {
      for (const [stream, name] of Object.entries({ stdout: logs.stdout, stderr: logs.stderr })) {
        this.#files[stream] = name ? openOwn(join(dir, name)) : openSync(devNull, "w");
      }
    } catch (thrown) {
      this.#close();
      throw thrown;
    }
  }

  /**
   * Does it with what it prints in the files.
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  async during(work) {
    try {
      return await trials.run(this, work);
    } finally {
      this.#close();
    }
  }

  /**
   * Whether it could be written: after the trial's end nothing is.
   * @param {string} name
   * @param {any} chunk
   * @param {any} encoding
   */
  write(name, chunk, encoding) {
    if (!this.#open) {
      return false;
    }
    try {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk, typeof encoding === "string" ? /** @type {any} */ (encoding) : "utf8") : chunk;
      for (let at = 0; at < bytes.length;) {
        at += writeSync(this.#files[name], bytes, at);
      }
      return true;
    } catch { // no room, for example: the plugin's log has it
      return false;
    }
  }

  #close() {
    this.#open = false;
    Object.values(this.#files).forEach((file) => closeSync(file));
    this.#files = {};
  }
}

/**
 * Opens a file of the trial's. What is in its place and is no plain file is refused: a
 * link could lead to any file of the user's, a pipe would be waited for.
 * @param {string} path
 */
function openOwn(path) {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
  const file = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0o600);
  const info = fstatSync(file);
  if (!info.isFile() || info.nlink > 1) {
    closeSync(file);
    throw new Error(`${path} is no plain file of its own: move it away`);
  }
  return file;
}

/**
 * The write function of a stream: to the trial's file of that name, else to the log.
 * @param {string} name
 * @param {Function} log
 * @returns {any}
 */
function writer(name, log) {
  return (/** @type {any} */ chunk, /** @type {any} */ encoding, /** @type {any} */ done) => {
    if (!trials.getStore()?.write(name, chunk, encoding)) {
      return log(chunk, encoding, done);
    }
    const then = typeof encoding === "function" ? encoding : done;
    if (then) {
      process.nextTick(then);
    }
    return true;
  };
}

/** From now on what is printed goes to the trials' files, and outside of trials to stderr, which is the log. */
export function divert() {
  const log = process.stderr.write.bind(process.stderr);
  sink.write = log;
  process.stdout.write = writer("stdout", log);
  process.stderr.write = writer("stderr", log);
}
