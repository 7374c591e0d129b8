// What authors write: one class for each kind of plugin, and the word that it is there.

import { Decision, Event, Info, Problem, Request, Traits } from "./messages";
import { Run } from "./run";
import { Suggestion } from "./space";
import { Values } from "./values";

/**
 * Suggests the parameters of trials. What it answers must depend only on the problem,
 * its options, the events so far and the requests' seeds.
 */
export abstract class Searcher {
  /** What it says about itself. */
  traits: Traits = new Traits();

  /** Tells what happened, each event once and in order. */
  observe(event: Event): void {}

  /** Answers one request. */
  abstract suggest(request: Request): Suggestion;
}

/** Decides which trials go on. */
export abstract class Scheduler {
  /** What it says about itself. */
  traits: Traits = new Traits();

  /** Tells what happened beside results. */
  observe(event: Event): void {}

  /** Decides on a result (ResultReported); null: it continues. */
  abstract decide(event: Event): Decision | null;
}

/** Trains, one trial at a time. */
export abstract class Trainable {
  /** One instance may run trial after trial. */
  reusable: bool = false;
  /** It can save its state. */
  saves: bool = false;

  /** Trains one attempt; returns when it is complete, or when run.report says so. */
  abstract train(run: Run): void;
}

/** Makes a searcher of options, which it asks for each by name; options.refuse says what is wrong. */
export type OpenSearcher = (problem: Problem, options: Values) => Searcher;
/** As OpenSearcher. */
export type OpenScheduler = (problem: Problem, options: Values) => Scheduler;
/** As OpenSearcher. */
export type OpenTrainable = (options: Values) => Trainable;

/** The module's plugins: at most one of each kind. */
export class Plugins {
  static searcher: Info | null = null;
  static openSearcher: OpenSearcher | null = null;
  static scheduler: Info | null = null;
  static openScheduler: OpenScheduler | null = null;
  static trainable: Info | null = null;
  static openTrainable: OpenTrainable | null = null;
}

/** Says that the module is a searcher; called once, at the top of its file. */
export function searcher(info: Info, open: OpenSearcher): void {
  Plugins.searcher = info;
  Plugins.openSearcher = open;
}

/** Says that the module is a scheduler. */
export function scheduler(info: Info, open: OpenScheduler): void {
  Plugins.scheduler = info;
  Plugins.openScheduler = open;
}

/** Says that the module is a trainable. */
export function trainable(info: Info, open: OpenTrainable): void {
  Plugins.trainable = info;
  Plugins.openTrainable = open;
}
