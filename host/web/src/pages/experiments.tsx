// All experiments of the server.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Item, Status } from "../api";
import { toNumber } from "../api";
import { useSource } from "../context";
import { ago, count, plural, time } from "../format";
import { useData, useTicks } from "../live";
import { Spark } from "../plot/lines";
import { href, joined, setQuery, useRoute } from "../route";
import { flaw, Outcome } from "../outcome";
import { left } from "./overview";
import { Failure, Front, LastSeen, Old, State, Value, Waiting } from "../ui";

// Order is one of a column, from what a reader looks for first; - in the address reverses it.
interface Order {
  column: string;
  title: string;
  // rises says that the first ones are the least: names from a, but what was changed last.
  rises: boolean;
  compare: (a: Item, b: Item) => number;
}

const byName = (a: Item, b: Item): number => a.id.localeCompare(b.id, "en", { numeric: true });
const newest = (a: Item, b: Item): number => Date.parse(b.changed) - Date.parse(a.changed);
// Those that go on change every second: they would jump about if they were sorted by that.
const goesOn = (e: Item): boolean => e.state === "running" && !e.error;

function urgent(a: Item, b: Item): number {
  return Number(goesOn(b)) - Number(goesOn(a)) || (goesOn(a) ? byName(a, b) : newest(a, b));
}

const stateOf = (e: Item): string => (e.paused && e.state === "running" ? "paused" : e.state);
const ranks = ["running", "paused", "interrupted", "failed", "stopped", "finished"];
// least puts what has no value last.
const least = (v: Item["best"]): number => { const n = toNumber(v); return Number.isNaN(n) ? Infinity : n; };

const orders: Order[] = [
  { column: "name", title: "name", rises: true, compare: byName },
  { column: "state", title: "state", rises: true, compare: (a, b) => ranks.indexOf(stateOf(a)) - ranks.indexOf(stateOf(b)) || newest(a, b) },
  { column: "trials", title: "trials", rises: false, compare: (a, b) => b.ended - a.ended },
  { column: "best", title: "best", rises: true,
    compare: (a, b) => a.metric.localeCompare(b.metric, "en") || (least(a.best) < least(b.best) ? -1 : Number(least(a.best) > least(b.best))) },
  { column: "changed", title: "changed", rises: false, compare: newest },
];

// bare is an experiment of which nothing is known but its name: it comes last in any order.
const bare = (e: Item): boolean => e.error !== undefined || e.state === "";

// arranged are experiments in the order that an address asks for: without one, those that run, then the newest.
export function arranged(list: Item[], sort: string): Item[] {
  const order = orders.find((o) => o.column === sort.replace(/^-/, ""));
  const sign = sort.startsWith("-") ? -1 : 1;
  const compare = order?.compare ?? urgent;
  return [...list].sort((a, b) => Number(bare(a)) - Number(bare(b)) || sign * compare(a, b) || byName(a, b));
}

// few is how many experiments are found without a search.
const few = 7;

export function Experiments(): JSX.Element {
  const source = useSource();
  const { query } = useRoute();
  const tick = useTicks(1000);
  const { data, error, seen } = useData("experiments", source.made ? 0 : tick, () => source.experiments(), { awaits: true });
  const [chosen, choose] = useState<Set<string>>(new Set());
  const only = data?.length === 1 ? data[0]?.id : undefined;
  // who opens the printed URL wants to see the experiment, if there is no other; #/ is the list all the same
  useEffect(() => { if (only !== undefined && location.hash === "") location.replace(href(["x", only])); }, [only]);
  if (!data) return <><h1>Experiments</h1><Waiting error={error} /></>;
  const toggle = (id: string): void => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    choose(next);
  };
  const sort = query.get("sort") ?? "";
  const name = query.get("name") ?? "";
  const shown = data.filter((e) => (e.id + " " + e.name).toLowerCase().includes(name.toLowerCase()));
  const running = data.filter((e) => goesOn(e) && !e.paused && !e.waiting).length;
  const lost = error ? seen : undefined;
  return <>
    <div class="row"><h1>Experiments</h1>
      <span class="quiet" id="how-many">{shown.length < data.length ? `${shown.length} of ` : ""}{count(data.length)}{running > 0 ? `, ${running} ${lost ? "last seen running" : "running"}` : ""}</span>
      {chosen.size > 1 ? <a class="button" href={href(["compare"], { of: joined([...chosen]) })}>compare {chosen.size}</a>
        : data.length > 1 ? <span class="quiet">select two or more to compare them</span> : null}
      {data.length > few || name ? <input type="search" aria-label="only experiments with this in their name" placeholder="part of a name" value={name}
        onInput={(e) => setQuery({ name: e.currentTarget.value })} /> : null}
      <label class="select narrow">sorted by <select value={sort} onChange={(e) => setQuery({ sort: e.currentTarget.value })}>
        <option value="">what runs, then the newest</option>{orders.map((o) => <option key={o.column} value={o.column}>{o.title}</option>)}</select></label></div>
    <Old what="list" seen={seen} error={error} />
    {data.length === 0 ? <p>There is no experiment yet. <code>tunehost run FILE</code> begins one.</p>
      : <div class="card scroll"><table id="experiments" class="stacked">
        <thead><tr><th><span class="hidden">select</span></th>{["name", "state", "trials", "best"].map((c) => <Head key={c} column={c} sort={sort} />)}
          <th>best so far</th><Head column="changed" sort={sort} /></tr></thead>
        <tbody>{arranged(shown, sort).map((e) => <Row key={e.id} of={e} chosen={chosen.has(e.id)} toggle={() => toggle(e.id)} lost={lost} />)}</tbody>
      </table></div>}
  </>;
}

