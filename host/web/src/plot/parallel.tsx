// Parallel coordinates: a line for each trial, an axis for each parameter and metric.
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Axis } from "./axes";
import { axis, graded, rule, told } from "./axes";
import { changed, named } from "../named";
import type { Named } from "../named";
import { Canvas, distinctly, write } from "./canvas";
import type { Spot, Surface } from "./canvas";

export interface Dimension {
  name: string;
  log: boolean;
  low?: number;
  high?: number;
  choices?: unknown[];
  values: unknown[];
}

// Brushes are what is chosen on axes, in pixels.
type Brushes = Named<[number, number]>;

// Ranges are what brushes have chosen: numbers from one to another, or choices.
export type Ranges = Named<{ from: number; to: number } | { choices: unknown[] }>;

export interface ParallelProps {
  label: string;
  numbers: number[];
  dimensions: Dimension[];
  // shades are 0 to 1; NaN for a trial without a value, which is drawn thin.
  shades: number[];
  ranges: Ranges;
  onBrush: (r: Ranges) => void;
  highlight?: number;
  pick?: (trial: number) => void;
}

const height = 420;
const top = 34;
const bottom = height - 34;
// absent is where lines pass an axis whose parameter a trial does not have.
const absent = height - 12;

interface Layout {
  xs: number[];
  axes: Axis[];
  ys: Float32Array[];
  chosen: Uint8Array;
}

// inside reports whether a value is in a range.
const inside = (v: unknown, r: Ranges[string]): boolean => ("from" in r ? typeof v === "number" && v >= r.from && v <= r.to
  : r.choices.some((c) => JSON.stringify(c) === JSON.stringify(v)));

// countChosen is how many trials are in all ranges.
export function countChosen(dimensions: Dimension[], all: Ranges): number {
  const of = dimensions.flatMap((d): [Dimension, Ranges[string]][] => (all[d.name] ? [[d, all[d.name]!]] : []));
  const n = dimensions[0]?.values.length ?? 0;
  return Array.from({ length: n }, (_, k) => of.every(([d, r]) => inside(d.values[k], r))).filter(Boolean).length;
}

// side is the room beside the first axis, and the least beside the last one.
const side = 50;

function layout(p: ParallelProps, { w, ctx }: Surface): Layout {
  const n = p.dimensions.length;
  const axes = p.dimensions.map((d) => axis({ label: d.name, values: d.values, log: d.log, low: d.low, high: d.high,
    choices: d.choices }, [bottom, top]));
  const [first, last] = [side, w - besideLast(ctx, axes[n - 1])];
  const xs = axes.map((_, i) => (n > 1 ? first + (i * (last - first)) / (n - 1) : (first + last) / 2));
  const ys = p.dimensions.map((d, i) => Float32Array.from(d.values, (v) => {
    const y = axes[i]!.at(v);
    return Number.isFinite(y) ? y : absent;
  }));
  const chosen = new Uint8Array(p.numbers.length).fill(1);
  p.dimensions.forEach((d) => {
    const r = p.ranges[d.name];
    if (r) d.values.forEach((v, k) => { if (!inside(v, r)) chosen[k] = 0; });
  });
  return { xs, axes, ys, chosen };
}

// besideLast is the room for the numbers of the last axis, which has no other one beside it.
function besideLast(ctx: CanvasRenderingContext2D, a: Axis | undefined): number {
  const numbers = a?.kind === "number" ? a.ticks : [];
  return Math.max(side, ...numbers.map((t) => ctx.measureText(t.text).width + 12));
}

