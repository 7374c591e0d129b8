// scaffold-name is a trainable for tunehost: a stand-in for training, which walks down a
// parabola. The parameter lr is its step.
//
// Everything here may be changed. What must stay true: each epoch is reported, and training
// ends when report throws.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RestoreError } from "tunehost";

/** @type {import("tunehost").TrainablePlugin} */
export const plugin = {
  name: "scaffold-name",
  version: "0.1.0",
  summary: "Walks down a parabola.",
  // What users may write under options; tunehost checks it for you.
  options: {
    type: "object",
    additionalProperties: false,
    properties: {
      epochs: { type: "integer", minimum: 1, default: 10, description: "results of each trial" },
    },
  },

  // Called once for each process, which trains many trials, at a time if need be, and can go
  // on from checkpoints.
  open: ({ epochs }) => ({
    reusable: true,
    shared: true,
    saves: true,

    // Trains one trial, from its checkpoint if there is one.
    async train({ trial, params, report }) {
      let model = trial.restore ? await load(trial.restore) : { x: 10 };
      for (let epoch = trial.iteration + 1; epoch <= epochs; epoch++) {
        model = { x: model.x - (params.lr ?? 0.1) * 2 * model.x };
        await report({ loss: model.x ** 2 }, {
          iteration: epoch,
          done: epoch === epochs,
          save: (dir) => save(model, dir), // called when a checkpoint is wanted
        });
      }
    },
  }),
};

const save = (model, dir) => writeFile(join(dir, "model.json"), JSON.stringify(model));

async function load(dir) {
  try {
    return JSON.parse(await readFile(join(dir, "model.json"), "utf8"));
  } catch (why) {
    throw new RestoreError(why.message);
  }
}
