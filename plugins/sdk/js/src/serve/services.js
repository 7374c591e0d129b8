// The services of searchers and schedulers, and how failures are answered.

import { describe, messageOf, stackOf } from "../errors.js";
import { log } from "../log.js";
import { TightError } from "../space/seen.js";
import * as guard from "./guard.js";
import { grpc } from "./packages.js";
import * as wire from "./wire.js";

const { status } = grpc;

/** Status messages travel in a header. */
const maxMessage = 4096;

/**
 * An error that is sent as the answer.
 * @param {number} code
 * @param {string} message
 */
export function failure(code, message) {
  return { code, details: wire.text(message.slice(0, maxMessage)) };
}

/**
 * A unary method. A thrown error is answered with the code, and its stack is logged.
 * @param {(request: any) => any} method
 * @param {number} code
 */
export function unary(method, code = status.ABORTED) {
  return async (/** @type {any} */ call, /** @type {Function} */ answer) => {
    try {
      answer(null, await method(call.request));
    } catch (thrown) {
      const final = thrown instanceof TightError || thrown instanceof wire.OutsideError; // asking again would change nothing
      if (!(thrown instanceof Refusal || final)) {
        log.error(`${call.getPath().split("/").pop()}: ${describe(thrown)}`, { stack: stackOf(thrown) });
      }
      if (final) {
        answer(failure(status.OUT_OF_RANGE, thrown.message));
        return;
      }
      const said = thrown instanceof Refusal || code === status.INVALID_ARGUMENT; // the author's message to the user
      answer(failure(thrown instanceof Refusal ? thrown.code : code, said ? messageOf(thrown) : describe(thrown)));
    }
  };
}

/** An answer to an invalid call of the host. */
export class Refusal extends Error {
  /** @param {number} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** @type {() => never} */
export function notOpen() {
  throw new Refusal(status.FAILED_PRECONDITION, "the plugin was not opened");
}

/**
 * @param {import("../plugin.js").SearcherPlugin} plugin
 */
export function searcherService(plugin) {
  const turns = new guard.Turns();
  /** @type {import("../plugin.js").Problem} */
  let problem;
  /** @type {(import("../plugin.js").Searcher & import("../plugin.js").Snapshots) | undefined} */
  let opened;
  return {
    DescribeSearcher: unary(() => ({ info: wire.info(plugin, "searcher") })),
    OpenSearcher: unary((m) => turns.next(async () => {
      problem = wire.problem(m.problem);
      opened = await guard.open(plugin, problem, m);
      return { traits: wire.traits(opened?.traits, Boolean(opened?.snapshot)) };
    }), status.INVALID_ARGUMENT),
    Suggest: unary((m) => turns.next(async () => {
      const searcher = opened ?? notOpen();
      if (m.events.length > 0) {
        await searcher.observe?.(m.events.map(wire.event));
      }
      return guard.suggest(searcher, problem.space, m.requests);
    })),
    SnapshotSearcher: unary(() => turns.next(() => guard.snapshot(opened ?? notOpen()))),
  };
}

/**
 * @param {import("../plugin.js").SchedulerPlugin} plugin
 */
export function schedulerService(plugin) {
  const turns = new guard.Turns();
  /** @type {import("../plugin.js").Problem} */
  let problem;
  /** @type {(import("../plugin.js").Scheduler & import("../plugin.js").Snapshots) | undefined} */
  let opened;
  return {
    DescribeScheduler: unary(() => ({ info: wire.info(plugin, "scheduler") })),
    OpenScheduler: unary((m) => turns.next(async () => {
      problem = wire.problem(m.problem);
      opened = await guard.open(plugin, problem, m);
      return { traits: wire.traits(opened?.traits, Boolean(opened?.snapshot)) };
    }), status.INVALID_ARGUMENT),
    Decide: unary((m) => turns.next(async () => {
      const events = m.events.map(wire.event);
      return wire.decisions(problem?.space, events, await (opened ?? notOpen()).decide(events));
    })),
    SnapshotScheduler: unary(() => turns.next(() => guard.snapshot(opened ?? notOpen()))),
  };
}
