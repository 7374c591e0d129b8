import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { KilledError, RestoreError, StartError, StoppedError } from "tunehost";
import { Order, Run, Said } from "../src/serve/run.js";

/**
 * A run that a test drives.
 * @param {object} trial
 * @param {(run: any) => unknown} train
 */
function begin(trial, train, canSave = true) {
  /** @type {any[]} */
  const said = [];
  const all = { iteration: 0, checkpointEvery: 0, checkpointAtEnd: false, runAhead: 0, params: {}, options: {}, ...trial };
  const run = new Run(/** @type {any} */ (all), canSave, (event) => said.push(event));
  const end = run.call(train);
  const settled = async () => {
    for (let i = 0; i < 5; i++) {
      await turn();
    }
    return said.filter((e) => e.kind !== Said.Log);
  };
  return { run, said, end, settled };
}

/** @param {number} n */
const reports = (n, options = {}) => async (/** @type {any} */ run) => {
  for (let i = 1; i <= n; i++) {
    await run.report({ i, nested: { twice: 2 * i } }, { done: i === n, ...options });
  }
};

test("credits: reported - granted <= runAhead", async () => {
  const { run, settled, end } = begin({ runAhead: 2 }, reports(6));
  assert.equal((await settled()).length, 3);
  run.order({ kind: Order.Continue, credits: 2 });
  assert.equal((await settled()).length, 5);
  run.order({ kind: Order.Continue, credits: 1 });
  assert.equal((await settled()).length, 6, "the last one needs no answer");
  assert.deepEqual(await end, { kind: Said.Ended });
});

test("metrics are flattened and iterations counted", async () => {
  const { settled } = begin({ iteration: 4 }, reports(1));
  const [{ metrics, iteration, done }] = await settled();
  assert.deepEqual(metrics, [{ name: "i", value: 1 }, { name: "nested/twice", value: 2 }]);
  assert.equal(iteration, 5);
  assert.equal(done, true);
});

test("what is no number is kept beside the metrics", async () => {
  const day = new Date(0);
  const { settled } = begin({}, (run) => run.report({ loss: 1, in: { note: "x" }, list: [1, NaN, 2n], ok: true, none: null,
    array: new Float32Array([1]), day, done: true, training_iteration: 7, long: "x".repeat(70_000) }));
  const [{ metrics, values, iteration, done }] = await settled();
  assert.deepEqual(metrics, [{ name: "loss", value: 1 }, { name: "training_iteration", value: 7 }]);
  assert.deepEqual(JSON.parse(values),
    { "in/note": "x", list: [1, "NaN", "2"], ok: true, none: null, array: [1], day: "1970-01-01T00:00:00.000Z" });
  assert.deepEqual([iteration, done], [7, true]);
});

test("a report without a number is refused", async () => {
  const { end } = begin({}, (run) => run.report({ loss: "0.1" }));
  assert.equal((await end).error, 'no metrics: write report({accuracy: 0.9}); loss is "0.1", which is not a number');
});

test("due results wait for a save, and a save is carried out with the next result", async () => {
  /** @type {string[]} */
  const dirs = [];
  const save = (/** @type {string} */ dir) => dirs.push(dir);
  const { run, settled, end } = begin({ runAhead: 9, checkpointEvery: 2, checkpointAtEnd: true }, reports(3, { save }));
  run.order({ kind: Order.Save, dir: "/one" });
  assert.equal((await settled()).at(-1).iteration, 2);
  run.order({ kind: Order.Save, dir: "/two" });
  assert.deepEqual((await settled()).at(-1), { kind: Said.Saved, iteration: 2, checkpoint: "/two", error: "" });
  run.order({ kind: Order.Continue, credits: 2 });
  assert.equal((await settled()).at(-1).iteration, 3, "the last one must be saved");
  run.order({ kind: Order.Save, dir: "/three" });
  assert.deepEqual(await end, { kind: Said.Ended });
  assert.deepEqual(dirs, ["/one", "/two", "/three"]);
});

test("a stop with a directory takes one more result", async () => {
  /** @type {(value?: unknown) => void} */
  let go = () => {};
  const { run, said, settled, end } = begin({}, async (r) => {
    await new Promise((resolve) => { go = resolve; });
    await r.report({ a: 1 }, { save: () => {} });
  });
  await settled();
  run.order({ kind: Order.Stop, dir: "/last", paused: true });
  assert.ok(run.stopped.aborted);
  assert.equal(run.stopped.reason.paused, true);
  go();
  assert.deepEqual(await end, { kind: Said.Ended });
  assert.deepEqual(said.map((e) => e.kind), [Said.Result, Said.Saved]);
});

test("after a stop no result is taken", async () => {
  const { run, said, end } = begin({}, async (r) => {
    await assert.rejects(r.report({ a: 1 }), (/** @type {any} */ e) => e instanceof StoppedError && e.paused);
    await r.report({ a: 2 });
  });
  run.order({ kind: Order.Stop, dir: "", paused: true });
  assert.deepEqual(await end, { kind: Said.Ended });
  assert.deepEqual(said, []);
});

