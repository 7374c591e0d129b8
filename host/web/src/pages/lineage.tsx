// Which trials continued from which, and the schedule of parameters that came of it.
import type { JSX } from "preact";
import { flat, param, repeats } from "../api";
import type { Stretch } from "../api";
import type { PageProps } from "../context";
import { useSource } from "../context";
import { plural, tellers } from "../format";
import { useData } from "../live";
import { axis, drawAxes, frame, graded } from "../plot/axes";
import type { Axis } from "../plot/axes";
import { Canvas } from "../plot/canvas";
import type { Spot, Surface } from "../plot/canvas";
import { href } from "../route";
import { Card, Value, Waiting } from "../ui";
import { useSpace } from "./curves";
import { shades } from "./data";

interface Lineage {
  // bests are the best stretch, or those of the runs of the best suggestion.
  bests: number[];
  stretches: Stretch[];
}

export function LineagePage({ x, watched }: PageProps): JSX.Element {
  const source = useSource();
  const { data, error } = useData("lineage " + x, watched.version, () => source.lineage(x));
  if (!data) return <><h1>Lineage</h1><Waiting error={error} /></>;
  const copied = data.stretches.filter((s) => other(s, data.stretches) !== undefined);
  return <><h1>Lineage</h1>
    <p class="quiet" id="copied">{copied.length === 0 ? "No trial has continued from another one." : `${plural(copied.length, "time")} a trial continued from another one.`}{" "}
      <Untrained x={x} version={watched.version} /></p>
    <Card title="Trials by iteration" id="lineage"><Chart x={x} of={data} /></Card>
    {data.bests.map((best) => <Schedule key={best} x={x} of={data} best={best} />)}
    {copied.length > 0 ? <Steps x={x} of={copied} all={data.stretches} /> : null}</>;
}

// Untrained says which trials took over a checkpoint with nothing left to train: they have no part in the lineage.
function Untrained({ x, version }: { x: string; version: number }): JSX.Element | null {
  const source = useSource();
  const where = source.made ? undefined : "cause == 'nothing_left'"; // a report does not filter
  const list = useData("untrained " + x, version, async () => (await source.trials(x, { state: "TERMINATED", where, fields: "cause", limit: where ? 100 : 100000 }))
    .trials.filter((t) => t.cause?.kind === "nothing_left")).data ?? [];
  if (list.length === 0) return null;
  return <>{list.length === 1 ? "One more" : `${list.length} more`} took over a finished trial's checkpoint, which left nothing to train:{" "}
    {list.map((t, i) => <>{i > 0 ? ", " : ""}<a key={t.number} href={href(["x", x, "trials", t.number])}>trial {t.number}</a></>)}.</>;
}

// mostSteps is how many steps are listed.
const mostSteps = 500;

// Steps are all times that a trial continued from another one, which arrows of a chart cannot show apart where there are many.
function Steps({ x, of, all }: { x: string; of: Stretch[]; all: Stretch[] }): JSX.Element {
  const link = (n: number | undefined): JSX.Element => <a href={href(["x", x, "trials", n ?? 0])}>{n}</a>;
  return <Card title="Who continued from whom" id="steps">{of.length > mostSteps ? <p class="quiet">The first {mostSteps} of {of.length}.</p> : null}<div class={of.length > 20 ? "scroll tall" : "scroll"} tabIndex={0} role="group" aria-label="steps"><table class="figures">
    <thead><tr><th class="number">at iteration</th><th class="number">trial</th><th class="number">from trial</th><th>why</th></tr></thead>
    <tbody>{[...of].sort((a, b) => a.from - b.from).slice(0, mostSteps).map((s) => <tr key={`${s.number} ${s.from}`}><td class="number">{s.from}</td><td class="number">{link(s.number)}</td>
      <td class="number">{link(other(s, all))}</td><td class="why">{s.reason ?? ""}</td></tr>)}</tbody></table></div></Card>;
}

