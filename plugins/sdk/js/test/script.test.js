import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { promisify } from "node:util";

const dir = mkdtempSync(join(tmpdir(), "th-js-"));
after(() => rmSync(dir, { recursive: true }));

const program = `
  import { checkpoint, params, report, trial } from "tunehost";
  const { lr, layers } = params({ lr: 0.5, layers: 2 });
  console.error(JSON.stringify([lr, layers, checkpoint(), trial() && String(trial().seed)]));
  for (let i = 1; ; i++) {
    const save = i === 2 ? (dir) => import("node:fs").then((fs) => fs.writeFileSync(dir + "/state", "x")) : undefined;
    const decision = await report({ loss: lr / i, deep: { inf: -Infinity } }, { iteration: i, save });
    if (decision !== "continue" || i === 3) {
      console.error(decision);
      break;
    }
  }
  console.error(process.moduleLoadList?.some((m) => m.includes("http2")));
`;

/** @param {Record<string, string>} env */
function run(env) {
  const cwd = new URL("..", import.meta.url);
  return promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], { cwd, env: { PATH: process.env.PATH, ...env } });
}

test("outside of a trial", async () => {
  const { stdout, stderr } = await run({});
  assert.equal(stdout.split("\n")[0], '{"loss":0.5,"deep/inf":"-Infinity"}');
  assert.deepEqual(stderr.trim().split("\n"), ["[0.5,2,null,null]", "continue", "false"]);
});

test("in a trial", async (t) => {
  /** @type {any[]} */
  const reports = [];
  const answers = ['{"decision":"continue"}', '{"decision":"pause"}'];
  const server = createServer((socket) => {
    createInterface({ input: socket }).on("line", (line) => {
      reports.push(JSON.parse(line));
      socket.write(`${answers[reports.length - 1]}\n`);
    });
  });
  t.after(() => server.close());
  const socket = join(dir, "s");
  await new Promise((resolve) => server.listen(socket, () => resolve(undefined)));
  writeFileSync(join(dir, "params.json"), '{"lr": 0.25, "net": {"depth": 3}}');
  const { stdout, stderr } = await run({
    TUNEHOST_CHANNEL: socket, TUNEHOST_PARAMS: join(dir, "params.json"), TUNEHOST_CHECKPOINT: "/from/here",
    TUNEHOST_CHECKPOINT_DIR: join(dir, "checkpoints"), TUNEHOST_TRIAL_ID: "x", TUNEHOST_SEED: "18446744073709551615",
  });
  assert.equal(stdout, "", "nothing is printed that would be a second report");
  assert.deepEqual(stderr.trim().split("\n"), ['[0.25,2,"/from/here","18446744073709551615"]', "pause", "false"]);
  assert.deepEqual(reports[0], { metrics: { loss: 0.25, "deep/inf": "-Infinity" }, iteration: 1 });
  assert.equal(reports.length, 2);
  assert.ok(existsSync(join(reports[1].checkpoint, "state")));
  assert.match(readdirSync(join(dir, "checkpoints")).join(), /^checkpoint-[0-9a-f]{8}$/);
});

test("a checkpoint has its name once it is whole", async () => {
  const text = (/** @type {string} */ save) => `
    import { writeFileSync } from "node:fs";
    import { report } from "tunehost";
    await report({ loss: 1 }, { save: (dir) => { writeFileSync(dir + "/state", "x"); ${save} } });
  `;
  const [killed, failed] = [join(dir, "killed"), join(dir, "failed")];
  const env = { TUNEHOST_TRIAL_ID: "00000", TUNEHOST_CHANNEL: join(dir, "none") };
  await stop(text('process.kill(process.pid, "SIGKILL");'), { ...env, TUNEHOST_CHECKPOINT_DIR: killed });
  assert.match(readdirSync(killed).join(), /^\.new-[a-z0-9_]{8}$/, "a host removes what has such a name");
  const { err } = await stop(text('throw new Error("no room");'), { ...env, TUNEHOST_CHECKPOINT_DIR: failed });
  assert.match(err, /no room/);
  assert.deepEqual(readdirSync(failed), []);
});

test("a report that is refused, and a host that is gone", async (t) => {
  const server = createServer((socket) => {
    socket.once("data", () => socket.write('{"error":"metric \\"a b\\" has a bad name"}\n'));
  });
  t.after(() => server.close());
  const socket = join(dir, "r");
  await new Promise((resolve) => server.listen(socket, () => resolve(undefined)));
  await assert.rejects(run({ TUNEHOST_CHANNEL: socket }), /the report was refused: metric "a b" has a bad name/);
  await assert.rejects(run({ TUNEHOST_CHANNEL: join(dir, "none") }), /cannot connect to the report channel/);
});