// B-150
test("a checkpoint that is handed over after a stop reaches the host, and none after a kill", async () => {
  const { run, said, end } = begin({}, async (r) => {
    await assert.rejects(r.report({ a: 1 }), StoppedError);
    await assert.rejects(r.report({ a: 2 }, { checkpoint: "/final" }), StoppedError);
    run.order({ kind: Order.Kill });
    await assert.rejects(r.report({ a: 3 }, { checkpoint: "/late" }), StoppedError, "it was told to stop before");
  });
  run.order({ kind: Order.Stop, dir: "", paused: false });
  assert.deepEqual(await end, { kind: Said.Ended });
  assert.deepEqual(said.map((e) => e.checkpoint), ["/final"]);
});

test("a kill ends a report that waits", async () => {
  const { run, settled, end } = begin({}, reports(9));
  await settled();
  run.order({ kind: Order.Kill });
  assert.ok(run.killed.aborted && run.stopped.aborted);
  assert.deepEqual(await end, { kind: Said.Ended });
});

// B-150
test("a kill is no decision, except after a stop", async () => {
  for (const [before, want] of /** @type {[any[], any][]} */ ([
    [[], KilledError],
    [[{ kind: Order.Stop, dir: "/last", paused: true }], StoppedError],
  ])) {
    const { run, settled, end } = begin({}, async (r) => {
      await assert.rejects(r.report({ a: 1 }), want);
      await r.report({ a: 2 });
    });
    before.forEach((order) => run.order(order));
    run.kill(); // as when the host has closed its side
    await settled();
    assert.ok(run.stopped.reason instanceof want && run.killed.reason instanceof want);
    assert.deepEqual(await end, { kind: Said.Ended });
  }
});

test("code that catches what ends it does not keep the process from ending", async () => {
  let turned = false;
  const { run, end } = begin({}, async (r) => {
    setImmediate(() => { turned = true; }); // as what ends the process
    for (let i = 0; i < 100 && !turned; i++) {
      await r.report({ a: i }).catch(() => {});
    }
  });
  run.kill();
  await end;
  assert.ok(turned);
});

// B-080
test("the answer to a result that meets a stop follows its record", async () => {
  const stop = (credits = 0) => ({ kind: Order.Stop, dir: "", paused: true, credits });
  const credit = { kind: Order.Continue, credits: 1 };
  for (const [before, after, want] of /** @type {[any[], any[], typeof StoppedError | typeof KilledError][]} */ ([
    [[], [stop(1)], StoppedError],
    [[], [stop(), credit], StoppedError],
    [[], [stop(), { kind: Order.Kill }], KilledError],
    [[stop()], [credit], StoppedError],
    [[stop()], [{ kind: Order.Kill }], KilledError],
  ])) {
    /** @type {any[]} */
    const told = [];
    const { run, settled, end } = begin({ confirms: true }, async (r) => {
      await turn();
      await r.report({ a: 1 }).catch((/** @type {any} */ e) => told.push(e.constructor));
      await r.report({ a: 2 });
    });
    before.forEach((order) => run.order(order));
    assert.equal((await settled()).length, 1, "the result is sent");
    after.slice(0, -1).forEach((order) => run.order(order));
    await settled();
    assert.deepEqual(told, [], "it has no answer yet");
    run.order(after.at(-1));
    assert.deepEqual(await end, { kind: Said.Ended });
    assert.deepEqual(told, [want]);
    assert.equal((await settled()).length, 1, "a later one does not count");
  }
});

test("reports that nobody waits for come in order, before the end", async () => {
  const { said, end } = begin({ runAhead: 9 }, (run) => {
    run.report({ a: 1 });
    run.report({ a: 2 });
  });
  await end;
  assert.deepEqual(said.map((e) => e.iteration), [1, 2]);
});

test("errors, and what they mean to the host", async () => {
  for (const [thrown, want] of /** @type {[unknown, object][]} */ ([
    [new Error("sad"), { error: "sad", never_started: false, restore_failed: false }],
    ["text", { error: "text", never_started: false, restore_failed: false }],
    [new StartError("no such program"), { error: "no such program", never_started: true, restore_failed: false }],
    [new RestoreError("empty"), { error: "cannot restore the checkpoint: empty", never_started: false, restore_failed: true }],
    [new StoppedError(), {}],
  ])) {
    const { end } = begin({}, () => { throw thrown; });
    assert.deepEqual(await end, { kind: Said.Ended, ...want });
  }
});

test("a result without save is named when a checkpoint of it is wanted", async () => {
  const { run, settled } = begin({ checkpointEvery: 1 }, reports(2));
  run.order({ kind: Order.Save, dir: "/d" });
  assert.equal((await settled())[1].error,
    "the result of iteration 1 was reported without save, and a checkpoint of it is wanted: give save with each report");
});

test("long lines are cut", () => {
  const { run, said } = begin({}, () => {});
  run.log("é".repeat(100_000));
  assert.ok(Buffer.byteLength(said[0].text) < 66_000 && said[0].text.endsWith(" [cut]"));
});
