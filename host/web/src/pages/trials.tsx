// All trials, in a table that holds only the rows that are seen. The server filters and sorts.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Parameter, Ranked, Space, Trial } from "../api";
import { param, Problem, repeats, runsOf } from "../api";
import type { PageProps } from "../context";
import { useSource } from "../context";
import { count, plain, plural, seconds, states, stateWord, teller, time } from "../format";
import type { Watched } from "../live";
import { useData } from "../live";
import { fate } from "../outcome";
import { href, joined, listed, setQuery, useRoute } from "../route";
import type { Source } from "../source";
import { Button, Failure, Star, Starred, State, Unknown, Waiting } from "../ui";
import { useSpace } from "./curves";

const rowHeight = 30;
const block = 200;
// beyond is how many rows are drawn above and below the visible ones.
const beyond = 8;

export interface Column {
  // id tells the column apart in the address; name is its head.
  id: string;
  name: string;
  group: Group;
  sort?: string;
  // fields are what it needs of a trial.
  fields: string[];
  // falls says that sorting begins with the largest: that is the best.
  falls?: boolean;
  // kind: decimals have their points below each other; numbers are at the right; why takes the room that is left.
  kind?: "decimal" | "number" | "why";
  text: (t: Trial) => string;
  // short is what is shown of a longer text, which the pointer and the focus show whole.
  short?: (t: Trial) => string;
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

// Group is a part of the list of columns to choose from.
type Group = "trial" | "metrics" | "parameters";

// first is how many metrics are shown before anybody chooses.
const first = 8;

// columns are all that there are. Whether one is shown at first says usual().
function columns({ space, x, over, best }: About): Column[] {
  const metrics = [...new Set([...space.objectives.map((o) => o.metric), ...space.metrics])];
  return distinct([
    ...aboutTrials({ x, over, best, space }),
    ...metrics.map((m): Column => ({ id: m, name: m, group: "metrics", sort: m, fields: ["metrics"], kind: "decimal",
      falls: space.objectives.some((o) => o.metric === m && o.mode === "max"), text: (t) => plain(t.metrics[m]) })),
    ...space.parameters.map((p): Column => {
      const told = teller(p.choices);
      return { id: p.name, name: p.name, group: "parameters", sort: p.name, fields: ["params"],
        kind: counts(p) ? "decimal" : undefined, text: (t) => told(param(t.params, p.name)) };
    }),
  ]);
}

// aboutTrials are the columns that every experiment has.
function aboutTrials({ x, over, best, space }: About): Column[] {
  const at = { group: "trial", kind: "number" } as const;
  return [
    { ...at, id: "number", name: "#", sort: "number", kind: undefined, fields: [], text: (t) => `${t.number}${best.has(t.number) ? " ★" : ""}`, cell: (t) => <>
      <a href={href(["x", x, "trials", t.number])}>{t.number}</a>{best.has(t.number) ? <> <Star front={space.objectives.length > 1} /></> : null}</> },
    ...(repeats(space) > 1 ? [{ ...at, id: "suggestion", name: "suggestion", fields: ["suggestion"], text: (t: Trial): string => String(t.suggestion ?? "–") }] : []),
    { ...at, id: "state", name: "state", sort: "state", kind: undefined, fields: ["state", "cause", "never_started", "stopped_early"], text: () => "■ stopped early",
      cell: (t) => <State state={fate(t)} over={over} /> },
    { ...at, id: "why", name: "why", kind: "why", fields: ["reason", "error"], text: why, short: (t) => brief(why(t)) },
    { ...at, id: "iteration", name: "iteration", sort: "iteration", fields: ["iteration"], text: (t) => String(t.iteration) },
    { ...at, id: "time", name: "time", sort: "time", fields: ["time_total_s"], text: (t) => seconds(t.time_total_s) },
    { ...at, id: "results", name: "results", sort: "results", fields: ["results"], text: (t) => count(t.results) },
    { ...at, id: "attempts", name: "attempts", sort: "attempts", fields: ["attempts"], text: (t) => count(t.attempts) },
    { ...at, id: "failures", name: "failures", sort: "failures", fields: ["failures"], text: (t) => count(t.failures) },
    { ...at, id: "started", name: "started", sort: "started", fields: ["started"], text: (t) => time(t.started) },
    { ...at, id: "ended", name: "ended", sort: "ended", fields: ["ended"], text: (t) => time(t.ended) },
    { ...at, id: "node", name: "node", sort: "node", kind: undefined, fields: ["node"], text: (t) => t.node ?? "–" },
    { ...at, id: "cause", name: "cause", sort: "cause", kind: undefined, fields: ["cause"], text: (t) => t.cause?.kind ?? "–" },
    { ...at, id: "checkpoint", name: "checkpoint", fields: ["checkpoint", "checkpoint_iteration"],
      text: (t) => (t.checkpoint ? `at ${t.checkpoint_iteration ?? 0}` : "–") },
    { ...at, id: "id", name: "id", kind: undefined, fields: [], text: (t) => t.trial },
    { ...at, id: "files", name: "files", kind: undefined, fields: ["dir"], text: (t) => t.dir },
  ];
}

const why = (t: Trial): string => (t.error ?? t.reason ?? "").split("\n")[0] ?? "";

// brief leaves out of a reason what other columns have or few ask for: the value, the iteration and the rung, and which
// program failed. What counts follows.
export const brief = (reason: string): string => cuts.reduce((text, cut) => text.replace(cut, ""), reason);

const cuts = [/^the best \S.{0,100}? by iteration \d+ is (?=\S)/, /^early values at iteration \d+ [^:]*: stopped, as (?=\S)/,
  /^\S.{0,100}? at (iteration|milestone) \d+ is (?=\S)/, /^\S{1,100} is (?=not among )/, / at rung \d+(?= \()/, /^\S.{0,60}? ended with (?=exit status )/];

// late are the keys of the trial itself that stand back behind a parameter or a metric of the same name.
const late = ["attempts", "node", "cause"];

// distinct gives columns of the same name different ids. The name sorts by one of them, as on the server: by what every
// trial has, then by a parameter, then by a metric.
function distinct(list: Column[]): Column[] {
  const of = (group: Group): Column[] => list.filter((c) => c.group === group);
  const own = of("trial").filter((c) => !late.includes(c.id));
  const ids = new Map([...of("metrics"), ...of("parameters"), ...of("trial")].map((c) => [c.id, c]));
  const keys = new Map([...of("trial"), ...of("metrics"), ...of("parameters"), ...own].filter((c) => c.sort).map((c) => [c.sort, c]));
  return list.map((c) => ({ ...c, id: ids.get(c.id) === c ? c.id : `${c.group}: ${c.id}`, sort: keys.get(c.sort) === c ? c.sort : undefined }));
}

// usual are the columns that are shown until somebody chooses.
function usual(all: Column[]): string[] {
  const metrics = all.filter((c) => c.group === "metrics").slice(0, first);
  const of = (...ids: string[]): Column[] => all.filter((c) => c.group === "trial" && ids.includes(c.id));
  return [...of("suggestion", "state", "why"), ...metrics, ...of("iteration", "time"), ...all.filter((c) => c.group === "parameters")].map((c) => c.id);
}

// arranged are the chosen columns, behind the number of the trial, in the order of the address. On a phone the reason
// follows the first value.
function arranged(all: Column[], chosen: string[] | undefined, narrow: boolean): Column[] {
  const list = ["number", ...(chosen ?? usual(all)).filter((id) => id !== "number")]
    .flatMap((id) => all.find((c) => c.id === id) ?? []);
  if (!narrow || chosen) return list;
  const rest = list.filter((c) => c.kind !== "why");
  const at = rest.findIndex((c) => c.group === "metrics") + 1;
  return [...rest.slice(0, at), ...list.filter((c) => c.kind === "why"), ...rest.slice(at)];
}

const counts = (p: Parameter): boolean => !p.choices || p.choices.every((c) => typeof c === "number");

// Sizes are how wide columns have to be for the trials that were read, in parts: what is before a decimal point, and
// from there on.
class Sizes {
  private readonly sizes = new Map<string, { whole: number; tail: number; longest: string; word: string }>();

  note(list: Trial[], of: Column[]): void {
    for (const c of of) {
      const size = this.sizes.get(c.id) ?? { whole: 0, tail: 0, longest: "", word: "" };
      for (const t of list) {
        const text = (c.short ?? c.text)(t);
        if (text.length > size.longest.length) size.longest = text;
        if (c.kind !== "decimal") continue;
        if (isWord(text)) {
          if (text.length > size.word.length) size.word = text;
          continue;
        }
        size.tail = Math.max(size.tail, tailOf(text));
        size.whole = Math.max(size.whole, text.search(/[.e]|$/));
      }
      this.sizes.set(c.id, size);
    }
  }

  // after is how much room, in digits, follows a text whose point is below those of the others.
  after = (c: Column, text: string): number => (isWord(text) ? 0 : (this.sizes.get(c.id)?.tail ?? 0) - tailOf(text));

  // width is that of a column; on a phone the state has its sign alone, so that there is room for the reason.
  width(c: Column, narrow: boolean): number {
    const size = this.sizes.get(c.id);
    const head = Math.min(150, widthOf(c.name, true) + (c.sort ? 20 : 4));
    const inside = !size ? 40 : c.kind === "decimal" ? Math.max((size.whole + size.tail) * widthOf("0"), widthOf(size.word))
      : widthOf(narrow && c.id === "state" ? "■" : size.longest, c.id === "state");
    return Math.ceil(Math.max(head, Math.min(c.kind === "why" ? 340 : 240, inside + 2)) + 16);
  }
}

// isWord tells NaN, infinities and texts from numbers: their letters are wider than digits, and they have no point.
const isWord = (text: string): boolean => /^[-+]?\p{L}/u.test(text);

// tailOf is how wide a number is from its decimal point on, in digits; the point is half as wide as a digit.
function tailOf(text: string): number {
  const at = text.search(/[.e]/);
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
  const chosen = listed(query.get("columns"));
  const counts = watched.status?.counts ?? {};
  const over = watched.status?.state !== "running" || source.made !== undefined;
  const front = useBest(x, watched);
  if (!space.data) return <Waiting error={space.error} />;
  const repeat = repeats(space.data);
  const all = columns({ x, over, space: space.data, best: front });
  const best = watched.status?.front ? new Set([...front].flatMap((n) => range(n, n + repeat - 1))) : front;
  return <>
    <div class="row"><h1>Trials</h1>
      <div class="choice" role="group" aria-label="state">
        <button type="button" class="small" aria-pressed={state === ""} onClick={() => setQuery({ state: undefined }, true)}>all</button>
        {states.map(([name, word]) => <button key={name} type="button" class="small" aria-pressed={state === name}
          onClick={() => setQuery({ state: name }, true)}>{over && name === "RUNNING" && counts[name] ? "was running" : word} {counts[name] ?? 0}</button>)}</div>
      {source.made ? null : <Where where={where} />}</div>
    {watched.status?.not_finite ? <p class="state-paused" id="not-finite">⚠ {watched.status.not_finite}</p> : null}
    <Unknown what="column" of={chosen} all={all.map((c) => c.id)} />
    <ChooseColumns all={all} chosen={chosen} />
    <Table x={x} over={over} space={space.data} version={watched.version} best={best} leader={(watched.status?.best ?? undefined) as Ranked | undefined}
      state={state} where={where} sort={sort} chosen={chosen} />
  </>;
}

const groups: [Group, string][] = [["trial", "of the trial"], ["metrics", "metrics"], ["parameters", "parameters"]];

// many is how many columns are found without a search.
const many = 20;

// ChooseColumns has a box for each column; the address keeps what is chosen.
function ChooseColumns({ all, chosen }: { all: Column[]; chosen?: string[] }): JSX.Element {
  const [part, look] = useState("");
  const list = all.filter((c) => c.id !== "number");
  const shown = (chosen ?? usual(all)).filter((id) => list.some((c) => c.id === id));
  const set = (ids: string[] | undefined): void => setQuery({ columns: (ids && joined(ids)) || (ids ? "number" : undefined) });
  const toggle = (id: string): void => set(shown.includes(id) ? shown.filter((s) => s !== id) : placed(list.map((c) => c.id), shown, id));
  const found = (c: Column): boolean => c.name.toLowerCase().includes(part.toLowerCase());
  return <details class="card columns" id="columns"><summary>columns: {shown.length} of {list.length} are shown</summary>
    <div class="row">
      {list.length > many ? <input type="search" aria-label="only columns with this in their name" placeholder="part of a name" value={part} onInput={(e) => look(e.currentTarget.value)} /> : null}
      <button type="button" class="small" onClick={() => set(list.map((c) => c.id))}>all</button>
      <Button small cannot={chosen ? undefined : "these are the columns as at first"} on={() => set(undefined)}>as at first</Button></div>
    {groups.map(([group, title]) => <fieldset key={group}><legend>{title}</legend>
      {list.filter((c) => c.group === group && found(c)).map((c) => <label key={c.id}>
        <input type="checkbox" name={c.id} checked={shown.includes(c.id)} onChange={() => toggle(c.id)} /> {c.name}</label>)}</fieldset>)}
  </details>;
}

// placed adds a column behind the nearest of those before it in the list of all that is shown.
function placed(all: string[], shown: string[], id: string): string[] {
  const before = all.slice(0, all.indexOf(id)).findLast((other) => shown.includes(other));
  const i = before === undefined ? 0 : shown.indexOf(before) + 1;
  return [...shown.slice(0, i), id, ...shown.slice(i)];
}

// useBest are the numbers of the best trial or, with several objectives, of the front.
function useBest(x: string, { status, version }: Watched): Set<number> {
  const source = useSource();
  const front = useData(`front of ${x} ${status?.front ? "" : "none"}`, status?.front ? version : 0,
    async () => (status?.front ? source.pareto(x) : [])).data;
  const runs = runsOf(status?.best);
  return useMemo(() => new Set(runs.length > 0 ? runs : (front ?? []).map((r) => r.number)), [runs.join(), front]);
}

// Where is the field of a filter. It stays the same one, with the focus, when its text is taken or comes from elsewhere.
function Where({ where }: { where: string }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => { if (field.current) field.current.value = where; }, [where]);
  const submit = (e: Event): void => {
    e.preventDefault();
    setQuery({ where: String(new FormData(e.currentTarget as HTMLFormElement).get("where") ?? "") }, true);
  };
  return <form role="search" class="row" onSubmit={submit}>
    <input ref={field} type="search" name="where" aria-label="only trials for which this is true" defaultValue={where} placeholder="lr > 0.01 && state == 'ERROR'" />
    <button type="submit" class="small">filter</button></form>;
}

interface TableProps extends About {
  // leader is the best trial or suggestion of a single objective.
  leader?: Ranked;
  version: number;
  state: string;
  where: string;
  sort: string;
  // chosen are the ids of the columns; undefined: nobody has chosen.
  chosen?: string[];
}

// fieldsOf are the fields that the columns need.
function fieldsOf(p: TableProps): string {
  return [...new Set(["state", ...arranged(columns(p), p.chosen, false).flatMap((c) => c.fields)])].join();
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
          limit: block, fields: fieldsOf(this.p) });
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
  const rows = useMemo(() => new Rows(source, p, () => again((n) => n + 1)), [p.state, p.where, p.sort, p.chosen?.join("\n")]);
  const { blocks, found, total: all, error } = rows;
  const printing = usePrinting();
  const read = range(0, Math.ceil(found / block) - 1).findIndex((b) => !blocks.has(b));
  const first = printing ? 0 : Math.max(0, Math.floor(top / rowHeight) - beyond);
  const last = printing ? (read < 0 ? found : read * block) : Math.min(found, Math.ceil((top + height) / rowHeight) + beyond);
  const [from, to] = [Math.floor(first / block), Math.max(0, Math.floor((last - 1) / block))];
  // the next blocks in both directions are there when somebody scrolls on
  const around = [...range(from, to), to + 1, from - 1, to + 2, to + 3].filter((b) => b >= 0 && (found === 0 ? b === 0 : b * block < found));
  useEffect(() => rows.want(around, false), [rows, from, to, found]);
  useEffect(() => {
    if (p.version > 1) rows.want(range(from, to), true);
  }, [p.version]);
  useEffect(() => { if (box.current) box.current.scrollTop = 0; }, [rows]);
  useEffect(() => {
    const sizes = new ResizeObserver(() => { if (box.current) setSize({ height: box.current.clientHeight, width: box.current.clientWidth }); });
    if (box.current) sizes.observe(box.current);
    return () => sizes.disconnect();
  }, []);
  const list = arranged(columns(p), p.chosen, width < 640);
  const sizes = useSizes(list, blocks);
  const widths = list.map((c) => sizes.width(c, width < 640));
  const total = widths.reduce((a, b) => a + b, 0);
  const template = { gridTemplateColumns: list.map((c, i) => (c.kind === "why" ? `minmax(${widths[i]}px, 1fr)` : widths[i] + "px")).join(" ") };
  const wide = { minWidth: `max(100%, ${total}px)` };
  const zoom = printing ? Math.min(1, paper / total) : undefined;
  const room = (widths[list.findIndex((c) => c.kind === "why")] ?? 0) + Math.max(0, width - total) - 16;
  return <>
    {error && blocks.size === 0 ? <Failure of={error} /> : <div class="row quiet"><span role="status" id="found">{blocks.size === 0 ? "reading…" : found === all ? plural(all, "trial") : `${count(found)} of ${plural(all, "trial")}`}</span>
      <Starred x={p.x} of={p.best} best={p.leader} repeat={repeats(p.space)} /></div>}
    <div class={width < 640 ? "grid signs" : "grid"} role="table" aria-label="trials" aria-rowcount={found + 1} tabIndex={0} ref={box} style={{ zoom }}
      onScroll={(e) => setTop(e.currentTarget.scrollTop)}>
      <div class="tr th" role="row" aria-rowindex={1} style={{ ...template, ...wide }}>{list.map((c) => <Head key={c.id} of={c} sort={p.sort} />)}</div>
      <div class="space" role="rowgroup" style={{ height: `${found * rowHeight}px`, ...wide }}>
        <div class="rows" role="presentation" style={{ transform: `translateY(${first * rowHeight}px)` }}>
          {range(first, last - 1).map((i) => <Row key={i} i={i} t={blocks.get(Math.floor(i / block))?.[i % block]} list={list} template={template}
            best={p.best} sizes={sizes} room={room} />)}
        </div></div></div>
    {last < found ? <p class="printed">The first {count(last)} of {count(found)} trials are printed. <code>tunehost trials</code> has all.</p> : null}
  </>;
}

