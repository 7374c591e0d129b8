// One experiment at a glance: does it run, what is best, how much longer.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { History as HistoryOf, Params, Ranked, Status } from "../api";
import { flat, leaderOf, repeats, toNumber } from "../api";
import type { PageProps } from "../context";
import { useSource } from "../context";
import { json, jsonOf } from "../exact";
import { clock, count, number, plural, roughly, seconds, states, time, unitOf, word } from "../format";
import type { Watched } from "../live";
import { useData } from "../live";
import { ended, Outcome, terminated, whole } from "../outcome";
import { wide } from "../plot/axes";
import { Lines } from "../plot/lines";
import { useUsual } from "../plot/usual";
import { href } from "../route";
import type { Made } from "../source";
import { Card, Choice, Code, compared, Copy, Counted, Facts, Front, LastSeen, MeanOf, Starred, Value, Waiting } from "../ui";
import { Curves, endOf, useSpace } from "./curves";
import { FrontTable } from "./pareto";

// left is the host's estimate of the remaining time, the same as in the table of `tunehost run`.
export const left = (s: Status): string => (s.left_s === undefined ? "" : roughly(s.left_s));

export function Overview({ x, watched }: PageProps): JSX.Element {
  const { status, version } = watched;
  const history = useMemo(() => <History x={x} version={version} />, [x, version]);
  const curves = useMemo(() => <Curves x={x} version={version} />, [x, version]);
  if (!status) return <Waiting error={watched.lost ? undefined : watched.error} />;
  return <>
    <Headline watched={watched} status={status} x={x} />
    <div class={!status.best && status.front ? "under" : "two"}>
      <Best best={status.best as Ranked | null} front={status.front} none={status.not_finite} x={x} over={status.state !== "running"} />
      {history}
    </div>
    {curves}
    <Card title="Where" id="where"><Facts of={[["directory", <>{status.dir} <Copy text={status.dir} /></>],
      ...(status.host ? [["host", status.host] as [string, string]] : [])]} /></Card>
  </>;
}

function Headline({ watched: { lost, seen, fell }, status: s, x }: { watched: Watched; status: Status; x: string }): JSX.Element {
  const { made } = useSource();
  const state = s.paused ? "paused" : s.state;
  const objective = useSpace(x).data?.objectives[0];
  const unknown = lost !== undefined && s.state === "running";
  return <section class="card headline" aria-label="state">
    <div><h1>{s.name || x}</h1><div id="state" class="big">{unknown
      ? <LastSeen state={state} at={seen ?? lost} /> : <Outcome of={s} />}</div>
      <Gone status={s} /><Why status={s} /></div>
    <div><h2>progress</h2><Progress x={x} status={s} lost={unknown} /></div>
    <div><h2>time</h2><div class="big number" id="elapsed"><Elapsed status={s} lost={unknown} /></div><div id="left" class="strong">{unknown ? "not known" : timeLeft(s, made)}</div></div>
    <div><h2 id="best-of">{s.best || !s.front ? `best ${objective ? `${objective.metric} (${objective.mode})` : "so far"}` : "best"}</h2>{s.best ? <><div class="big" id="best-value"><Value of={s.best.value} /></div>
      <div>{s.best.mean_of ? <MeanOf x={x} of={s.best as Ranked} /> : <>by <a href={href(["x", x, "trials", s.best.number])}>trial {s.best.number}</a></>}</div></>
      : s.front ? <div id="front"><Front x={x} n={s.front} /></div> : s.not_finite ? "no finite result" : s.state === "running" ? "no result yet" : "no result"}{s.not_finite ? <div class="state-paused" id="not-finite">⚠ {s.not_finite}</div> : null}{fell ? <div class="state-paused" id="fell" role="status">{fell}</div> : null}</div>
  </section>;
}

function timeLeft(s: Status, made?: Made): string {
  if (made && s.state === "running") return `was running when this report was made, ${time(made.at)}`;
  if (s.state !== "running") return s.state === "finished" ? "finished" : "not running";
  if (s.ending) return "ending: " + s.ending;
  if (s.paused) return "paused: no trial continues";
  if (s.waiting) return "not known while it waits";
  return s.left_s !== undefined ? `${left(s)} left${until(s.left_s)}` : s.planned < 0 ? "no number of trials is planned" : "time left not known yet";
}

