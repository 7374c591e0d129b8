// Numbers that JavaScript's numbers cannot hold: whole ones such as 9007199254740993, and reals that are whole, such as 1.0,
// which other languages tell from 1. Pages show, copy and send them as recorded.
import { bare } from "./named";
import { escaped } from "./visible";

// parse reads JSON; such a whole number becomes a BigInt. A browser that does not tell the source of a number rounds it.
export function parse(text: string): unknown {
  return bare(large.test(text) || wholeReal.test(text) ? JSON.parse(text, asRecorded as (key: string, v: unknown) => unknown) : JSON.parse(text));
}

// large and wholeReal are what a text has that may need more than a number: to look at each value takes long.
const large = /(?<![\d.])\d{16,}(?![\d.eE])/;
const wholeReal = /\d\.0(?=[,}\]\s]|$)/;

// reals are the texts of members that are such reals, by what has them.
const reals = new WeakMap<object, Map<string, string>>();

function asRecorded(this: object, key: string, v: unknown, context?: { source?: string }): unknown {
  const source = context?.source;
  if (typeof v !== "number" || !source) return v;
  if (source.endsWith(".0")) note(this, key, source);
  return /^-?\d+$/.test(source) && String(v) !== source && Math.abs(v) >= 2 ** 53 ? BigInt(source) : v;
}

function note(of: object, key: string, text: string): void {
  const own = reals.get(of) ?? new Map<string, string>();
  reals.set(of, own.set(key, text));
}

// copyMember gives an object a member of another one.
export function copyMember(from: Record<string, unknown>, key: string, to: Record<string, unknown>, name: string): void {
  to[name] = from[key];
  const text = reals.get(from)?.get(key);
  if (text !== undefined) note(to, name, text);
}

const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };

function written(this: object, key: string, v: unknown): unknown {
  const text = reals.get(this)?.get(key);
  return text !== undefined && rawJSON && v === Number(text) ? rawJSON(text) : v;
}

// member is a member as JSON has it, a real as one: for JSON, not for calculations.
export const member = (of: object, key: string): unknown => written.call(of, key, (of as Record<string, unknown>)[key]);

// json writes what parse has read, with escapes for what nobody sees.
export const json = (v: unknown, indent?: number): string => escaped(JSON.stringify(v, written, indent) ?? "");

// jsonOf writes a member in the same way; a missing one is empty.
export const jsonOf = (of: object, key: string): string => json(member(of, key));

// value reads the JSON of one value, for JSON again.
export const value = (text: string): unknown => member(parse(`[${text}]`) as object, "0");

// A BigInt is written as JSON with all its digits, where a browser can.
export function writeWhole(): void {
  Object.defineProperty(BigInt.prototype, "toJSON", { configurable: true, value(this: bigint) { return rawJSON ? rawJSON(String(this)) : Number(this); } });
}
