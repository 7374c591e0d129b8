// Whole numbers that JavaScript's numbers cannot hold, such as 9007199254740993: pages show and send them as recorded.
import { bare } from "./named";

// parse reads JSON; such a whole number becomes a BigInt. A browser that does not tell the source of a number rounds it.
export function parse(text: string): unknown {
  return bare(large.test(text) ? JSON.parse(text, whole as (key: string, v: unknown) => unknown) : JSON.parse(text));
}

// large is what a text has that may need more than a number: to look at each value takes long.
const large = /(?<![\d.])\d{16,}(?![\d.eE])/;

function whole(_: string, v: unknown, context?: { source?: string }): unknown {
  const source = context?.source;
  return typeof v === "number" && source && /^-?\d+$/.test(source) && String(v) !== source && Math.abs(v) >= 2 ** 53 ? BigInt(source) : v;
}

// A BigInt is written as JSON with all its digits, where a browser can.
export function writeWhole(): void {
  const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };
  Object.defineProperty(BigInt.prototype, "toJSON", { configurable: true, value(this: bigint) { return rawJSON ? rawJSON(String(this)) : Number(this); } });
}
