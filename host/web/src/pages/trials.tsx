// All trials, in a table that holds only the rows that are seen. The server filters and sorts.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Parameter, Space, Trial } from "../api";
import { param, Problem } from "../api";
import type { PageProps } from "../context";
import { useSource } from "../context";
import { count, plain, plural, seconds, states, value } from "../format";
import type { Watched } from "../live";
import { useData } from "../live";
import { fate } from "../outcome";
import { href, setQuery, useRoute } from "../route";
import type { Source } from "../source";
import { Failure, Star, Starred, State, Waiting } from "../ui";
import { useSpace } from "./curves";

const rowHeight = 30;
const block = 200;
// beyond is how many rows are drawn above and below the visible ones.
const beyond = 8;

interface Column {
  name: string;
  sort?: string;
  // falls says that sorting begins with the largest: that is the best.
  falls?: boolean;
  // kind: decimals have their points below each other; numbers are at the right; why takes the room that is left.
  kind?: "decimal" | "number" | "why";
  text: (t: Trial) => string;
  cell?: (t: Trial) => JSX.Element;
}

interface About {
  x: string;
  space: Space;
  // over says that no host runs the experiment.
  over: boolean;
  // best are the best trial or, with several objectives, those of the front.
  best: Set<number>;
}

function columns({ space, x, over, best }: About, narrow: boolean): Column[] {
  const metrics = [...new Set([...space.objectives.map((o) => o.metric), ...space.metrics])];
  const why: Column = { name: "why", kind: "why", text: (t) => (t.error ?? t.reason ?? "").split("\n")[0] ?? "" };
  return [
    { name: "#", sort: "number", text: (t) => `${t.number}${best.has(t.number) ? " ★" : ""}`, cell: (t) => <>
      <a href={href(["x", x, "trials", t.number])}>{t.number}</a>{best.has(t.number) ? <> <Star /></> : null}</> },
    { name: "state", sort: "state", text: () => "■ stopped early", cell: (t) => <State state={fate(t)} over={over} /> },
    ...(narrow ? [] : [why]),
    ...metrics.slice(0, 8).map((m): Column => ({ name: m, sort: m, kind: "decimal",
      falls: space.objectives.some((o) => o.metric === m && o.mode === "max"), text: (t) => plain(t.metrics[m]) })),
    { name: "iteration", sort: "iteration", kind: "number", text: (t) => String(t.iteration) },
    { name: "time", sort: "time", kind: "number", text: (t) => seconds(t.time_total_s) },
    ...space.parameters.map((p): Column => ({ name: p.name, sort: p.name, kind: counts(p) ? "decimal" : undefined,
      text: (t) => value(param(t.params, p.name)) })),
    ...(narrow ? [why] : []), // on a phone the values come first
  ];
}

const counts = (p: Parameter): boolean => !p.choices || p.choices.every((c) => typeof c === "number");

// Sizes are how wide columns have to be for the trials that were read, in parts: what is before a decimal point, and
// from there on.
class Sizes {
  private readonly sizes = new Map<string, { whole: number; tail: number; longest: string }>();

  note(list: Trial[], of: Column[]): void {
    for (const c of of) {
      const size = this.sizes.get(c.name) ?? { whole: 0, tail: 0, longest: "" };
      for (const t of list) {
        const text = c.text(t);
        const tail = c.kind === "decimal" ? tailOf(text) : 0;
        size.tail = Math.max(size.tail, tail);
        size.whole = Math.max(size.whole, text.search(/[.e]|$/));
        if (text.length > size.longest.length) size.longest = text;
      }
      this.sizes.set(c.name, size);
    }
  }

  // after is how much room, in digits, follows a text whose point is below those of the others.
  after = (c: Column, text: string): number => (this.sizes.get(c.name)?.tail ?? 0) - tailOf(text);

