// One trial: what it was given, what it reported, why it ended, what it printed.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Detail, Params, Ranked, Result, Space } from "../api";
import { flat, runsOf, toNumber } from "../api";
import { useSource } from "../context";
import type { PageProps } from "../context";
import { json, jsonOf } from "../exact";
import { plain, plural, seconds, stateWord, tellers, time } from "../format";
import { useAsked, useData, useNow } from "../live";
import { Lines } from "../plot/lines";
import { useUsual } from "../plot/usual";
import { fate } from "../outcome";
import { href } from "../route";
import type { TextPath } from "../source";
import { TrialSteering } from "../steering";
import { endOf, useSpace } from "./curves";
import { giver } from "./decisions";
import { Card, Choice, Code, Copy, Facts, Failure, MeanOf, Select, State, Value, Waiting } from "../ui";

export function TrialPage({ x, watched, id }: PageProps & { id: string }): JSX.Element {
  const source = useSource();
  const [state, see] = useState<string>();
  const asked = useAsked(`${x} ${id}`, state);
  const { data: t, error } = useData(`trial ${x} ${id}`, watched.version + asked.version, () => source.trial(x, id));
  useEffect(() => see(t && `${t.state} ${t.attempts}`), [t]);
  const given = useGiven(x, t);
  const space = useSpace(x).data;
  const trials = Object.values(watched.status?.counts ?? {}).reduce((a, b) => a + b, 0);
  if (!t) return <><div class="row"><h1>Trial {id}</h1><Neighbours x={x} n={Number(id)} trials={trials} /></div><Waiting error={error} /></>;
  const best = watched.status?.best;
  const lost = watched.lost !== undefined;
  const running = watched.status?.state === "running" && source.made === undefined;
  return <>
    <div class="row"><h1>Trial {t.number} <span class="quiet">({t.trial})</span></h1>{asked.word ? <span class="state state-pending" id="asked" role="status"><span aria-hidden="true">…</span> {asked.word}</span> : <State state={fate(t)} over={!running} />}
      {runsOf(best).includes(t.number) ? <strong id="is-best"><span class="star" aria-hidden="true">★</span> {best?.mean_of ? "of the best suggestion" : "the best"}</strong>
        : best?.mean_of ? <span class="quiet">the best is <MeanOf x={x} of={best as Ranked} /></span> : best ? <span class="quiet">the best is <a href={href(["x", x, "trials", best.number])}>trial {best.number}</a></span> : null}
      <Neighbours x={x} n={t.number} trials={trials} /></div>
    {watched.status && !source.made && !watched.status.dir.includes("://") ? <TrialSteering x={x} trial={t} status={watched.status} lost={lost} /> : null}
    <Why t={t} />
    <div class="two">
      <Parameters t={t} best={best && !runsOf(best).includes(t.number) ? best.params as Params : undefined} space={space} />
      <Card title="Trial" id="facts"><Facts of={facts(t, given)} /></Card>
    </div>
    <Results x={x} t={t} version={watched.version} running={running && !lost} />
    <Printed x={x} t={t} key={t.number} running={running && !lost} />
  </>;
}

// Neighbours are there before the trial is: who goes from one to the next has the focus on the same link.
function Neighbours({ x, n, trials }: { x: string; n: number; trials: number }): JSX.Element {
  return <nav class="row" aria-label="neighbours">{n > 0 && n <= trials ? <a href={href(["x", x, "trials", n - 1])}>← {n - 1}</a> : null}
    {n + 1 < trials ? <a href={href(["x", x, "trials", n + 1])}>{n + 1} →</a> : null}<a href={href(["x", x, "trials"])}>all trials</a></nav>;
}

function Why({ t }: { t: Detail }): JSX.Element | null {
  const earlier = t.reasons.filter((r) => r.reason !== t.reason);
  if (!t.reason && !t.error && earlier.length === 0) return null;
  return <Card title={t.state === "ERROR" ? "Why it failed" : "Why"} id="why">
    <Told text={(t.never_started ? "never started: " : "") + (t.error ?? t.reason ?? "")} printed={t.error_lines} />
    {earlier.length > 0 ? <Facts of={earlier.map((r): [string, ComponentChildren] => [`${seconds(r.at_s)} into the experiment, ${stateWord(r.state)}`,
      <Told text={r.reason} />])} /> : null}</Card>;
}

// Told is a text whose first line says it all: the other lines stand below, without those that the trial printed last,
// which follow in the form in which they were printed.
function Told({ text, printed = "" }: { text: string; printed?: string }): JSX.Element {
  const [first = "", ...rest] = text.split("\n");
  const known = new Set(printed.split("\n").map((l) => l.trim()));
  const more = rest.filter((l) => !known.has(l.trim())).join("\n");
  return <>
    <p>{first}</p>
    {more === "" ? null : printed ? <p class="quiet">{more}</p> : <Code text={more} label="more of the reason" />}
    {printed ? <Code text={printed} label="the last lines that it printed" /> : null}</>;
}

