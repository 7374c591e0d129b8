// The service of trainables: one stream for all runs of a process.

import { readOptions } from "./options.js";
import { Output } from "./output.js";
import { grpc } from "./packages.js";
import { Order, Run, Said } from "./run.js";
import { failure, notOpen, Refusal, unary } from "./services.js";
import * as wire from "./wire.js";

const { status } = grpc;

/** Keeps a message well below the host's limit: the approximate number of bytes of texts and metrics. */
const maxBatch = 512 << 10;
/** The maximum number of lines that wait for the stream. */
const maxQueued = 8192;

/** Runs of one host, in sequence or at the same time, as the trainable allows. */
export class Session {
  #trainable;
  /** @type {Map<bigint, Run>} */
  #runs = new Map();
  /** @type {Set<Promise<void>>} */
  #active = new Set();
  #started = false;
  /** @type {(event: any) => void} */
  #emit;

  /**
   * @param {import("../plugin.js").Trainable} trainable
   * @param {(event: any) => void} emit
   */
  constructor(trainable, emit) {
    this.#trainable = trainable;
    this.#emit = emit;
  }

  /**
   * Executes a command without waiting for its effect. Throws when the host breaks
   * the protocol.
   * @param {any} m
   */
  order(m) {
    if (m.kind < Order.Start || m.kind > Order.Kill) {
      throw new Error(`unknown command ${m.kind} for run ${wire.big(m.run)}`);
    }
    if (m.kind === Order.Start) {
      this.#start(m);
    } else {
      this.#runs.get(wire.big(m.run))?.order(m); // otherwise it has ended before the command arrived
    }
  }

  /** Ends every run; later events are dropped. */
  close() {
    this.#emit = () => {};
    this.#runs.forEach((run) => run.kill());
  }

  /** Returns when no code of the author runs any more. */
  async wait() {
    await Promise.all(this.#active);
  }

  /** @param {any} m */
  #start(m) {
    const id = wire.big(m.run);
    if (!m.trial) {
      throw new Error(`run ${id} was started without a trial`);
    }
    if (this.#runs.has(id)) {
      throw new Error(`run ${id} was started twice`);
    }
    const why = this.#refuses();
    if (why) {
      this.#say(id, { kind: Said.Ended, error: why, never_started: true });
      return;
    }
    this.#started = true;
    const run = new Run(wire.trial(m.trial), Boolean(this.#trainable.saves), (event) => this.#say(id, event));
    this.#runs.set(id, run);
    const active = this.#train(id, run).finally(() => this.#active.delete(active));
    this.#active.add(active);
  }

  #refuses() {
    if (this.#trainable.shared) {
      return "";
    }
    if (this.#runs.size > 0) {
      return "the process already runs a trial, and the trainable does not share it";
    }
    return this.#started && !this.#trainable.reusable ? "the process has run a trial, and the trainable cannot be reused" : "";
  }

  /**
   * @param {bigint} id
   * @param {Run} run
   */
  async #train(id, run) {
    this.#say(id, { kind: Said.Started, pid: process.pid });
    await null; // the rest of the host's message first
    const end = await this.#call(run);
    // The run is removed before its end is sent: the host may answer with
    // the next start.
    this.#runs.delete(id);
    this.#say(id, end);
  }

  /**
   * Calls the author's code; its output goes to the trial's files.
   * @param {Run} run
   */
  async #call(run) {
    /** @type {Output | null} */
    let out = null;
    try {
      out = run.trial.dir ? new Output(run.trial.dir, run.trial.logs) : null;
    } catch (thrown) {
      const error = `cannot write the trial's log: ${/** @type {Error} */ (thrown).message}`;
      return { kind: Said.Ended, error, never_started: true };
    }
    const train = () => run.call((r) => this.#trainable.train(r));
    return out ? out.during(train) : train();
  }

  /**
   * @param {bigint} id
   * @param {any} event
   */
  #say(id, event) {
    this.#emit({ run: String(id), ...event });
  }
}

/** Sends all waiting events in one message, as fast as the host accepts them. */
class Outbox {
  #stream;
  /** @type {any[]} */
  #events = [];
  #dropped = 0;
  #busy = false;

