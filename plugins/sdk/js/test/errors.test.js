import assert from "node:assert/strict";
import { test } from "node:test";
import { describe, stackOf } from "../src/errors.js";
import { unary } from "../src/serve/services.js";

function deep() {
  throw new TypeError("no\n  luck");
}

/** @param {() => unknown} f */
async function answered(f) {
  const write = process.stderr.write;
  let line = "", answer;
  process.stderr.write = /** @type {any} */ ((/** @type {string} */ text) => { line += text; return true; });
  try {
    await unary(async () => f())({ getPath: () => "/a/Suggest" }, (/** @type {any} */ failure) => { answer = failure; });
  } finally {
    process.stderr.write = write;
  }
  return { line: JSON.parse(line), answer: /** @type {any} */ (answer) };
}

test("an error is one line, with the author's line in it", async () => {
  const { line, answer } = await answered(deep);
  assert.match(answer.details, /^TypeError: no luck \(errors\.test\.js:7\)$/);
  assert.match(line["@message"], /^Suggest: TypeError: no luck \(errors\.test\.js:7\)$/);
  assert.match(line.stack, /at deep/);
  assert.doesNotMatch(line.stack, /services\.js/);
});

test("what is no error is said as it is", () => {
  assert.equal(describe("text"), "text");
  assert.equal(stackOf("text"), "text");
});
