// One attempt of one trial.

import { hostReport, hostSaved, hostStopped } from "./host";
import { Trial } from "./messages";
import { Writer } from "./proto";
import { Values } from "./values";

// The host's answers to a result.
const GO_ON: i32 = 0;
const SAVE: i32 = 2;
const PAUSE: i32 = 3;

/** Can write down where training is. */
export interface Saver {
  /** The state after the result that was reported last. */
  save(): Uint8Array;
}

/** What training code sees. */
export class Run {
  params: Values;
  /** The trial was told to stop: training shall return. */
  stopped: bool = false;
  /** It will go on later. */
  paused: bool = false;
  /** Why the trial failed; training that sets it returns. */
  error: string = "";
  /** The state could not be used. */
  restoreFailed: bool = false;
  private metrics: Writer = new Writer();

  constructor(
    public trial: Trial,
    /** The state to go on from, or null. */
    public state: Uint8Array | null,
  ) {
    this.params = new Values(trial.params, "parameter");
  }

  /** Adds a metric to the next report. */
  metric(name: string, value: f64): void {
    const m = new Writer();
    m.string(1, name);
    m.double(2, value);
    this.metrics.message(1, m);
  }

  /**
   * Hands over one result and returns when the trial may go on; false when training
   * shall return. done: this is the last result. saver, if there is one, is asked for the
   * state when the host wants it.
   */
  report(iteration: u64, done: bool, saver: Saver | null = null): bool {
    const w = this.metrics;
    this.metrics = new Writer();
    w.uint(2, iteration);
    w.bool(3, done);
    w.bool(4, saver != null);
    let answer = hostReport(w.start, w.length);
    while (answer == SAVE) answer = this.saved(saver);
    this.stopped = answer != GO_ON;
    this.paused = answer == PAUSE;
    return !this.stopped;
  }

  /** Whether the trial was told to end, for code that is long between reports. */
  get told(): bool {
    return hostStopped() != GO_ON;
  }

  private saved(saver: Saver | null): i32 {
    const w = new Writer();
    if (saver) w.bytes(1, saver.save());
    else w.string(2, "the trainable cannot save");
    return hostSaved(w.start, w.length);
  }
}
