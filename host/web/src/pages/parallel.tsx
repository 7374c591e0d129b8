// Parallel coordinates: which parameters lead to good values.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { leaderOf, repeats, runsOf } from "../api";
import type { Leader, Space } from "../api";
import type { PageProps } from "../context";
import { useSource } from "../context";
import { parse } from "../exact";
import { choiceTexts, count, plural } from "../format";
import { wide } from "../plot/axes";
import type { Dimension, Ranges } from "../plot/parallel";
import { countChosen, Parallel } from "../plot/parallel";
import { changed, named } from "../named";
import { Scale } from "../plot/scatter";
import { href, joined, listed, setQuery, useRoute } from "../route";
import { Button, Card, Select, Starred, Unknown, Waiting } from "../ui";
import { better, column, extent, metricOf, shades, useTable } from "./data";
import type { Table } from "./data";

export function ParallelPage({ x, watched }: PageProps): JSX.Element {
  const { data, error } = useTable(x, watched.version);
  return <><h1>Parallel coordinates</h1>{data ? <Chart x={x} t={data} /> : <Waiting error={error} />}</>;
}

// none is a list of no names in an address, which would lack an empty one.
const none = ",";

function Chart({ x, t }: { x: string; t: Table }): JSX.Element {
  const leader = leaderOf(t.points.best, repeats(t.space));
  const best = runsOf(leader)[0];
  const source = useSource();
  const { query } = useRoute();
  const metric = metricOf(t, query.get("metric"));
  const all = [...t.space.parameters.map((p) => p.name), ...t.space.metrics];
  const first = [...t.space.parameters.map((p) => p.name), metric];
  const asked = (listed(query.get("axes")) ?? first).filter((n) => all.includes(n));
  const shown = asked.length > 0 ? asked : first.filter((n) => all.includes(n));
  const usual = useMemo(() => usualLogs(t), [t]);
  const logs = listed(query.get("log")) ?? usual;
  const marked = query.get("trial");
  const wrong = marked && !t.points.numbers.includes(Number(marked)) ? absent(t, marked) : undefined;
  const strong = marked && !wrong ? Number(marked) : best;
  const values = column(t, metric);
  const shade = useMemo(() => shades(values, better(t, metric)), [t, metric]);
  const dimensions = useMemo(() => shown.map((n) => dimension(t, n, logs.includes(n))), [t, joined(shown), joined(logs)]);
  const ranges = useMemo(() => within(read(query.get("chosen")), shown), [query.get("chosen"), joined(shown)]);
  const chosen = useMemo(() => countChosen(dimensions, ranges), [dimensions, ranges]);
  const brush = (r: Ranges): void => setQuery({ chosen: Object.keys(r).length > 0 ? JSON.stringify(r) : undefined });
  const set = (axes: string[]): void => setQuery({ axes: joined(axes) });
  const [low, high] = extent(values);
  const where = expression(t.space, ranges);
  return <Card title={`${where ? `${count(chosen)} of ` : ""}${plural(t.points.numbers.length, "trial")}${t.points.numbers.length < t.points.total ? ` of ${count(t.points.total)}` : ""}`} id="parallel"
    aside={<div class="row">{t.space.metrics.length > 0 ? <Select label="colour" of={t.space.metrics} chosen={metric} on={(m) => setQuery({ metric: m })} /> : null}
      <label class="select">highlight trial <input type="number" min="0" class="short" value={marked ?? ""} placeholder={best === undefined ? "" : String(best)}
        onInput={(e) => setQuery({ trial: e.currentTarget.value })} /></label></div>}>
    <Unknown what="parameter or metric" of={[...listed(query.get("axes")) ?? [], ...listed(query.get("log")) ?? []]} all={all} />
    <Parallel label={`Parallel coordinates of ${plural(t.points.numbers.length, "trial")}: ${shown.join(", ")}`} numbers={t.points.numbers}
      dimensions={dimensions} shades={shade} ranges={ranges} onBrush={brush} highlight={strong}
      pick={(n) => { location.hash = href(["x", x, "trials", n]); }} />
    <Scale low={better(t, metric) > 0 ? low : high} high={better(t, metric) > 0 ? high : low} label={`${metric}, by rank, the best blue:`} />
    {low > high ? <p class="quiet">No trial has a finite value{metric ? ` of ${metric}` : ""} yet: the lines have no colours.</p> : null}
    {wrong ? <p class="failure" role="alert"><strong>✕</strong> {wrong}</p> : null}
    <Highlighted x={x} best={best} shown={strong} leader={leader} />
    <p class="quiet">Drag along an axis to choose a range, click the axis to drop it. {where ? <>{source.made ? null : <a href={href(["x", x, "trials"], { where })}>
      The chosen trials as a table</a>} </> : null}<Button small cannot={where ? undefined : "all are chosen"} on={() => brush(named())}>choose all</Button></p>
    <Axes all={all} shown={shown} logs={logs} linear={(n) => linear(t, n)} set={set} ranges={ranges} brush={brush} dimensions={dimensions} setLogs={(l) => setQuery({ log: joined(l) || none })} />
  </Card>;
}

