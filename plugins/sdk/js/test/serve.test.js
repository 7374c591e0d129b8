import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { EXHAUSTED, scheduler, searcher, Space, trainable } from "tunehost";
import { Turns } from "../src/serve/guard.js";
import { readOptions } from "../src/serve/options.js";
import { hostAuthority, newIdentity } from "../src/serve/tls.js";
import * as wire from "../src/serve/wire.js";

const schema = {
  type: "object", additionalProperties: false,
  properties: { n: { type: "integer", default: 3 }, x: { type: "number", default: 0.5 }, list: { type: ["array", "null"], default: [] }, free: {} },
};

/** @param {string} text */
const read = (text) => readOptions(schema, Buffer.from(text));

test("options: defaults below, names and types checked", () => {
  assert.deepEqual(read(""), { n: 3, x: 0.5, list: [] });
  assert.deepEqual(read("null"), { n: 3, x: 0.5, list: [] });
  assert.deepEqual(read('{"x": 2, "list": null, "free": "y"}'), { n: 3, x: 2, list: null, free: "y" });
  assert.throws(() => read('{"n": 2.5}'), /option "n" is 2.5; expected: integer/);
  assert.throws(() => read('{"m": 2}'), /option "m" is unknown; known: n, x, list, free/);
  assert.throws(() => read("[]"), /no JSON object/);
  assert.throws(() => read("{"), /not JSON/);
});

test("the certificate is the process's own, for localhost, on P-256", () => {
  const { key, cert, der } = newIdentity();
  const x509 = new X509Certificate(cert);
  assert.ok(x509.verify(x509.publicKey) && x509.ca);
  assert.equal(x509.checkHost("localhost"), "localhost");
  assert.equal(x509.publicKey.asymmetricKeyDetails?.namedCurve, "prime256v1");
  assert.ok(new Date(x509.validFrom) < new Date() && new Date(x509.validTo) > new Date());
  assert.match(key, /BEGIN PRIVATE KEY/);
  assert.ok(der.equals(x509.raw));
  assert.ok(hostAuthority(cert).equals(Buffer.from(cert)));
  assert.throws(() => hostAuthority("nonsense"), /another protocol/);
  assert.throws(() => hostAuthority(undefined), /another protocol/);
});

test("calls wait for each other, also after one that fails", async () => {
  const turns = new Turns();
  /** @type {number[]} */
  const order = [];
  const slow = turns.next(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    order.push(1);
    throw new Error("slow");
  });
  const fast = turns.next(async () => order.push(2));
  await assert.rejects(slow, /slow/);
  await fast;
  assert.deepEqual(order, [1, 2]);
});

test("definitions are checked at once", () => {
  const open = () => ({ suggest: () => EXHAUSTED });
  assert.throws(() => searcher({ name: "Mine", version: "1", summary: "s", open }), /name is "Mine"/);
  assert.throws(() => searcher({ name: "mine", version: "", summary: "s", open }), /no version/);
  assert.throws(() => scheduler(/** @type {any} */ ({ name: "mine", version: "1", summary: "s" })), /no function open/);
  assert.equal(trainable({ name: "m", version: "1", summary: "s", open: () => ({ train() {} }) }).kind, "trainable");
});

const space = new Space({ params: [{ name: "a", kind: "real", low: 0, high: 1 }, { name: "b", kind: "real", low: 0, high: 1 }] });
const result = /** @type {any} */ ({ number: 2n ** 64n - 1n, kind: "result_reported" });

test("given coordinates are laid over answers, which stay as they are", () => {
  const mine = [0.1, 0.2];
  const request = /** @type {any} */ ({ trial: 0, given: Float64Array.of(NaN, 0.9) });
  assert.deepEqual(wire.suggestion(space, mine, request), { values: [0.1, 0.9] });
  assert.deepEqual(mine, [0.1, 0.2]);
});

test("values outside of the space are refused as such: the host does not ask again", () => {
  const request = /** @type {any} */ ({ trial: 2 });
  assert.throws(() => wire.suggestion(space, { a: 0, b: 0, c: 0 }, request),
    (thrown) => thrown instanceof wire.OutsideError && thrown.message.startsWith("its point for trial 2: "));
});

test("decisions are on results that were told, once", () => {
  const stop = { event: result.number, verdict: /** @type {const} */ ("stop"), reason: "why" };
  assert.deepEqual(wire.decisions(space, [result], [stop]).decisions,
    [{ event: "18446744073709551615", verdict: 2, until: "0", reason: "why" }]);
  assert.deepEqual(wire.decisions(space, [result], null), { decisions: [], commands: [] });
  assert.throws(() => wire.decisions(space, [result], [stop, stop]), /decided already/);
  assert.throws(() => wire.decisions(space, [], [stop]), /not a result of this call/);
  assert.throws(() => wire.decisions(space, [result], [/** @type {any} */ ({ ...stop, verdict: "halt" })]), /unknown verdict halt/);
});

