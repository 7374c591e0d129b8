// Learning curves of many trials: where each was stopped, and at which rungs.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { repeats, toNumber } from "../api";
import type { Curve, Curves as CurveList, Space } from "../api";
import { useSource } from "../context";
import { plural } from "../format";
import type { Loaded } from "../live";
import { useData } from "../live";
import { wide } from "../plot/axes";
import type { Line } from "../plot/lines";
import { Lines } from "../plot/lines";
import { Far, usual } from "../plot/usual";
import { href } from "../route";
import { Card, Choice, Failure, Select, Waiting } from "../ui";

// Scale is which axes are logarithmic.
type Scale = "" | "x" | "y" | "xy";

// Part is what of the values is shown: all but those far from all others, all, or where the better half of the trials ends.
type Part = "" | "all" | "half";

interface Data {
  space: Space;
  curves: CurveList;
}

// useSpace reads what an experiment searches, and again now and then: trials report new metrics.
export function useSpace(x: string, version = 0): Loaded<Space> {
  const source = useSource();
  return useData("space " + x, Math.ceil(version / 10), () => source.space(x));
}

export function Curves({ x, version }: { x: string; version: number }): JSX.Element {
  const source = useSource();
  const [metric, choose] = useState("");
  const [wanted, setScale] = useState<Scale>();
  const [part, setPart] = useState<Part>("");
  const { data, error, other } = useData("curves " + x, version, async (): Promise<Data> => {
    const space = await source.space(x);
    return { space, curves: await source.curves(x, metric || (space.objectives[0]?.metric ?? space.metrics[0] ?? "")) };
  }, { part: metric });
  if (!data) return <Card title="Learning curves" id="curves"><Waiting error={error} /></Card>;
  const { space, curves } = data;
  const { best } = curves;
  const low = curves.trials.some((c) => c.values.some((v) => toNumber(v) <= 0)) ? `${curves.metric} has values of 0 or less` : undefined;
  const values = curves.trials.flatMap((c) => c.values.map(toNumber));
  const found = usual(values);
  const mode = space.objectives.find((o) => o.metric === curves.metric)?.mode;
  const shown = part === "half" && !mode || part === "all" && !found.range ? "" : part;
  const range = shown === "" ? found.range : undefined;
  const scale = wanted ?? (wide(range ?? values) ? "y" : "");
  const aside = <div class="row"><Select label="metric" of={source.offered(x, "curves", space.metrics)} chosen={metric || curves.metric} on={choose} />
    <Choice label="values" of={[...(found.range ? [["", "usual values"], ["all", "all values"]] as const : [["", "all values"]] as const), ["half", "better half", mode ? undefined : `nothing says which ${curves.metric} is better`]]}
      chosen={shown} on={setPart} />
    <Choice label="logarithmic axes" of={[["", "linear"], ["x", "log x"], ["y", "log y", low], ["xy", "log both", low]]} chosen={scale} on={setScale} /></div>;
  const rungs = space.rungs.map((r) => r.iteration);
  return <Card title="Learning curves" id="curves" aside={curves.trials.length > 0 ? aside : undefined}>
    {other && error ? <Failure of={error} /> : curves.trials.length === 0 ? <p class="quiet">No trial has reported a result yet.</p> : <>
      <Lines label={`${curves.metric} of ${plural(curves.trials.filter((c) => c.values.some((v) => Number.isFinite(toNumber(v)))).length, "trial")} by iteration`} xLabel="iteration"
        yLabel={curves.metric} xLog={scale.includes("x")} yLog={scale.includes("y")} rungs={rungs} height={340}
        range={mode && shown === "half" ? better(curves.trials, mode) : range}
        lines={curves.trials.map((c) => line(c, best, repeats(space)))} pick={(n) => { location.hash = href(["x", x, "trials", n]); }} />
      {range ? <Far of={found} /> : null}
      <p class="quiet">{curves.trials.length < curves.total ? `${curves.trials.length} of ${plural(curves.total, "trial")}, the best among them. ` : ""}
        <Ends of={curves.trials} />{!curves.trials.some((c) => best.includes(c.number)) ? "" : repeats(space) > 1 ? "; the bold lines are the runs of the best suggestion, ★" : "; the bold line is the best trial, ★"}
        {rungs.length > 0 ? `; dashed: where the scheduler stopped trials early or paused them, at ${rungs.join(", ")}` : ""}. Click a line to see its trial; on the plot, arrow keys go from trial to trial, and Enter opens one.</p></>}
  </Card>;
}

// signs are those at the ends of lines.
const signs: [Line["end"], string][] = [["stopped", "✕ stopped early"], ["failed", "✕ failed"], ["done", "● finished"], ["open", "○ not ended"]];

// Ends explain the signs that there are.
function Ends({ of }: { of: Curve[] }): JSX.Element {
  const found = new Set(of.map(endOf));
  return <>{signs.filter(([end]) => found.has(end)).map(([end, text], i) => <span key={end}>{i > 0 ? " · " : ""}
    {end === "failed" ? <strong class="state-error">{text}</strong> : text}</span>)}</>;
}

// better is the range of the last values of the better half.
function better(list: Curve[], mode: string): [number, number] | undefined {
  const ends = list.map((c) => toNumber(c.values.at(-1) ?? NaN)).filter(Number.isFinite).sort((a, b) => a - b);
  const middle = ends[Math.floor(ends.length / 2)];
  if (middle === undefined) return undefined;
  return mode === "max" ? [middle, ends.at(-1)!] : [ends[0]!, middle];
}

function line(c: Curve, all: number[], repeat: number): Line {
  const best = all.includes(c.number);
  return { name: `trial ${c.number}${repeat > 1 ? ` of suggestion ${Math.floor(c.number / repeat)}` : ""}${c.reason ? ": " + c.reason : ""}`, trial: c.number, xs: c.iterations,
    ys: c.values.map(toNumber), strong: best, best, end: endOf(c) };
}

// endOf is how the line of a trial ends: what runs, waits, is paused or has lost its host has not ended.
export function endOf(t: Pick<Curve, "state" | "stopped">): Line["end"] {
  if (t.state === "ERROR") return "failed";
  if (t.state !== "TERMINATED") return "open";
  return t.stopped ? "stopped" : "done";
}
