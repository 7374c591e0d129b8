// Numbers and times as the command line writes them.
import type { Numeric } from "./api";
import { jsonOf } from "./exact";

// number has at most five digits, as `tunehost status` writes a metric; the exact value is in the title of a cell.
export function number(v: Numeric | null | undefined, digits = 5): string {
  if (v === null || v === undefined) return "–";
  if (typeof v !== "number") return v === "NaN" ? "NaN" : v === "Infinity" ? "+Inf" : "-Inf";
  if (!Number.isFinite(v)) return String(v);
  if (v === 0) return "0";
  const [mantissa = "", exponent = "0"] = v.toExponential(digits - 1).split("e");
  const e = Number(exponent);
  if (e >= -4 && e < digits) return String(Number(v.toPrecision(digits)));
  const size = Math.abs(e).toString().padStart(2, "0");
  return `${Number(mantissa)}e${e < 0 ? "-" : "+"}${size}`;
}

// plain is number without powers of ten where that is readable, for columns: 104030 beside 54001.
export function plain(v: Numeric | null | undefined): string {
  const size = typeof v === "number" ? Math.abs(v) : 0;
  return size >= 1e5 && size < 1e12 ? String(Math.round(v as number)) : number(v);
}

// Look writes a number with so many digits at most.
type Look = (v: Numeric | null | undefined, digits: number) => string;

// apart writes numbers, such as those of a column, with the fewest digits with which different ones look different.
export function apart(list: readonly (Numeric | null | undefined)[], look: Look = (v, digits) => (digits === 5 ? plain(v) : number(v, digits)), fewest = 5): string[] {
  const different = new Set(list).size;
  for (let digits = fewest; digits < 17; digits++) {
    const texts = list.map((v) => look(v, digits));
    if (new Set(texts).size >= different) return texts;
  }
  return list.map((v) => look(v, 17));
}

// value writes a parameter of any type.
export function value(v: unknown): string {
  if (typeof v === "number") return Number.isInteger(v) && Math.abs(v) < 1e9 ? String(v) : number(v, 4);
  if (typeof v === "string") return v;
  if (typeof v === "bigint") return String(v);
  return v === undefined ? "–" : JSON.stringify(v);
}

// unseen is a text of which a page shows less than there is: blanks at its ends, several in a row, and characters that are
// not seen.
const unseen = /^$|^\s|\s$|\s\s|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;

// choiceTexts write choices such that different ones look different, as `tunehost plot` does: a text has quotes if it is
// empty, has blanks that nobody sees or looks as another choice, and a number all its digits if it looks as another one.
// taken are texts that mean something else there.
export function choiceTexts(list: readonly unknown[], look: (v: unknown) => string = value, taken: readonly string[] = []): string[] {
  const looks = list.map(look), all = list.map((_, i) => jsonOf(list, String(i)));
  return list.map((v, i) => (typeof v === "string" && unseen.test(v) || taken.includes(looks[i]!) || looks.some((text, k) => text === looks[i] && all[k] !== all[i])
    ? all[i]! : looks[i]!));
}

// teller writes values of a parameter, of which different choices look different.
export function teller(choices: readonly unknown[] | undefined): (v: unknown) => string {
  const texts = choiceTexts(choices ?? []);
  const own = new Map(choices?.map((c, i) => [JSON.stringify(c), texts[i]!]));
  return (v) => own.get(JSON.stringify(v)) ?? value(v);
}

// Spaces say which choices parameters have.
type Spaces = readonly ({ parameters: readonly { name: string; choices?: unknown[] }[] } | undefined)[];

// tellers write values of parameters, of which different choices look different, also those of different experiments.
export function tellers(...of: Spaces): (name: string, v: unknown) => string {
  const choices = new Map<string, unknown[]>();
  for (const p of of.flatMap((space) => space?.parameters ?? [])) choices.set(p.name, [...choices.get(p.name) ?? [], ...p.choices ?? []]);
  const all = new Map([...choices].map(([name, list]) => [name, teller(list)]));
  return (name, v) => (all.get(name) ?? value)(v);
}

