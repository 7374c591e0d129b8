// When and where trials ran.
import type { JSX } from "preact";
import { runsOf, toNumber } from "../api";
import type { Timeline } from "../api";
import type { PageProps } from "../context";
import { useSource } from "../context";
import type { Unit } from "../format";
import { count, plural, seconds, unitOf } from "../format";
import { useData } from "../live";
import { axis, drawAxes, frame } from "../plot/axes";
import type { Axis } from "../plot/axes";
import { Canvas } from "../plot/canvas";
import type { Spot, Surface, Theme } from "../plot/canvas";
import { href, setQuery, useRoute } from "../route";
import { Card, Choice, Waiting } from "../ui";

// Box is a segment of a trial at its place in the plot.
interface Box {
  row: number;
  from: number;
  to: number;
  state: string;
  trial: number;
  text: string[];
}

export function TimelinePage({ x, watched }: PageProps): JSX.Element {
  const source = useSource();
  const { query } = useRoute();
  const by = query.get("by") === "trial" ? "trial" : "place";
  const { data, error } = useData("timeline " + x, watched.version, () => source.timeline(x));
  return <><h1>Timeline</h1>{data ? <Card title={title(data)} id="timeline"
    aside={<Choice label="rows" of={[["place", "by place"], ["trial", "by trial"]]} chosen={by} on={(v) => setQuery({ by: v })} />}>
    <Chart x={x} of={data} by={by} best={runsOf(watched.status?.best)} /><Legend />{part(data) ? <p class="quiet">Where nothing is drawn, a trial that is not shown may have run.</p> : null}
    {data.saves_left_out ? <p class="quiet">Later saves are not shown: there are very many.</p> : null}</Card>
    : <Waiting error={error} />}</>;
}

const title = (t: Timeline): string => `${part(t) ? `${count(t.trials.length)} of ` : ""}${plural(t.total, "trial")}${part(t) ? ", evenly spread," : ""} over ${seconds(t.now_s)}`;

const part = (t: Timeline): boolean => t.trials.length < t.total;

function boxes(t: Timeline, by: "place" | "trial", best: number[]): { list: Box[]; rows: string[] } {
  const list: Box[] = [];
  const rows = by === "place" ? t.lanes.map((l) => `${l.node || "this machine"} ${l.slot}`) : t.trials.map((r) => (best.includes(r.number) ? "★ " : "") + r.number);
  t.trials.forEach((r, i) => r.segments.forEach((s) => {
    const row = by === "trial" ? i : s.lane;
    if (row === null || row === undefined) return;
    const [from, to] = [toNumber(s.from_s), toNumber(s.to_s)];
    list.push({ row, from, to, state: s.state, trial: r.number, text: [`trial ${r.number}: ${s.state}`, `${seconds(from)} to ${seconds(to)} (${seconds(to - from)})`,
      ...(s.node ? [`${s.node} ${s.slot ?? ""}`] : []), ...(s.attempt ? [`attempt ${s.attempt}`] : [])] });
  }));
  return { list, rows };
}

function Chart({ x, of, by, best }: { x: string; of: Timeline; by: "place" | "trial"; best: number[] }): JSX.Element {
  const { list, rows } = boxes(of, by, best);
  const each = Math.max(2, Math.min(22, 640 / Math.max(1, rows.length)));
  const unit = unitOf(toNumber(of.now_s));
  const height = Math.max(120, Math.round(rows.length * each) + 60);
  let at: { x: Axis; y: (row: number) => number } | undefined;
  const draw = (s: Surface): void => {
    const f = frame(s.w, s.h, 110);
    const xs = axis({ label: unit.name, values: [], low: 0, high: Math.max(1, toNumber(of.now_s)) / unit.seconds }, [f.left, f.right]);
    const y = (row: number): number => f.top + row * each;
    at = { x: xs, y };
    const step = Math.ceil(14 / each);
    drawAxes(s, f, xs, { label: "", kind: "choice", at: () => NaN, invert: () => NaN,
      ticks: rows.map((text, i) => ({ text, at: y(i) + each / 2 })).filter((_, i) => i % step === 0) });
    for (const b of list) drawBox(s, b, xs, unit, y(b.row), each, best.includes(b.trial));
  };
  const find = (px: number, py: number): Spot | undefined => {
    if (!at) return undefined;
    const { x: xs, y } = at;
    const b = list.findLast((c) => py >= y(c.row) && py < y(c.row) + each && px >= xs.at(c.from / unit.seconds) - 1 && px <= xs.at(c.to / unit.seconds) + 1);
    return b && { x: px, y: py, lines: b.text, trial: b.trial };
  };
  const stops = (): Spot[] => {
    if (!at) return [];
    const { x: xs, y } = at;
    const place = (b: Box): Spot => ({ x: xs.at((b.from + b.to) / 2 / unit.seconds), y: y(b.row) + each / 2, lines: b.text, trial: b.trial });
    return list.map((b, id) => ({ ...place(b), id }));
  };
  return <Canvas label={`${plural(list.length, "segment")} of ${plural(of.trials.length, "trial")} on ${plural(rows.length, "row")}`} height={height} draw={draw}
    find={find} stops={stops} pick={(spot) => { location.hash = href(["x", x, "trials", spot.trial ?? 0]); }} />;
}

const running = ["#3b93c9", "#0072b2"] as const;
const paused = "#cc79a7";

const colour = (state: string, t: Theme, trial: number): string => (state === "running" ? running[trial % 2]!
  : state === "saving" ? t.warm : state === "paused" ? paused : t.quiet);

function drawBox(s: Surface, b: Box, x: Axis, unit: Unit, y: number, h: number, best: boolean): void {
  const at = (seconds: number): number => x.at(seconds / unit.seconds);
  const [from, to] = [at(b.from), Math.max(at(b.from) + 1, at(b.to))];
  const thin = b.state === "queued" || b.state === "paused";
  s.ctx.fillStyle = colour(b.state, s.theme, b.trial);
  s.ctx.fillRect(from, y + (thin ? h * 0.4 : 1), to - from, Math.max(1, thin ? h * 0.2 : h - 2));
  if (!thin && to - from > 26 && h > 12) {
    s.ctx.fillStyle = b.state === "saving" ? s.theme.back : "#fff";
    s.ctx.textAlign = "left";
    s.ctx.textBaseline = "middle";
    s.ctx.fillText((best ? "★ " : "") + b.trial, from + 3, y + h / 2);
  }
}

function Legend(): JSX.Element {
  const sign = (fill: string, thin = false): JSX.Element => <svg width="26" height="12" aria-hidden="true"><rect width="26" height={thin ? 3 : 12} y={thin ? 5 : 0} fill={fill} /></svg>;
  return <p class="row quiet" id="bars"><span>{sign(running[0])} {sign(running[1])} running, in two shades to tell neighbours apart</span><span>{sign("var(--warm)")} saving</span>
    <span>{sign(paused, true)} paused</span><span>{sign("var(--quiet)", true)} queued</span></p>;
}