test("what is missing or wrong in a decision or a command is named", () => {
  const [stop, resume] = [{ event: 7n, verdict: "stop" }, { kind: "resume", trial: 1 }];
  for (const [answer, said] of /** @type {[any, string][]} */ ([
    [[{ verdict: "stop", reason: "x" }], "its decision { verdict: 'stop', reason: 'x' } has no event; expected the number of a result"],
    [[{ ...stop, event: "seven" }], "the event of its decision is 'seven'; expected a whole number from 0 on"],
    [[{ event: 7n, until: 9 }], "it gave no verdict on event 7; expected continue (also with until), pause or stop"],
    [[{ ...stop, until: NaN }], "until of its decision on event 7 is NaN; expected a whole number from 0 on"],
    [[{ ...stop, until: 2.5 }], "until of its decision on event 7 is 2.5"], [[{ ...stop, until: -4 }], "until of its decision on event 7 is -4"],
    [[{ ...stop, reason: 12 }], "the reason of its decision on event 7 is 12; expected a text"],
    [{ commands: [{ kind: "resume" }] }, "the trial of its command resume is undefined; expected a whole number from 0 on"],
    [{ commands: [{ ...resume, trial: 1.5 }] }, "the trial of its command resume is 1.5"],
    [{ commands: [{ ...resume, reason: 12 }] }, "the reason of its command resume is 12; expected a text"],
    [{ commands: [{ kind: "exploit", trial: 1, donor: 2, iteration: NaN }] }, "the iteration of its command exploit is NaN"],
  ])) {
    const told = /** @type {any} */ ({ number: 7n, kind: "result_reported" });
    assert.throws(() => wire.decisions(space, [told], answer), (thrown) => thrown instanceof Error && thrown.message.startsWith(said), said);
  }
  const all = /** @type {any} */ ({ kind: "stop all", reason: "enough" });
  assert.equal(wire.decisions(space, [], { commands: [all] }).commands.length, 1);
});

test("what is no list of decisions is refused by its value", () => {
  const stop = { event: 7n, verdict: "stop" };
  for (const [answer, said] of /** @type {[any, string][]} */ ([
    ["stop", "'stop'"], ["", "''"], [7, "7"], [0, "0"], [true, "true"], [false, "false"], [stop, "{ event: 7n, verdict: 'stop' }"],
    [new Map([["decisions", []]]), "Map(1) {"], [[null], "[ null ]"], [["stop"], "[ 'stop' ]"], [[, stop], "[ <1 empty item>"],
    [{ decisions: "stop" }, "{ decisions: 'stop' }"], [{ decisions: null }, "{ decisions: null }"], [{ commands: [7] }, "{ commands: [ 7 ] }"],
    [() => [stop], "[Function"],
  ])) {
    assert.throws(() => wire.decisions(space, [result], answer),
      (thrown) => thrown instanceof TypeError && thrown.message.startsWith(`it returned ${said}`) && !thrown.message.includes("\n"), said);
  }
  for (const nothing of [undefined, null, [], {}, { decisions: [] }, { commands: undefined }]) {
    assert.deepEqual(wire.decisions(space, [result], nothing), { decisions: [], commands: [] });
  }
});

test("commands", () => {
  const { commands } = wire.decisions(space, [], { commands: [
    { kind: "exploit", trial: 3, donor: 1, iteration: 9, point: { a: 0.5, b: 0.25 }, reason: "better" },
    { kind: "resize", trial: 4, resources: { cpu: 2 } },
  ] });
  assert.deepEqual(commands[0], { kind: 3, trial: 3, donor: 1, iteration: "9", point: { values: [0.5, 0.25] }, resources: Buffer.alloc(0), reason: "better" });
  assert.equal(String(commands[1].resources), '{"cpu":2}');
  assert.throws(() => wire.decisions(space, [], { commands: [/** @type {any} */ ({ kind: "explode", trial: 1 })] }), /unknown command explode/);
});

test("a trial's bundles", () => {
  const trial = wire.trial({
    params: Buffer.alloc(0), options: Buffer.alloc(0), resources: Buffer.from('{"cpu": "3"}'), seed: "1", iteration: "0",
    checkpoint_every: "0", devices: ["0"], bundles: [
      { node: "a", address: "10.0.0.1", resources: Buffer.from('{"cpu": "2"}'), devices: ["0"] }, { node: "b", address: "10.0.0.2", resources: Buffer.from('{"cpu": "1"}'), devices: [] },
    ],
  });
  assert.deepEqual(trial.bundles, [
    { node: "a", address: "10.0.0.1", resources: { cpu: "2" }, devices: ["0"] }, { node: "b", address: "10.0.0.2", resources: { cpu: "1" }, devices: [] },
  ]);
});

test("a problem has what trials ask for and what there is, where it is known", () => {
  const { request, capacity } = wire.problem({
    objectives: [], seed: { low: 1, high: 0 }, trials: { low: 1, high: 0 }, concurrency: { low: 1, high: 0 }, request: Buffer.from('{"cpu": "2"}'), capacity: Buffer.alloc(0),
  });
  assert.deepEqual([request, capacity], [{ cpu: "2" }, {}]);
  assert.deepEqual(wire.problem(undefined).request, {});
});
