#!/usr/bin/env node
// The descent that can be paused: it saves where it is, and continues from there.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RestoreError, serve, trainable } from "tunehost";
import { loss, options, start, step } from "./rosenbrock.js";

/** @param {string} dir @returns {Promise<import("./rosenbrock.js").State>} */
async function restored(dir) {
  try {
    const [x, y, dx, dy] = JSON.parse(await readFile(join(dir, "state.json"), "utf8")).map(Number);
    return { x, y, dx, dy };
  } catch (why) {
    throw new RestoreError(/** @type {Error} */ (why).message);
  }
}

/** @param {string} dir @param {import("./rosenbrock.js").State} at */
function save(dir, { x, y, dx, dy }) {
  // As texts, because JSON has no infinity, which is where a large lr leads.
  return writeFile(join(dir, "state.json"), JSON.stringify([x, y, dx, dy].map(String)));
}

serve(trainable({
  name: "descent-resumable",
  version: "1.0.0",
  summary: "Gradient descent on Rosenbrock's function that saves and resumes.",
  options,

  open: ({ epochs }) => ({
    reusable: true,
    shared: true,
    saves: true,

    async train({ trial, params, report }) {
      let at = trial.restore ? await restored(trial.restore) : start(trial.seed);
      for (let epoch = trial.iteration + 1; epoch <= epochs; epoch++) {
        at = step(at, params);
        await report({ loss: loss(at) }, {
          iteration: epoch,
          done: epoch === epochs,
          save: (dir) => save(dir, at),
        });
      }
    },
  }),
}));
