// What authors use: one class for each kind of plugin, and a function that registers it.

import { Decision, Event, Info, Problem, Request, Traits } from "./messages";
import { Run } from "./run";
import { Suggestion } from "./space";
import { Values } from "./values";

/**
 * Suggests the parameters of trials. Its answers must depend only on the problem,
 * its options, the events so far and the requests' seeds.
 */
export abstract class Searcher {
  /** Its properties. */
  traits: Traits = new Traits();

  /** Receives each event once, in order. */
  observe(event: Event): void {}

  /** Answers one request. */
  abstract suggest(request: Request): Suggestion;
}

/** Decides which trials continue. */
export abstract class Scheduler {
  /** Its properties. */
  traits: Traits = new Traits();

  /** Receives the events other than results. */
  observe(event: Event): void {}

  /** Decides on a result (ResultReported); null: it continues. */
  abstract decide(event: Event): Decision | null;
}

/** Trains trials, one at a time. */
export abstract class Trainable {
  /** One instance may run several trials, one after the other. */
  reusable: bool = false;
  /** It can save its state. */
  saves: bool = false;

  /** Trains one attempt; returns when it is complete, or when run.report returns false. */
  abstract train(run: Run): void;
}

/** Makes a searcher from its options, which it reads by name; options.refuse reports an error. */
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

/** Registers the module's searcher; called once, at the top of its file. */
export function searcher(info: Info, open: OpenSearcher): void {
  Plugins.searcher = info;
  Plugins.openSearcher = open;
}

/** Registers the module's scheduler. */
export function scheduler(info: Info, open: OpenScheduler): void {
  Plugins.scheduler = info;
  Plugins.openScheduler = open;
}

/** Registers the module's trainable. */
export function trainable(info: Info, open: OpenTrainable): void {
  Plugins.trainable = info;
  Plugins.openTrainable = open;
}
