// The protocol's messages and services, as proto/ defines them.

import { loadSync } from "@grpc/proto-loader";
import { fileURLToPath } from "node:url";

const files = ["searcher", "scheduler", "trainable"].map((name) => `tunehost/v1/${name}.proto`);

/**
 * Loads the definitions of the services, by name. 64-bit numbers are Long objects.
 * @returns {Record<string, any>}
 */
export function definitions() {
  return loadSync(files, {
    includeDirs: [fileURLToPath(new URL("../../proto", import.meta.url))],
    keepCase: true, defaults: true, arrays: true,
  });
}
