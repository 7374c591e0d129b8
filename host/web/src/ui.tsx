// Small parts of pages. Texts of trials and plugins are children of elements, and so never markup.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Leader, Numeric } from "./api";
import { Problem, runsOf } from "./api";
import { clock, count, number, plural, stateSign, stateWord } from "./format";
import { href } from "./route";

type Children = { children?: ComponentChildren };

// State has a sign beside its colour. A trial whose host is gone was running, and does not run.
export function State({ state, over = false }: { state: string; over?: boolean }): JSX.Element {
  if (over && state === "RUNNING") return <span class="state state-interrupted"><span aria-hidden="true">◌</span> was running</span>;
  return <span class={`state state-${state.toLowerCase()}`}><span aria-hidden="true">{stateSign(state)}</span>{" "}
    <span class="word">{stateWord(state)}</span></span>;
}

// NothingDrawn is in the place of a plot without a finite value.
export const NothingDrawn = ({ of }: { of: string }): JSX.Element =>
  <p class="quiet undrawn">No value of {of} is finite: there is nothing to draw.</p>;

// LastSeen is the state of an experiment whose server does not answer any more.
export function LastSeen({ state, at }: { state: string; at: number }): JSX.Element {
  return <span class="state state-interrupted"><span aria-hidden="true">◌</span> last seen {state} at {clock(at)}</span>;
}

// compared is what has a value that is compared.
export const compared = (repeat: number): string => (repeat > 1 ? "suggestion" : "trial");

// Counted says which values the best trial, the front, importance and plots are made of. Each suggestion runs `repeat` times.
export function Counted({ repeat = 1 }: { repeat?: number }): JSX.Element {
  if (repeat > 1) return <p class="quiet" id="counted">Each suggestion runs {count(repeat)} times. Its value is the mean of the last values of its runs, once all have ended.</p>;
  return <p class="quiet" id="counted">The last value of each trial counts, also of one that still runs or has failed.</p>;
}

// Crossed explains crosses, where a plot has some.
export function Crossed({ of: states }: { of: readonly string[] }): JSX.Element | null {
  return states.includes("ERROR") ? <> <span class="state-error">✕ is a trial that has failed.</span></> : null;
}

// Star marks the best trial, in tables as on plots, or one of the front.
export function Star({ front = false }: { front?: boolean }): JSX.Element {
  const word = front ? "on the front" : "the best";
  return <span class="star" title={word}><span aria-hidden="true">★</span><span class="hidden">{word}</span></span>;
}

// Runs are links to trials.
function Runs({ x, of }: { x: string; of: number[] }): JSX.Element {
  return <>{of.map((n, i) => <span key={n}>{i > 0 ? ", " : ""}<a href={href(["x", x, "trials", n])}>{n}</a></span>)}</>;
}

// MeanOf is a suggestion with the runs whose mean its value is.
export function MeanOf({ x, of }: { x: string; of: Leader }): JSX.Element {
  const runs = runsOf(of);
  return <>{runs.length === 1 ? `suggestion ${of.suggestion}, only its trial ` : `the mean of suggestion ${of.suggestion}, trials `}<Runs x={x} of={runs} /></>;
}

// Starred says which trials have the star; best is the best suggestion, if it has several runs.
export function Starred({ x, of, best, repeat }: { x: string; of: ReadonlySet<number>; repeat?: number; best?: Leader | null }): JSX.Element | null {
  if (best?.mean_of) return <span class="starred"><span class="star" aria-hidden="true">★</span> the best is <MeanOf x={x} of={best} /></span>;
  if (of.size === 0) return null;
  const [one] = of;
  return <span class="starred"><span class="star" aria-hidden="true">★</span> {of.size === 1 ? <>the best is <a href={href(["x", x, "trials", one ?? 0])}>trial {one}</a></> : <Front x={x} n={of.size} repeat={repeat} />}</span>;
}

// Warning is a state that the user should look at.
export function Warning({ children }: Children): JSX.Element {
  return <span class="state state-flawed"><span aria-hidden="true">⚠</span> {children}</span>;
}

export function Value({ of, digits }: { of: Numeric | null | undefined; digits?: number }): JSX.Element {
  return <span class="number" title={of === undefined || of === null ? undefined : String(of)}>{number(of, digits)}</span>;
}

export function Card({ title, children, id, aside }: Children & { title: string; id?: string;
  aside?: ComponentChildren }): JSX.Element {
  return <section class="card" id={id} aria-label={title}>
    <header><h2>{title}</h2>{aside}</header>{children}</section>;
}

// Failure says what went wrong, in the words of the server.
export function Failure({ of }: { of?: Problem }): JSX.Element | null {
  return of ? <p class="failure" role="alert"><strong>✕</strong> {of.message}</p> : null;
}

// Unknown says which names of an address there are none of.
export function Unknown({ what, of, all }: { what: string; of?: string[]; all: readonly string[] }): JSX.Element {
  const none = (of ?? []).filter((n) => !all.includes(n));
  return <Failure of={none.length > 0 ? new Problem(0, `there is no ${what} ${none.map((n) => `"${n}"`).join(", ")}`) : undefined} />;
}

