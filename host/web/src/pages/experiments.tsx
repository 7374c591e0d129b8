// All experiments of the server.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Item, Status } from "../api";
import { toNumber } from "../api";
import { useSource } from "../context";
import { ago, plural } from "../format";
import { useData, useTicks } from "../live";
import { Spark } from "../plot/lines";
import { href } from "../route";
import { flaw, Outcome } from "../outcome";
import { left } from "./overview";
import { Failure, Front, State, Value, Waiting } from "../ui";

export function Experiments(): JSX.Element {
  const source = useSource();
  const tick = useTicks(1000);
  const { data, error } = useData("experiments", source.made ? 0 : tick, () => source.experiments());
  const [chosen, choose] = useState<Set<string>>(new Set());
  if (!data) return <><h1>Experiments</h1><Waiting error={error} /></>;
  const toggle = (id: string): void => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    choose(next);
  };
  return <>
    <div class="row"><h1>Experiments</h1>
      {chosen.size > 1 ? <a href={href(["compare"], { of: [...chosen].join(",") })}>compare {chosen.size}</a>
        : <span class="quiet">select two or more to compare them</span>}</div>
    {error ? <p class="lost" role="alert">⚠ This list is not up to date: {error.message}</p> : null}
    {data.length === 0 ? <p>There is no experiment yet. <code>tunehost run FILE</code> begins one.</p>
      : <div class="card scroll"><table id="experiments">
        <thead><tr><th><span class="hidden">select</span></th><th>name</th><th>state</th><th>trials</th><th>best</th>
          <th>best so far</th><th>changed</th></tr></thead>
        <tbody>{data.map((e) => <Row key={e.id} of={e} chosen={chosen.has(e.id)} toggle={() => toggle(e.id)} />)}</tbody>
      </table></div>}
  </>;
}

function Row({ of: e, chosen, toggle }: { of: Item; chosen: boolean; toggle: () => void }): JSX.Element {
  return <tr>
    <td><input type="checkbox" checked={chosen} onChange={toggle} aria-label={`select ${e.id}`} /></td>
    <td><a href={href(["x", e.id])}>{e.id}</a>{e.name !== e.id ? <div class="quiet">{e.name}</div> : null}</td>
    {e.error ? <><td><span class="state state-error">✕ unreadable</span></td><td colSpan={4}>{e.error}</td></> : <Numbers of={e} />}
  </tr>;
}

// Numbers are the cells of an experiment that can be read.
function Numbers({ of: e }: { of: Item }): JSX.Element {
  const status = useStatus(e);
  const known = status?.state === e.state && !e.paused ? status : undefined; // an older one says less than the line
  return <>
    <td>{known ? <Outcome of={known} /> : <State state={e.paused ? "paused" : e.state} />}
      {known && flaw(known) && known.reason ? <div class="quiet">{known.reason}</div> : null}</td>
    <td><Amount of={e} status={status} /></td>
    <td>{e.front ? <Front x={e.id} n={e.front} /> : e.metric ? <>{e.metric} <strong><Value of={e.best} /></strong></> : null}</td>
    <td class="spark"><History of={e} /></td>
    <td class="quiet" title={e.changed}>{ago(e.changed)}</td>
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
  return <><span class="number">{e.planned < 0 ? plural(e.ended, "trial") : `${e.ended}/${plural(e.planned, "trial")}`}</span>
    {e.failed > 0 ? <div class="state-error">✕ {e.failed} failed</div> : null}
    {s && left(s) && !made ? <div class="quiet">{left(s)} left</div> : null}</>;
}

// History is read when something has changed.
function History({ of: e }: { of: Item }): JSX.Element {
  const source = useSource();
  const [shown, show] = useState(0);
  useEffect(() => show((n) => n + 1), [e.best]);
  const { data, error } = useData("spark " + e.id, shown, () => source.history(e.id));
  if (error) return <Failure of={error.status === 422 || error.status === 404 ? undefined : error} />;
  return data && data.steps.length > 1 ? <Spark ys={data.steps.map((s) => toNumber(s.best))}
    label={`best ${data.metric} so far`} /> : <span class="quiet">–</span>;
}
