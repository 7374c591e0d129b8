// All trials, in a table that holds only the rows that are seen. The server filters and sorts.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Space, Trial } from "../api";
import { param, Problem } from "../api";
import type { PageProps } from "../context";
import { useSource } from "../context";
import { plain, plural, seconds, states, value } from "../format";
import { href, setQuery, useRoute } from "../route";
import type { Source } from "../source";
import { Failure, State, Waiting } from "../ui";
import { useSpace } from "./curves";

const rowHeight = 30;
const block = 200;
// beyond is how many rows are drawn above and below the visible ones.
const beyond = 8;

interface Column {
  name: string;
  width: number;
  sort?: string;
  // falls says that sorting begins with the largest: that is the best.
  falls?: boolean;
  numeric?: boolean;
  cell: (t: Trial, x: string) => JSX.Element | string;
}

function columns(space: Space, x: string, over: boolean): Column[] {
  const metrics = [...new Set([...space.objectives.map((o) => o.metric), ...space.metrics])];
  return [
    { name: "#", width: 70, sort: "number", cell: (t) => <a href={href(["x", x, "trials", t.number])}>{t.number}</a> },
    { name: "state", width: 150, sort: "state", cell: (t) => <State state={t.state} over={over} /> },
    { name: "why", width: 280, cell: (t) => (t.error ?? t.reason ?? "").split("\n")[0] ?? "" },
    ...metrics.slice(0, 8).map((m): Column => ({ name: m, width: 110, sort: m, numeric: true,
      falls: space.objectives.some((o) => o.metric === m && o.mode === "max"), cell: (t) => plain(t.metrics[m]) })),
    { name: "iteration", width: 85, sort: "iteration", numeric: true, cell: (t) => String(t.iteration) },
    { name: "time", width: 80, sort: "time", numeric: true, cell: (t) => seconds(t.time_total_s) },
    ...space.parameters.map((p): Column => ({ name: p.name, width: 110, sort: p.name, cell: (t) => value(param(t.params, p.name)) })),
  ];
}

export function Trials({ x, watched }: PageProps): JSX.Element {
  const source = useSource();
  const { query } = useRoute();
  const space = useSpace(x, watched.version);
  const state = query.get("state") ?? "";
  const where = query.get("where") ?? "";
  const sort = query.get("sort") ?? "";
  const counts = watched.status?.counts ?? {};
  const over = watched.status?.state !== "running" || source.made !== undefined;
  if (!space.data) return <Waiting error={space.error} />;
  return <>
    <div class="row"><h1>Trials</h1>
      <div class="choice" role="group" aria-label="state">
        <button type="button" class="small" aria-pressed={state === ""} onClick={() => setQuery({ state: undefined })}>all</button>
        {states.map(([name, word]) => <button key={name} type="button" class="small" aria-pressed={state === name}
          onClick={() => setQuery({ state: name })}>{over && name === "RUNNING" && counts[name] ? "was running" : word} {counts[name] ?? 0}</button>)}</div>
      {source.made ? null : <Where where={where} />}</div>
    <Table key={`${state} ${where} ${sort}`} x={x} over={over} space={space.data} version={watched.version} best={watched.status?.best?.number}
      state={state} where={where} sort={sort} />
  </>;
}

function Where({ where }: { where: string }): JSX.Element {
  const submit = (e: Event): void => {
    e.preventDefault();
    setQuery({ where: String(new FormData(e.currentTarget as HTMLFormElement).get("where") ?? "") });
  };
  return <form role="search" class="row" onSubmit={submit}>
    <input key={where} type="search" name="where" aria-label="only trials for which this is true" defaultValue={where} placeholder="lr > 0.01 && state == 'ERROR'" />
    <button type="submit" class="small">filter</button></form>;
}

interface TableProps {
  // over says that no host runs the experiment.
  over: boolean;
  x: string;
  space: Space;
  version: number;
  best?: number;
  state: string;
  where: string;
  sort: string;
}

// Rows are the blocks of the list that were read.
class Rows {
  readonly blocks = new Map<number, Trial[]>();
  found = 0;
  total = 0;
  error?: Problem;
  private queue: number[] = [];
  private busy = false;

  constructor(private readonly source: Source, private readonly p: TableProps, private readonly shown: () => void) {}

  // want reads blocks; the newest wish comes first.
  want(list: number[], anew: boolean): void {
    this.queue = list.filter((b) => anew || !this.blocks.has(b));
    if (!this.busy) void this.read();
  }