// usualLogs are the axes that are logarithmic unless somebody has said otherwise, as in `tunehost plot`.
const usualLogs = (t: Table): string[] => [...t.space.parameters.filter((p) => p.log).map((p) => p.name),
  ...t.space.metrics.filter((m) => wide(column(t, m)))];

// absent says why a trial has no line.
function absent(t: Table, marked: string): string {
  return Number(marked) < t.points.total && /^\d+$/.test(marked) ? `trial ${marked} is not among the trials that are drawn here`
    : `no trial "${marked}": give a number from 0 to ${t.points.total - 1}`;
}

// Highlighted says which trial the bold line is.
function Highlighted({ x, best, shown, leader }: { x: string; best?: number; shown?: number; leader?: Leader }): JSX.Element | null {
  if (shown === undefined) return null;
  return <p class="row quiet" id="highlighted"><span><svg width="44" height="10" aria-hidden="true"><line x1="0" x2="44" y1="5" y2="5" stroke-width="3" stroke="var(--mark)" /></svg>{" "}
    {shown === best && !leader?.mean_of ? <Starred x={x} of={new Set([shown])} /> : <a href={href(["x", x, "trials", shown])}>trial {shown}</a>}</span>
    {leader?.mean_of ? <Starred x={x} of={new Set()} best={leader} /> : null}{leader?.mean_of ? "Each line is one run." : null}</p>;
}

function dimension(t: Table, name: string, log: boolean): Dimension {
  const p = t.space.parameters.find((q) => q.name === name);
  const bound = (v: unknown): number | undefined => (typeof v === "number" ? v : undefined);
  return { name, log, low: bound(p?.low), high: bound(p?.high), choices: p?.choices, values: column(t, name) };
}

// linear says why an axis cannot be logarithmic.
function linear(t: Table, name: string): string | undefined {
  const p = t.space.parameters.find((q) => q.name === name);
  const values = column(t, name);
  if (p?.choices || values.some((v) => typeof v === "string" || typeof v === "boolean")) return "choices have no logarithmic axis";
  const low = typeof p?.low === "number" ? p.low : Infinity;
  return low <= 0 || extent(values)[0] <= 0 ? "a logarithmic axis has no place for 0 and less" : undefined;
}

// read takes what the address has of the ranges; one that somebody has spoilt chooses all.
function read(text: string | null): Ranges {
  try {
    const all = parse(text ?? "{}");
    const ok = ([, r]: [string, unknown]): boolean => {
      const { from, to, choices } = (r ?? {}) as Record<string, unknown>;
      return typeof from === "number" && typeof to === "number" || Array.isArray(choices);
    };
    return named(Object.entries(all ?? {}).filter(ok)) as Ranges;
  } catch {
    return named();
  }
}

// within are the ranges of the axes that are shown: others would choose without being seen.
const within = (r: Ranges, shown: string[]): Ranges => named(Object.entries(r).filter(([n]) => shown.includes(n)));

// expression is a filter of trials for brushes.
function expression(space: Space, ranges: Ranges): string {
  return Object.entries(ranges).map(([axis, r]) => {
    const name = inExpression(space, axis);
    return "from" in r ? [r.from > -most ? `${name} >= ${digits(r.from)}` : "", r.to < most ? `${name} <= ${digits(r.to)}` : ""].filter(Boolean).join(" && ")
      : `(${r.choices.map((v) => `${name} == ${JSON.stringify(v)}`).join(" || ") || "false"})`;
  }).join(" && ");
}

// digits writes a number with all its digits, so that the filter chooses what the brush does. The language of expressions
// has no room for whole numbers that are larger without an exponent.
const digits = (v: number): string => (Math.abs(v) < 1e15 ? String(v) : v.toExponential());

// inExpression is how an expression writes the name of an axis: with dots between groups. A name that has more than
// letters and digits, or that means something else, is a text in brackets.
function inExpression(space: Space, axis: string): string {
  const parts = axis.split("/");
  if (parts.every((part) => /^[A-Za-z_]\w*$/.test(part) && !meant.has(part))) return parts.join(".");
  return `${space.parameters.some((p) => p.name === axis) ? "params" : "metrics"}[${JSON.stringify(axis)}]`;
}

// meant are the words that mean something else in an expression: what every trial has, and words of the language.
const meant = new Set(["trial", "number", "state", "iteration", "results", "failures", "error", "reason", "cause", "params", "metrics",
  "as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop", "package", "namespace",
  "null", "return", "true", "var", "void", "while"]);

