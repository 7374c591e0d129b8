// The Pareto front of two or three objectives, or of any two metrics.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { flat, leaderOf, repeats, runsOf, toNumber } from "../api";
import type { Leader, Ranked } from "../api";
import type { PageProps } from "../context";
import { useSource } from "../context";
import { apart, plural, tellers, value } from "../format";
import { useData } from "../live";
import { fate } from "../outcome";
import { wide } from "../plot/axes";
import { Scale, Scatter } from "../plot/scatter";
import type { Dot } from "../plot/scatter";
import { href, setQuery, useRoute } from "../route";
import { Card, compared as compares, Counted, Crossed, Failure, Select, Starred, State, Unknown, Waiting } from "../ui";
import { better, column, directed, extent, failed, placed, places, shades, statesOf, useTable } from "./data";
import { useSpace } from "./curves";
import { seen } from "./parameters";
import type { Place, Table } from "./data";

export function ParetoPage({ x, watched }: PageProps): JSX.Element {
  const source = useSource();
  const table = useTable(x, watched.version);
  const front = useData("pareto " + x, watched.version, () => source.pareto(x));
  if (!table.data) return <><h1>Pareto front</h1><Waiting error={table.error} /></>;
  const { objectives } = table.data.space;
  const one = objectives.length < 2;
  if (one && table.data.space.metrics.length < 2) return <><h1>Pareto front</h1><p class="quiet">The experiment has one objective, and so no front; and there is no second metric to compare it with.</p></>;
  return <><h1>{one ? "Two metrics" : "Pareto front"}</h1>
    {one ? <p class="quiet">The experiment has one objective, and so no Pareto front. This compares its last values with those of another metric.</p> : null}
    <Plots x={x} t={table.data} front={objectives.length > 1 ? front.data ?? [] : []} best={leaderOf(table.data.points.best, repeats(table.data.space))} />
    {objectives.length > 1 ? <><Failure of={front.error} /><Front x={x} of={front.data ?? []} repeat={repeats(table.data.space)} metrics={objectives.map((o) => o.metric)} over={watched.status?.state !== "running"} /></> : null}</>;
}

interface Marked {
  x: string;
  t: Table;
  front: Ranked[];
  // best is the best trial of a single objective, which has no front.
  best?: Leader;
}

function Plots({ x, t, front, best }: Marked): JSX.Element {
  const { query } = useRoute();
  const names = t.space.objectives.map((o) => o.metric);
  const repeat = repeats(t.space);
  const all = t.space.metrics;
  const asked = ["a", "b"].map((key) => query.get(key)).filter((m) => m !== null);
  const known = (key: string): string | undefined => all.find((m) => m === query.get(key));
  const [a, b] = [known("a") ?? names[0] ?? all[0] ?? "", known("b") ?? names[1] ?? all.find((m) => m !== names[0]) ?? ""];
  const pairs: [string, string, string?][] = names.length === 3 && !known("a") && !known("b")
    ? [[names[0]!, names[1]!, names[2]!], [names[0]!, names[2]!, names[1]!], [names[1]!, names[2]!, names[0]!]] : [[a, b, names[2]]];
  return <>
    <Unknown what="metric" of={asked} all={all} />
    <div class="row"><Select label="across" of={all} chosen={a} on={(v) => setQuery({ a: v, b })} /><Select label="up" of={all} chosen={b} on={(v) => setQuery({ a, b: v })} /></div>
    <div class={pairs.length > 1 ? "two" : undefined} id="pareto">{pairs.map(([p, q, r]) => <Pair key={p + " " + q} x={x} t={t} a={p} b={q} c={r} front={front} best={best} />)}</div>
    <p class="quiet">{best ? <><Starred x={x} of={new Set([best.number])} best={best} />.</> : front.length > 0 ? <>○ is a {compares(repeat)} on the front: no other is better in everything.</> : null}{repeat > 1 ? " Each dot is the mean of the runs of a suggestion." : ""}<Crossed of={statesOf(t, a, b)} /></p><Counted repeat={repeat} /></>;
}

