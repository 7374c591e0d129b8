// Makes the modules of this folder from their sources:
//
//   NAME.wat   by wabt; (;include FILE;) stands for a file
//   NAME.hex   bytes, for what no assembler writes; # begins a comment, and
//              (repeat N BYTES) stands for N times BYTES
//
// make broken-guests runs it.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const [, , folder, tools] = process.argv;
const wabt = await createRequire(tools + "/")("wabt")();
const read = (name) => readFileSync(`${folder}/${name}`, "utf8");

const expand = (text) => text.replace(/\(;include (\S+);\)/g, (_, name) => expand(read(name)));
const repeat = (text) => text.replace(/\(repeat (\d+) (.*?)\)/g, (_, n, part) => part.repeat(Number(n)));

for (const name of readdirSync(folder)) {
  const [, base, kind] = /^(.*)\.(wat|hex)$/.exec(name) ?? [];
  if (kind === "wat") {
    const module = wabt.parseWat(name, expand(read(name)));
    writeFileSync(`${folder}/${base}.wasm`, module.toBinary({}).buffer);
  } else if (kind === "hex") {
    const digits = repeat(read(name).replace(/#.*/g, "")).replace(/\s/g, "");
    writeFileSync(`${folder}/${base}.wasm`, Buffer.from(digits, "hex"));
  }
}
