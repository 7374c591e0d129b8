// Scales and axes.
import { scaleLinear, scaleLog, scalePoint } from "d3-scale";
import type { Numeric } from "../api";
import { apart, choiceTexts, number, value } from "../format";
import type { Surface } from "./canvas";
import { distinctly, fitted, write } from "./canvas";

// Axis places values: numbers, or one of several choices.
export interface Axis {
  label: string;
  at: (v: unknown) => number;
  ticks: { at: number; text: string; value?: unknown }[];
  // invert returns the number at a place; NaN for choices.
  invert: (px: number) => number;
  kind: "number" | "choice";
}

export interface Wanted {
  label: string;
  values: Iterable<unknown>;
  log?: boolean;
  // low and high are in the range in any case.
  low?: number;
  high?: number;
  choices?: unknown[];
  // range is what of the numbers is shown; undefined: all.
  range?: [number, number];
}

// told is a value as the axis has it: choices that look alike are told apart.
export const told = (a: Axis, v: unknown): string =>
  (v !== undefined && a.kind === "choice" ? a.ticks.find((t) => t.at === a.at(v))?.text : undefined) ?? value(v);

// axis makes an axis for values, between two places.
export function axis(w: Wanted, range: [number, number]): Axis {
  const numbers: number[] = [];
  const others: unknown[] = [...w.choices ?? []];
  for (const v of w.values) {
    if (typeof v === "number" && Number.isFinite(v)) numbers.push(v);
    else if (v !== undefined && v !== null && typeof v !== "number") others.push(v);
  }
  return others.length > 0 ? choices(w, [...others, ...(w.choices ? [] : numbers)], range) : numeric(w, w.range ?? numbers, range);
}

function choices(w: Wanted, list: unknown[], range: [number, number]): Axis {
  const known = new Map<string, unknown>();
  for (const v of list) known.set(JSON.stringify(v), v);
  const texts = choiceTexts([...known.values()]);
  const scale = scalePoint<string>([...known.keys()], range).padding(0.5);
  return { label: w.label, kind: "choice", at: (v) => (v === undefined ? NaN : scale(JSON.stringify(v)) ?? NaN), invert: () => NaN,
    ticks: [...known].map(([key, v], i) => ({ at: scale(key) ?? NaN, text: texts[i]!, value: v })) };
}

// unitOf is what the numbers of an axis are counted in, of which the one farthest from 0 is given: differences of huge
// ones may be too large for a number, and steps between tiny ones too small for the scale.
const unitOf = (most: number, log: boolean): number => (most > 1e300 && !log ? 1e10 : most > 0 && most < 1e-280 ? 1e-280 : 1);

function numeric(w: Wanted, all: number[], range: [number, number]): Axis {
  const log = w.log === true && all.every((v) => v > 0) && (w.low === undefined || w.low > 0);
  const one = unitOf([w.low ?? 0, w.high ?? 0].concat(all).reduce((most, v) => Math.max(most, Math.abs(v)), 0), log);
  const values = all.map((v) => v / one);
  const [low, high] = spread(values, { ...w, low: w.low && w.low / one, high: w.high && w.high / one }, log);
  const scale = log ? scaleLog([low, high], range) : scaleLinear([low, high], range);
  const reach = beyondAxis * (high - low);
  const at = (v: number): number => scale(log || !Number.isFinite(v) ? v / one : Math.max(low - reach, Math.min(high + reach, v / one)));
  const count = Math.max(2, Math.floor(Math.abs(range[1] - range[0]) / (range[1] < range[0] ? 42 : 80))); // a text is wider than high
  // several ticks between two neighbours of the tiniest numbers are one and the same
  const ticks = [...new Set(some(scale.ticks(count), count, log).map((v) => v * one || 0))].filter((v) => Number.isFinite(v) && !(log && v === 0));
  const whole = all.length > 0 && all.every(Number.isInteger) ? ticks.filter(Number.isInteger) : [];
  const told = whole.length > 0 ? whole : ticks;
  const texts = apart(told, tick, 4);
  return { label: w.label + (log ? " (log)" : ""), kind: "number", at: (v) => (typeof v === "number" ? at(v) : NaN),
    invert: (px) => Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, scale.invert(px) * one)),
    ticks: told.map((v, i) => ({ at: at(v), text: texts[i]! })) };
}

// beyondAxis is how many lengths of an axis a place may be beyond its ends: what is farther is there.
const beyondAxis = 1000;

