// How the value depends on parameters: importance, slices, and two parameters at a time.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { leaderOf, repeats, runsOf, toNumber } from "../api";
import type { Importance, Leader, Space } from "../api";
import type { PageProps } from "../context";
import { useSource } from "../context";
import { plural, value } from "../format";
import type { Loaded } from "../live";
import { useData } from "../live";
import { wide } from "../plot/axes";
import { Hatched, Scale, Scatter } from "../plot/scatter";
import type { Dot } from "../plot/scatter";
import { useUsual } from "../plot/usual";
import { href, setQuery, useRoute } from "../route";
import { Card, compared, Counted, Crossed, Failure, Select, Starred, Unknown, Waiting } from "../ui";
import { better, column, failed, extent, metricOf, shades, statesOf, useTable } from "./data";
import type { Table } from "./data";

export function ParametersPage({ x, watched }: PageProps): JSX.Element {
  const { query } = useRoute();
  const { data, error } = useTable(x, watched.version);
  const shares = useShares(x, query.get("metric") ?? "", watched.version); // asked for at once: both take long
  return data ? <Parameters x={x} data={data} metric={metricOf(data, query.get("metric"))} shares={shares} watched={watched} />
    : <><h1>Parameters</h1><Waiting error={error} /></>;
}

// isOther says that a metric is no objective: it is unknown which of its values are good; better() takes it as min, too.
const isOther = (space: Space, metric: string): boolean => metric !== "" && !space.objectives.some((o) => o.metric === metric);

// useShares reads the importance of parameters for a metric; "": the objective.
function useShares(x: string, metric: string, version: number): Loaded<Importance> {
  const source = useSource();
  return useData(`importance ${x} ${metric}`, version, async () => (metric === "" ? source.importance(x)
    : source.importance(x, metric, isOther(await source.space(x), metric) ? "min" : undefined)));
}

function Parameters({ x, data, metric, shares, watched }: PageProps & { data: Table; metric: string; shares: Loaded<Importance> }): JSX.Element {
  const source = useSource();
  const ranked = [...(shares.data?.importance ?? [])].sort((a, b) => toNumber(b.importance) - toNumber(a.importance));
  const names = [...new Set([...ranked.map((s) => s.param), ...data.space.parameters.map((p) => p.name)])]
    .filter((n) => data.space.parameters.some((p) => p.name === n));
  const repeat = repeats(data.space);
  const best = leaderOf(data.points.best, repeat);
  const { range, choice, note } = useUsual(column(data, metric).map((v) => (typeof v === "number" ? v : NaN)));
  return <>
    <div class="row"><h1>Parameters</h1><Select label="metric" of={source.offered(x, "importance", data.space.metrics)} chosen={metric} on={(m) => setQuery({ metric: m })} /></div>
    <Card title="Importance" id="importance">
      <Failure of={shares.error} />
      {isOther(data.space, metric) ? <p class="quiet">{metric} is no objective: its smallest values count as the best.</p> : null}
      <Counted repeat={repeat} />
      {shares.data ? <><table class="bars"><thead><tr><th>parameter</th><th class="number">share</th><th>of the differences between {plural(shares.data.trials, compared(repeat))}</th></tr></thead>
        <tbody>{ranked.map((s) => <tr key={s.param}><th scope="row">{s.param}</th>
          <td class="number">{percent(toNumber(s.importance))}</td><td><Bar share={toNumber(s.importance)} />{s.without ? <div class="quiet">not in {plural(s.without, compared(repeat))}</div> : null}</td></tr>)}</tbody></table>
        {shares.data.cautions?.length ? <ul class="quiet" id="cautions" aria-label="cautions">{shares.data.cautions.map((c) => <li key={c}>⚠ {c}</li>)}</ul> : null}</> : null}
      {shares.error ? <Basis of={data} early={watched.status?.stopped_early ?? 0} /> : null}</Card>
    <Contour x={x} t={data} metric={metric} names={names} best={best} />
    <div class="row" id="slices"><h2>Slices</h2>{choice}</div>
    {note}
    {best ? <p class="quiet"><Starred x={x} of={new Set([best.number])} best={best} />.{repeat > 1 ? single : null}<Crossed of={statesOf(data, metric)} /></p> : null}
    <div class="slices">{names.map((n) => <Slice key={n} x={x} t={data} metric={metric} name={n} best={best} range={range} />)}</div>
  </>;
}

// single says what dots are where suggestions have several runs.
export const single = " Each dot is one run: each run of the best suggestion has the star.";