export function Parallel(p: ParallelProps): JSX.Element {
  const last = useRef<{ l: Layout; w: number } | null>(null);
  const [drag, setDrag] = useState<{ at: number; from: number; to: number }>();
  const [hover, setHover] = useState(-1);
  // least is how wide the plot is at least, if that is more than there is room for: it scrolls then
  const [least, setLeast] = useState<number>();
  const box = useRef<HTMLDivElement>(null);
  const draw = (s: Surface): void => {
    let l = layout(p, s);
    const needed = leastWidth(s, l.axes);
    setLeast(needed > (box.current?.clientWidth ?? Infinity) ? needed : undefined);
    const now = drag ? ranged(p, l, drag.at, sorted(drag.from, drag.to)) : p.ranges;
    if (drag) l = layout({ ...p, ranges: now }, s);
    const brushes = placed(now, p, l);
    last.current = { l, w: s.w };
    drawLines(s, l, p);
    const strong = hover >= 0 ? hover : p.numbers.indexOf(p.highlight ?? -1);
    if (strong >= 0) drawOne(s, l, strong);
    drawAxes(s, l, p, brushes); // above the line, so that ticks stay readable
  };
  const moved = (e: { kind: "start" | "move" | "end"; x: number; y: number }): void => {
    const l = last.current?.l;
    if (!l) return;
    if (e.kind === "start") setDrag({ at: nearestAxis(l, e.x), from: e.y, to: e.y });
    else if (drag && e.kind === "move") setDrag({ ...drag, to: e.y });
    else if (drag) {
      setDrag(undefined);
      const name = p.dimensions[drag.at]?.name ?? "";
      p.onBrush(Math.abs(drag.from - e.y) < 4 ? changed<Ranges[string]>(p.ranges, name, undefined) : ranged(p, l, drag.at, sorted(drag.from, e.y)));
    }
  };
  const find = (x: number, y: number): Spot | undefined => {
    const k = last.current ? nearestLine(last.current.l, x, y) : -1;
    setHover(k);
    return k < 0 ? undefined : spot(last.current!.l, k, x, y);
  };
  const spot = (l: Layout, k: number, x: number, y: number): Spot => ({ x, y, trial: p.numbers[k], lines: [`trial ${p.numbers[k]}`,
    ...p.dimensions.map((d, i) => `${d.name}: ${told(l.axes[i]!, d.values[k])}`)] });
  const stops = ({ l }: { l: Layout }): Spot[] => p.numbers.map((_, k) => k).filter((k) => l.chosen[k])
    .sort((a, b) => p.numbers[a]! - p.numbers[b]!).map((k) => spot(l, k, l.xs[0] ?? 0, l.ys[0]?.[k] ?? 0));
  return <div ref={box} class={least ? "sideways" : undefined} tabIndex={least ? 0 : undefined} role={least ? "group" : undefined} aria-label={least ? "plot, which scrolls sideways" : undefined}>
    <div style={least ? { width: `${least}px` } : undefined}>
      <Canvas label={p.label} height={height} draw={draw} drag={moved} find={find} stops={() => (last.current ? stops(last.current) : [])}
        onReach={(s) => setHover(s ? p.numbers.indexOf(s.trial ?? -1) : -1)} pick={(spot) => { if (spot.trial !== undefined) p.pick?.(spot.trial); }} /></div></div>;
}

// leastWidth is that of a plot in which no number reaches the next axis.
function leastWidth({ ctx }: Surface, axes: Axis[]): number {
  const numbers = axes.slice(0, -1).flatMap((a) => (a.kind === "number" ? a.ticks : []));
  const each = Math.max(0, ...numbers.map((t) => ctx.measureText(t.text).width + 14));
  return Math.ceil(side + (axes.length - 1) * each + besideLast(ctx, axes[axes.length - 1]));
}

const sorted = (a: number, b: number): [number, number] => [Math.min(a, b), Math.max(a, b)];

// ranged are the ranges with another one for an axis, which is given in pixels.
function ranged(p: ParallelProps, l: Layout, at: number, [from, to]: [number, number]): Ranges {
  const [d, a] = [p.dimensions[at], l.axes[at]];
  if (!d || !a) return p.ranges;
  const [low, high] = sorted(a.invert(from), a.invert(to));
  return changed(p.ranges, d.name, a.kind === "number" ? { from: neat(low), to: neat(high) }
    : { choices: a.ticks.filter((t) => t.at >= from && t.at <= to).map((t) => t.value) });
}

// neat has few digits: a place on an axis is no more exact than that. The largest number is no limit.
const neat = (v: number): number => (Math.abs(v) < Number.MAX_VALUE ? Number(v.toPrecision(8)) : v);

// placed are ranges in pixels: all of the axis where there is no limit, and around the first and the last of choices.
function placed(all: Ranges, p: ParallelProps, l: Layout): Brushes {
  const out: Brushes = named();
  p.dimensions.forEach((d, i) => {
    const [r, a] = [all[d.name], l.axes[i]];
    if (!r || !a) return;
    const at = "from" in r ? [a.at(r.from), a.at(r.to)].map((y, k) => (Number.isFinite(y) ? y : k === 0 ? bottom : top))
      : a.ticks.filter((t) => r.choices.some((c) => JSON.stringify(c) === JSON.stringify(t.value))).flatMap((t) => [t.at - 12, t.at + 12]);
    if (at.length > 0) out[d.name] = sorted(within(Math.min(...at)), within(Math.max(...at)));
  });
  return out;
}

const within = (y: number): number => Math.max(top, Math.min(bottom, y));

const buckets = 24;

