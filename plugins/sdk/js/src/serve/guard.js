// Calls the code of a plugin's author, one call at a time, and checks its answers.

import { EXHAUSTED, WAIT } from "../answers.js";
import { readOptions } from "./options.js";
import * as wire from "./wire.js";

/** Makes calls wait for each other. */
export class Turns {
  /** @type {Promise<unknown>} */
  #last = Promise.resolve();

  /**
   * @template T
   * @param {() => Promise<T>} call
   * @returns {Promise<T>}
   */
  next(call) {
    const result = this.#last.then(call);
    this.#last = result.catch(() => {});
    return result;
  }
}

/**
 * Opens a searcher or scheduler, from a snapshot unless it is empty.
 * @template {import("../plugin.js").Snapshots} T
 * @param {import("../plugin.js").Info & {open: Function}} plugin
 * @param {import("../plugin.js").Problem} problem
 * @param {any} m the request
 * @returns {Promise<T>}
 */
export async function open(plugin, problem, m) {
  const opened = await plugin.open(problem, readOptions(plugin.options, m.options));
  if (!opened || typeof opened !== "object") {
    throw new Error("open returned nothing, which is a bug of the plugin");
  }
  if (m.snapshot.length > 0) {
    if (!opened.restore) {
      throw new Error("a snapshot was given to a plugin that does not support snapshots");
    }
    await opened.restore(new Uint8Array(m.snapshot));
  }
  return opened;
}

/**
 * The state of a plugin that makes snapshots.
 * @param {import("../plugin.js").Snapshots} opened
 */
export async function snapshot(opened) {
  if (!opened.snapshot) {
    throw new Error("the plugin does not support snapshots");
  }
  return { snapshot: Buffer.from(await opened.snapshot()) };
}

/**
 * Asks a searcher for suggestions, one by one, until it has no more.
 * @param {import("../plugin.js").Searcher} searcher
 * @param {import("../space/space.js").Space} space
 * @param {any[]} requests
 */
export async function suggest(searcher, space, requests) {
  const points = [];
  for (const m of requests) {
    const request = wire.request(m);
    const answer = wire.suggestion(space, await searcher.suggest(request), request);
    if (answer === WAIT || answer === EXHAUSTED) {
      return { points, status: answer === WAIT ? 1 : 2 };
    }
    points.push(answer);
  }
  return { points, status: 0 };
}
