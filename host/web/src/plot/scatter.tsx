// Points of trials over two values, perhaps with contours below.
import { contours } from "d3-contour";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { number } from "../format";
import { NothingDrawn } from "../ui";
import type { Axis, Frame, Wanted } from "./axes";
import { axis, beyond, clip, drawable, drawAxes, frame, graded, margin, star, told, tone } from "./axes";
import { Canvas } from "./canvas";
import type { Spot, Surface } from "./canvas";

export interface Dot {
  trial: number;
  // name is said in place of the trial.
  name?: string;
  x: unknown;
  y: unknown;
  // shade is 0 to 1; strong dots are marked, above the others.
  shade?: number;
  strong?: boolean;
  // failed dots are crosses.
  failed?: boolean;
  lines?: string[];
}

export interface ScatterProps {
  label: string;
  x: Omit<Wanted, "values">;
  y: Omit<Wanted, "values">;
  dots: Dot[];
  // none says why there are no dots.
  none?: string;
  height?: number;
  pick?: (trial: number) => void;
  // front says that strong dots are of a front, and have rings; otherwise they are the best, and have a star.
  front?: boolean;
  // steps draws a line through the strong dots, as for a Pareto front, and says which values across are better.
  steps?: "min" | "max";
  // field is what contours are drawn of: the value of a dot; NaN where it has none.
  field?: (d: Dot) => number;
}

interface Layout {
  f: Frame;
  x: Axis;
  y: Axis;
  at: Float64Array;
  // beyond are the dots that are above or below the plot, with their heights; in at they are at its edge.
  beyond: Map<number, number>;
}

function layout(p: ScatterProps, s: Surface): Layout {
  const { top, bottom } = frame(s.w, s.h);
  const y = axis({ ...p.y, values: p.dots.map((d) => d.y) }, [bottom, top]);
  const f = frame(s.w, s.h, margin(s, y));
  const x = axis({ ...p.x, values: p.dots.map((d) => d.x) }, [f.left, f.right]);
  const at = new Float64Array(p.dots.length * 2);
  const out = new Map<number, number>();
  p.dots.forEach((d, i) => {
    at[2 * i] = x.at(d.x) + spread(x, d.trial);
    const up = y.at(d.y) + spread(y, d.trial * 7);
    if (p.y.range && (up < f.top || up > f.bottom)) out.set(i, up);
    at[2 * i + 1] = p.y.range ? Math.max(f.top, Math.min(f.bottom, up)) : up;
  });
  return { f, x, y, at, beyond: out };
}

// Drawn is what the canvas shows: until it is drawn again, pointer and keys move on that.
interface Drawn {
  p: ScatterProps;
  l: Layout;
}

// spread keeps dots of one choice from hiding each other, and those of different choices apart; a dot is always at the
// same place.
const spread = (a: Axis, seed: number): number => (a.kind === "choice" ? (((seed * 2654435761) % 1000) / 1000 - 0.5) * Math.min(22, 0.6 * between(a)) : 0);

// between is how far choices are from each other.
const between = ({ ticks: [first, second] }: Axis): number => (first && second ? Math.abs(second.at - first.at) : Infinity);

export function Scatter(p: ScatterProps): JSX.Element {
  const drawn = useRef<Drawn | null>(null);
  const draw = (s: Surface): void => {
    const l = layout(p, s);
    drawn.current = { p, l };
    if (p.field) clip(s, l.f, () => drawField(s, l, p.dots, p.field!));
    drawAxes(s, l.f, l.x, l.y);
    clip(s, l.f, () => drawDots(s, l, p));
    const mark = p.front ? ring : star;
    p.dots.forEach((d, i) => { if (d.strong) mark(s, l.at[2 * i]!, l.at[2 * i + 1]!); }); // also at the edge, whole
  };
  const { pick } = p;
  if (p.dots.length === 0) return <p class="quiet undrawn">{p.none ?? "No trial has values of both"}: there is nothing to draw.</p>;
  if (!drawable(p.dots.map((d) => d.y))) return <NothingDrawn of={p.y.label} />;
  return <Canvas label={p.label} height={p.height ?? 300} draw={draw} find={(x, y) => drawn.current ? nearest(drawn.current, x, y) : undefined}
    stops={pick ? () => (drawn.current ? stops(drawn.current) : []) : undefined}
    pick={pick ? (spot) => { if (spot.trial !== undefined) pick(spot.trial); } : undefined} />;
}