// until is the time of day at which something ends, if that is later today and not soon.
const until = (s: number): string => (s < 600 || s > 43200 ? "" : `, until about ${clock(Date.now() + 1000 * s)}`);

// Gone says what becomes of trials that ran when their host died.
function Gone({ status: s }: { status: Status }): JSX.Element | null {
  if (s.state !== "interrupted" || !s.restarts) return null;
  return <p class="lost" id="gone">⚠ {s.counts["RUNNING"] ? "The host that ran this experiment is gone. " : ""}Resume continues;
    what ran {s.restarts}.</p>;
}

// namedLeases is how many leases are named, as in `tunehost status`.
const namedLeases = 10;

// Unreleased says which leases may still use a cluster although no host holds them. A name that ends with * stands for
// others whose names are not known.
function Unreleased({ leases }: { leases: Status["leases"] }): JSX.Element | null {
  const { unreleased: of = [], unreleased_by: by, unreleased_until: end, waits_s: waits } = leases ?? {};
  if (of.length === 0) return null;
  const known = of.filter((name) => !name.endsWith("*"));
  const more = known.length - namedLeases;
  const names = [...known.slice(0, namedLeases), ...(more > 0 ? [`${count(more)} more`] : []),
    ...of.filter((name) => name.endsWith("*")).map((name) => `perhaps others that begin with ${name.slice(0, -1)}`)];
  return <div class="state-paused" id="unreleased">⚠ {known.length > 0 ? `${plural(known.length, "lease")} ${known.length === 1 ? "was" : "were"}` : "Some leases perhaps were"}
    {" "}not given back{waits ? " yet" : ""}{by ? ` by the executor ${by}` : ""}, and may still use the cluster: {names.join(", ")}.
    {waits ? null : <> Cancel what has these names with the cluster's own command, or {by ? `continue with executor=${by}` : "resume the experiment"}.
      {end ? ` Otherwise they end by ${time(end)}.` : ""}</>}</div>;
}

function Why({ status: s }: { status: Status }): JSX.Element {
  return <>{s.reason ? <div>{s.reason}</div> : null}<Unreleased leases={s.leases} />
    {s.waiting ? <div class="state-paused" id="waiting">… {s.waiting}</div> : null}
    {(s.overdue ?? []).map((o) => <div key={o.name + o.kind} class="state-paused">⚠ {o.kind} {o.name} has not answered for {seconds(o.seconds)}</div>)}</>;
}

// Elapsed counts on between two answers of a running experiment, and stops where no answer comes.
function Elapsed({ status: s, lost }: { status: Status; lost: boolean }): JSX.Element {
  const { made } = useSource();
  const [now, set] = useState(0);
  useEffect(() => {
    const began = Date.now();
    set(0);
    if (s.state !== "running" || made || lost) return undefined;
    const timer = setInterval(() => set((Date.now() - began) / 1000), 1000);
    return () => clearInterval(timer);
  }, [s, lost]);
  return <>{seconds(s.elapsed_s + Math.min(now, 5))}</>;
}

function Progress({ x, status: s, lost }: { x: string; status: Status; lost: boolean }): JSX.Element {
  const all = whole(s);
  const share = (n: number): string => `${all > 0 ? (100 * n) / all : 0}%`;
  const running = s.counts["RUNNING"] ?? 0;
  const { made } = useSource();
  const over = lost || s.state !== "running" || made !== undefined;
  return <>
    <div class="big number" id="progress">{s.planned < 0 ? count(ended(s)) : `${count(ended(s))}/${count(all)}`}</div>
    {s.planned < 0 ? null : <div class="progress" role="progressbar" aria-label="trials that have ended" aria-valuenow={ended(s)}
      aria-valuemin={0} aria-valuemax={all}><div style={{ width: share(ended(s)) }} />{over ? null : <div class="now" style={{ width: share(running) }} />}</div>}
    <div id="counts">{states.map(([name, word, sign]) => ({ name, word, sign, n: name === "TERMINATED" ? terminated(s) : s.counts[name] ?? 0 })).filter(({ n }) => n > 0).map(({ name, word, sign, n }, i) =>
      <span key={name} class={`state-${name.toLowerCase()}`}>{i > 0 ? ", " : ""}<a href={href(["x", x, "trials"], { state: name })}>{over && name === "RUNNING" ? `◌ ${count(running)} ${running === 1 ? "was" : "were"} running` : `${sign} ${count(n)} ${word}`}</a>{name === "TERMINATED" ? <> ({count(n - s.stopped_early)} completed, <Early x={x} n={s.stopped_early} />)</> : null}</span>)}</div>
    {s.never_started ? <div class="quiet">{plural(s.never_started, "trial")} never started</div> : null}
  </>;
}

