// One attempt of one trial.

import { setImmediate as turn } from "node:timers/promises";
import { KilledError, messageOf, RestoreError, stackOf, StartError, StoppedError } from "../errors.js";
import { flatten, leftOut } from "../metrics.js";
import { text } from "./wire.js";

/** The protocol's numbers of commands. */
export const Order = { Start: 1, Continue: 2, Save: 3, Stop: 4, Kill: 5 };
/** The protocol's numbers of events. */
export const Said = { Started: 1, Result: 2, Saved: 3, Ended: 4, Log: 5, Rejected: 6 };

/** The maximum length of a line or an error, in bytes, so that no message exceeds the host's limit. */
const maxText = 64 << 10;

/** @param {unknown} s */
export function cut(s) {
  const bytes = Buffer.from(String(s));
  return bytes.length > maxText ? `${text(bytes.subarray(0, maxText))} [cut]` : bytes.toString();
}

/**
 * The run that the author's code sees, and the effects of the host's commands on it. With
 * reported the results so far and granted the credits, a report waits until
 * reported - granted <= runAhead; a result that must be saved waits for all.
 */
export class Run {
  #say;
  #canSave;
  #stopped = new AbortController();
  #killed = new AbortController();
  #granted = 0;
  #told = false; // the author's code knows that the run must end
  #reported = 0;
  #iteration;
  /** @type {string[]} */
  #asked = []; // directories for requested checkpoints, oldest first
  #stopDir = "";
  /** @type {StoppedError | KilledError | undefined} */
  #why; // the run must end
  #wake = () => {};
  /** @type {Promise<unknown>} */
  #reports = Promise.resolve();

  /**
   * @param {import("../plugin.js").Trial} trial
   * @param {boolean} canSave
   * @param {(event: any) => void} say
   */
  constructor(trial, canSave, say) {
    this.trial = trial;
    this.#canSave = canSave;
    this.#say = say;
    this.#iteration = trial.iteration;
    this.report = this.report.bind(this);
    this.log = this.log.bind(this);
    this.reject = this.reject.bind(this);
  }

  get params() {
    return this.trial.params;
  }

  get options() {
    return this.trial.options;
  }

  /** @returns {AbortSignal} */
  get stopped() {
    return this.#stopped.signal;
  }

  /** @returns {AbortSignal} */
  get killed() {
    return this.#killed.signal;
  }

  /** @param {string} line */
  log(line) {
    this.#say({ kind: Said.Log, text: cut(line) });
  }

  /** @param {string} line */
  reject(line) {
    this.#say({ kind: Said.Rejected, text: cut(line) });
  }

  /**
   * @param {import("../metrics.js").Metrics} metrics
   * @param {import("../plugin.js").ReportOptions} [options]
   * @returns {Promise<void>}
   */
  report(metrics, options = {}) {
    const flat = flatten(metrics);
    if (flat.leftOut.length > 0) {
      this.#say({ kind: Said.Log, text: cut(leftOut(flat.leftOut)), hint: true });
    }
    const result = this.#reports.then(() => this.#report(flat, options));
    // Code that does not wait for a report must not end the process with it.
    this.#reports = result.catch(() => {});
    return result;
  }

  /**
   * Notes a command of the host and wakes a waiting report.
   * @param {any} m
   */
  order(m) {
    switch (m.kind) {
      case Order.Continue:
        this.#granted += m.credits;
        break;
      case Order.Save:
        this.#asked.push(m.dir);
        break;
      case Order.Stop:
        this.#granted += m.credits ?? 0;
        this.#halt(m.dir, new StoppedError(Boolean(m.paused)));
        break;
      case Order.Kill:
        this.kill();
        return;
    }
    this.#wake();
  }

  /** The grace time is over, or the host is gone. Only a run that was told to stop before gets a StoppedError. */
  kill() {
    const why = this.#why && this.#confirmed() ? this.#why : new KilledError();
    this.#halt("", why);
    this.#killed.abort(why);
    this.#wake();
  }

  /**
   * Calls the author's code and reports how it ended.
   * @param {(run: any) => unknown} train
   */
  async call(train) {
    /** @type {{error?: string, never_started?: boolean, restore_failed?: boolean}} */
    let end = {};
    try {
      await train(this);
      await this.#reports;
    } catch (thrown) {
      end = this.#outcome(thrown);
    }
    return { kind: Said.Ended, ...end };
  }