// exact writes a parameter so that nothing is lost.
export const exact = (v: unknown): string => (typeof v === "string" ? v : JSON.stringify(v) ?? "");

// word is a word for a shell.
export const word = (s: string): string => (/^(?!=)[\w@%+=:,./-]+$/.test(s) ? s
  : unprinted.test(s) ? `$'${s.replace(/['\\]/g, "\\$&").replace(new RegExp(unprinted, "gu"), octal)}'` : `'${s.replaceAll("'", `'\\''`)}'`);

// unprinted are the characters that a terminal would act upon, where a line is pasted, or shows as nothing or a space.
const unprinted = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;

const octal = (c: string): string =>
  [...new TextEncoder().encode(c)].map((b) => "\\" + b.toString(8).padStart(3, "0")).join("");

export function seconds(s: Numeric | null | undefined): string {
  if (typeof s !== "number") return "–";
  if (s < 10) return s.toFixed(1) + "s";
  if (s < 60) return Math.floor(s) + "s";
  if (s < 3600) return `${Math.floor(s / 60)}m${pad(Math.floor(s) % 60)}s`;
  if (s < 172800) return `${Math.floor(s / 3600)}h${pad(Math.floor(s / 60) % 60)}m`;
  return `${Math.floor(s / 86400)}d${pad(Math.floor(s / 3600) % 24)}h`;
}

const pad = (n: number): string => String(n).padStart(2, "0");

// Unit is what times of a plot are counted in: seconds of a long experiment would be hard to read.
export interface Unit {
  name: string;
  seconds: number;
}

export const unitOf = (most: number): Unit => (most < 300 ? { name: "seconds", seconds: 1 } : most < 3 * 3600
  ? { name: "minutes", seconds: 60 } : most < 4 * 86400 ? { name: "hours", seconds: 3600 } : { name: "days", seconds: 86400 });

// roughly says how long something will take.
export function roughly(s: number): string {
  if (s < 60) return "less than a minute";
  if (s < 5400) return `about ${Math.round(s / 60)} min`;
  if (s < 129600) return `about ${Math.round(s / 3600)} h`;
  return `about ${Math.round(s / 86400)} days`;
}

export function ago(then: string, now = Date.now()): string {
  const s = (now - Date.parse(then)) / 1000;
  if (s < 60) return "just now";
  if (s < 3600) return Math.floor(s / 60) + " min ago";
  if (s < 172800) return Math.floor(s / 3600) + " h ago";
  return then.slice(0, 10);
}

// time writes a moment in the time zone of the reader.
export const time = (t: string | null | undefined): string => (t ? new Date(t).toLocaleString() : "–");

// clock is a time of today, to the minute.
export const clock = (t: number): string => new Date(t).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

export function bytes(n: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
  return `${i === 0 ? n : Number(n.toPrecision(3))} ${units[i]}`;
}

// count writes how many there are, with commas: 90,001.
export const count = (n: number): string => n.toLocaleString("en");

export const plural = (n: number, thing: string): string => `${count(n)} ${thing}${n === 1 ? "" : "s"}`;

// words for the states of trials, in the order in which they are listed.
export const states: [name: string, word: string, sign: string][] = [["RUNNING", "running", "▶"],
  ["PENDING", "pending", "…"], ["PAUSED", "paused", "❚❚"], ["TERMINATED", "terminated", "■"], ["ERROR", "failed", "✕"]];

// fates are the words for trials that have ended without an error.
const fates: [name: string, word: string, sign: string][] = [["COMPLETED", "completed", "✓"], ["EARLY", "stopped early", "■"]];
const known = [...states, ...fates];

export const stateWord = (state: string): string => known.find(([name]) => name === state)?.[1] ?? state;

// signs of the states of experiments, beside those of trials.
const signs: Record<string, string> = { running: "▶", paused: "❚❚", finished: "✓", stopped: "■", interrupted: "◌" };

export const stateSign = (state: string): string => signs[state] ?? known.find(([name]) => name === state)?.[2] ?? "✕";