  width(c: Column): number {
    const size = this.sizes.get(c.name);
    const head = Math.min(150, widthOf(c.name, true) + (c.sort ? 20 : 4));
    const inside = !size ? 40 : c.kind === "decimal" ? (size.whole + size.tail) * widthOf("0") : widthOf(size.longest, c.name === "state");
    return Math.ceil(Math.max(head, Math.min(c.kind === "why" ? 260 : 240, inside + 2)) + 16);
  }
}

// tailOf is how wide a number is from its decimal point on, in digits; the point is half as wide as a digit.
function tailOf(text: string): number {
  const at = text.search(/^[-\d.]+(e|$)/) < 0 ? -1 : text.search(/[.e]/);
  return at < 0 ? 0 : text.length - at - (text[at] === "." ? 0.5 : 0);
}

// pens measure texts in the font of the page, and in bold.
const pens: (CanvasRenderingContext2D | null)[] = [];

function widthOf(text: string, bold = false): number {
  if (pens.length === 0) {
    const { fontSize, fontFamily } = getComputedStyle(document.body);
    for (const weight of [400, 600]) {
      const pen = document.createElement("canvas").getContext("2d");
      if (pen) pen.font = `${weight} ${fontSize} ${fontFamily}`;
      pens.push(pen);
    }
  }
  return pens[Number(bold)]?.measureText(text).width ?? 9 * text.length;
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
  const best = useBest(x, watched);
  if (!space.data) return <Waiting error={space.error} />;
  return <>
    <div class="row"><h1>Trials</h1>
      <div class="choice" role="group" aria-label="state">
        <button type="button" class="small" aria-pressed={state === ""} onClick={() => setQuery({ state: undefined })}>all</button>
        {states.map(([name, word]) => <button key={name} type="button" class="small" aria-pressed={state === name}
          onClick={() => setQuery({ state: name })}>{over && name === "RUNNING" && counts[name] ? "was running" : word} {counts[name] ?? 0}</button>)}</div>
      {source.made ? null : <Where where={where} />}</div>
    <Table key={`${state} ${where} ${sort}`} x={x} over={over} space={space.data} version={watched.version} best={best}
      state={state} where={where} sort={sort} />
  </>;
}

// useBest are the numbers of the best trial or, with several objectives, of the front.
function useBest(x: string, { status, version }: Watched): Set<number> {
  const source = useSource();
  const front = useData(`front of ${x} ${status?.front ? "" : "none"}`, status?.front ? version : 0,
    async () => (status?.front ? source.pareto(x) : [])).data;
  const one = status?.best?.number;
  return useMemo(() => new Set(one === undefined ? (front ?? []).map((r) => r.number) : [one]), [one, front]);
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

interface TableProps extends About {
  version: number;
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
          limit: block, fields: "state,params,metrics,iteration,time_total_s,reason,error,cause,never_started" });
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
  const [{ height, width }, setSize] = useState({ height: 600, width: 1200 });
  const box = useRef<HTMLDivElement>(null);
  const rows = useRef<Rows | null>(null);
  rows.current ??= new Rows(source, p, () => again((n) => n + 1));
  const { blocks, found, total: all, error } = rows.current;
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
    const sizes = new ResizeObserver(() => { if (box.current) setSize({ height: box.current.clientHeight, width: box.current.clientWidth }); });
    if (box.current) sizes.observe(box.current);
    return () => sizes.disconnect();
  }, []);
  const list = columns(p, width < 640);
  const sizes = useSizes(list, blocks);
  const widths = list.map((c) => sizes.width(c));
  const total = widths.reduce((a, b) => a + b, 0);
  const template = { gridTemplateColumns: list.map((c, i) => (c.kind === "why" ? `minmax(${widths[i]}px, 1fr)` : widths[i] + "px")).join(" ") };
  const wide = { minWidth: `max(100%, ${total}px)` };
  const room = (widths[list.findIndex((c) => c.kind === "why")] ?? 0) + Math.max(0, width - total) - 16;
  if (error && blocks.size === 0) return <Failure of={error} />;
  return <>
    <div class="row quiet"><span role="status" id="found">{blocks.size === 0 ? "reading…" : found === all ? plural(all, "trial") : `${count(found)} of ${plural(all, "trial")}`}</span>
      <Starred x={p.x} of={p.best} /></div>
    <div class="grid" role="table" aria-label="trials" aria-rowcount={found + 1} tabIndex={0} ref={box}
      onScroll={(e) => setTop(e.currentTarget.scrollTop)}>
      <div class="tr th" role="row" aria-rowindex={1} style={{ ...template, ...wide }}>{list.map((c) => <Head key={c.name} of={c} sort={p.sort} />)}</div>
      <div class="space" role="rowgroup" style={{ height: `${found * rowHeight}px`, ...wide }}>
        <div class="rows" role="presentation" style={{ transform: `translateY(${first * rowHeight}px)` }}>
          {range(first, last - 1).map((i) => <Row key={i} i={i} t={blocks.get(Math.floor(i / block))?.[i % block]} list={list} template={template}
            best={p.best} sizes={sizes} room={room} />)}
        </div></div></div>
  </>;
}