// beside are how many pixels arrows stand beside their iteration, so that those of one iteration do not lie on each other.
export function beside(of: readonly { at: number; from: number; to: number }[]): number[] {
  const lanes = new Map<number, { low: number; high: number }[][]>();
  return of.map(({ at, from, to }) => {
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    const here = lanes.get(at) ?? [];
    lanes.set(at, here);
    const free = here.findIndex((lane) => lane.every((o) => o.high < low || o.low > high));
    const lane = free < 0 ? here.push([]) - 1 : free;
    here[lane]!.push({ low, high });
    return lane * apart;
  });
}

const apart = 9;

// other is the number of the trial that a stretch continued from, if it is another one.
function other(s: Stretch, list: Stretch[]): number | undefined {
  const from = s.parent === null ? undefined : list[s.parent]?.number;
  return from === s.number ? undefined : from;
}

// ancestry is how a stretch came about, the first one first. A parent is an index in the list.
function ancestry({ stretches }: Lineage, best: number): Stretch[] {
  const out: Stretch[] = [];
  for (let at: number | null = best; at !== null; at = stretches[at]?.parent ?? null) {
    const s = stretches[at];
    if (!s || out.length > stretches.length) break;
    out.unshift(s);
  }
  return out;
}

// untils say up to which iteration each stretch has a part in the last one: a trial that another one took over may have
// trained on.
function untils(list: Stretch[]): [Stretch, number][] {
  return list.map((s, i) => [s, Math.min(s.to, list[i + 1]?.from ?? s.to)]);
}

function Chart({ x, of }: { x: string; of: Lineage }): JSX.Element {
  const all = [...new Set(of.stretches.map((s) => s.number))];
  const numbers = all.slice(0, 400);
  const rows = new Map(numbers.map((n, i) => [n, i]));
  const space = useSpace(x).data;
  const mode = space?.objectives[0]?.mode;
  const shade = new Map(shades(of.stretches.map((s) => s.value), mode === "max" ? 1 : -1).map((v, i) => [of.stretches[i]!, v]));
  const each = Math.max(2, Math.min(18, 560 / Math.max(1, numbers.length)));
  const best = new Map<Stretch, number>();
  for (const [s, to] of of.bests.flatMap((b) => untils(ancestry(of, b)))) best.set(s, Math.max(to, best.get(s) ?? 0));
  const told = tellers(space);
  let at: Axis | undefined;
  const y = (n: number): number => 12 + (rows.get(n) ?? 0) * each + each / 2;
  const draw = (s: Surface): void => {
    const f = frame(s.w, s.h);
    at = axis({ label: "iteration", values: of.stretches.map((t) => t.to), low: 0 }, [f.left, f.right]);
    const step = Math.ceil(14 / each);
    drawAxes(s, f, at, { label: "trial", kind: "choice", at: () => NaN, invert: () => NaN,
      ticks: numbers.filter((_, i) => i % step === 0).map((n) => ({ at: y(n), text: String(n) })) });
    const shown = of.stretches.filter((t) => rows.has(t.number));
    for (const t of shown) drawStretch(s, t, at, y(t.number), shade.get(t) ?? NaN, best.get(t), each);
    const arrows = shown.flatMap((t) => { const from = other(t, of.stretches); return from === undefined || !rows.has(from) ? [] : [{ t, at: t.from, from: y(from), to: y(t.number) }]; });
    const shifts = beside(arrows);
    arrows.forEach((a, i) => drawDescent(s, at!.at(a.at) + shifts[i]!, a.from, a.to, best.has(a.t), each));
  };
  const find = (px: number, py: number): Spot | undefined => {
    const t = of.stretches.find((c) => at && Math.abs(y(c.number) - py) < Math.max(3, each / 2) && px >= at.at(c.from) && px <= at.at(c.to));
    return t && spot(t, px, py);
  };
  const stops = (): Spot[] => of.stretches.flatMap((t, id) => (at && rows.has(t.number) ? [{ ...spot(t, (at.at(t.from) + at.at(t.to)) / 2, y(t.number)), id }] : []));
  const spot = (t: Stretch, px: number, py: number): Spot => {
    return { x: px, y: py, trial: t.number, lines: [`trial ${t.number}${t.suggestion === undefined ? "" : ` of suggestion ${t.suggestion}`}, ${t.from} to ${t.to}`, ...(other(t, of.stretches) === undefined ? [] : [`from trial ${other(t, of.stretches)}`]),
      ...(t.reason ? [t.reason] : []), ...Object.entries(flat(t.params, space)).map(([k, v]) => `${k}: ${told(k, v)}`)] };
  };
  return <><Canvas label={`${plural(of.stretches.length, "part")} of ${plural(numbers.length, "trial")}, ${best.size} of them on the way to the best`} height={Math.round(numbers.length * each) + 60} draw={draw} find={find} stops={stops}
    pick={(spot) => { location.hash = href(["x", x, "trials", spot.trial ?? 0]); }} />
    <p class="quiet">{numbers.length < all.length ? `The first 400 of ${plural(all.length, "trial")}. ` : ""}The best are blue, the worst yellow, by rank. Arrows: a trial continued from another's checkpoint. Thick: how the best came about.</p></>;
}

