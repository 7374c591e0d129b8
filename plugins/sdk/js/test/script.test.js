import assert from "node:assert/strict";
import { execFile } from "node:child_process";
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
  assert.equal(readdirSync(join(dir, "checkpoints")).length, 1);
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
