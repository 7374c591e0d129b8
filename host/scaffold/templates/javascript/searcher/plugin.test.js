import assert from "node:assert/strict";
import { test } from "node:test";
import { Random, Space } from "tunehost";
import { plugin } from "./plugin.js";

test("it finds the minimum of a parabola better than chance would", () => {
  const space = new Space({ params: [{ name: "x", kind: "real", low: -10, high: 10 }] });
  const searcher = plugin.open({ space, objectives: [{ metric: "loss", maximize: false }] }, { spread: 0.2 });
  let best = Infinity;
  for (let trial = 0; trial < 40; trial++) {
    const point = searcher.suggest({ trial, random: new Random(BigInt(trial)), given: null });
    const loss = (point[0] - 3) ** 2;
    best = Math.min(best, loss);
    searcher.observe([
      { kind: "trial_added", trial, point, losses: [] },
      { kind: "trial_completed", trial, losses: [loss] },
    ]);
  }
  assert.ok(best < 0.1, `the best loss of 40 trials is ${best}`);
});