  /** @param {unknown} thrown */
  #outcome(thrown) {
    if (thrown instanceof StoppedError || thrown instanceof KilledError || (this.killed.aborted && isAbort(thrown))) {
      return {};
    }
    const expected = thrown instanceof StartError || thrown instanceof RestoreError;
    if (!expected) {
      this.log(stackOf(thrown));
    }
    return {
      error: cut(messageOf(thrown)),
      never_started: thrown instanceof StartError, restore_failed: thrown instanceof RestoreError,
    };
  }

  /**
   * @param {string} dir
   * @param {StoppedError | KilledError} why
   */
  #halt(dir, why) {
    this.#stopDir = dir;
    this.#why = why;
    this.#stopped.abort(why);
  }

  /**
   * @param {import("../metrics.js").Reported} said
   * @param {import("../plugin.js").ReportOptions} options
   */
  async #report(said, { iteration = said.iteration, done = said.done, checkpoint = "", save }) {
    // A stop that requests a checkpoint first allows one more result, which is saved.
    const over = this.stopped.aborted && !this.#stopDir && !this.#meetsPause();
    if (this.killed.aborted || (over && !checkpoint)) {
      await turn(); // code that catches this and goes on must not keep the process from ending
      throw this.#end();
    }
    this.#iteration = iteration || this.#iteration + 1;
    this.#reported++;
    this.#say({ kind: Said.Result, ...numbersAndValues(said), iteration: this.#iteration, checkpoint: text(checkpoint), done });
    if (over) { // the result does not count any more; the checkpoint is taken
      while (!this.#confirmed() && !this.killed.aborted) {
        await this.#order();
      }
      throw this.#end();
    }
    const due = this.#due(done, Boolean(save) && this.#canSave && !checkpoint);
    if (done && !due) {
      return; // no decision is needed
    }
    await turn(); // sends the result and receives commands, even if nothing waits
    while (!(await this.#obeyed(due, save, done))) {
      await this.#order();
    }
  }

  /** Waits for the next command. */
  #order() {
    return new Promise((wake) => {
      this.#wake = () => wake(undefined);
    });
  }

  /** What a report throws when the run must end. */
  #end() {
    this.#told = true;
    return this.#why;
  }

  /** Whether the results so far are recorded, so that a stop is an answer to them. */
  #confirmed() {
    return !this.trial.confirms || this.#reported <= this.#granted;
  }

  /**
   * Whether a result meets an order to pause that the author's code has not heard of. It is like one that
   * was sent just before: it counts, so its answer follows its record.
   */
  #meetsPause() {
    return this.trial.confirms && !this.#told && !this.killed.aborted && this.#why instanceof StoppedError && this.#why.paused;
  }

  /**
   * Whether the host will ask for a checkpoint of this result before it answers.
   * @param {boolean} done
   * @param {boolean} saves
   */
  #due(done, saves) {
    const every = this.trial.checkpointEvery;
    if (every > 0 && this.#iteration % every === 0) {
      return !done || saves;
    }
    return done && this.trial.checkpointAtEnd && saves;
  }

  /**
   * Executes commands; returns whether the report may return.
   * @param {boolean} due
   * @param {((dir: string) => unknown) | undefined} save
   * @param {boolean} done
   */
  async #obeyed(due, save, done) {
    for (;;) {
      const dirs = this.#asked.splice(0);
      const stop = this.stopped.aborted;
      if (this.#stopDir) {
        dirs.push(this.#stopDir);
        this.#stopDir = "";
      }
      for (const dir of dirs) {
        await this.#save(dir, save);
      }
      if (stop && (this.#confirmed() || this.killed.aborted)) {
        throw this.#end();
      }
      if (dirs.length === 0) {
        return !stop && this.#reported - this.#granted <= (due ? 0 : this.trial.runAhead);
      }
      if (done) {
        return true;
      } // otherwise handle commands that arrived meanwhile
    }
  }

  /**
   * @param {string} dir
   * @param {((dir: string) => unknown) | undefined} save
   */
  async #save(dir, save) {
    let error = "";
    try {
      if (!save) {
        throw new Error(`the result of iteration ${this.#iteration} was reported without save, and a checkpoint of it is ` +
          "wanted: give save with each report");
      }
      await save(dir);
    } catch (thrown) {
      error = cut(messageOf(thrown) || "saving failed");
    }
    this.#say({ kind: Said.Saved, iteration: this.#iteration, checkpoint: dir, error });
  }
}

/** @param {import("../metrics.js").Reported} said */
function numbersAndValues({ metrics: numbers, values }) {
  const metrics = [...numbers].map(([name, value]) => ({ name: text(name), value }));
  return Object.keys(values).length > 0 ? { metrics, values: Buffer.from(JSON.stringify(values)) } : { metrics };
}

/** @param {unknown} thrown */
function isAbort(thrown) {
  return thrown instanceof Error && ["AbortError", "StoppedError", "KilledError"].includes(thrown.name);
}