  /** @param {any} stream */
  constructor(stream) {
    this.#stream = stream;
  }

  /** @param {any} event */
  push(event) {
    if (event.kind === Said.Log && this.#events.length >= maxQueued) {
      this.#dropped++;
      return;
    }
    if (this.#dropped > 0) {
      this.#events.push({ run: event.run, kind: Said.Log, text: `[${this.#dropped} lines dropped]` });
      this.#dropped = 0;
    }
    this.#events.push(event);
    if (!this.#busy) {
      this.#busy = true;
      // Runs that were answered together report together.
      setImmediate(() => this.#send());
    }
  }

  #send() {
    while (this.#events.length > 0) {
      const events = this.#events.splice(0, batch(this.#events));
      if (!this.#stream.write({ events }) && !this.#stream.destroyed) {
        this.#stream.once("drain", () => this.#send());
        return;
      }
    }
    this.#busy = false;
  }
}

/**
 * The number of events for the next message, at least one.
 * @param {any[]} events
 */
function batch(events) {
  let size = 0;
  for (const [i, e] of events.entries()) {
    size += 32 + (e.checkpoint?.length ?? 0) + 3 * (e.error?.length ?? 0) + 3 * (e.text?.length ?? 0) + (e.values?.length ?? 0);
    size += (e.metrics ?? []).reduce((/** @type {number} */ n, /** @type {any} */ m) => n + 16 + m.name.length, 0);
    if (size > maxBatch && i > 0) {
      return i;
    }
  }
  return events.length;
}

/**
 * @param {import("../plugin.js").TrainablePlugin} plugin
 */
export function trainableService(plugin) {
  /** @type {import("../plugin.js").Trainable | undefined} */
  let opened;
  /** @type {Session | undefined} */
  let session;
  const methods = {
    DescribeTrainable: unary(() => ({ info: wire.info(plugin, "trainable") })),
    OpenTrainable: unary(async (m) => {
      if (opened) {
        throw new Refusal(status.FAILED_PRECONDITION, "the trainable is open already");
      }
      opened = await openTrainable(plugin, m.options);
      const { reusable, shared, saves, request } = opened;
      return { reusable: Boolean(reusable), shared: Boolean(shared), saves: Boolean(saves), requests: Boolean(request) };
    }, status.INVALID_ARGUMENT),
    RequestResources: unary(async (m) => {
      const { request } = opened ?? notOpen();
      if (!request) {
        throw new Error("the trainable does not compute resource requests");
      }
      return { resources: Buffer.from(JSON.stringify(await request(JSON.parse(String(m.params))))) };
    }),
    Train: (/** @type {any} */ stream) => {
      if (!opened || session) {
        const why = opened ? "a process has one Train stream, and it was used already" : "the plugin was not opened";
        stream.emit("error", failure(status.FAILED_PRECONDITION, why));
        return;
      }
      session = carry(opened, stream);
    },
  };
  const end = async () => {
    session?.close();
    await session?.wait();
  };
  return { methods, end };
}

/**
 * @param {import("../plugin.js").TrainablePlugin} plugin
 * @param {Uint8Array} options
 */
async function openTrainable(plugin, options) {
  const opened = await plugin.open(readOptions(plugin.options, options));
  if (typeof opened?.train !== "function") {
    throw new Error("open returned nothing with a function train, which is a bug of the plugin");
  }
  return opened;
}

/**
 * Connects a session with the stream.
 * @param {import("../plugin.js").Trainable} trainable
 * @param {any} stream
 */
function carry(trainable, stream) {
  const out = new Outbox(stream);
  const session = new Session(trainable, (event) => out.push(event));
  stream.on("data", (/** @type {any} */ m) => {
    try {
      m.commands.forEach((/** @type {any} */ c) => session.order(c));
    } catch (thrown) {
      session.close();
      stream.emit("error", failure(status.INVALID_ARGUMENT, /** @type {Error} */ (thrown).message));
    }
  });
  stream.on("end", () => {
    session.close();
    stream.end();
  });
  stream.on("cancelled", () => session.close());
  return session;
}
