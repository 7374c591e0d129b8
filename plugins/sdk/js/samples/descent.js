#!/usr/bin/env node
// A trainable: gradient descent with momentum.

import { serve, trainable } from "tunehost";
import { loss, options, start, step } from "./rosenbrock.js";

serve(trainable({
  name: "descent",
  version: "1.0.0",
  summary: "Gradient descent with lr and momentum on Rosenbrock's function.",
  options,

  open: ({ epochs }) => ({
    reusable: true,
    shared: true,

    async train({ trial, params, report }) {
      let at = start(trial.seed);
      for (let epoch = 1; epoch <= epochs; epoch++) {
        at = step(at, params);
        await report({ loss: loss(at) }, { iteration: epoch, done: epoch === epochs });
      }
    },
  }),
}));
