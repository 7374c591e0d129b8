// Lines over numbers: best so far, learning curves.
import { bisector } from "d3-array";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { number } from "../format";
import { NothingDrawn } from "../ui";
import type { Axis, Frame } from "./axes";
import { axis, beyond, clip, dashes, distinct, drawable, drawAxes, frame, held, margin, rule, star } from "./axes";
import { Canvas } from "./canvas";
import type { Spot, Surface } from "./canvas";

export interface Line {
  name: string;
  xs: number[];
  ys: number[];
  // strong lines are drawn last and bold, with a colour of their own; the others are thin.
  strong?: boolean;
  step?: boolean;
  // end marks where the line ends: stopped ✕, failed a bold ✕ in red, done ●, open ○: the trial has not ended.
  end?: "stopped" | "failed" | "done" | "open";
  // best lines end with a star; tone is the colour of one of several experiments, the same in each plot.
  best?: boolean;
  tone?: number;
  trial?: number;
}

export interface LinesProps {
  label: string;
  xLabel: string;
  yLabel: string;
  lines: Line[];
  xLog?: boolean;
  yLog?: boolean;
  // range is what of the y axis is shown; undefined: all.
  range?: [number, number];
  height?: number;
  // rungs are places on the x axis to mark.
  rungs?: number[];
  pick?: (trial: number) => void;
}

interface Layout {
  f: Frame;
  x: Axis;
  y: Axis;
}

// Drawn is what the canvas shows: until it is drawn again, pointer and keys move on that.
interface Drawn {
  p: LinesProps;
  l: Layout;
}

function* flat(lists: number[][]): Iterable<number> {
  for (const l of lists) yield* l;
}

function layout(p: LinesProps, s: Surface): Layout {
  const { top, bottom } = frame(s.w, s.h);
  const y = axis({ label: p.yLabel, values: p.range ?? flat(p.lines.map((l) => l.ys)), log: p.yLog }, [bottom, top]);
  const f = frame(s.w, s.h, margin(s, y));
  return { f, y, x: axis({ label: p.xLabel, values: flat(p.lines.map((l) => l.xs)), log: p.xLog }, [f.left, f.right]) };
}

export function Lines(p: LinesProps): JSX.Element {
  const drawn = useRef<Drawn | null>(null);
  const draw = (s: Surface): void => {
    drawn.current = { p, l: layout(p, s) };
    drawLines(s, drawn.current.l, p);
  };
  const find = (x: number, y: number): Spot | undefined => drawn.current ? nearest(drawn.current, x, y) : undefined;
  const { pick } = p;
  if (p.lines.length > 0 && !drawable(flat(p.lines.map((l) => l.ys)))) return <NothingDrawn of={p.yLabel} />;
  return <Canvas label={p.label} height={p.height ?? 280} draw={draw} find={find} stops={() => (drawn.current ? (pick ? ends : steps)(drawn.current) : [])}
    pick={pick ? (spot) => { if (spot.trial !== undefined) pick(spot.trial); } : undefined} />;
}

// Names are the names of several strong lines, each with its line.
export function Names({ of }: { of: { name: string; tone: number }[] }): JSX.Element {
  return <p class="row names">{of.map(({ name, tone }) => <span key={tone}><svg width="44" height="10" aria-hidden="true"><line x1="0" x2="44" y1="5" y2="5" stroke-width="2.2"
    stroke={distinct[tone % distinct.length]} stroke-dasharray={dashes[tone % dashes.length]!.join(" ")} /></svg> {name}</span>)}</p>;
}

function drawLines(s: Surface, l: Layout, p: LinesProps): void {
  drawAxes(s, l.f, l.x, l.y);
  clip(s, l.f, () => {
    s.ctx.setLineDash([3, 4]);
    s.ctx.strokeStyle = s.theme.warm;
    for (const rung of p.rungs ?? []) rule(s.ctx, l.x.at(rung), l.f.top, l.x.at(rung), l.f.bottom);
    s.ctx.setLineDash([]);
    const weak = p.lines.filter((line) => !line.strong);
    s.ctx.globalAlpha = Math.max(0.12, Math.min(0.7, 30 / Math.max(1, weak.length)));
    for (const line of weak) drawLine(s, l, line, s.theme.quiet, 1);
    s.ctx.globalAlpha = 1;
    for (const line of p.lines.filter((one) => one.strong)) {
      s.ctx.setLineDash(dashes[(line.tone ?? 0) % dashes.length] ?? []);
      drawLine(s, l, line, line.tone === undefined ? s.theme.accent : distinct[line.tone % distinct.length]!, 2.2);
      s.ctx.setLineDash([]);
    }
  });
  for (const line of p.lines) if (line.best) starred(s, l, line); // also at the edge, whole
}

function starred(s: Surface, l: Layout, line: Line): void {
  const n = line.xs.length - 1;
  const [x, y] = [l.x.at(line.xs[n]), l.y.at(line.ys[n])];
  if (Number.isFinite(x) && !Number.isNaN(y)) star(s, x, inside(l, y)); // the best is seen also where its value is not
}