// Head sorts by its column: first in the usual order, then in the other one, then as without it.
function Head({ column, sort }: { column: string; sort: string }): JSX.Element {
  const { title, rises } = orders.find((o) => o.column === column)!;
  const way = sort === column ? 1 : sort === "-" + column ? -1 : 0;
  const up = (way > 0) === rises;
  return <th aria-sort={way === 0 ? "none" : up ? "ascending" : "descending"}>
    <button type="button" class="head" onClick={() => setQuery({ sort: way === 0 ? column : way > 0 ? "-" + column : undefined })}>
      {title}{way === 0 ? "" : up ? " ▲" : " ▼"}</button></th>;
}

// Row is an experiment; lost is when the list was read, if it is not up to date.
function Row({ of: e, chosen, toggle, lost }: { of: Item; chosen: boolean; toggle: () => void; lost?: number }): JSX.Element {
  return <tr>
    <td class="select"><input type="checkbox" checked={chosen} onChange={toggle} aria-label={`select ${e.id}`} /></td>
    <td class="name"><a href={href(["x", e.id])}>{e.id}</a>{e.name !== e.id ? <div class="quiet">{e.name}</div> : null}</td>
    {e.error ? <><td><span class="state state-error">✕ unreadable</span></td><td colSpan={4}>{e.error}</td></>
      : bare(e) ? <td colSpan={5} class="quiet reading">reading its record…</td> : <Numbers of={e} lost={lost} />}
  </tr>;
}

// Numbers are the cells of an experiment that can be read.
function Numbers({ of: e, lost }: { of: Item; lost?: number }): JSX.Element {
  const status = useStatus(e);
  const known = status?.state === e.state && !e.paused ? status : undefined; // an older one says less than the line
  return <>
    <td>{lost && e.state === "running" ? <LastSeen state={stateOf(e)} at={lost} /> : known ? <Outcome of={known} /> : <State state={stateOf(e)} />}
      {known && flaw(known) && known.reason ? <div class="quiet">{known.reason}</div> : null}</td>
    <td><Amount of={e} status={lost ? undefined : status} /></td>
    <td>{e.front ? <Front x={e.id} n={e.front} /> : e.metric ? <>{e.metric} <strong><Value of={e.best} /></strong></> : null}</td>
    <td class="spark"><History of={e} /></td>
    <td class="quiet changed" title={time(e.changed)}>{lost ? time(e.changed) : ago(e.changed)}</td>
  </>;
}

// useStatus reads the status of an experiment again when its line of the list changes.
function useStatus(e: Item): Status | undefined {
  const source = useSource();
  const [changes, count] = useState(0);
  useEffect(() => count((n) => n + 1), [e.changed, e.trials, e.state, e.paused]);
  return useData("amount " + e.id, changes, () => source.status(e.id)).data;
}

// Amount is how many trials have ended, of how many, and how it goes on.
function Amount({ of: e, status: s }: { of: Item; status?: Status }): JSX.Element {
  const { made } = useSource();
  return <><span class="number">{e.planned < 0 ? plural(e.ended, "trial") : `${count(e.ended)}/${plural(e.planned, "trial")}`}</span>
    {e.failed > 0 ? <div class="state-error">✕ {e.failed} failed</div> : null}
    {s && left(s) && !made ? <div class="quiet">{left(s)} left</div> : null}</>;
}

// ofOne are the answers that say something of one experiment, and not of the server.
const ofOne = [409, 500];

// History is read when something has changed.
function History({ of: e }: { of: Item }): JSX.Element {
  const source = useSource();
  const [shown, show] = useState(0);
  useEffect(() => show((n) => n + 1), [e.best]);
  const { data, error } = useData("spark " + e.id, shown, () => source.history(e.id));
  if (error && ofOne.includes(error.status)) return <Failure of={error} />;
  return data && data.steps.length > 1 ? <Spark ys={data.steps.map((s) => toNumber(s.best))}
    label={`best ${data.metric} so far`} /> : <span class="quiet">–</span>;
}
