// Parallel coordinates: which parameters lead to good values.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { PageProps } from "../context";
import { useSource } from "../context";
import { count, number, plural } from "../format";
import type { Brushes, Dimension, Ranges } from "../plot/parallel";
import { Parallel } from "../plot/parallel";
import { Scale } from "../plot/scatter";
import { href, setQuery, useRoute } from "../route";
import { Button, Card, Select, Starred, Waiting } from "../ui";
import { better, column, extent, metricOf, shades, useTable } from "./data";
import type { Table } from "./data";

export function ParallelPage({ x, watched }: PageProps): JSX.Element {
  const { data, error } = useTable(x, watched.version);
  return <><h1>Parallel coordinates</h1>{data ? <Chart x={x} t={data} best={watched.status?.best?.number} /> : <Waiting error={error} />}</>;
}

function Chart({ x, t, best }: { x: string; t: Table; best?: number }): JSX.Element {
  const source = useSource();
  const { query } = useRoute();
  const metric = metricOf(t, query.get("metric"));
  const all = [...t.space.parameters.map((p) => p.name), ...t.space.metrics];
  const first = [...t.space.parameters.map((p) => p.name), metric];
  const shown = (query.get("axes")?.split(",").map(decodeURIComponent) ?? first).filter((n) => all.includes(n));
  const logs = query.get("log")?.split(",").map(decodeURIComponent) ?? t.space.parameters.filter((p) => p.log).map((p) => p.name);
  const [brushes, setBrushes] = useState<Brushes>({});
  const [ranges, setRanges] = useState<Ranges>({});
  const marked = query.get("trial");
  const values = column(t, metric);
  const shade = useMemo(() => shades(values, better(t, metric)), [t, metric]);
  const dimensions = useMemo(() => shown.map((n) => dimension(t, n, logs.includes(n))), [t, shown.join(), logs.join()]);
  const brush = (b: Brushes, r: Ranges): void => {
    setBrushes(b);
    setRanges(r);
  };
  const set = (axes: string[]): void => setQuery({ axes: axes.map(encodeURIComponent).join(",") });
  const [low, high] = extent(values);
  const where = expression(ranges);
  return <Card title={`${plural(t.points.numbers.length, "trial")}${t.points.numbers.length < t.points.total ? ` of ${count(t.points.total)}` : ""}`} id="parallel"
    aside={<div class="row"><Select label="colour" of={t.space.metrics} chosen={metric} on={(m) => setQuery({ metric: m })} />
      <label class="select">highlight trial <input type="number" min="0" class="short" value={marked ?? ""} placeholder={best === undefined ? "" : String(best)}
        onInput={(e) => setQuery({ trial: e.currentTarget.value })} /></label></div>}>
    <Parallel label={`Parallel coordinates of ${plural(t.points.numbers.length, "trial")}: ${shown.join(", ")}`} numbers={t.points.numbers}
      dimensions={dimensions} shades={shade} brushes={brushes} onBrush={brush} highlight={marked ? Number(marked) : best}
      pick={(n) => { location.hash = href(["x", x, "trials", n]); }} />
    <Scale low={better(t, metric) > 0 ? low : high} high={better(t, metric) > 0 ? high : low} label={`${metric}, by rank, the best blue:`} />
    <Highlighted x={x} best={best} shown={marked ? Number(marked) : best} />
    <p class="quiet">Drag along an axis to choose a range, click the axis to drop it. {where ? <>{source.made ? null : <a href={href(["x", x, "trials"], { where })}>
      The chosen trials as a table</a>} <button type="button" class="small" onClick={() => brush({}, {})}>choose all</button></> : null}</p>
    <Axes all={all} shown={shown} logs={logs} linear={(n) => linear(t, n)} set={set} setLogs={(l) => setQuery({ log: l.map(encodeURIComponent).join(",") })} />
  </Card>;
}

// Highlighted says which trial the bold line is.
function Highlighted({ x, best, shown }: { x: string; best?: number; shown?: number }): JSX.Element | null {
  if (shown === undefined) return null;
  return <p class="row quiet" id="highlighted"><span><svg width="44" height="10" aria-hidden="true"><line x1="0" x2="44" y1="5" y2="5" stroke-width="3" stroke="var(--warm)" /></svg>{" "}
    {shown === best ? <Starred x={x} of={new Set([shown])} /> : <a href={href(["x", x, "trials", shown])}>trial {shown}</a>}</span></p>;
}

function dimension(t: Table, name: string, log: boolean): Dimension {
  const p = t.space.parameters.find((q) => q.name === name);
  const bound = (v: unknown): number | undefined => (typeof v === "number" ? v : undefined);
  return { name, log, low: bound(p?.low), high: bound(p?.high), choices: p?.choices, values: column(t, name) };
}

// linear says why an axis cannot be logarithmic.
function linear(t: Table, name: string): string | undefined {
  const p = t.space.parameters.find((q) => q.name === name);
  const values = column(t, name);
  if (p?.choices || values.some((v) => typeof v === "string" || typeof v === "boolean")) return "choices have no logarithmic axis";
  const low = typeof p?.low === "number" ? p.low : Infinity;
  return low <= 0 || extent(values)[0] <= 0 ? "a logarithmic axis has no place for 0 and less" : undefined;
}

// expression is a filter of trials for brushes.
export function expression(ranges: Ranges): string {
  return Object.entries(ranges).map(([name, r]) => ("from" in r ? `${name} >= ${number(r.from, 8)} && ${name} <= ${number(r.to, 8)}`
    : `(${r.choices.map((v) => `${name} == ${JSON.stringify(v)}`).join(" || ") || "false"})`)).join(" && ");
}

// Axes are moved, hidden and shown again by buttons, which a keyboard reaches.
function Axes({ all, shown, logs, linear, set, setLogs }: { all: string[]; shown: string[]; logs: string[]; linear: (n: string) => string | undefined;
  set: (n: string[]) => void; setLogs: (n: string[]) => void }): JSX.Element {
  const move = (i: number, by: number): void => {
    const next = [...shown];
    const [one] = next.splice(i, 1);
    if (one !== undefined) next.splice(Math.max(0, i + by), 0, one);
    set(next);
  };
  const log = (n: string): void => setLogs(logs.includes(n) ? logs.filter((m) => m !== n) : [...logs, n]);
  return <div class="axes" role="group" aria-label="axes">
    {shown.map((n, i) => <span class="axis" key={n}><strong>{n}</strong>
      <Button small label={`move ${n} left`} cannot={i === 0 ? "it is the first axis" : undefined} on={() => move(i, -1)}>←</Button>
      <Button small label={`move ${n} right`} cannot={i === shown.length - 1 ? "it is the last axis" : undefined} on={() => move(i, 1)}>→</Button>
      <Button small label={`log axis of ${n}`} cannot={linear(n)} pressed={logs.includes(n)} on={() => log(n)}>log</Button>
      <button type="button" class="small" aria-label={`hide ${n}`} onClick={() => set(shown.filter((m) => m !== n))}>hide</button></span>)}
    {all.filter((n) => !shown.includes(n)).map((n) => <button type="button" class="small" key={n} onClick={() => set([...shown, n])}>+ {n}</button>)}
  </div>;
}