// drawStretch draws a part of a trial; until an iteration it is one on the way to the best, and thick.
function drawStretch({ ctx, theme }: Surface, t: Stretch, x: Axis, y: number, shade: number, until: number | undefined, each: number): void {
  ctx.strokeStyle = Number.isFinite(shade) ? graded(shade, theme) : theme.quiet;
  const line = (to: number, width: number): void => {
    ctx.lineWidth = width;
    ctx.beginPath();
    ctx.moveTo(x.at(t.from), y);
    ctx.lineTo(x.at(to), y);
    ctx.stroke();
  };
  if (until !== t.to) line(t.to, Math.max(1, Math.min(1.5, each * 0.3)));
  if (until !== undefined) line(until, Math.min(4, each * 0.6));
}

// drawDescent leads from the trial that another one took over to that, with an arrow: it may pass other trials.
function drawDescent({ ctx, theme }: Surface, x: number, from: number, to: number, strong: boolean, each: number): void {
  const size = Math.min(strong ? 6 : 4, each / 2);
  const back = to > from ? -size : size;
  ctx.strokeStyle = ctx.fillStyle = strong ? theme.warm : theme.quiet;
  ctx.lineWidth = strong ? 2 : 0.8;
  ctx.beginPath();
  ctx.moveTo(x, from);
  ctx.lineTo(x, to + back);
  ctx.stroke();
  ctx.beginPath();
  ctx.moveTo(x, to);
  ctx.lineTo(x - size * 0.7, to + back);
  ctx.lineTo(x + size * 0.7, to + back);
  ctx.fill();
}

// Schedule is how the best came about; of the best suggestion each run has its own.
function Schedule({ x, of, best }: { x: string; of: Lineage; best: number }): JSX.Element | null {
  const list = ancestry(of, best);
  const space = useSpace(x).data;
  if (list.length < 2 || !space) return null; // nothing changed on the way to the best
  const repeat = repeats(space);
  const one = list[list.length - 1]!.number;
  const names = [...new Set(list.flatMap((s) => Object.keys(flat(s.params, space))))];
  const until = untils(list).map(([, to]) => to);
  const told = tellers(space);
  return <Card title={repeat > 1 ? `The schedule of trial ${one}, a run of the best suggestion` : "The schedule of the best trial"} id={best === of.bests[0] ? "schedule" : undefined}>
    {space.objectives.length > 1 ? <p class="quiet">There are several objectives; this is the best trial by the first one, {space.objectives[0]!.metric}.</p> : null}
    <div class="scroll"><table>
    <thead><tr><th>iterations</th><th>trial</th><th>value</th>{names.map((n) => <th key={n}>{n}</th>)}<th>why</th></tr></thead>
    <tbody>{list.map((s, i) => <tr key={`${s.number} ${s.from}`}><td>{s.from}–{until[i]}</td><td><a href={href(["x", x, "trials", s.number])}>{s.number}</a></td>
      <td>{until[i] === s.to ? <Value of={s.value} /> : ""}</td>{names.map((n) => <td key={n}>{told(n, param(s.params, n))}</td>)}<td class="why">{s.reason ?? ""}</td></tr>)}</tbody></table></div></Card>;
}
