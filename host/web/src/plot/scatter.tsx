// Points of trials over two values, perhaps with contours below.
import { contours } from "d3-contour";
import type { JSX } from "preact";
import { number, value } from "../format";
import type { Axis, Frame, Wanted } from "./axes";
import { axis, clip, drawAxes, frame, graded, margin, tone } from "./axes";
import { Canvas } from "./canvas";
import type { Spot, Surface } from "./canvas";

export interface Dot {
  trial: number;
  x: unknown;
  y: unknown;
  // shade is 0 to 1; strong dots are drawn last, with a ring.
  shade?: number;
  strong?: boolean;
  lines?: string[];
}

export interface ScatterProps {
  label: string;
  x: Omit<Wanted, "values">;
  y: Omit<Wanted, "values">;
  dots: Dot[];
  height?: number;
  pick?: (trial: number) => void;
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
}

function layout(p: ScatterProps, s: Surface): Layout {
  const { top, bottom } = frame(s.w, s.h);
  const y = axis({ ...p.y, values: p.dots.map((d) => d.y) }, [bottom, top]);
  const f = frame(s.w, s.h, margin(s, y));
  const x = axis({ ...p.x, values: p.dots.map((d) => d.x) }, [f.left, f.right]);
  const at = new Float64Array(p.dots.length * 2);
  p.dots.forEach((d, i) => {
    at[2 * i] = x.at(d.x) + spread(x, d.trial);
    at[2 * i + 1] = y.at(d.y) + spread(y, d.trial * 7);
  });
  return { f, x, y, at };
}

// spread keeps dots of one choice from hiding each other; a dot is always at the same place.
const spread = (a: Axis, seed: number): number => (a.kind === "choice" ? (((seed * 2654435761) % 1000) / 1000 - 0.5) * 22 : 0);

export function Scatter(p: ScatterProps): JSX.Element {
  let last: Layout | undefined;
  const draw = (s: Surface): void => {
    last = layout(p, s);
    if (p.field) clip(s, last.f, () => drawField(s, last!, p.dots, p.field!));
    drawAxes(s, last.f, last.x, last.y);
    clip(s, last.f, () => drawDots(s, last!, p));
    p.dots.forEach((d, i) => { if (d.strong) ring(s, last!.at[2 * i]!, last!.at[2 * i + 1]!); }); // also at the edge, whole
  };
  const { pick } = p;
  return <Canvas label={p.label} height={p.height ?? 300} draw={draw} find={(x, y) => (last ? nearest(p, last, x, y) : undefined)}
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
    s.ctx.fillRect(l.at[2 * i]! - size / 2, l.at[2 * i + 1]! - size / 2, size, size);
    if (p.field && !many) edge(s, l.at[2 * i]!, l.at[2 * i + 1]!, size);
  });
  s.ctx.globalAlpha = 1;
  if (p.steps) drawFront(s, l, strong, p.steps);
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

function nearest(p: ScatterProps, l: Layout, px: number, py: number): Spot | undefined {
  let best = -1;
  let least = 200;
  for (let i = 0; i < p.dots.length; i++) {
    const d = (l.at[2 * i]! - px) ** 2 + (l.at[2 * i + 1]! - py) ** 2;
    if (d < least) [least, best] = [d, i];
  }
  const d = p.dots[best];
  return d && { x: l.at[2 * best]!, y: l.at[2 * best + 1]!, trial: d.trial,
    lines: [`trial ${d.trial}`, `${p.x.label}: ${value(d.x)}`, `${p.y.label}: ${value(d.y)}`, ...(d.lines ?? [])] };
}

// cells is how fine the field below contours is.
const cells = 48;
// mostSamples bounds the work for a field.
const mostSamples = 1500;

// drawField draws the mean of the values near each place: nothing is drawn where no trial is near.
function drawField(s: Surface, l: Layout, dots: Dot[], field: (d: Dot) => number): void {
  const [w, h] = [l.f.right - l.f.left, l.f.bottom - l.f.top];
  const step = Math.max(1, Math.ceil(dots.length / mostSamples));
  const samples: [number, number, number][] = [];
  dots.forEach((d, i) => {
    const v = field(d);
    const [x, y] = [(l.at[2 * i]! - l.f.left) / w, (l.at[2 * i + 1]! - l.f.top) / h];
    if (i % step === 0 && Number.isFinite(v + x + y)) samples.push([x, y, v]);
  });
  if (samples.length < 4) return;
  const grid = smooth(samples);
  s.ctx.save();
  s.ctx.translate(l.f.left, l.f.top);
  const levels = Array.from({ length: 11 }, (_, i) => i / 11);
  for (const c of contours().size([cells, cells]).thresholds(levels)(grid)) {
    s.ctx.beginPath();
    for (const polygon of c.coordinates) for (const line of polygon) trace(s.ctx, line, w / cells, h / cells);
    s.ctx.fillStyle = graded(c.value, s.theme, 0.55);
    s.ctx.fill("evenodd");
  }
  s.ctx.restore();
}

function trace(ctx: CanvasRenderingContext2D, line: number[][], sx: number, sy: number): void {
  line.forEach(([x = 0, y = 0], i) => (i === 0 ? ctx.moveTo(x * sx, y * sy) : ctx.lineTo(x * sx, y * sy)));
  ctx.closePath();
}

// far is where a sample has no weight any more.
const far = 18;

// smooth is the weighted mean of the samples around each cell, from 0 to 1; NaN far from all.
function smooth(samples: [number, number, number][]): number[] {
  const width = Math.max(0.05, Math.min(0.2, 0.9 / Math.sqrt(samples.length)));
  const out: number[] = [];
  for (let j = 0; j < cells; j++) {
    for (let i = 0; i < cells; i++) {
      const [x, y] = [(i + 0.5) / cells, (j + 0.5) / cells];
      let sum = 0;
      let weight = 0;
      for (const [sx, sy, v] of samples) {
        const d = ((sx - x) ** 2 + (sy - y) ** 2) / (2 * width * width);
        if (d > far) continue;
        const k = Math.exp(-d);
        sum += k * v;
        weight += k;
      }
      out.push(weight > 0.05 ? sum / weight : -1);
    }
  }
  return out;
}

// Scale explains the colours.
export function Scale({ low, high, label }: { low: number; high: number; label: string }): JSX.Element {
  return <div class="row quiet"><span>{label}</span><span>{number(low)}</span>
    <Canvas label={`colours from ${number(low)} to ${number(high)}`} height={12} draw={(s) => {
      for (let x = 0; x < s.w; x++) {
        s.ctx.fillStyle = graded(x / (s.w - 1), s.theme);
        s.ctx.fillRect(x, 0, 1, s.h);
      }
    }} /><span>{number(high)}</span></div>;
}
