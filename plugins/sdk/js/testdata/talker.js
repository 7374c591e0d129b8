// A trainable that prints who it is, one trial after the other or, with "shared", at a time.

import { setImmediate as turn } from "node:timers/promises";
import { log, serve, trainable } from "../src/index.js";

await serve(trainable({
  name: "talker",
  version: "1.0.0",
  summary: "Prints who it is.",
  options: { type: "object", additionalProperties: false, properties: { shared: { type: "boolean", default: false } } },
  open: (options) => ({
    reusable: true,
    shared: options.shared,
    train: async ({ params, report }) => {
      console.log(`out ${params.name}`);
      log.info(`logged by ${params.name}`);
      await turn();
      await report({ loss: 1, note: params.name });
      await turn();
      console.error(`err ${params.name}`);
      setTimeout(() => console.log(`late ${params.name}`), 0);
    },
  }),
}));