function Pair({ x, t, a, b, c, front, best: first }: Marked & { a: string; b: string; c?: string }): JSX.Element {
  const runs = runsOf(first);
  const repeat = repeats(t.space);
  const dots = useMemo(() => {
    const best = new Set(front.map((r) => r.number));
    const list = places(t, repeat);
    const [xs, ys, cs] = [compared(t, list, a, front), compared(t, list, b, front), c ? compared(t, list, c, front) : []];
    const shade = c ? shades(cs, better(t, c)) : [];
    return list.map(({ trial, at, ran }, i): Dot => ({ trial, x: xs[i], y: ys[i], shade: shade[i], strong: best.has(trial) || runs.includes(trial), failed: failed(t, at[0]!),
      name: ran && `the mean of suggestion ${Math.floor(trial / repeat)}, trials ${ran.join(", ")}`, lines: c ? [`${c}: ${value(cs[i])}`] : [] })).filter((d) => d.x !== undefined && d.y !== undefined);
  }, [t, a, b, c, front, repeat, runs.join()]);
  const two = t.space.objectives;
  const both = two.length === 2 && a !== b && two.some((o) => o.metric === b) ? two.find((o) => o.metric === a) : undefined;
  return <Card title={`${b} by ${a}${c ? `, coloured by ${c}` : ""}`}><Scatter label={`${b} by ${a}: ${plural(seen(dots), compares(repeat))}, ${front.length} of them on the front`}
    x={{ label: directed(t, a), log: wide(column(t, a)) }} y={{ label: directed(t, b), log: wide(column(t, b)) }} dots={dots} height={360} front={!first} steps={front.length > 1 && both ? (both.mode === "max" ? "max" : "min") : undefined} pick={(n) => { location.hash = href(["x", x, "trials", n]); }} />
    {c ? <Colours t={t} metric={c} /> : null}</Card>;
}

// compared are the values of a metric at places. Those of the front are the ones that were compared: the last result of a
// trial may lack an objective.
function compared(t: Table, list: Place[], metric: string, front: Ranked[]): unknown[] {
  const own = new Map(front.map((r) => [r.number, r.metrics[metric]]));
  return placed(list, column(t, metric)).map((v, i) => {
    const of = own.get(list[i]!.trial);
    return of === undefined ? v : toNumber(of);
  });
}

// Colours explains those of a third objective, the worst first.
function Colours({ t, metric }: { t: Table; metric: string }): JSX.Element {
  const [low, high] = extent(column(t, metric));
  const up = better(t, metric) > 0;
  return <Scale low={up ? low : high} high={up ? high : low} label={`${directed(t, metric)}, by rank, the best blue:`} />;
}

function Front({ x, of, metrics, over, repeat }: { x: string; of: Ranked[]; metrics: string[]; over: boolean; repeat: number }): JSX.Element {
  return <Card title={`${plural(of.length, compares(repeat))} on the front: no other is better in everything`} id="front"><FrontTable x={x} of={of.slice(0, 500)} over={over} metrics={metrics} /></Card>;
}

// FrontTable has the objectives and the parameters of trials on the front, and how each trial goes or has ended.
export function FrontTable({ x, of, metrics, over }: { x: string; of: Ranked[]; metrics: string[]; over: boolean }): JSX.Element {
  const { made } = useSource();
  const space = useSpace(x).data;
  const columns = metrics.map((m) => apart(of.map((r) => r.metrics[m])));
  const told = tellers(space);
  return <div class="scroll"><table class="figures">
    <thead><tr><th>trial</th><th>state</th>{metrics.map((m) => <th key={m} class="number">{m}</th>)}<th class="number">iteration</th><th>parameters</th></tr></thead>
    <tbody>{of.map((r, row) => <tr key={r.number}><td><a href={href(["x", x, "trials", r.number])}>{r.number}</a></td><td><State state={fate(r)} over={over || made !== undefined} /></td>
      {metrics.map((m, i) => <td key={m} class="number">{columns[i]?.[row]}</td>)}
      <td class="number">{r.iteration}</td>
      <td>{Object.entries(flat(r.params, space)).map(([k, v]) => `${k}=${told(k, v)}`).join(" ")}</td></tr>)}</tbody></table></div>;
}