  private async read(): Promise<void> {
    this.busy = true;
    for (let b = this.queue.shift(); b !== undefined; b = this.queue.shift()) {
      try {
        const page = await this.source.trials(this.p.x, { state: this.p.state, where: this.p.where, sort: this.p.sort, offset: b * block,
          limit: block, fields: "state,params,metrics,iteration,time_total_s,reason,error" });
        this.blocks.set(b, page.trials);
        [this.found, this.total, this.error] = [page.found, page.total, undefined];
      } catch (e) {
        this.error = e instanceof Problem ? e : new Problem(0, "the server cannot be reached");
      }
      this.shown();
    }
    this.busy = false;
  }
}

function Table(p: TableProps): JSX.Element {
  const source = useSource();
  const [, again] = useState(0);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const box = useRef<HTMLDivElement>(null);
  const rows = useRef<Rows | null>(null);
  rows.current ??= new Rows(source, p, () => again((n) => n + 1));
  const { blocks, found, total, error } = rows.current;
  const first = Math.max(0, Math.floor(top / rowHeight) - beyond);
  const last = Math.min(found, Math.ceil((top + height) / rowHeight) + beyond);
  const [from, to] = [Math.floor(first / block), Math.max(0, Math.floor((last - 1) / block))];
  // the next blocks in both directions are there when somebody scrolls on
  const around = [...range(from, to), to + 1, from - 1, to + 2, to + 3].filter((b) => b >= 0 && (found === 0 ? b === 0 : b * block < found));
  useEffect(() => rows.current?.want(around, false), [from, to, found]);
  useEffect(() => {
    if (p.version > 1) rows.current?.want(range(from, to), true);
  }, [p.version]);
  useEffect(() => {
    const sizes = new ResizeObserver(() => setHeight(box.current?.clientHeight ?? 600));
    if (box.current) sizes.observe(box.current);
    return () => sizes.disconnect();
  }, []);
  const list = columns(p.space, p.x, p.over);
  const template = { gridTemplateColumns: list.map((c) => c.width + "px").join(" ") };
  if (error && blocks.size === 0) return <Failure of={error} />;
  return <>
    <div class="quiet" role="status" id="found">{blocks.size === 0 ? "reading…" : found === total ? plural(total, "trial") : `${found.toLocaleString("en")} of ${plural(total, "trial")}`}</div>
    <div class="grid" role="table" aria-label="trials" aria-rowcount={found + 1} tabIndex={0} ref={box}
      onScroll={(e) => setTop(e.currentTarget.scrollTop)}>
      <div class="tr th" role="row" aria-rowindex={1} style={template}>{list.map((c) => <Head key={c.name} of={c} sort={p.sort} />)}</div>
      <div class="space" role="rowgroup" style={{ height: `${found * rowHeight}px` }}>
        <div class="rows" role="presentation" style={{ transform: `translateY(${first * rowHeight}px)` }}>
          {range(first, last - 1).map((i) => <Row key={i} i={i} t={blocks.get(Math.floor(i / block))?.[i % block]} list={list} template={template}
            x={p.x} best={p.best} />)}
        </div></div></div>
  </>;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
}

function Head({ of: c, sort }: { of: Column; sort: string }): JSX.Element {
  const down = sort === "-" + c.sort;
  const up = sort !== "" && sort === c.sort;
  const rises = c.falls ? down : up;
  const order = !up && !down ? "none" : rises ? "ascending" : "descending";
  return <div role="columnheader" aria-sort={c.sort ? order : undefined} title={c.name}>{c.sort
    ? <button type="button" onClick={() => setQuery({ sort: up ? "-" + c.sort : down ? undefined : c.sort })}>
      {c.name}{order === "none" ? "" : rises ? " ▲" : " ▼"}</button> : c.name}</div>;
}

function Row({ i, t, list, template, x, best }: { i: number; t?: Trial; list: Column[]; template: { gridTemplateColumns: string }; x: string;
  best?: number }): JSX.Element {
  return <div class={t && t.number === best ? "tr best" : "tr"} role="row" aria-rowindex={i + 2} style={template}>
    {t ? list.map((c) => <Cell key={c.name} of={c} t={t} x={x} />) : <div class="td quiet" role="cell">…</div>}</div>;
}

function Cell({ of: c, t, x }: { of: Column; t: Trial; x: string }): JSX.Element {
  const content = c.cell(t, x);
  return <div class={c.numeric ? "td num" : "td"} role="cell" title={typeof content === "string" ? content : undefined}>{content}</div>;
}