// Basis says what the values are based on where there are too few for an importance, which has cautions of its own.
function Basis({ of: t, early }: { of: Table; early: number }): JSX.Element | null {
  const all = t.points.numbers.length;
  const some = t.space.parameters.map((p) => ({ name: p.name, n: column(t, p.name).filter((v) => v !== undefined).length }))
    .filter((p) => p.n < all);
  if (some.length === 0 && !early) return null;
  return <p class="quiet" id="basis">{some.length > 0 ? `Not every trial has every parameter: ${some.map((p) => `${p.name} in ${p.n} of ${plural(all, "trial")}`).join(", ")}. ` : ""}
    {early ? `The values of ${plural(early, "trial")} that ${early === 1 ? "was" : "were"} stopped early are those at that time.` : ""}</p>;
}

const percent = (share: number): string => (Number.isFinite(share) ? `${(100 * share).toFixed(1)} %` : "–");

// Bar is a share, beside its number: a text on the end of a bar is hard to read.
export function Bar({ share }: { share: number }): JSX.Element {
  return <div class="bar" aria-hidden="true"><div style={{ width: `${Number.isFinite(share) ? Math.max(0, Math.min(1, share)) * 100 : 0}%` }} /></div>;
}

function axisOf(t: Table, name: string): { label: string; log?: boolean; choices?: unknown[] } {
  const p = t.space.parameters.find((q) => q.name === name);
  return { label: name, log: p?.log, choices: p?.choices };
}

// seen is how many dots have a place in a plot.
export const seen = (dots: Dot[]): number =>
  dots.filter(({ x, y }) => [x, y].every((v) => typeof v !== "number" || Number.isFinite(v))).length;

function Slice({ x, t, metric, name, best, range }: { x: string; t: Table; metric: string; name: string; best?: Leader; range?: [number, number] }): JSX.Element {
  const runs = runsOf(best);
  const dots = useMemo(() => {
    const [xs, ys] = [column(t, name), column(t, metric)];
    return t.points.numbers.map((trial, i): Dot => ({ trial, x: xs[i], y: ys[i], strong: runs.includes(trial), failed: failed(t, i) }))
      .filter((d) => d.x !== undefined && d.y !== undefined);
  }, [t, metric, name, runs.join()]);
  const log = useMemo(() => wide(range ?? column(t, metric)), [t, metric, range?.join()]);
  return <Card title={name}><Scatter label={`${metric} by ${name}, ${plural(seen(dots), "trial")}`} x={axisOf(t, name)} y={{ label: metric, log, range }} dots={dots} height={230}
    pick={(n) => { location.hash = href(["x", x, "trials", n]); }} /></Card>;
}

function Contour({ x, t, metric, names, best }: { x: string; t: Table; metric: string; names: string[]; best?: Leader }): JSX.Element | null {
  const { query } = useRoute();
  const [a, b] = [query.get("a") ?? names[0] ?? "", query.get("b") ?? names.find((n) => n !== (query.get("a") ?? names[0])) ?? ""];
  const runs = runsOf(best);
  const dots = useMemo(() => {
    const [xs, ys, vs] = [column(t, a), column(t, b), column(t, metric)];
    const shade = shades(vs, better(t, metric));
    return t.points.numbers.map((trial, i): Dot => ({ trial, x: xs[i], y: ys[i], shade: shade[i], strong: runs.includes(trial), failed: failed(t, i),
      lines: [`${metric}: ${value(vs[i])}`] })).filter((d) => d.x !== undefined && d.y !== undefined && Number.isFinite(d.shade));
  }, [t, a, b, metric, runs.join()]);
  if (names.length < 2) return null;
  const asked = [query.get("a"), query.get("b")].filter((n) => n !== null);
  const [low, high] = extent(column(t, metric));
  const up = better(t, metric) > 0;
  return <Card title="Two parameters" id="contour" aside={<div class="row">
    <Select label="across" of={names.filter((n) => n !== b)} chosen={a} on={(v) => setQuery({ a: v, b })} /><Select label="up" of={names.filter((n) => n !== a)} chosen={b} on={(v) => setQuery({ a, b: v })} /></div>}>
    <Unknown what="parameter" of={asked} all={names} />
    <Scatter label={`${metric} by ${a} and ${b}, ${plural(seen(dots), "trial")}`} x={axisOf(t, a)} y={axisOf(t, b)} dots={dots} height={420} none={`No trial with both parameters has a finite value of ${metric}`}
      field={(d) => d.shade ?? NaN} pick={(n) => { location.hash = href(["x", x, "trials", n]); }} />
    <Scale low={up ? low : high} high={up ? high : low} label={`${metric}, by rank, the best blue:`} />
    {dots.length === 0 ? null : <p class="quiet">The colour of an area is the mean of the trials nearby; <Hatched /> there is none. {dots.some((d) => d.strong) && best ? <><Starred x={x} of={new Set([best.number])} best={best} />.{repeats(t.space) > 1 ? single : null}</>
      : !best ? null : `The best trial does not have both parameters.`}<Crossed of={statesOf(t, metric)} /></p>}</Card>;
}