// useSizes are the sizes of columns for all blocks so far: columns grow, and do not shrink while somebody scrolls.
function useSizes(list: Column[], blocks: Map<number, Trial[]>): Sizes {
  const names = list.map((c) => c.name).join("\n");
  const known = useRef<{ names: string; sizes: Sizes; seen: WeakSet<Trial[]> } | null>(null);
  if (known.current?.names !== names) known.current = { names, sizes: new Sizes(), seen: new WeakSet() };
  const { sizes, seen } = known.current;
  for (const b of blocks.values()) {
    if (!seen.has(b)) sizes.note(b, list);
    seen.add(b);
  }
  return sizes;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
}

function Head({ of: c, sort }: { of: Column; sort: string }): JSX.Element {
  const down = sort === "-" + c.sort;
  const up = sort !== "" && sort === c.sort;
  const rises = c.falls ? down : up;
  const order = !up && !down ? "none" : rises ? "ascending" : "descending";
  return <div role="columnheader" class={c.kind && c.kind !== "why" ? "num" : undefined} aria-sort={c.sort ? order : undefined} title={c.name}>{c.sort
    ? <button type="button" onClick={() => setQuery({ sort: up ? "-" + c.sort : down ? undefined : c.sort })}>
      {c.name}{order === "none" ? "" : rises ? " ▲" : " ▼"}</button> : c.name}</div>;
}

interface RowProps {
  i: number;
  t?: Trial;
  list: Column[];
  template: { gridTemplateColumns: string };
  best: Set<number>;
  sizes: Sizes;
  // room is how wide the column why is.
  room: number;
}

function Row({ i, t, list, template, best, sizes, room }: RowProps): JSX.Element {
  return <div class={t && best.has(t.number) ? "tr best" : "tr"} role="row" aria-rowindex={i + 2} style={template}>
    {t ? list.map((c) => <Cell key={c.name} of={c} t={t} sizes={sizes} room={room} />) : <div class="td quiet" role="cell">…</div>}</div>;
}

function Cell({ of: c, t, sizes, room }: { of: Column; t: Trial; sizes: Sizes; room: number }): JSX.Element {
  const text = c.text(t);
  if (c.cell) return <div class="td" role="cell">{c.cell(t)}</div>;
  if (c.kind === "why") return <div class="td why" role="cell"><Cut text={text} room={room} /></div>;
  const after = c.kind === "decimal" ? sizes.after(c, text) : 0;
  return <div class={c.kind ? "td num" : "td"} role="cell" title={text} style={after > 0 ? { paddingRight: `calc(.5rem + ${after}ch)` } : undefined}>{text}</div>;
}

// Cut is a text that is whole below the pointer, and when it has the focus, where it does not fit.
function Cut({ text, room }: { text: string; room: number }): JSX.Element {
  return widthOf(text) > room ? <span class="cut" tabIndex={0}>{text}</span> : <span>{text}</span>;
}