/**
 * Runs a program that is stopped when it prints "begun", and again when it prints "again".
 * @param {string} text
 * @param {Record<string, string>} [env]
 * @returns {Promise<{code: number | null, signal: string | null, out: string, err: string}>}
 */
function stop(text, env = { TUNEHOST_TRIAL_ID: "00000" }) {
  const cwd = new URL("..", import.meta.url);
  const child = spawn(process.execPath, ["--input-type=module", "-e", text], { cwd, env: { PATH: process.env.PATH, ...env } });
  let [out, err] = ["", ""];
  child.stderr.on("data", (data) => { err += data; });
  child.stdout.on("data", (data) => {
    out += data;
    if (/(begun|again)\n$/.test(String(data))) {
      child.kill("SIGTERM");
    }
  });
  return new Promise((resolve) => child.on("close", (code, signal) => resolve({ code, signal, out, err })));
}

const sleep = `
  import { setTimeout as sleep } from "node:timers/promises";
  import { report, stopped, StoppedError } from "tunehost";
`;

test("a stop between reports aborts the signal, once, and is no failure", async () => { // B-150
  assert.deepEqual(await stop(`${sleep}
    try {
      const long = sleep(1e9, undefined, { signal: stopped() });
      console.log("begun");
      await long;
    } finally {
      process.once("SIGTERM", () => console.log("clean"));
      console.log("again");
      while (process.listenerCount("SIGTERM") > 1) await sleep(1);
    }
  `), { code: 143, signal: null, out: "begun\nagain\nclean\n", err: "" });
  const reason = await stop(`${sleep}
    const signal = stopped();
    setInterval(() => signal.throwIfAborted(), 1);
    signal.addEventListener("abort", () => console.log(signal.reason instanceof StoppedError, signal.reason.paused));
    console.log("begun");
  `);
  assert.deepEqual(reason, { code: 143, signal: null, out: "begun\ntrue false\n", err: "" });
});

test("other errors are printed after a stop, too", async () => {
  const { code, err } = await stop(`${sleep}
    stopped().addEventListener("abort", () => setImmediate(() => { throw new Error("cannot save"); }));
    setInterval(() => {}, 1e9);
    console.log("begun");
  `);
  assert.equal(code, 1);
  assert.match(err, /Error: cannot save/);
});

test("who does not ask is ended by SIGTERM", async () => {
  const text = `import "tunehost"; setInterval(() => {}, 1e9); console.log("begun");`;
  assert.equal((await stop(text)).signal, "SIGTERM");
  assert.equal((await stop(`${sleep} stopped(); ${text}`, {})).signal, "SIGTERM");
  assert.equal((await stop(`${sleep} stopped(); ${text}`, { TUNEHOST_TRIAL_ID: "0", TUNEHOST_SDK_PID: "1" })).signal, "SIGTERM");
});

test("after a report SIGTERM waits for the next one, whose answer it is", async (t) => { // B-150
  const answers = ['{"decision":"continue"}', '{"decision":"stop"}'];
  const server = createServer((socket) => {
    createInterface({ input: socket }).on("line", () => socket.write(`${answers.shift()}\n`));
  });
  t.after(() => server.close());
  const socket = join(dir, "stop");
  await new Promise((resolve) => server.listen(socket, () => resolve(undefined)));
  assert.deepEqual(await stop(`${sleep}
    await report({ loss: 1 });
    const told = new Promise((resolve) => process.once("SIGTERM", resolve));
    const ticking = setInterval(() => {}, 1e9);
    console.log("begun");
    await told;
    clearInterval(ticking);
    console.log(await report({ loss: 2 }), stopped().aborted);
  `, { TUNEHOST_TRIAL_ID: "00000", TUNEHOST_CHANNEL: socket }), { code: 0, signal: null, out: "begun\nstop true\n", err: "" });
});

// B-150
test("a report that nobody answers is no decision", async (t) => {
  const server = createServer((socket) => socket.once("data", () => socket.destroy()));
  const socket = join(dir, "gone");
  await new Promise((resolve) => server.listen(socket, () => resolve(undefined)));
  t.after(() => server.close());
  for (const channel of [socket, join(dir, "none")]) { // the second: what has started the program has removed it
    assert.deepEqual(await stop(`
      import { KilledError, report, StoppedError } from "tunehost";
      await report({ loss: 1 }).catch((e) => console.log(e instanceof KilledError, e instanceof StoppedError));
    `, { TUNEHOST_CHANNEL: channel }), { code: 0, signal: null, out: "true false\n", err: "" });
  }
});
