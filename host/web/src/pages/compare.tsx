// Several experiments, side by side.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { History, Ranked, Status } from "../api";
import { toNumber } from "../api";
import { useSource } from "../context";
import { number, plural, seconds, value } from "../format";
import { useData, useTicks } from "../live";
import { Outcome } from "../outcome";
import { Lines, Names } from "../plot/lines";
import { href } from "../route";
import { Card, Choice, Front, Value, Waiting } from "../ui";

interface One {
  name: string;
  status: Status;
  history: History;
}

export function Compare({ names }: { names: string[] }): JSX.Element {
  const source = useSource();
  const tick = useTicks(2000);
  const [by, choose] = useState<"time" | "trials">("time");
  const { data, error } = useData("compare " + names.join(), source.made ? 0 : tick, () => Promise.all(names.map(async (name): Promise<One> => {
    const [status, history] = await Promise.all([source.status(name), source.history(name)]);
    return { name, status, history };
  })));
  if (!data) return <><h1>Compare</h1><Waiting error={error} /></>;
  const metrics = [...new Set(data.map((o) => `${o.history.metric} (${o.history.mode})`))];
  return <><h1>Compare</h1>
    {metrics.length > 1 ? <p class="lost">⚠ These experiments have different objectives: {metrics.join(", ")}.</p> : null}
    <Card title="Best so far" id="compared" aside={<Choice label="by" of={[["time", "time"], ["trials", "trials"]]} chosen={by} on={choose} />}>
      <Lines label={`Best so far of ${names.join(", ")}`} xLabel={by === "time" ? "seconds" : "trials that have ended"} yLabel={data[0]?.history.metric ?? ""} height={340}
        lines={data.map(({ name, history: h }) => ({ name, strong: true, step: true, end: "done", ys: h.steps.map((s) => toNumber(s.best)),
          xs: h.steps.map((s) => (by === "time" ? toNumber(s.at_s) : s.trials_ended)) }))} />
      <Names of={data.map((o) => o.name)} /></Card>
    <Card title="Side by side" id="sides"><div class="scroll"><Sides of={data} /></div></Card></>;
}

function Sides({ of: list }: { of: One[] }): JSX.Element {
  const best = (o: One): Ranked | null => o.status.best as Ranked | null;
  const params = [...new Set(list.flatMap((o) => Object.keys(best(o)?.params ?? {})))];
  const row = (name: string, cell: (o: One) => JSX.Element | string): JSX.Element =>
    <tr key={name}><th scope="row">{name}</th>{list.map((o) => <td key={o.name}>{cell(o)}</td>)}</tr>;
  return <table><thead><tr><th><span class="hidden">what</span></th>{list.map((o) => <th key={o.name} scope="col"><a href={href(["x", o.name])}>{o.name}</a></th>)}</tr></thead>
    <tbody>
      {row("state", (o) => <Outcome of={o.status} />)}
      {row("trials", (o) => plural(Object.values(o.status.counts).reduce((a, b) => a + b, 0), "trial"))}
      {row("time", (o) => seconds(o.status.elapsed_s))}
      {row("best", (o) => (o.status.front ? <Front x={o.name} n={o.status.front} /> : <><strong><Value of={best(o)?.value} /></strong> {o.history.metric}</>))}
      {row("best trial", (o) => (best(o) ? <a href={href(["x", o.name, "trials", best(o)!.number])}>{best(o)!.number}</a> : "–"))}
      {params.map((p) => row(p, (o) => { const v = best(o)?.params[p]; return typeof v === "number" ? number(v) : value(v); }))}
    </tbody></table>;
}