function drawLine(s: Surface, l: Layout, line: Line, colour: string, width: number): void {
  const { ctx } = s;
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.beginPath();
  let pen = false;
  let before = 0;
  for (let i = 0; i < line.xs.length; i++) {
    const [x, y] = [l.x.at(line.xs[i]), held(l.y.at(line.ys[i]))];
    if (!Number.isFinite(x) || !Number.isFinite(y)) {
      pen = false;
      continue;
    }
    if (pen && line.step) ctx.lineTo(x, before);
    if (pen) ctx.lineTo(x, y);
    else ctx.moveTo(x, y);
    pen = true;
    before = y;
  }
  ctx.stroke();
  mark(s, l, line, colour);
}

// mark draws the end of a line; a line of one point would otherwise not be seen at all.
function mark(s: Surface, l: Layout, line: Line, colour: string): void {
  const n = line.xs.length - 1;
  const [x, y] = [l.x.at(line.xs[n]), held(l.y.at(line.ys[n]))];
  if (!Number.isFinite(x) || !Number.isFinite(y)) return;
  if (!shown(l, y)) return beyond(s, l.f, x, y, line.end === "failed" ? s.theme.bad : colour);
  const { ctx } = s;
  const alpha = ctx.globalAlpha;
  ctx.globalAlpha = Math.max(alpha, 0.4); // where a line ends is seen also where there are very many
  const r = line.strong ? 4 : 2.5;
  ctx.strokeStyle = line.end === "failed" ? s.theme.bad : colour;
  ctx.fillStyle = ctx.strokeStyle;
  ctx.setLineDash([]);
  ctx.beginPath();
  if (line.end === "stopped" || line.end === "failed") {
    const [c, thick] = line.end === "failed" ? [r + 1, 2.5] : [r, ctx.lineWidth];
    ctx.lineWidth = thick;
    ctx.moveTo(x - c, y - c);
    ctx.lineTo(x + c, y + c);
    ctx.moveTo(x + c, y - c);
    ctx.lineTo(x - c, y + c);
    ctx.stroke();
  } else if (line.end === "open") {
    ctx.arc(x, y, r, 0, 7);
    ctx.stroke();
  } else if (line.end === "done" || n === 0) {
    ctx.arc(x, y, r, 0, 7);
    ctx.fill();
  }
  ctx.globalAlpha = alpha;
}

// shown reports whether a height is within the plot, which may leave out a part of the values.
const shown = ({ f }: Layout, y: number): boolean => y >= f.top && y <= f.bottom;

// inside is a height, or the edge of the plot that is nearest to it.
const inside = ({ f }: Layout, y: number): number => Math.max(f.top, Math.min(f.bottom, y));

const byX = bisector((v: number) => v).center;

// nearest finds the point of a line that is closest to a place, within a few pixels.
function nearest({ p, l }: Drawn, px: number, py: number): Spot | undefined {
  let best: Spot | undefined;
  let least = 14 * 14;
  for (const line of p.lines) {
    const i = byX(line.xs, l.x.invert(px));
    const [x, at] = [l.x.at(line.xs[i]), l.y.at(line.ys[i])];
    const last = i === line.xs.length - 1; // it has a mark at the edge
    const y = last ? inside(l, at) : at;
    const d = (x - px) ** 2 + (y - py) ** 2 * (line.step ? 0.1 : 1);
    if (d < least && shown(l, y)) {
      least = d;
      best = spotOf(p, l, line, i);
    }
  }
  return best;
}

// ends are those of the lines of trials, by their numbers.
function ends({ p, l }: Drawn): Spot[] {
  const spots = p.lines.filter((line) => line.trial !== undefined).map((line) => spotOf(p, l, line, line.xs.length - 1));
  return spots.filter((s) => Number.isFinite(s.x) && Number.isFinite(s.y)).sort((a, b) => (a.trial ?? 0) - (b.trial ?? 0));
}

// steps are the points at which lines change, one line after the other.
const steps = ({ p, l }: Drawn): Spot[] => p.lines.flatMap((line) => line.ys.flatMap((y, i) => (y !== line.ys[i - 1] || i === line.ys.length - 1
  ? [spotOf(p, l, line, i)] : []))).filter((s) => Number.isFinite(s.x) && Number.isFinite(s.y)).map((s, id) => ({ ...s, id }));

const spotOf = (p: LinesProps, l: Layout, line: Line, i: number): Spot => ({ x: l.x.at(line.xs[i]), y: inside(l, l.y.at(line.ys[i])),
  trial: line.trial, lines: [line.name, `${p.xLabel}: ${number(line.xs[i])}`, `${p.yLabel}: ${number(line.ys[i])}`] });

// Spark is a small line without axes.
export function Spark({ ys, label }: { ys: number[]; label: string }): JSX.Element {
  return <Canvas label={label} height={28} draw={(s) => {
    const y = axis({ label: "", values: ys }, [s.h - 3, 3]);
    const f = { left: 0, top: 0, right: s.w, bottom: s.h };
    const x = axis({ label: "", values: [0, Math.max(1, ys.length - 1)] }, [2, s.w - 4]);
    drawLine(s, { f, x, y }, { name: "", xs: ys.map((_, i) => i), ys, step: true, end: "done" }, s.theme.accent, 1.5);
  }} />;
}
