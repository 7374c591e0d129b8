// The record, the host's log, the file, plugins and resources: what an experiment is made of.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { PageProps } from "../context";
import { useSource } from "../context";
import { bytes, count, plural, seconds, value } from "../format";
import { useData } from "../live";
import { setQuery, useRoute } from "../route";
import { Button, Card, Code, Facts, Failure, Waiting } from "../ui";
import { Bar } from "./parameters";
import { Text } from "./trial";

export function LogPage({ x, watched }: PageProps): JSX.Element {
  return <><h1>The host's log</h1><Card title="host.log" id="host-log">
    <Text of={{ x, of: "host-log" }} label="the host's log" grows={watched.status?.state === "running"} /></Card></>;
}

const pageSize = 200;

export function JournalPage({ x, watched }: PageProps): JSX.Element {
  const source = useSource();
  const { query } = useRoute();
  const after = Number(query.get("after") ?? -pageSize);
  const { data, error, other } = useData("journal " + x, watched.version, () => source.journal(x, after), { part: String(after) });
  if (!data) return <><h1>Journal</h1><Waiting error={error} /></>;
  const first = data.entries[0]?.number ?? 0;
  const last = data.entries[data.entries.length - 1]?.number ?? 0;
  const go = (to: number | undefined) => (): void => setQuery({ after: to === undefined ? undefined : String(to) });
  return <><h1>Journal</h1>
    <Card title={`Events ${first} to ${last} of ${count(data.total)}`} id="journal" aside={<div class="row">
      <Button small cannot={first <= (data.oldest ?? 1) ? "these are the first events" : undefined} on={go(Math.max(0, first - pageSize - 1))}>← earlier</Button>
      <Button small cannot={last >= data.total ? "these are the last events" : undefined} on={go(last)}>later →</Button>
      <Button small cannot={last >= data.total ? "these are the last events" : undefined} on={go(undefined)}>the last</Button></div>}><Failure of={other ? error : undefined} /><div class="scroll"><table class="told">
      <thead><tr><th>#</th><th>after</th><th>event</th><th>what</th></tr></thead>
      <tbody>{data.entries.map((e) => <tr key={e.number}><td class="number">{e.number}</td><td class="number">{seconds(e.at_s)}</td><td>{e.kind}</td><td>{e.text}</td></tr>)}</tbody></table></div>
      {(data.oldest ?? 1) > 1 ? <p class="quiet">This report has the events from {data.oldest} on.</p> : null}</Card></>;
}

export function ResourcesPage({ x, watched }: PageProps): JSX.Element {
  const source = useSource();
  const { data, error } = useData("resources " + x, watched.version, () => source.resources(x));
  if (!data) return <><h1>Resources</h1><Waiting error={error} /></>;
  const { leases } = data;
  const runs = watched.status?.state === "running" && (watched.status.counts["RUNNING"] ?? 0) > 0;
  const amount = (name: string, n: number): string => (name.includes("memory") || name === "disk" ? bytes(n) : value(n));
  return <><h1>Resources</h1><Card title="Asked for by running trials" id="resources"><p class="quiet">This is what the trials that run have asked for, not what their programs use.</p>
    <table class="bars"><thead><tr><th>resource</th><th class="number">asked for, of all</th><th><span class="hidden">share</span></th></tr></thead>
    <tbody>{Object.entries(data.resources).map(([name, u]) => <tr key={name}><th scope="row">{name}</th>
      <td class="number">{u.used === 0 ? `none of ${amount(name, u.total)}: ${runs ? `no trial asks for ${name}` : "no trial runs"}` : `${amount(name, u.used)} of ${amount(name, u.total)}`}</td><td><Bar share={u.total > 0 ? u.used / u.total : 0} /></td></tr>)}</tbody></table></Card>
    {leases ? <Card title="Leases" id="leases"><Facts of={[["used", String(leases.used)], ["free", String(leases.free)], ["waiting", String(leases.waiting)],
      ["ending", String(leases.ending)], ["nodes", leases.nodes.join(", ") || "none"], ...leases.why.map((w): [string, string] => ["why waiting", w]),
      ...(leases.lost ? [["lost", leases.lost] as [string, string]] : [])]} /></Card> : null}</>;
}

// setting writes a value of the file as its author would: `at_end: false, every: 0`.
export function setting(v: unknown): string {
  if (Array.isArray(v)) return v.map(setting).join(", ") || "none";
  if (typeof v !== "object" || v === null) return v === null || v === "" ? "–" : value(v);
  const inside = (w: unknown): string => (typeof w === "object" && w !== null && Object.keys(w).length > 0 ? `{${setting(w)}}` : setting(w));
  return Object.entries(v).map(([k, w]) => `${k}: ${inside(w)}`).join(", ") || "none";
}

export function FilePage({ x }: PageProps): JSX.Element {
  const source = useSource();
  const [now] = useState(0);
  const file = useData("file " + x, now, () => source.file(x));
  const plugins = useData("plugins " + x, now, () => source.plugins(x));
  const space = useData("space " + x, now, () => source.space(x));
  return <><h1>Experiment file</h1>
    <Card title="As it was recorded" id="file">{file.data === undefined ? <Waiting error={file.error} /> : <Code text={file.data} label="the experiment file" />}</Card>
    {space.data ? <Card title="Settings now" id="settings"><Facts of={Object.entries(space.data.settings).map(([k, v]) => [k, setting(v)])} /></Card> : null}
    {plugins.data ? <Card title={plural(plugins.data.length, "plugin")} id="plugins"><table><thead><tr><th>kind</th><th>name</th><th>version</th><th>how</th></tr></thead>
      <tbody>{plugins.data.map((p) => <tr key={p.kind + p.name}><td>{p.kind}</td><td>{p.name}</td><td>{p.version}</td><td>{p.transport}</td></tr>)}</tbody></table></Card> : null}</>;
}
