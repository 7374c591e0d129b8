// The trainable of plugins/sdk/samples/alike; with "script" it is a program of its own.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { report, serve, trainable } from "../src/index.js";

/** @param {number} i */
function numbers(i) {
  console.log(`epoch ${i}`);
  console.error(`warning ${i}`);
  return { loss: 1 / i, whole: 2 * i, note: `epoch "${i}"`, ok: true, sizes: [1, 2.5] };
}

const saving = (/** @type {number} */ i) => (/** @type {string} */ dir) => writeFileSync(join(dir, "state"), `state ${i}`);

async function script() {
  let i = 1;
  while (i <= 9 && (await report(numbers(i), i === 2 ? { save: saving(i) } : {})) === "continue") {
    i++;
  }
  console.log("cleaned up");
  writeFileSync(join(String(process.env.TUNEHOST_EXPORT_DIR), "text"), `model ${i}`);
}

const plugin = trainable({
  name: "alike",
  version: "1.0.0",
  summary: "Does what a trainable can do.",
  options: { type: "object" },
  open: () => ({
    reusable: true,
    saves: true,
    train: async (run) => {
      try {
        for (let i = 1; i <= 9; i++) {
          await run.report(numbers(i), { save: saving(i) });
        }
      } finally {
        console.log("cleaned up");
      }
    },
  }),
});

await (process.argv.includes("script") ? script() : serve(plugin));
