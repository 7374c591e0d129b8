// What the searcher and the scheduler decided, and why.
import type { JSX } from "preact";
import type { PageProps } from "../context";
import { useSource } from "../context";
import { plural, time, value } from "../format";
import { useData } from "../live";
import { href } from "../route";
import { Card, Facts, State, Waiting } from "../ui";

export function DecisionsPage({ x, watched }: PageProps): JSX.Element {
  const source = useSource();
  const { data, error } = useData("decisions " + x, watched.version, async () => {
    const [space, page] = await Promise.all([source.space(x), source.trials(x, { sort: "-ended", limit: 300,
      fields: "state,reason,cause,iteration,ended,error" })]);
    return { space, trials: page.trials.filter((t) => t.reason || t.error) };
  });
  if (!data) return <><h1>Decisions</h1><Waiting error={error} /></>;
  const { space, trials } = data;
  return <><h1>Decisions</h1>
    <div class="two">
      <Card title={`Searcher: ${space.searcher.name}`}><Options of={space.searcher.options} /></Card>
      <Card title={`Scheduler: ${space.scheduler.name}`}><Options of={space.scheduler.options} />
        {space.rungs.length > 0 ? <table id="rungs"><thead><tr><th>at iteration</th><th>stopped</th><th>paused</th></tr></thead>
          <tbody>{space.rungs.map((r) => <tr key={r.iteration}><td>{r.iteration}</td><td>{plural(r.stopped, "trial")}</td><td>{plural(r.paused, "trial")}</td></tr>)}</tbody></table> : null}</Card>
    </div>
    <Card title={trials.length === 300 ? "The last 300 trials that ended or paused" : "Why trials ended or paused, the last first"} id="decisions"><div class="scroll"><table class="told">
      <thead><tr><th>trial</th><th>state</th><th>iteration</th><th>when</th><th>why</th></tr></thead>
      <tbody>{trials.map((t) => <tr key={t.number}><td><a href={href(["x", x, "trials", t.number])}>{t.number}</a></td><td><State state={t.state} /></td><td>{t.iteration}</td>
        <td>{time(t.ended)}</td><td>{(t.reason ?? t.error)?.split("\n")[0]}</td></tr>)}</tbody></table></div></Card></>;
}

export function Options({ of }: { of: unknown }): JSX.Element {
  const list = Object.entries((of ?? {}) as Record<string, unknown>);
  return list.length === 0 ? <p class="quiet">no options</p> : <Facts of={list.map(([k, v]) => [k, value(v)])} />;
}