function Parameters({ t, best: bestParams, space }: { t: Detail; best?: Params; space?: Space }): JSX.Element {
  const own = flat(t.params, space), best = bestParams && flat(bestParams, space);
  const names = [...new Set([...Object.keys(own), ...Object.keys(best ?? {})])];
  const told = tellers(space);
  const shown = (of: Params, n: string): string => (Number.isInteger(of[n]) ? jsonOf(of, n) : told(n, of[n]));
  return <Card title="Parameters" id="parameters" aside={<Copy text={json(t.params)} label="copy as JSON" />}>
    <table class="figures"><thead><tr><th>name</th><th>value</th>{best ? <th>of the best</th> : null}</tr></thead>
      <tbody>{names.map((n) => <tr key={n}><th scope="row" class={whole(n)}>{n}</th><td title={jsonOf(own, n)} class={whole(shown(own, n))}>{shown(own, n)}</td>
        {best ? <td title={jsonOf(best, n)} class={[JSON.stringify(best[n]) === JSON.stringify(own[n]) ? "quiet" : "", whole(shown(best, n)) ?? ""].join(" ").trim() || undefined}>{shown(best, n)}</td> : null}</tr>)}</tbody></table></Card>;
}

// whole keeps short texts in one line, where a long one beside them takes the room.
const whole = (text: string): string | undefined => (text.length <= 16 ? "whole" : undefined);

// useGiven says who has suggested a trial. A report has that in its decisions, of very many given trials for the last.
function useGiven(x: string, t?: Detail): string | undefined {
  const source = useSource();
  const all = useData(`given ${x} ${source.made?.at}`, 0, async () => (source.made ? (await source.decisions(x)).given : [])).data;
  if (!t || !all) return undefined;
  const found = t.given ?? all.find((g) => g.number === t.number);
  if (found) return giver(found);
  return all.length >= 1000 && t.number < (all[0]?.number ?? 0) ? undefined : "the searcher";
}

// facts are what is known of a trial.
function facts(t: Detail, given?: string): [string, ComponentChildren][] {
  const list: [string, ComponentChildren][] = [["started", time(t.started)], ["ended", time(t.ended)],
    ["trained for", seconds(t.time_total_s)], ["iteration", String(t.iteration)], ["results", String(t.results)]];
  if (t.pace) list.push(["first result", paced(t.pace)]);
  if (given) list.unshift(["suggested by", given]);
  if (t.suggestion !== undefined) list.unshift(["suggestion", String(t.suggestion)]);
  if (t.failures) list.push(["failures", String(t.failures)]);
  for (const [name, v] of Object.entries(t.metrics)) list.push([name, <Value of={v} digits={6} />]);
  list.push(["files", t.dir ? <>{t.dir} <Copy text={t.dir} /></> : "none"]);
  if (t.checkpoints.length > 0) list.push(["checkpoints", <Checkpoints of={t.checkpoints} />]);
  for (const e of t.exports ?? []) list.push([`export ${e.format}`, e.error ?? e.dir ?? ""]);
  if (t.request) list.push(["needs", t.request]);
  if (t.rerun) list.push(["run it again", <Code text={t.rerun} label="the command" />]);
  return list;
}

// paced tells a slow start, with what the program imports, from slow training.
const paced = ({ first_s: first, next_s: next }: NonNullable<Detail["pace"]>): string =>
  `${seconds(toNumber(first))} after the start${next === null ? "" : `, each later one ${seconds(toNumber(next))} after the one before`}`;

// unfolded is how many checkpoints are shown without asking.
const unfolded = 3;

// Checkpoints are the first one and the last one, and between them, on request, all others.
function Checkpoints({ of }: { of: Detail["checkpoints"] }): JSX.Element {
  const [all, show] = useState(false);
  const list = useRef<HTMLUListElement>(null);
  const unfold = (): void => {
    list.current?.focus({ preventScroll: true }); // the button goes
    show(true);
  };
  const folded = !all && of.length > unfolded;
  const one = (c: Detail["checkpoints"][number]): JSX.Element => <li key={`${c.trial} ${c.id}`}>at {c.iteration}: {c.dir} <Copy text={c.dir} /></li>;
  return <ul class="plain" id="checkpoints" ref={list} tabIndex={-1}>{folded
    ? <>{one(of[0]!)}<li><button type="button" class="small" onClick={unfold}>show all {of.length}</button></li>{one(of[of.length - 1]!)}</>
    : of.map(one)}</ul>;
}