function drawDots(s: Surface, l: Layout, p: ScatterProps): void {
  const many = p.dots.length > 3000;
  const size = many ? 2 : p.dots.length > 500 ? 4 : 6;
  s.ctx.globalAlpha = many ? 0.6 : 0.85;
  const strong: number[] = [];
  p.dots.forEach((d, i) => {
    if (d.strong) strong.push(i);
    s.ctx.fillStyle = d.shade === undefined ? s.theme.accent : tone(d.shade, s.theme);
    const up = l.beyond.get(i);
    if (up !== undefined) return beyond(s, l.f, l.at[2 * i]!, up, d.failed ? s.theme.bad : s.theme.accent);
    if (d.failed) return cross(s, l.at[2 * i]!, l.at[2 * i + 1]!, size);
    s.ctx.fillRect(l.at[2 * i]! - size / 2, l.at[2 * i + 1]! - size / 2, size, size);
    if (p.field && !many) edge(s, l.at[2 * i]!, l.at[2 * i + 1]!, size);
  });
  s.ctx.globalAlpha = 1;
  if (p.steps) drawFront(s, l, strong, p.steps);
}

// cross marks a trial that has failed, in the colour that it has in tables.
function cross({ ctx, theme }: Surface, x: number, y: number, size: number): void {
  const r = Math.max(size, 3) / 1.5;
  ctx.beginPath();
  for (const d of [r, -r]) {
    ctx.moveTo(x - r, y - d);
    ctx.lineTo(x + r, y + d);
  }
  ctx.strokeStyle = theme.bad;
  ctx.lineWidth = 2;
  ctx.stroke();
}

// edge makes a dot visible on an area of its own colour.
function edge({ ctx, theme }: Surface, x: number, y: number, size: number): void {
  ctx.lineWidth = 1;
  ctx.strokeStyle = theme.text;
  ctx.strokeRect(x - size / 2, y - size / 2, size, size);
}

function ring({ ctx, theme }: Surface, x: number, y: number): void {
  ctx.beginPath();
  ctx.arc(x, y, 6, 0, 7);
  ctx.strokeStyle = theme.text;
  ctx.lineWidth = 2;
  ctx.stroke();
}

// drawFront connects the front in steps: between two trials of it nothing better was found than the worse of both.
function drawFront(s: Surface, l: Layout, front: number[], mode: "min" | "max"): void {
  const sorted = [...front].sort((a, b) => l.at[2 * a]! - l.at[2 * b]!);
  s.ctx.strokeStyle = s.theme.warm;
  s.ctx.lineWidth = 2;
  s.ctx.beginPath();
  sorted.forEach((i, k) => {
    const before = sorted[k - 1];
    if (before !== undefined) s.ctx.lineTo(l.at[2 * (mode === "max" ? before : i)]!, l.at[2 * (mode === "max" ? i : before) + 1]!);
    s.ctx.lineTo(l.at[2 * i]!, l.at[2 * i + 1]!);
  });
  s.ctx.stroke();
}

function nearest({ p, l }: Drawn, px: number, py: number): Spot | undefined {
  let best = -1;
  let least = 200;
  for (let i = 0; i < p.dots.length; i++) {
    const d = (l.at[2 * i]! - px) ** 2 + (l.at[2 * i + 1]! - py) ** 2;
    if (d < least) [least, best] = [d, i];
  }
  return spotOf(p, l, best);
}

function spotOf(p: ScatterProps, l: Layout, i: number): Spot | undefined {
  const d = p.dots[i];
  return d && { x: l.at[2 * i]!, y: l.at[2 * i + 1]!, trial: d.trial,
    lines: [d.name ?? `trial ${d.trial}`, `${p.x.label}: ${told(l.x, d.x)}`, `${p.y.label}: ${told(l.y, d.y)}`, ...(d.failed ? ["failed"] : []), ...(d.lines ?? [])] };
}