// mostStroked is how many lines the canvas strokes: 20,000 take it seconds, and drawPixels a fraction of that.
const mostStroked = 1000;

interface Group {
  colour: string;
  alpha: number;
  width: number;
  lines: number[];
}

function drawLines(s: Surface, l: Layout, p: ParallelProps): void {
  const list = groups(s, l, p);
  if (p.numbers.length > mostStroked) drawPixels(s, l, list);
  else for (const g of list) stroke(s, l, g);
}

// groups are the lines by their colours, the best last.
function groups(s: Surface, l: Layout, p: ParallelProps): Group[] {
  const many = p.numbers.length;
  const lists = new Map<string, number[]>();
  for (let k = 0; k < many; k++) {
    const shade = p.shades[k] ?? NaN;
    const key = l.chosen[k] ? String(Number.isFinite(shade) ? Math.round(shade * buckets) : -1) : "out";
    const list = lists.get(key);
    if (list) list.push(k);
    else lists.set(key, [k]);
  }
  return [...lists.keys()].sort((a, b) => rank(a) - rank(b)).map((key): Group => ({ lines: lists.get(key)!,
    width: key === "out" ? 0.5 : 1.1, alpha: key === "out" ? 0.13 : Math.max(0.25, Math.min(0.9, 400 / many)),
    colour: key === "out" || key === "-1" ? s.theme.quiet : graded(Number(key) / buckets, s.theme) }));
}

function stroke(s: Surface, l: Layout, g: Group): void {
  const path = new Path2D();
  for (const k of g.lines) l.xs.forEach((x, i) => (i === 0 ? path.moveTo(x, l.ys[i]![k]!) : path.lineTo(x, l.ys[i]![k]!)));
  s.ctx.lineWidth = g.width;
  s.ctx.globalAlpha = g.alpha;
  s.ctx.strokeStyle = g.colour;
  s.ctx.stroke(path);
  s.ctx.globalAlpha = 1;
}

// drawPixels draws lines pixel by pixel, one pixel wide, without smoothing their edges: nobody sees those of so many.
function drawPixels(s: Surface, l: Layout, list: Group[]): void {
  const scale = devicePixelRatio || 1;
  const layer = document.createElement("canvas");
  const [w, h] = [layer.width = Math.round(s.w * scale), layer.height = Math.round(s.h * scale)];
  const ctx = layer.getContext("2d");
  if (!ctx) return;
  const sums = new Float32Array(4 * w * h); // colours times opacity, and opacity
  const xs = l.xs.map((x) => Math.round(x * scale));
  for (const g of list) {
    const [red, green, blue] = channels(ctx, g.colour);
    const put = (at: number): void => {
      const rest = 1 - g.alpha;
      sums[at] = sums[at]! * rest + red * g.alpha;
      sums[at + 1] = sums[at + 1]! * rest + green * g.alpha;
      sums[at + 2] = sums[at + 2]! * rest + blue * g.alpha;
      sums[at + 3] = sums[at + 3]! * rest + g.alpha;
    };
    for (const k of g.lines) {
      for (let i = 0; i + 1 < xs.length; i++) eachPixel(xs[i]!, l.ys[i]![k]! * scale, xs[i + 1]!, l.ys[i + 1]![k]! * scale, w, put);
    }
  }
  const picture = ctx.createImageData(w, h);
  for (let at = 0; at < sums.length; at += 4) {
    const opacity = sums[at + 3]!;
    if (opacity === 0) continue;
    for (let c = 0; c < 3; c++) picture.data[at + c] = sums[at + c]! / opacity;
    picture.data[at + 3] = 255 * opacity;
  }
  ctx.putImageData(picture, 0, 0);
  s.ctx.drawImage(layer, 0, 0, s.w, s.h);
}

// eachPixel calls put with the place of each pixel of a line in a picture of 4 numbers a pixel.
function eachPixel(x: number, y: number, toX: number, toY: number, w: number, put: (at: number) => void): void {
  const slope = (toY - y) / (toX - x);
  for (; x < toX; x++) {
    const next = y + slope;
    const [low, high] = y < next ? [Math.trunc(y), Math.trunc(next)] : [Math.trunc(next), Math.trunc(y)];
    put(4 * (low * w + x));
    for (let row = low + 1; row < high; row++) put(4 * (row * w + x));
    y = next;
  }
}

// channels are red, green and blue of any colour, from 0 to 255.
function channels(ctx: CanvasRenderingContext2D, colour: string): [number, number, number] {
  ctx.fillStyle = colour;
  const all = parseInt(String(ctx.fillStyle).slice(1), 16);
  return [all >> 16, (all >> 8) & 255, all & 255];
}

