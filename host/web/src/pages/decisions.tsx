// What the searcher and the scheduler decided, and why.
import type { JSX } from "preact";
import type { Decisions, Given, Said, Space } from "../api";
import { runsOf } from "../api";
import type { PageProps } from "../context";
import { useSource } from "../context";
import { count, plural, time, value } from "../format";
import type { Loaded } from "../live";
import { useData } from "../live";
import { fate } from "../outcome";
import { href } from "../route";
import { Card, Facts, Failure, Star, State, Waiting } from "../ui";

// most is how many trials are listed.
const most = 300;

export function DecisionsPage({ x, watched }: PageProps): JSX.Element {
  const source = useSource();
  const { data, error } = useData("decisions " + x, watched.version, async () => {
    const [space, page] = await Promise.all([source.space(x), source.trials(x, { sort: "-ended", limit: most,
      fields: "state,reason,cause,iteration,ended,error,never_started,stopped_early" })]);
    return { space, trials: page.trials.filter((t) => t.reason || t.error) };
  });
  const said = useData("said " + x, watched.version, () => source.decisions(x));
  if (!data) return <><h1>Decisions</h1><Waiting error={error} /></>;
  const { space, trials } = data;
  return <><h1>Decisions</h1>
    <Card title={`Searcher: ${space.searcher.name}`} id="searcher"><Options of={space.searcher.options} /><Lines of={said} kind="searcher" /></Card>
    <Card title={`Scheduler: ${space.scheduler.name}`} id="scheduler"><Options of={space.scheduler.options} /><Lines of={said} kind="scheduler" />
      {said.data ? <Rungs x={x} of={said.data} /> : null}</Card>
    <Card title={trials.length === most ? `The last ${most} trials that ended or paused` : "Why trials ended or paused, the last first"} id="decisions"><div class="scroll"><table class="told">
      <thead><tr><th>trial</th><th>suggested by</th><th>state</th><th>iteration</th><th>when</th><th>why</th></tr></thead>
      <tbody>{trials.map((t) => <tr key={t.number}><td><a href={href(["x", x, "trials", t.number])}>{t.number}</a>{runsOf(watched.status?.best).includes(t.number) ? <> <Star /></> : null}</td><td class="by">{said.data ? suggester(t.number, said.data, space) : "…"}</td>
        <td><State state={fate(t)} /></td><td>{t.iteration}</td><td>{time(t.ended)}</td><td>{(t.reason ?? t.error)?.split("\n")[0]}</td></tr>)}</tbody></table></div></Card></>;
}

// Lines are what a plugin has said in the host's log: its plan, and when it changed that.
function Lines({ of: { data, error }, kind }: { of: Loaded<Decisions>; kind: string }): JSX.Element | null {
  const list = data?.said.filter((s) => s.kind === kind) ?? [];
  if (error) return <Failure of={error} />;
  if (list.length === 0) return null;
  return <><h3>What it says</h3><div class="scroll tall" tabIndex={0} role="group" aria-label={`what the ${kind} says`}><table class="told"><thead><tr><th>when</th><th>what</th></tr></thead>
    <tbody>{list.map((s, i) => <tr key={i}><td>{time(s.time)}</td><td class={tone(s)}>{s.text}</td></tr>)}</tbody></table></div>
    {data?.left_out ? <p class="quiet">These are its first and last lines: the host's log has all.</p> : null}</>;
}

const tone = (s: Said): string | undefined => (s.level === "ERROR" ? "state-error" : s.level === "WARN" ? "state-paused" : undefined);

// Rungs are the iterations at which the scheduler has stopped trials. The last reason says what it knows by now.
// All its numbers are of one answer.
function Rungs({ x, of: { rungs: of, stopped_by_others: others } }: { x: string; of: Decisions }): JSX.Element | null {
  if (of.length === 0) return null;
  const here = of.reduce((n, r) => n + r.stopped, 0);
  return <><h3>Where it has stopped trials</h3><p class="quiet" id="early">{plural(here, "trial")} before their own end{
    others > 0 ? <>; {count(others)} more {others === 1 ? "was" : "were"} stopped by a rule of the experiment, by its end or by the user, <a href={href(["x", x, "trials"], { state: "TERMINATED" })}>as the list of trials says</a></> : ""}.</p><div class="scroll"><table id="rungs"><thead><tr><th>at iteration</th><th>stopped</th><th>paused</th><th>the last reason</th></tr></thead>
    <tbody>{of.map((r) => <tr key={r.iteration}><td>{r.iteration}</td><td>{plural(r.stopped, "trial")}</td><td>{plural(r.paused, "trial")}</td>
      <td class="why">{r.reason ? <><a href={href(["x", x, "trials", r.trial])}>trial {r.trial}</a>: {r.reason}</> : ""}</td></tr>)}</tbody></table></div></>;
}

// suggester says who has suggested a trial. Of very many trials that were given, only the last ones are known; of one that
// was made after the answer, nothing is.
function suggester(no: number, { given, trials }: Decisions, space: Space): string {
  if (no >= trials) return "…";
  const found = given.find((g) => g.number === no);
  if (found) return giver(found);
  return given.length >= 1000 && no < (given[0]?.number ?? 0) ? "–" : space.searcher.name;
}

// giver says who has given a trial that the searcher has not suggested.
export const giver = (g: Given): string => (g.by === "file" ? "the experiment file"
  : g.clone === undefined ? "the user" : `the user, as a clone of ${g.clone}`);

export function Options({ of }: { of: unknown }): JSX.Element {
  const list = Object.entries((of ?? {}) as Record<string, unknown>);
  return list.length === 0 ? <p class="quiet">no options</p> : <Facts of={list.map(([k, v]) => [k, value(v)])} />;
}