// Axes are moved, hidden and shown again by buttons, which a keyboard reaches.
function Axes({ all, shown, logs, linear, set, setLogs, ranges, brush, dimensions }: { ranges: Ranges; brush: (r: Ranges) => void; dimensions: Dimension[]; all: string[]; shown: string[]; logs: string[]; linear: (n: string) => string | undefined;
  set: (n: string[]) => void; setLogs: (n: string[]) => void }): JSX.Element {
  const move = (i: number, by: number): void => {
    const next = [...shown];
    const [one] = next.splice(i, 1);
    if (one !== undefined) next.splice(Math.max(0, i + by), 0, one);
    set(next);
  };
  const log = (n: string): void => setLogs(logs.includes(n) ? logs.filter((m) => m !== n) : [...logs, n]);
  // the button that hides an axis, and the one that shows it, take each other's place, and the focus
  const [box, turned] = [useRef<HTMLDivElement>(null), useRef<string | undefined>(undefined)];
  const turn = (n: string, axes: string[]): void => {
    turned.current = n;
    set(axes);
  };
  useEffect(() => {
    const found = [...box.current?.querySelectorAll<HTMLElement>("[data-turns]") ?? []].find((b) => b.dataset["turns"] === turned.current);
    turned.current = undefined;
    found?.focus();
  }, [joined(shown)]);
  return <div class="axes" role="group" aria-label="axes" ref={box}>
    {shown.map((n, i) => <span class="axis" key={n}><strong>{n}</strong>
      <Button small label={`move ${n} left`} cannot={i === 0 ? "it is the first axis" : undefined} on={() => move(i, -1)}>←</Button>
      <Button small label={`move ${n} right`} cannot={i === shown.length - 1 ? "it is the last axis" : undefined} on={() => move(i, 1)}>→</Button>
      <Button small label={`log axis of ${n}`} cannot={linear(n)} pressed={logs.includes(n)} on={() => log(n)}>log</Button>
      {dimensions.filter((d) => d.name === n).map((d) => <Chosen key={n} axis={d} of={ranges} set={brush} />)}
      <button type="button" class="small" data-turns={n} aria-label={`hide ${n}`} onClick={() => turn(n, shown.filter((m) => m !== n))}>hide</button></span>)}
    {all.filter((n) => !shown.includes(n)).map((n) => <button type="button" class="small" key={n} data-turns={n} onClick={() => turn(n, [...shown, n])}>+ {n}</button>)}
  </div>;
}

// Chosen is what is chosen on an axis, for a keyboard.
function Chosen({ axis, of, set }: { axis: Dimension; of: Ranges; set: (r: Ranges) => void }): JSX.Element {
  const words = axis.values.filter((v) => typeof v === "string" || typeof v === "boolean");
  const list = [...new Set((axis.choices ?? words).map((c) => JSON.stringify(c)))];
  const texts = choiceTexts(list.map(parse));
  if (list.length === 0) return <Between name={axis.name} of={of} set={set} />;
  const r = of[axis.name];
  const now = r && "choices" in r ? r.choices.map((c) => JSON.stringify(c)) : [];
  const change = (text: string): void => {
    set(changed<Ranges[string]>(of, axis.name, text === "" ? undefined : { choices: [parse(text)] }));
  };
  return <select aria-label={`${axis.name} is`} value={now.length > 1 ? "several" : now[0] ?? ""} onChange={(e) => change(e.currentTarget.value)}>
    <option value="">any</option>{now.length > 1 ? <option value="several" disabled>{now.length} of them</option> : null}
    {list.map((c, i) => <option key={c} value={c}>{texts[i]}</option>)}</select>;
}

// Between has the range of an axis as two numbers, for a keyboard; an empty one is no limit.
function Between({ name, of, set }: { name: string; of: Ranges; set: (r: Ranges) => void }): JSX.Element {
  const r = of[name];
  const [from, to] = r && "from" in r ? [r.from, r.to] : [-most, most];
  const change = (low: number, high: number): void => {
    set(changed<Ranges[string]>(of, name, low <= -most && high >= most ? undefined : { from: low, to: high }));
  };
  return <><Limit label={`${name} from`} empty="from" now={from} none={-most} on={(v) => change(v, to)} />
    <Limit label={`${name} to`} empty="to" now={to} none={most} on={(v) => change(from, v)} /></>;
}

// Limit is one of the two numbers. What is typed stays as it is until the field is left: new results draw the page anew
// meanwhile.
function Limit({ label, empty, now, none, on }: { label: string; empty: string; now: number; none: number; on: (v: number) => void }): JSX.Element {
  const [typed, type] = useState<string>();
  // what is no number changes nothing, and the browser says so beside the field
  const take = (field: HTMLInputElement): void => {
    const text = field.value.trim();
    field.setCustomValidity(Number.isNaN(Number(text)) ? `"${text}" is no number` : "");
    if (!field.reportValidity()) return;
    type(undefined);
    on(text === "" ? none : Number(text));
  };
  return <input class="short" inputMode="decimal" aria-label={label} placeholder={empty} value={typed ?? (Math.abs(now) >= most ? "" : digits(now))}
    onInput={(e) => type(e.currentTarget.value)} onChange={(e) => take(e.currentTarget)} />;
}

// most stands for no limit: JSON has no infinity.
const most = Number.MAX_VALUE;