// Old says that a list or a page is as of a time.
export function Old({ what, seen, error }: { what: string; seen?: number; error?: Problem }): JSX.Element | null {
  return error ? <p class="lost" role="alert"><strong>⚠ This {what} is not up to date</strong>{seen ? ` since ${clock(seen)}` : ""}: {error.message}.</p> : null;
}

// Waiting stands where data are not there yet.
export function Waiting({ error }: { error?: Problem }): JSX.Element {
  return error ? <Failure of={error} /> : <p class="quiet waiting" role="status">reading…</p>;
}

export function Copy({ text, label = "copy" }: { text: string; label?: string }): JSX.Element {
  const [said, say] = useState("");
  const copy = async (): Promise<void> => {
    say(await write(text) ? "copied" : "copying is not allowed");
    setTimeout(() => say(""), 2000);
  };
  return <button type="button" class="small" onClick={() => void copy()} aria-label={`${label}: ${text.slice(0, 60)}`}>
    {said || label}<span class="hidden" role="status">{said}</span></button>;
}

// write also works where a page is not from this machine and has no TLS.
async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const ok = document.execCommand("copy");
    area.remove();
    return ok;
  }
}

// leftward is a part of a text, such as a name, that is read from right to left.
const letter = "[\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}]";
const leftward = new RegExp(`(${letter}(?:[^\\n"':=,]*${letter})?)`, "u");

// Apart keeps what follows a part that is read from right to left, such as the value of a parameter, in its place.
function Apart({ text }: { text: string }): JSX.Element {
  return <>{text.split(leftward).map((part, i) => (i % 2 === 1 ? <bdi key={i}>{part}</bdi> : part))}</>;
}

// Code is a text to copy.
export function Code({ text, label }: { text: string; label?: string }): JSX.Element {
  return <div class="code"><pre tabIndex={0} aria-label={label ?? "text"}><Apart text={text} /></pre><Copy text={text} /></div>;
}

// Button does something, or says why it cannot: it then keeps its place in the order of the keyboard, which reads why. With
// off it does nothing for now, and keeps the focus. It acts once for a key that is held down: another button may be next.
export function Button({ children, on, cannot, label, small, danger, pressed, off }: Children & { on: () => void; cannot?: string;
  label?: string; small?: boolean; danger?: boolean; pressed?: boolean; off?: boolean }): JSX.Element {
  return <button type="button" class={[small ? "small" : "", danger ? "danger" : ""].join(" ").trim() || undefined} aria-disabled={off || cannot !== undefined || undefined}
    aria-label={label} aria-description={cannot} title={cannot} aria-pressed={pressed} onKeyDown={once} onClick={() => { if (!off && cannot === undefined) on(); }}>{children}</button>;
}

const once = (e: KeyboardEvent): void => { if (e.repeat && e.key === "Enter") e.preventDefault(); };

// Choice is a row of buttons, one of which is chosen; a third text says why one cannot be.
export function Choice<T extends string>({ label, of, chosen, on }: { label: string; of: readonly (readonly [v: T, text: string, cannot?: string])[];
  chosen: T; on: (v: T) => void }): JSX.Element {
  return <div class="choice" role="group" aria-label={label}>
    {of.map(([v, text, cannot]) => <Button key={v} small pressed={v === chosen} cannot={v === chosen ? undefined : cannot} on={() => on(v)}>{text}</Button>)}</div>;
}

// Select is a list to choose from, if there is anything.
export function Select({ label, of, chosen, on }: { label: string; of: readonly string[]; chosen: string;
  on: (v: string) => void }): JSX.Element | null {
  return of.length === 0 ? null : <label class="select">{label} <select value={chosen} onChange={(e) => on(e.currentTarget.value)}>
    {of.map((v) => <option key={v} value={v}>{v}</option>)}</select></label>;
}

// toContent gives the focus to the content of the page, which stays where it is.
export const toContent = (): void => document.getElementById("main")?.focus({ preventScroll: true });

// refocus gives the focus back to what had it before a dialog, or else to the content: without it a keyboard would
// begin at the top of the page again.
function refocus(before: Element | null): void {
  const lost = (): boolean => document.activeElement === document.body;
  if (lost() && before instanceof HTMLElement) before.focus({ preventScroll: true });
  if (lost()) toContent();
}

// Dialog asks before something is done; Escape closes it.
export function Dialog({ title, onClose, children }: Children & { title: string; onClose: () => void }): JSX.Element {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    ref.current?.showModal();
    return () => { setTimeout(() => refocus(before)); }; // nothing beside a dialog can have the focus until it is gone
  }, []);
  return <dialog ref={ref} onClose={onClose} aria-label={title}><h2>{title}</h2>{children}</dialog>;
}

// Facts is a list of names and values.
export function Facts({ of }: { of: [string, ComponentChildren][] }): JSX.Element {
  return <dl class="facts">{of.map(([name, v]) => <div key={name}><dt>{name}</dt><dd>{v}</dd></div>)}</dl>;
}

// Front stands in the place of the best trial, where there are several objectives.
export function Front({ x, n, repeat = 1 }: { x: string; n: number; repeat?: number }): JSX.Element {
  return <a href={href(["x", x, "pareto"])}>{plural(n, compared(repeat))} that no other beats</a>;
}