// stops are the dots, by their trials.
const stops = ({ p, l }: Drawn): Spot[] => p.dots.flatMap((_, i) => spotOf(p, l, i) ?? [])
  .filter((s) => Number.isFinite(s.x) && Number.isFinite(s.y)).sort((a, b) => (a.trial ?? 0) - (b.trial ?? 0));

// cells is how fine the field below contours is.
const cells = 48;
// mostSamples bounds the work for a field.
const mostSamples = 1500;

// Sample is the value of a trial at its place in the frame, from 0 to 1; x or y is undefined along choices, of which
// only the same one counts.
type Sample = [x: number, y: number, value: number];

// drawField draws the mean of the values near each place. Far from all trials the plot is hatched: nothing is known.
function drawField(s: Surface, l: Layout, dots: Dot[], field: (d: Dot) => number): void {
  const [w, h] = [l.f.right - l.f.left, l.f.bottom - l.f.top];
  const step = Math.max(1, Math.ceil(dots.length / mostSamples));
  const samples: Sample[] = [];
  dots.forEach((d, i) => {
    const [x, y] = [(l.x.at(d.x) - l.f.left) / w, (l.y.at(d.y) - l.f.top) / h];
    const v = field(d);
    if (i % step === 0 && Number.isFinite(v + x + y)) samples.push([x, y, v]);
  });
  s.ctx.save();
  s.ctx.translate(l.f.left, l.f.top);
  hatch(s, w, h);
  if (samples.length >= 4) for (const part of parts(l, samples, w, h)) drawPart(s, part, w, h);
  s.ctx.restore();
}

// Part is an area whose trials are compared: all, or those of one choice.
interface Part {
  left: number;
  top: number;
  right: number;
  bottom: number;
  samples: Sample[];
  // reach is how far from a trial, across and up, its value says something; Infinity: along choices.
  reach: [number, number];
}

// parts divides the plot between choices. All places are shares of the frame.
function parts(l: Layout, samples: Sample[], w: number, h: number): Part[] {
  const across = bands(l.x, l.f.left, w);
  const down = bands(l.y, l.f.top, h);
  const out: Part[] = [];
  for (const [left, right] of across) {
    for (const [top, bottom] of down) {
      const inside = samples.filter(([x, y]) => x >= left && x < right && y >= top && y < bottom);
      const r = reachOf(inside.length);
      if (inside.length > 0) out.push({ left, right, top, bottom, samples: inside, reach: [across.length > 1 ? Infinity : r, down.length > 1 ? Infinity : r] });
    }
  }
  return out;
}

function bands(a: Axis, from: number, size: number): [number, number][] {
  if (a.kind === "number" || a.ticks.length < 2) return [[-1, 2]];
  const at = a.ticks.map((t) => (t.at - from) / size).sort((x, y) => x - y);
  const half = (at[1]! - at[0]!) / 2;
  return at.map((x) => [x - half, x + half]);
}

// reachOf is how far a trial says something, as in `tunehost plot`: less far where there are many.
const reachOf = (n: number): number => Math.max(0.04, Math.min(0.12, 0.8 / Math.sqrt(n)));

function drawPart(s: Surface, p: Part, w: number, h: number): void {
  const { ctx } = s;
  ctx.save();
  ctx.beginPath();
  ctx.rect(p.left * w, p.top * h, (p.right - p.left) * w, (p.bottom - p.top) * h);
  ctx.clip();
  ctx.beginPath();
  for (const [x, y] of p.samples) around(ctx, p, x, y, w, h);
  ctx.clip();
  ctx.fillStyle = s.theme.back;
  ctx.fillRect(0, 0, w, h);
  const grid = smooth(p);
  const levels = Array.from({ length: 11 }, (_, i) => i / 11);
  for (const c of contours().size([cells, cells]).thresholds(levels)(grid)) {
    ctx.beginPath();
    for (const polygon of c.coordinates) for (const line of polygon) trace(ctx, line, w / cells, h / cells);
    ctx.fillStyle = graded(c.value, s.theme, 0.55);
    ctx.fill("evenodd");
  }
  ctx.restore();
}

