// One attempt of one trial.

import { hostReport, hostSaved, hostStopped, Level, log } from "./host";
import { list, number, quoted } from "./json";
import { Trial } from "./messages";
import { Writer } from "./proto";
import { Values } from "./values";

// The host's answers to a result.
const GO_ON: i32 = 0;
const SAVE: i32 = 2;
const PAUSE: i32 = 3;

/** How many bytes of values the host accepts with a result. */
const MAX_VALUES: i32 = 64 << 10;

/** Can save the state of the training. */
export interface Saver {
  /** The state after the last reported result. */
  save(): Uint8Array;
}

/** One attempt, for training code. */
export class Run {
  params: Values;
  /** The trial was told to stop: training must return. */
  stopped: bool = false;
  /** It will continue later. */
  paused: bool = false;
  /** Why the trial failed; training that sets it returns. */
  error: string = "";
  /** The state could not be used. */
  restoreFailed: bool = false;
  private iteration: u64;
  private metrics: Writer = new Writer();
  /** JSON by name, of the next report. */
  private values: Map<string, string> = new Map<string, string>();

  constructor(
    public trial: Trial,
    /** The state to continue from, or null. */
    public state: Uint8Array | null,
  ) {
    this.iteration = trial.iteration;
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
   * Adds a string to the next report. It is kept beside the metrics in the trial's result.jsonl, as
   * are booleans and lists; no decision depends on them. The values of one report may take 64 KiB,
   * as JSON; beyond that they are left out.
   */
  text(name: string, value: string): void {
    this.values.set(name, quoted(value));
  }

  /** Adds a boolean to the next report. */
  truth(name: string, value: bool): void {
    this.values.set(name, value ? "true" : "false");
  }

  /** Adds a list of numbers to the next report. */
  numbers(name: string, value: f64[]): void {
    this.values.set(name, list(value.map<string>((x: f64) => number(x))));
  }

  /** Adds a list of strings to the next report. */
  texts(name: string, value: string[]): void {
    this.values.set(name, list(value.map<string>((x: string) => quoted(x))));
  }

  /**
   * Reports one result and returns when the trial may continue; false when training
   * must return. done: this is the last result. saver, if there is one, is asked for the
   * state when the host wants it.
   */
  report(iteration: u64, done: bool, saver: Saver | null = null): bool {
    const w = this.metrics;
    this.metrics = new Writer();
    this.iteration = iteration ? iteration : this.iteration + 1;
    w.uint(2, iteration);
    w.bool(3, done);
    w.bool(4, saver != null);
    if (this.values.size > 0) w.string(5, this.object());
    let answer = hostReport(w.start, w.length);
    while (answer == SAVE) answer = this.saved(saver);
    this.stopped = answer != GO_ON;
    this.paused = answer == PAUSE;
    return !this.stopped;
  }

  /** The JSON object of the values, which are removed; nothing if they are too large. */
  private object(): string {
    const names = this.values.keys();
    const members: string[] = [];
    for (let i = 0; i < names.length; i++) members.push(quoted(names[i]) + ":" + this.values.get(names[i]));
    this.values.clear();
    const object = "{" + members.join(",") + "}";
    if (String.UTF8.byteLength(object) <= MAX_VALUES) return object;
    log(Level.Warn, "the values of a report take more than 64 KiB: they are left out");
    return "";
  }

  /** Whether the trial was told to end, for code with long intervals between reports. */
  get told(): bool {
    return hostStopped() != GO_ON;
  }

  private saved(saver: Saver | null): i32 {
    const w = new Writer();
    if (saver) w.bytes(1, saver.save());
    else w.string(2, `the result of iteration ${this.iteration} was reported without a saver, and a checkpoint of it is ` +
      "wanted: give each report one");
    return hostSaved(w.start, w.length);
  }
}
