import assert from "node:assert/strict";
import { test } from "node:test";
import { plugin } from "./plugin.js";

test("the worst of four trials is stopped, after the grace", () => {
  const scheduler = plugin.open({}, { grace: 2, others: 3 });
  const events = Array.from({ length: 8 }, (_, n) => ({
    number: BigInt(n + 1), kind: "result_reported", trial: n % 4, iteration: Math.floor(n / 4) + 1, losses: [n % 4],
  }));
  assert.deepEqual(scheduler.decide(events).map((d) => d.event), [8n]);
});