// Early leads to why trials were stopped early.
function Early({ x, n }: { x: string; n: number }): JSX.Element {
  return n === 0 ? <>0 stopped early</> : <a href={href(["x", x, "decisions"])} title="why each was stopped">{count(n)} stopped early</a>;
}

// FrontCard has the trials of the front, with their objectives and parameters.
function FrontCard({ x, n, over }: { x: string; n: number; over: boolean }): JSX.Element {
  const source = useSource();
  const { data, error } = useData("front " + x, n, () => source.pareto(x));
  const space = useSpace(x).data;
  return <Card title="Best" id="best"><p><Front x={x} n={n} repeat={repeats(space)} />:</p><Counted repeat={repeats(space)} />
    {data && space ? <FrontTable x={x} of={data.slice(0, 20)} over={over} metrics={space.objectives.map((o) => o.metric)} /> : <Waiting error={error} />}
    {n > 20 ? <p class="quiet">These are the first 20; the <a href={href(["x", x, "pareto"])}>Pareto front</a> has all.</p> : null}</Card>;
}

const forms = [["yaml", "YAML"], ["python", "Python"], ["shell", "command line"], ["json", "JSON"]] as const;
type Form = (typeof forms)[number][0];

export function Best({ best, front, none, x, over }: { best: Ranked | null; front?: number; none?: string; x: string; over: boolean }): JSX.Element {
  const [form, choose] = useState<Form>("yaml");
  const repeat = repeats(useSpace(x).data);
  if (!best && front) return <FrontCard x={x} n={front} over={over} />;
  if (!best) return <Card title="Best">{none ? `There is no best trial: ${none}.` : `No trial has reported a value of the objective${over ? "" : " yet"}.`}</Card>;
  const means = best.mean_of !== undefined;
  return <Card title="Best" id="best" aside={<Choice label="form" of={forms} chosen={form} on={choose} />}>
    <p>{number(best.value)}{means ? <>, <MeanOf x={x} of={best} /></> : <> by <a href={href(["x", x, "trials", best.number])}>trial {best.number} ({best.trial})</a></>}, after{" "}
      {plural(best.iteration, "iteration")}{means ? " each" : best.time_total_s ? `, ${seconds(best.time_total_s)}` : ""}{best.state === "ERROR" ? "; it has failed later" : ""}</p>
    <Counted repeat={repeat} />
    <Code text={written(best.params, form)} label="the best parameters" /></Card>;
}

// written are parameters in the language of a form; JSON is YAML, too. A command line is what {flags} of a command are: also
// a choice that is a map has its members there.
export function written(params: Params, form: Form): string {
  switch (form) {
    case "json": return json(params, 2);
    case "yaml": return Object.keys(params).map((n) => `${yamlKey(n)}: ${yaml(jsonOf(params, n))}`).join("\n");
    case "shell": return flags(flat(params));
    case "python": return python(json(params));
  }
}

const flags = (all: Params): string => Object.keys(all).sort((a, b) => (a < b ? -1 : 1))
  .map((n) => word(`--${n.replaceAll("/", ".")}=${typeof all[n] === "string" ? all[n] : jsonOf(all, n)}`)).join(" ");

const yamlKey = (n: string): string => (/^[A-Za-z_][\w.-]*$/.test(n) ? n : yaml(json(n)));

// yaml is JSON that readers of YAML 1.1 understand, too: to them 1e-7 is a text, and 1.0e-7 a number.
const yaml = (text: string): string => text.replace(/"(?:[^"\\]|\\.)*"|(?<![\d.])\d+(?=e)/g, (t) => (t.startsWith('"') ? paired(t) : `${t}.0`));

const words: Record<string, string> = { true: "True", false: "False", null: "None", ",": ", ", ":": ": " };

