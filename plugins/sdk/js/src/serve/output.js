// Redirects the output of trials to their own files, even if many train at the same time: code of
// a trial is identified by its asynchronous context.

import { AsyncLocalStorage } from "node:async_hooks";
import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";
import { devNull } from "node:os";
import { join } from "node:path";
import { sink } from "../log.js";

/** @type {AsyncLocalStorage<Output>} */
const trials = new AsyncLocalStorage();

/** The files of a trial's directory for its output. */
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
   * Calls a function whose output goes to the files.
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
   * Whether the text was written: after the trial's end nothing is.
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
 * Opens an output file of the trial. Anything else than a regular file is refused: a
 * link could point to any file of the user, and opening a pipe would block.
 * @param {string} path
 */
function openOwn(path) {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
  const file = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0o600);
  const info = fstatSync(file);
  if (!info.isFile() || info.nlink > 1) {
    closeSync(file);
    throw new Error(`${path} is not a regular file, or has other links: move it away`);
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

/** From now on the output of trials goes to their files, and other output to stderr, which is the log. */
export function divert() {
  const log = process.stderr.write.bind(process.stderr);
  sink.write = log;
  process.stdout.write = writer("stdout", log);
  process.stderr.write = writer("stderr", log);
}