// paper is how wide a page of paper is, without its margins.
const paper = 700;

// usePrinting says that the page is being printed, which shows all rows that were read.
function usePrinting(): boolean {
  const [printing, set] = useState(false);
  useEffect(() => {
    const heard = (e: Event): void => set(e.type === "beforeprint");
    addEventListener("beforeprint", heard);
    addEventListener("afterprint", heard);
    return () => {
      removeEventListener("beforeprint", heard);
      removeEventListener("afterprint", heard);
    };
  }, []);
  return printing;
}

// useSizes are the sizes of columns for all blocks so far: columns grow, and do not shrink while somebody scrolls.
function useSizes(list: Column[], blocks: Map<number, Trial[]>): Sizes {
  const names = list.map((c) => c.id).join("\n");
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
    ? <button type="button" onClick={() => setQuery({ sort: up ? "-" + c.sort : down ? undefined : c.sort }, true)}>
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
    {t ? list.map((c) => <Cell key={c.id} of={c} t={t} sizes={sizes} room={room} />) : <div class="td quiet" role="cell">…</div>}</div>;
}

function Cell({ of: c, t, sizes, room }: { of: Column; t: Trial; sizes: Sizes; room: number }): JSX.Element {
  const text = c.text(t);
  if (c.cell) return <div class="td" role="cell" title={c.id === "state" ? stateWord(fate(t)) : undefined}>{c.cell(t)}</div>;
  if (c.kind === "why") return <div class="td why" role="cell"><Cut text={text} short={c.short?.(t) ?? text} room={room} /></div>;
  const after = c.kind === "decimal" ? sizes.after(c, text) : 0;
  return <div class={c.kind ? "td num" : "td"} role="cell" title={text} style={after > 0 ? { paddingRight: `calc(.5rem + ${after}ch)` } : undefined}>{text}</div>;
}

// Cut is a text that is whole below the pointer, and when it has the focus, where it does not fit.
function Cut({ text, short, room }: { text: string; short: string; room: number }): JSX.Element {
  if (short === text) return widthOf(text) > room ? <span class="cut" tabIndex={0}>{text}</span> : <span>{text}</span>;
  return <span class="cut" tabIndex={0}><span class="short">{short}</span><span class="whole">{text}</span></span>;
}
