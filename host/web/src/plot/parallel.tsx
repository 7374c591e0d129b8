// Parallel coordinates: a line for each trial, an axis for each parameter and metric.
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { value } from "../format";
import type { Axis } from "./axes";
import { axis, rule, short, viridis } from "./axes";
import { Canvas } from "./canvas";
import type { Spot, Surface } from "./canvas";

export interface Dimension {
  name: string;
  log: boolean;
  low?: number;
  high?: number;
  choices?: unknown[];
  values: unknown[];
}

// Range is what a brush has chosen on an axis, in pixels.
export type Brushes = Record<string, [number, number]>;

export interface ParallelProps {
  label: string;
  numbers: number[];
  dimensions: Dimension[];
  // shades are 0 to 1; NaN for a trial without a value, which is drawn thin.
  shades: number[];
  brushes: Brushes;
  onBrush: (b: Brushes, ranges: Record<string, [number, number] | string[]>) => void;
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

function layout(p: ParallelProps, w: number): Layout {
  const n = p.dimensions.length;
  const xs = p.dimensions.map((_, i) => 50 + (n > 1 ? (i * (w - 100)) / (n - 1) : (w - 100) / 2));
  const axes = p.dimensions.map((d) => axis({ label: d.name, values: d.values, log: d.log, low: d.low, high: d.high,
    choices: d.choices }, [bottom, top]));
  const ys = p.dimensions.map((d, i) => Float32Array.from(d.values, (v) => {
    const y = axes[i]!.at(v);
    return Number.isFinite(y) ? y : absent;
  }));
  const chosen = new Uint8Array(p.numbers.length).fill(1);
  p.dimensions.forEach((d, i) => {
    const b = p.brushes[d.name];
    if (b) ys[i]!.forEach((y, k) => { if (y < b[0] || y > b[1]) chosen[k] = 0; });
  });
  return { xs, axes, ys, chosen };
}

export function Parallel(p: ParallelProps): JSX.Element {
  const last = useRef<{ l: Layout; w: number } | null>(null);
  const [drag, setDrag] = useState<{ at: number; from: number; to: number }>();
  const [hover, setHover] = useState(-1);
  const brushes = drag ? { ...p.brushes, [p.dimensions[drag.at]?.name ?? ""]: sorted(drag.from, drag.to) } : p.brushes;
  const draw = (s: Surface): void => {
    const l = layout({ ...p, brushes }, s.w);
    last.current = { l, w: s.w };
    drawLines(s, l, p);
    drawAxes(s, l, p, brushes);
    const strong = hover >= 0 ? hover : p.numbers.indexOf(p.highlight ?? -1);
    if (strong >= 0) drawOne(s, l, strong);
  };
  const moved = (e: { kind: "start" | "move" | "end"; x: number; y: number }): void => {
    const l = last.current?.l;
    if (!l) return;
    if (e.kind === "start") setDrag({ at: nearestAxis(l, e.x), from: e.y, to: e.y });
    else if (drag && e.kind === "move") setDrag({ ...drag, to: e.y });
    else if (drag) {
      setDrag(undefined);
      const name = p.dimensions[drag.at]?.name ?? "";
      const next = { ...p.brushes };
      if (Math.abs(drag.from - e.y) < 4) delete next[name];
      else next[name] = sorted(drag.from, e.y);
      p.onBrush(next, ranges(next, p, l));
    }
  };
  const find = (x: number, y: number): Spot | undefined => {
    const k = last.current ? nearestLine(last.current.l, x, y) : -1;
    setHover(k);
    return k < 0 ? undefined : { x, y, trial: p.numbers[k], lines: [`trial ${p.numbers[k]}`,
      ...p.dimensions.map((d) => `${d.name}: ${value(d.values[k])}`)] };
  };
  return <Canvas label={p.label} height={height} draw={draw} drag={moved} find={find}
    pick={(spot) => { if (spot.trial !== undefined) p.pick?.(spot.trial); }} />;
}

const sorted = (a: number, b: number): [number, number] => [Math.min(a, b), Math.max(a, b)];

// ranges are brushes in the values of their axes.
function ranges(b: Brushes, p: ParallelProps, l: Layout): Record<string, [number, number] | string[]> {
  const out: Record<string, [number, number] | string[]> = {};
  p.dimensions.forEach((d, i) => {
    const [from, to] = b[d.name] ?? [];
    const a = l.axes[i];
    if (from === undefined || to === undefined || !a) return;
    out[d.name] = a.kind === "number" ? sorted(a.invert(from), a.invert(to))
      : a.ticks.filter((t) => t.at >= from && t.at <= to).map((t) => t.text);
  });
  return out;
}

// buckets of colours: one path for many lines of a colour is faster than one for each line.
const buckets = 24;

// bundle is how many lines a path has at most: the time for a path grows faster than the number of lines in it.
const bundle = 32;

interface Bundle {
  path: Path2D;
  lines: number;
}

function drawLines(s: Surface, l: Layout, p: ParallelProps): void {
  const many = p.numbers.length;
  const colours = new Map<string, Bundle[]>();
  for (let k = 0; k < many; k++) {
    const shade = p.shades[k] ?? NaN;
    const { path } = room(colours, l.chosen[k] ? String(Number.isFinite(shade) ? Math.round(shade * buckets) : -1) : "out");
    l.xs.forEach((x, i) => (i === 0 ? path.moveTo(x, l.ys[i]![k]!) : path.lineTo(x, l.ys[i]![k]!)));
  }
  const order = [...colours.keys()].sort((a, b) => rank(a) - rank(b));
  for (const key of order) {
    s.ctx.lineWidth = key === "out" ? 0.5 : 1.1;
    s.ctx.globalAlpha = key === "out" ? 0.13 : Math.max(0.25, Math.min(0.9, 400 / many));
    s.ctx.strokeStyle = key === "out" || key === "-1" ? s.theme.quiet : viridis(Number(key) / buckets);
    for (const { path } of colours.get(key)!) s.ctx.stroke(path);
  }
  s.ctx.globalAlpha = 1;
}

// room counts a line in a path of a colour.
function room(colours: Map<string, Bundle[]>, key: string): Bundle {
  let list = colours.get(key);
  if (!list) colours.set(key, list = []);
  let last = list[list.length - 1];
  if (!last || last.lines === bundle) list.push(last = { path: new Path2D(), lines: 0 });
  last.lines++;
  return last;
}

const rank = (key: string): number => (key === "out" ? -2 : Number(key));

function drawOne(s: Surface, l: Layout, k: number): void {
  for (const [width, colour] of [[6, s.theme.back], [3, s.theme.warm]] as const) {
    s.ctx.beginPath();
    s.ctx.lineWidth = width;
    s.ctx.strokeStyle = colour;
    l.xs.forEach((x, i) => s.ctx.lineTo(x, l.ys[i]![k]!));
    s.ctx.stroke();
  }
}

function drawAxes(s: Surface, l: Layout, p: ParallelProps, brushes: Brushes): void {
  const room = (s.w - 100) / Math.max(1, l.xs.length - 1);
  const cut = Math.max(4, Math.floor(room / 7.5));
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
    for (const t of a.ticks.slice(0, 30)) tick(s, x, t.at, short(t.text, cut));
    if (l.ys[i]!.includes(absent)) tick(s, x, absent, "none");
    s.ctx.textAlign = "center";
    s.ctx.fillStyle = s.theme.text;
    s.ctx.fillText(short(d.name + (a.label.endsWith("(log)") ? " (log)" : ""), cut + 10), x, 14);
  });
}

// tick has the colour of the card behind its text, so that it is readable over lines.
function tick(s: Surface, x: number, y: number, text: string): void {
  const w = s.ctx.measureText(text).width;
  s.ctx.fillStyle = s.theme.back;
  s.ctx.globalAlpha = 0.75;
  s.ctx.fillRect(x + 3, y - 7, w + 4, 14);
  s.ctx.globalAlpha = 1;
  s.ctx.fillStyle = s.theme.text;
  s.ctx.fillText(text, x + 5, y);
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