const rank = (key: string): number => (key === "out" ? -2 : Number(key));

function drawOne(s: Surface, l: Layout, k: number): void {
  for (const [width, colour] of [[6, s.theme.back], [3, s.theme.mark]] as const) {
    s.ctx.beginPath();
    s.ctx.lineWidth = width;
    s.ctx.strokeStyle = colour;
    l.xs.forEach((x, i) => s.ctx.lineTo(x, l.ys[i]![k]!));
    s.ctx.stroke();
  }
}

function drawAxes(s: Surface, l: Layout, p: ParallelProps, brushes: Brushes): void {
  const room = l.xs.length > 1 ? l.xs[1]! - l.xs[0]! : s.w - 2 * side;
  s.ctx.textBaseline = "middle";
  p.dimensions.forEach((d, i) => {
    const [x, a] = [l.xs[i]!, l.axes[i]!];
    s.ctx.strokeStyle = s.theme.text;
    s.ctx.lineWidth = 1;
    rule(s.ctx, x, top, x, bottom);
    const b = brushes[d.name];
    if (b) {
      s.ctx.globalAlpha = 0.35;
      s.ctx.fillStyle = s.theme.warm;
      s.ctx.fillRect(x - 8, b[0], 16, b[1] - b[0]);
      s.ctx.globalAlpha = 1;
    }
    s.ctx.textAlign = "left";
    const most = a.kind === "number" ? Infinity : Math.min(Math.max(30, room - 10), s.w - x - 8); // a part of a number is another one
    const ticks = a.ticks.slice(0, 30);
    const texts = distinctly(ticks.map((t) => t.text), (t) => s.ctx.measureText(t).width <= most);
    ticks.forEach((t, k) => tick(s, x, t.at, t.text, most, texts[k]!));
    if (l.ys[i]!.includes(absent)) tick(s, x, absent, "none", most, "none");
  });
  drawTitles(s, l, p, room);
}

// drawTitles writes the titles of the axes, in two rows where one has too little room, and shortens what is still too
// wide.
function drawTitles(s: Surface, l: Layout, p: ParallelProps, room: number): void {
  const { ctx } = s;
  const titles = p.dimensions.map((d, i) => d.name + (l.axes[i]!.label.endsWith("(log)") ? " (log)" : ""));
  const rows = titles.length > 1 && titles.some((title) => ctx.measureText(title).width > room - 8) ? 2 : 1;
  const half = (rows * room) / 2 - 4;
  ctx.textAlign = "center";
  ctx.fillStyle = s.theme.text;
  const most = l.xs.map((x) => Math.min(half, x - 2) + Math.min(half, s.w - x - 2));
  const short = distinctly(titles, (t, i) => ctx.measureText(t).width <= most[i]!);
  titles.forEach((title, i) => {
    const [x, y] = [l.xs[i]!, rows === 1 ? 14 : 9 + 15 * (i % 2)];
    const reach = ctx.measureText(short[i]!).width / 2 + 2;
    write(s, title, Math.max(reach, Math.min(x, s.w - reach)), y, most[i]!, short[i]); // the first and the last may be beside their axis
  });
}

// tick has the colour of the card behind its text, so that it is readable over lines.
function tick(s: Surface, x: number, y: number, text: string, most: number, short: string): void {
  const w = s.ctx.measureText(short).width;
  s.ctx.fillStyle = s.theme.back;
  s.ctx.globalAlpha = 0.75;
  s.ctx.fillRect(x + 3, y - 7, w + 4, 14);
  s.ctx.globalAlpha = 1;
  s.ctx.fillStyle = s.theme.text;
  write(s, text, x + 5, y, most, short);
}

function nearestAxis(l: Layout, x: number): number {
  let best = 0;
  l.xs.forEach((at, i) => { if (Math.abs(at - x) < Math.abs(l.xs[best]! - x)) best = i; });
  return best;
}

// nearestLine looks at the chosen lines between the two axes around a place.
function nearestLine(l: Layout, x: number, y: number): number {
  const i = Math.max(0, l.xs.findLastIndex((at) => at <= x));
  const j = Math.min(l.xs.length - 1, i + 1);
  const t = j === i ? 0 : (x - l.xs[i]!) / (l.xs[j]! - l.xs[i]!);
  let best = -1;
  let least = 6;
  for (let k = 0; k < l.chosen.length; k++) {
    if (!l.chosen[k]) continue;
    const d = Math.abs(l.ys[i]![k]! * (1 - t) + l.ys[j]![k]! * t - y);
    if (d < least) [least, best] = [d, k];
  }
  return best;
}