// around is the area near a trial: an ellipse, a stripe along choices, or all of a pair of choices.
function around(ctx: CanvasRenderingContext2D, p: Part, x: number, y: number, w: number, h: number): void {
  const [rx, ry] = p.reach;
  if (Number.isFinite(rx) && Number.isFinite(ry)) {
    ctx.moveTo((x + rx) * w, y * h);
    ctx.ellipse(x * w, y * h, rx * w, ry * h, 0, 0, 7);
    return;
  }
  const [left, right] = Number.isFinite(rx) ? [x - rx, x + rx] : [p.left, p.right];
  const [top, bottom] = Number.isFinite(ry) ? [y - ry, y + ry] : [p.top, p.bottom];
  ctx.rect(left * w, top * h, (right - left) * w, (bottom - top) * h);
}

const gap = 8;

// hatch draws thin lines from corner to corner.
function hatch({ ctx, theme }: Surface, w: number, h: number): void {
  ctx.beginPath();
  for (let x = -h; x < w; x += gap) {
    ctx.moveTo(x, h);
    ctx.lineTo(x + h, 0);
  }
  ctx.strokeStyle = theme.quiet;
  ctx.lineWidth = 0.5;
  ctx.stroke();
}

// Hatched explains the areas without trials.
export function Hatched(): JSX.Element {
  return <span id="hatched"><svg width="26" height="12" aria-hidden="true"><path d="M0 12L12 0M8 12L20 0M16 12L26 2M-8 12L4 0" stroke="var(--quiet)" fill="none" /><rect x=".5" y=".5" width="25" height="11" fill="none" stroke="var(--quiet)" /></svg> where it is hatched,</span>;
}

function trace(ctx: CanvasRenderingContext2D, line: number[][], sx: number, sy: number): void {
  line.forEach(([x = 0, y = 0], i) => (i === 0 ? ctx.moveTo(x * sx, y * sy) : ctx.lineTo(x * sx, y * sy)));
  ctx.closePath();
}

// smooth is the mean of the samples around each cell, the nearer the weightier, as in `tunehost plot`.
function smooth({ samples, reach, left, right, top, bottom }: Part): number[] {
  const out: number[] = [];
  for (let j = 0; j < cells; j++) {
    for (let i = 0; i < cells; i++) {
      const [x, y] = [(i + 0.5) / cells, (j + 0.5) / cells];
      // one cell more than what is seen, for what lies between two
      const seen = x > left - 1 / cells && x < right + 1 / cells && y > top - 1 / cells && y < bottom + 1 / cells;
      out.push(seen ? mean(samples, Number.isFinite(reach[0]) ? x : undefined, Number.isFinite(reach[1]) ? y : undefined) : -1);
    }
  }
  return out;
}

// mean is that of samples, weighted by how near they are to a place; along undefined all are equally near.
function mean(samples: Sample[], x: number | undefined, y: number | undefined): number {
  let sum = 0;
  let weight = 0;
  for (const [sx, sy, v] of samples) {
    const d = (x === undefined ? 0 : sx - x) ** 2 + (y === undefined ? 0 : sy - y) ** 2;
    const k = (d + 1e-4) ** -1.5; // host/plot/contour.go has the same
    sum += k * v;
    weight += k;
  }
  return sum / weight;
}

// Scale explains the colours, where there are any.
export function Scale({ low, high, label }: { low: number; high: number; label: string }): JSX.Element | null {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return null;
  return <div class="row quiet"><span>{label}</span><span class="scale"><span>{number(low)}</span>
    <Canvas label={`colours from ${number(low)} to ${number(high)}`} height={12} draw={(s) => {
      for (let x = 0; x < s.w; x++) {
        s.ctx.fillStyle = graded(x / (s.w - 1), s.theme);
        s.ctx.fillRect(x, 0, 1, s.h);
      }
    }} /><span>{number(high)}</span></span></div>;
}
