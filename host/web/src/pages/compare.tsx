// Several experiments, side by side.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { History, Ranked, Space, Status } from "../api";
import { flat, param, Problem, toNumber } from "../api";
import { useSource } from "../context";
import type { Unit } from "../format";
import { number, plural, seconds, tellers, unitOf } from "../format";
import { useData, useTicks } from "../live";
import { made, Outcome } from "../outcome";
import { wide } from "../plot/axes";
import { Lines, Names } from "../plot/lines";
import { useUsual } from "../plot/usual";
import { href } from "../route";
import type { Source } from "../source";
import { Card, Choice, Failure, Front, MeanOf, Old, Value, Waiting } from "../ui";

// Course is how the best value of an objective came about.
interface Course {
  name: string;
  tone: number;
  history: History;
}

interface One {
  name: string;
  status: Status;
  space: Space;
  front: Ranked[];
  courses: Course[];
}

// read has the history of each objective; a report has that of the first one alone.
// Those that do not exist, any more perhaps, are told.
async function read(source: Source, name: string, tone: number): Promise<One | Problem> {
  try {
    return await known(source, name, tone);
  } catch (e) {
    if (e instanceof Problem && e.status === 404) return e;
    throw e;
  }
}

async function known(source: Source, name: string, tone: number): Promise<One> {
  const [status, space] = await Promise.all([source.status(name), source.space(name)]);
  const metrics = source.made ? [undefined] : space.objectives.map((o, i) => (i === 0 ? undefined : o.metric));
  const [front, histories] = await Promise.all([status.front ? source.pareto(name) : [],
    Promise.all(metrics.map((m) => source.history(name, m)))]);
  return { name, status, space, front, courses: histories.map((history) => ({ name, tone, history })) };
}

const objective = (h: History): string => `${h.metric} (${h.mode})`;

export function Compare({ names }: { names: string[] }): JSX.Element {
  const source = useSource();
  const tick = useTicks(2000);
  const [by, choose] = useState<"time" | "trials">("time");
  const { data: all, error, seen } = useData("compare " + JSON.stringify(names), source.made ? 0 : tick, () => Promise.all(names.map((name, i) => read(source, name, i))), { awaits: true });
  if (!all) return <><h1>Compare</h1><Waiting error={error} /></>;
  const data = all.filter((o): o is One => !(o instanceof Problem));
  const courses = data.flatMap((o) => o.courses);
  const objectives = [...new Set(courses.map((c) => objective(c.history)))];
  const unit = unitOf(Math.max(0, ...courses.flatMap((c) => c.history.steps.map((s) => toNumber(s.at_s)))));
  return <><div class="row"><h1>Compare</h1><Choice label="by" of={[["time", "by time"], ["trials", "by trials"]]} chosen={by} on={choose} /></div>
    <Old what="page" seen={seen} error={error} />
    {all.map((o, i) => (o instanceof Problem ? <Failure key={i} of={o} /> : null))}
    {data.length < 2 ? <p>Select two or more experiments in <a href={href([])}>the list of all</a> to compare them.</p> : null}
    {objectives.length > 1 ? <p class="quiet" id="several">Each objective has a plot of its own: {objectives.join(", ")}.</p> : null}
    <div id="compared" class={objectives.length > 1 ? "two" : undefined}>{objectives.map((o) => <Best key={o} of={courses.filter((c) => objective(c.history) === o)} by={by} unit={unit} />)}</div>
    {data.length === 0 ? null : <Card title="Side by side" id="sides"><div class="scroll"><Sides of={data} objectives={objectives} /></div></Card>}</>;
}

// improvements are the values that have been the best, one after the other.
const improvements = ({ steps }: History): number[] =>
  steps.map((s) => toNumber(s.best)).filter((best, i, all) => Number.isFinite(best) && best !== all[i - 1]);

// Best is the best so far of one objective, of all experiments that have it.
function Best({ of, by, unit }: { of: Course[]; by: "time" | "trials"; unit: Unit }): JSX.Element {
  const { metric, mode } = of[0]!.history;
  const bests = of.map((c) => improvements(c.history));
  // each improvement counts once, or the last values of a long experiment would be the usual ones; where each experiment
  // has come to is seen in any case
  const { range, choice, note } = useUsual(bests.flat(), bests.flatMap((b) => b.slice(-1)));
  return <Card title={`Best ${metric} so far (${mode})`} aside={choice}>
    <Lines range={range} label={`Best ${metric} so far of ${of.map((c) => c.name).join(", ")}`} xLabel={by === "time" ? unit.name : "trials that have ended"} yLabel={metric} height={340}
      yLog={wide(range ?? bests.flat())}
      lines={of.map(({ name, tone, history: h }) => ({ name, tone, strong: true, step: true, end: "done", ys: h.steps.map((s) => toNumber(s.best)),
        xs: h.steps.map((s) => (by === "time" ? toNumber(s.at_s) / unit.seconds : s.trials_ended)) }))} />
    {note}<Names of={of} /></Card>;
}

// bestIn is the trial with the best value of an objective: of several ones, it is on the front.
function bestIn(o: One, of: string): Ranked | undefined {
  const course = o.courses.find((c) => objective(c.history) === of)?.history;
  const first = o.status.best as Ranked | null;
  if (first || !course) return course && first ? first : undefined;
  const value = (r: Ranked): number => toNumber(r.metrics[course.metric]) * (course.mode === "max" ? -1 : 1);
  return [...o.front].sort((a, b) => value(a) - value(b))[0];
}

function BestIn({ of: o, objective: of }: { of: One; objective: string }): JSX.Element {
  const found = bestIn(o, of);
  const metric = o.courses.find((c) => objective(c.history) === of)?.history.metric;
  if (!found || !metric) return <>–</>;
  return <><strong><Value of={o.status.best ? found.value : found.metrics[metric]} /></strong>{found.mean_of ? <>, <MeanOf x={o.name} of={found} /></> : <> by <a href={href(["x", o.name, "trials", found.number])}>trial {found.number}</a></>}</>;
}

const chosen = (space: Space, name: string): boolean => space.parameters.some((p) => p.name === name && p.choices);

function Sides({ of: list, objectives }: { of: One[]; objectives: string[] }): JSX.Element {
  const best = (o: One): Ranked | null => o.status.best as Ranked | null;
  const params = [...new Set(list.flatMap((o) => Object.keys(flat(best(o)?.params ?? {}, o.space))))];
  const told = tellers(...list.map((o) => o.space));
  const row = (name: string, cell: (o: One) => JSX.Element | string): JSX.Element =>
    <tr key={name}><th scope="row">{name}</th>{list.map((o) => <td key={o.name}>{cell(o)}</td>)}</tr>;
  return <table><thead><tr><th><span class="hidden">what</span></th>{list.map((o) => <th key={o.name} scope="col"><a href={href(["x", o.name])}>{o.name}</a></th>)}</tr></thead>
    <tbody>
      {row("state", (o) => <Outcome of={o.status} />)}
      {row("trials", (o) => plural(made(o.status), "trial"))}
      {row("time", (o) => seconds(o.status.elapsed_s))}
      {objectives.map((of) => row("best " + of, (o) => <BestIn of={o} objective={of} />))}
      {list.some((o) => o.status.front) ? row("front", (o) => (o.status.front ? <Front x={o.name} n={o.status.front} /> : "–")) : null}
      {params.map((p) => row(p, (o) => { const v = param(best(o)?.params ?? {}, p); return typeof v === "number" && !list.some((o) => chosen(o.space, p)) ? number(v) : told(p, v); }))}
    </tbody></table>;
}