const python = (text: string): string => text.replace(/"(?:[^"\\]|\\.)*"|true|false|null|[,:]/g, (t) => words[t] ?? paired(t));

// paired writes the two escapes of one character as one: to other languages than JSON they are two characters.
const paired = (text: string): string => text.replace(/\\u(d[89ab]..)\\u(d[c-f]..)/g, (_, high: string, low: string) =>
  `\\U${String.fromCharCode(parseInt(high, 16), parseInt(low, 16)).codePointAt(0)!.toString(16).padStart(8, "0")}`);

type By = "time" | "trials";

function History({ x, version }: { x: string; version: number }): JSX.Element {
  const source = useSource();
  const [by, choose] = useState<By>("time");
  const { data, error } = useData("history " + x, version, () => source.history(x));
  const aside: ComponentChildren = <Choice label="by" of={[["time", "time"], ["trials", "trials"]]} chosen={by} on={choose} />;
  const space = useSpace(x).data;
  const several = (space?.objectives.length ?? 1) > 1;
  const repeat = repeats(space);
  const best = several ? undefined : leaderOf(data?.best ?? [], repeat);
  return <Card title={data ? `Best ${repeat > 1 ? "mean of " : ""}${data.metric} so far (${data.mode})` : "Best so far"} id="history" aside={aside}>
    {several ? <p class="quiet">There are several objectives; this is the first one.</p> : null}
    {data ? <HistoryPlot of={data} by={by} x={x} best={best?.number} repeat={repeat} /> : <Waiting error={error} />}
    {data && data.steps.length > 0 ? <p class="quiet">{!best ? null : <><Starred x={x} of={new Set([best.number])} best={best} />. </>}{repeat > 1 ? "Each dot is the mean of the runs of a suggestion, when the last of them ended" : "Each dot is a trial at its end"}{ends(data)}.{drawn(data, repeat)}{data.rerun ? <span id="rerun">{" "}{plural(data.rerun, "trial")} ended more than once: the last end counts.</span> : null}
      {" "}The line is the best dot so far; <code>tunehost best --curve</code> counts every result.</p> : null}</Card>;
}

// drawn says that dots are left out.
const drawn = ({ steps, total }: HistoryOf, repeat: number): string => (steps.length === total ? ""
  : ` ${count(steps.length)} of ${plural(total, compared(repeat))} with a value are drawn, improvements and extremes among them.`);

// ends says how dots are drawn that are no ordinary ends. What has not ended is there as of a time: the chart may be older
// than the numbers beside it.
function ends({ steps }: HistoryOf): JSX.Element {
  const now = steps.findLast((s) => s.running);
  return <>{steps.some((s) => s.state === "ERROR") ? <>; <span class="state-error">✕</span> has failed after this value</> : null}
    {now ? `; ○ has not ended, and is at the right edge with its value as of ${seconds(toNumber(now.at_s))}` : ""}</>;
}

// HistoryPlot has a point for each trial, and a line for the best.
export function HistoryPlot({ of: { steps, metric }, by, x, best, repeat = 1 }: { of: HistoryOf; by: By; x: string; best?: number; repeat?: number }): JSX.Element {
  const values = steps.map((s) => toNumber(s.value));
  const { range, choice, note } = useUsual(values);
  if (steps.length === 0) return <p class="quiet">There is no finite value yet.</p>;
  const last = steps[steps.length - 1];
  const unit = unitOf(Math.max(0, ...steps.map((s) => toNumber(s.at_s))));
  const xs = steps.map((s) => (by === "time" ? toNumber(s.at_s) / unit.seconds : s.trials_ended));
  return <>{choice}<Lines label={`Best ${metric} so far: ${number(last?.best)}`} range={range} xLabel={by === "time" ? unit.name : "trials that have ended"}
    yLabel={metric} yLog={wide(range ?? values)} height={240} pick={(n) => { location.hash = href(["x", x, "trials", n]); }}
    lines={[...steps.map((s, i) => ({ name: repeat > 1 ? `suggestion ${s.number / repeat}` : `trial ${s.number}`, trial: s.number, xs: [xs[i] ?? NaN], ys: [toNumber(s.value)], best: s.number === best, end: endOf(s) })),
      { name: "best so far", xs, ys: steps.map((s) => toNumber(s.best)), strong: true, step: true }]} />{note}</>;
}