// tick writes a number of an axis as `tunehost plot` does: 28000, and not 2.8e+04, which takes more room.
const tick = (v: Numeric | null | undefined, digits: number): string =>
  (typeof v === "number" && Number.isInteger(v) && Math.abs(v) < 1e7 ? String(v) : number(v, digits));

// wide says that values of a metric are easier to tell apart on a logarithmic axis, as in `tunehost plot`.
export function wide(values: Iterable<unknown>): boolean {
  let [low, high] = [Infinity, 0];
  for (const v of values) {
    if (typeof v !== "number" || !Number.isFinite(v)) continue;
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return low > 0 && high / low > 1000;
}

// some leaves out ticks of a logarithmic axis that has too many.
function some(ticks: number[], most: number, log: boolean): number[] {
  if (!log || ticks.length <= most + 2) return ticks;
  const powers = ticks.filter((v) => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9);
  return powers.length >= 2 ? powers : ticks.filter((_, i) => i % Math.ceil(ticks.length / most) === 0);
}

// drawable says that there is something that an axis has a place for.
export function drawable(values: Iterable<unknown>): boolean {
  for (const v of values) if (v !== undefined && v !== null && (typeof v !== "number" || Number.isFinite(v))) return true;
  return false;
}

// spread has a margin around the values.
function spread(values: number[], w: Wanted, log: boolean): [number, number] {
  let low = w.low ?? Infinity;
  let high = w.high ?? -Infinity;
  for (const v of values) {
    if (v < low) low = v;
    if (v > high) high = v;
  }
  if (!Number.isFinite(low) || !Number.isFinite(high)) return log ? [1, 10] : [0, 1];
  if (low === high) return log ? [Math.max(Number.MIN_VALUE, low / 2), Math.min(Number.MAX_VALUE, high * 2)] : [low - (Math.abs(low) || 1) * 0.1, high + (Math.abs(high) || 1) * 0.1];
  const margin = 0.03;
  if (log) {
    const f = Math.exp((Math.log(high) - Math.log(low)) * margin); // the quotient may be too large for a number
    return [Math.max(Number.MIN_VALUE, low / f), Math.min(Number.MAX_VALUE, high * f)];
  }
  const m = (high - low) * margin;
  return [w.low !== undefined && values.every((v) => v >= low) ? low - m / 2 : low - m, high + m];
}

// Frame is the place of a plot with an axis at the left and one below.
export interface Frame {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export const frame = (w: number, h: number, left = 62): Frame => ({ left, top: 12, right: w - 14, bottom: h - 38 });

// widest is the room that a tick of an axis at the left may take.
const widest = 90;

// margin is the room that the ticks and the title of an axis at the left need.
export function margin({ ctx }: Surface, y: Axis, least = 40): number {
  const most = Math.max(...y.ticks.map((t) => ctx.measureText(fitted(t.text, (x) => ctx.measureText(x).width <= widest)).width), 0);
  return Math.max(least, 28 + most);
}

export function drawAxes(s: Surface, f: Frame, x: Axis, y: Axis): void {
  const { ctx, theme } = s;
  ctx.strokeStyle = theme.line;
  ctx.fillStyle = theme.quiet;
  ctx.lineWidth = 1;
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  const across = fitting(x, f.right - f.left, (t) => ctx.measureText(t).width);
  const most = x.kind === "number" ? Infinity : (f.right - f.left) / across.length - 8;
  const texts = distinctly(across.map((t) => t.text), (t) => ctx.measureText(t).width <= most);
  across.forEach((t, i) => {
    rule(ctx, t.at, f.top, t.at, f.bottom);
    write(s, t.text, t.at, f.bottom + 5, most, texts[i]);
  });
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  const room = Math.min(widest, f.left - 24);
  const beside = distinctly(y.ticks.map((t) => t.text), (t) => ctx.measureText(t).width <= room);
  y.ticks.forEach((t, i) => {
    rule(ctx, f.left, t.at, f.right, t.at);
    write(s, t.text, f.left - 6, t.at, room, beside[i]);
  });
  ctx.fillStyle = theme.text;
  ctx.textAlign = "center";
  ctx.textBaseline = "bottom";
  write(s, x.label, (f.left + f.right) / 2, f.bottom + 37, f.right - f.left);
  ctx.save();
  ctx.translate(11, (f.top + f.bottom) / 2);
  ctx.rotate(-Math.PI / 2);
  ctx.textBaseline = "middle";
  write(s, y.label, 0, 0, f.bottom - f.top);
  ctx.restore();
}

// narrowest is the least room of a tick below a plot.
const narrowest = 54;

// fitting leaves out ticks whose texts would overlap: numbers are written whole, and names are shortened.
function fitting({ ticks, kind }: Axis, room: number, width: (text: string) => number): Axis["ticks"] {
  const step = Math.max(1, Math.ceil((ticks.length * narrowest) / room));
  if (kind === "choice") return ticks.filter((_, i) => i % step === 0);
  const each = Math.max(narrowest, ...ticks.map((t) => width(t.text) + 12));
  let last = -Infinity;
  return ticks.filter(({ at }) => Math.abs(at - last) >= each && ((last = at), true));
}

export function rule(ctx: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
  ctx.beginPath();
  ctx.moveTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
  ctx.lineTo(Math.round(x2) + 0.5, Math.round(y2) + 0.5);
  ctx.stroke();
}

// star marks the best trial, in the colour that it has in tables.
export function star({ ctx, theme }: Surface, x: number, y: number, size = 8): void {
  ctx.beginPath();
  for (let i = 0; i < 10; i++) {
    const [r, a] = [i % 2 === 0 ? size : size * 0.42, (i * Math.PI) / 5];
    ctx.lineTo(x + r * Math.sin(a), y - r * Math.cos(a));
  }
  ctx.closePath();
  ctx.lineWidth = 3;
  ctx.strokeStyle = theme.back;
  ctx.stroke();
  ctx.fillStyle = theme.warm;
  ctx.fill();
}

// beyond marks at the edge of the plot a place that is above or below it.
export function beyond({ ctx }: Surface, f: Frame, x: number, y: number, colour: string): void {
  const [edge, back] = y < f.top ? [f.top + 1, 7] : [f.bottom - 1, -7];
  ctx.beginPath();
  ctx.moveTo(x, edge);
  ctx.lineTo(x - 4, edge + back);
  ctx.lineTo(x + 4, edge + back);
  ctx.closePath();
  ctx.fillStyle = colour;
  ctx.fill();
}

// held is a place that a canvas can draw to: very far ones are nearer.
export const held = (px: number): number => Math.max(-1e5, Math.min(1e5, px));

// clip restricts what is drawn to the frame.
export function clip(s: Surface, f: Frame, draw: () => void): void {
  s.ctx.save();
  s.ctx.beginPath();
  s.ctx.rect(f.left, f.top, f.right - f.left, f.bottom - f.top);
  s.ctx.clip();
  draw();
  s.ctx.restore();
}

// The colours of ranks, from the worst to the best, are those of `tunehost plot`: yellow to dark blue. On a dark page
// the blue becomes lighter instead of darker. In both, the better stands out more, also without colour vision.
const light = [0xf0de50, 0xcab969, 0x958f78, 0x666870, 0x31446b, 0x00204c];
const dark = [0x6b6020, 0x7d7540, 0x86836f, 0x8b95a6, 0x86a9da, 0x9fceff];

// graded is the colour of a rank, 0 to 1; the best is 1.
export function graded(t: number, theme: { dark: boolean }, alpha = 1): string {
  const stops = theme.dark ? dark : light;
  const u = Math.min(1, Math.max(0, Number.isFinite(t) ? t : 0)) * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(u));
  const mix = (shift: number): number => {
    const [a, b] = [(stops[i]! >> shift) & 255, (stops[i + 1]! >> shift) & 255];
    return Math.round(a + (b - a) * (u - i));
  };
  return `rgba(${mix(16)},${mix(8)},${mix(0)},${alpha})`;
}

const tones = [light, dark].map((_, k) => Array.from({ length: 64 }, (_, i) => graded(i / 63, { dark: k === 1 })));

// tone is graded in few steps, for very many points.
export const tone = (t: number, theme: { dark: boolean }): string =>
  tones[theme.dark ? 1 : 0]![Math.round(Math.min(1, Math.max(0, Number.isFinite(t) ? t : 0)) * 63)]!;

// distinct are colours that are told apart without colour vision (Okabe and Ito).
export const distinct = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999", "#f0e442"];
export const dashes = [[], [6, 3], [2, 3], [8, 3, 2, 3], [12, 4], [1, 2], [4, 1], [10, 2, 2, 2, 2, 2]];
