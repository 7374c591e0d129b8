import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { plugin } from "./plugin.js";

/** Trains, and returns the losses. At iteration stop it saves into dir, and is stopped. */
async function train(trial, stop = 0, dir = "") {
  const losses = [];
  const report = async ({ loss }, { iteration, save }) => {
    losses.push(loss);
    if (iteration === stop) {
      await save(dir);
      throw new Error("stopped");
    }
  };
  const { train } = plugin.open({ epochs: 10 });
  await train({ trial: { iteration: 0, ...trial }, params: { lr: 0.2 }, report }).catch((e) => assert.equal(e.message, "stopped"));
  return losses;
}

test("it trains", async () => {
  const losses = await train({});
  assert.equal(losses.length, 10);
  assert.ok(losses[9] < losses[0]);
});

test("a trial that continues from a checkpoint ends as one that was never stopped", async () => {
  const dir = await mkdtemp(join(tmpdir(), "plugin-"));
  const first = await train({}, 4, dir);
  const second = await train({ restore: dir, iteration: 4 });
  assert.deepEqual([...first, ...second], await train({}));
  await rm(dir, { recursive: true });
});
