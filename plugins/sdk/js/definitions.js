// Prints the messages and services of the .proto files in a folder, as proto.js loads them.

import { join } from "node:path";
import protobuf from "protobufjs";

const [, , folder] = process.argv;
const root = new protobuf.Root();
root.resolvePath = (_, file) => join(folder, file);
root.loadSync(["searcher", "scheduler", "trainable"].map((name) => `tunehost/v1/${name}.proto`), { keepCase: true });
console.log(JSON.stringify(root, null, 1));