const ended = (t: Detail): boolean => t.state === "TERMINATED" || t.state === "ERROR";

function Results({ x, t, version, running }: { x: string; t: Detail; version: number; running: boolean }): JSX.Element {
  const source = useSource();
  const { data, error } = useData(`results ${x} ${t.number}`, version, () => source.results(x, String(t.number)));
  const metrics = [...new Set((data ?? []).flatMap((r) => Object.keys(r.metrics)))];
  const [chosen, choose] = useState("");
  const objective = useSpace(x).data?.objectives[0]?.metric ?? "";
  const metric = [chosen, objective].find((m) => metrics.includes(m)) ?? metrics[0] ?? "";
  const { range, choice, note } = useUsual((data ?? []).map((r) => toNumber(r.metrics[metric])));
  if (!data) return <Card title="Results"><Waiting error={error} /></Card>;
  if (data.length === 0) return <Card title="Results"><p class="quiet">{running && !ended(t) ? "The trial has reported nothing yet." : "The trial has reported nothing."}</p></Card>;
  return <Card title="Results" id="results" aside={<div class="row">{choice}<Select label="metric" of={metrics} chosen={metric} on={choose} /></div>}>
    <Lines range={range} label={`${metric} by iteration`} xLabel="iteration" yLabel={metric} height={260}
      lines={[{ name: metric, strong: true, end: endOf({ state: t.state, stopped: t.stopped_early }), xs: data.map((r) => r.iteration), ys: data.map((r) => toNumber(r.metrics[metric])) }]} />
    {note}<ResultTable of={data} metrics={metrics} all={t.results} /></Card>;
}

// ResultTable has the last results first.
function ResultTable({ of: list, metrics, all }: { of: Result[]; metrics: string[]; all: number }): JSX.Element {
  const shown = list.slice(-200).reverse();
  return <details><summary>{list.length < all ? `${list.length} of ` : ""}{plural(Math.max(all, list.length), "result")} as a table{list.length > 200 ? ", the last 200" : ""}</summary><div class="scroll"><table class="figures">
    <thead><tr><th class="number">iteration</th><th class="number">time</th>{metrics.map((m) => <th key={m} class="number">{m}</th>)}</tr></thead>
    <tbody>{shown.map((r) => <tr key={`${r.attempt} ${r.iteration}`}><td class="number">{r.iteration}</td><td class="number">{seconds(r.time_total_s)}</td>
      {metrics.map((m) => <td key={m} class="number" title={String(r.metrics[m])}>{plain(r.metrics[m])}</td>)}</tr>)}</tbody></table></div></details>;
}

function Printed({ x, t, running }: { x: string; t: Detail; running: boolean }): JSX.Element {
  const source = useSource();
  const [chosen, choose] = useState<"stdout" | "stderr">();
  const stream = chosen ?? "stdout";
  const empty = chosen === undefined && ended(t);
  const first = useData(`output ${x} ${t.number} ${empty}`, 0, async () => (empty && !source.made
    ? source.text({ x, of: "log", trial: String(t.number), stream: "stdout" }) : "."));
  useEffect(() => { if (empty && first.data === "") choose("stderr"); }, [empty, first.data]);
  if (source.made) return <Card title="Output" id="output"><p class="quiet">A report does not have the output of trials. It is with the trial's files.</p></Card>;
  return <Card title="Output" id="output" aside={<Choice label="output" of={[["stdout", "stdout"], ["stderr", "stderr"]]} chosen={stream} on={choose} />}>
    <Text key={stream} of={{ x, of: "log", trial: String(t.number), stream }} label={stream} grows={t.state === "RUNNING" && running} /></Card>;
}

// Text shows the end of a text as it grows, and stays at its end while the reader is there.
export function Text({ of, label, grows }: { of: TextPath; label: string; grows: boolean }): JSX.Element {
  const source = useSource();
  const { data: text, error } = useNow(JSON.stringify(of), 1000, grows && !source.made, () => source.text(of));
  const ref = useRef<HTMLPreElement>(null);
  const atEnd = useRef(true);
  useEffect(() => {
    if (atEnd.current && ref.current) ref.current.scrollTop = ref.current.scrollHeight;
  }, [text]);
  const scrolled = (e: Event): void => {
    const box = e.currentTarget as HTMLElement;
    atEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < 30;
  };
  return <>
    <Failure of={error} />
    <pre class={grows ? "log grows" : "log"} tabIndex={0} role="group" aria-label={label} ref={ref} onScroll={scrolled}>{text || (text === "" && !grows ? "(nothing)" : "")}</pre>
    {grows ? <p class="quiet">following…</p> : null}
  </>;
}
