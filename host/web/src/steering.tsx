// Buttons that change an experiment or a trial. What cannot be undone is asked first.
import type { ComponentChildren, JSX, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Detail, Done, Parameter, Params, Status, Trial } from "./api";
import { flat, param, Problem } from "./api";
import { jsonOf, member, parse, value } from "./exact";
import { useRoute } from "./route";
import { useSource } from "./context";
import { choiceTexts, count, exact, plural, stateWord, word } from "./format";
import type { Watched } from "./live";
import { acted, useData } from "./live";
import { changed, named } from "./named";
import type { Named } from "./named";
import { Advice, fate, lacking } from "./outcome";
import type { Source, Steer } from "./source";
import { Button, Dialog, Failure, Waiting } from "./ui";

type Method = "POST" | "PATCH";

interface Request {
  method?: Method;
  path: string;
  body?: unknown;
  // trials are those that it is sent for, one after the other; the path is then below each of them.
  trials?: number[];
}

// Question is asked before a request is sent.
interface Question {
  title: string;
  text: string;
  warning?: string;
  button: string;
  request: Request;
}

interface Actions {
  // off says that nothing can be sent: another request is on its way, or the server is gone.
  off: boolean;
  said: string;
  // now is the state that has come since something was sent, for those who only hear the page.
  now?: string;
  problem?: Problem;
  question?: Question;
  ask: (q?: Question) => void;
  // fail says why nothing could be asked.
  fail: (e: unknown) => void;
  send: (r: Request) => Promise<boolean>;
}

const unreached = new Problem(0, "the server cannot be reached: nothing is known to be done");

// slow is how long, in milliseconds, an answer may take until the page says that there is none.
const slow = 5000;
const noAnswer = new Problem(0, `the server has not answered for ${slow / 1000} seconds: it is not known whether it does this`);

// Cannot says why a request is not possible any more: what it was asked for has changed in the meantime.
type Cannot = (r: Request) => string | undefined;

interface Shown {
  busy: boolean;
  said: string;
  problem?: Problem;
  question?: Question;
}

// useActions keeps what was said of an action until the state changes. Why something was not done stays until something
// else is, or another page is opened. now has the state in words: who does not see it change is told so.
function useActions(steer: Steer | undefined, x: string, state: string, now: string, lost: boolean, cannot: Cannot): Actions {
  const page = useRoute().path.join("/");
  const sent = useRef<string | undefined>(undefined);
  const [shown, set] = useState<Shown>({ busy: false, said: "" });
  useEffect(() => set((old) => ({ ...old, said: "", problem: undefined, question: undefined })), [page]);
  useEffect(() => set((old) => ({ ...old, said: "" })), [state]);
  const why = shown.question && !shown.busy ? cannot(shown.question.request) : undefined;
  useEffect(() => {
    if (why) set((old) => ({ ...old, said: "", problem: new Problem(409, why), question: undefined }));
  }, [why, shown.question]);
  const send = async (r: Request): Promise<boolean> => {
    if (!steer) return false;
    set({ busy: true, said: "" });
    sent.current = state;
    const timer = setTimeout(() => set((old) => ({ ...old, problem: noAnswer })), slow);
    const answered = (of: Partial<Shown>): void => {
      clearTimeout(timer);
      set((old) => ({ ...old, busy: false, said: "", problem: undefined, ...of }));
    };
    try {
      const done = await carriedOut(steer, x, r);
      document.dispatchEvent(new CustomEvent(acted, { detail: r.path }));
      const later = done.later ? "; it takes effect when the experiment is resumed" : "";
      answered({ said: [done.message + later, ...(done.warnings ?? []).map((w) => "⚠ " + w)].join("; ") });
      return true;
    } catch (e) {
      answered(refusal(r, e));
      return false;
    }
  };
  const fail = (e: unknown): void => set((was) => ({ ...was, said: "", problem: e instanceof Problem ? e : unreached }));
  const came = sent.current !== undefined && sent.current !== state;
  return { ...shown, off: shown.busy || lost, ...(came ? { said: "", now } : {}), send, fail,
    ask: (question) => set((old) => ({ ...old, said: "", problem: undefined, question })) };
}

// overtaken says of the requests of an experiment why they are not possible any more.
const overtaken = (x: string, s?: Status): Cannot => ({ path }) => {
  const resumes = path === "/resume";
  if (!s || resumes !== (s.state === "running")) return undefined;
  return resumes ? `${x} runs by now: it was not resumed` : `${x} does not run any more (${s.state}): nothing was sent to it`;
};

// gone says it of the requests of a trial.
const gone = (t: Trial, s: Status): Cannot => ({ path }) => {
  const what = path.split("/").pop() ?? "";
  const undone = `it was not ${{ stop: "stopped", pause: "paused", retry: "run again" }[what] ?? "changed"}`;
  const over = t.state === "TERMINATED" || t.state === "ERROR";
  if (what === "retry") return t.state === "ERROR" ? undefined : `trial ${t.number} is ${stateWord(t.state)} by now: ${undone}`;
  if (over) return `trial ${t.number} has ended (${stateWord(fate(t))}): ${undone}`;
  if (s.state !== "running") return `no host runs the experiment any more, so trial ${t.number} does not run: ${undone}`;
  return what === "pause" && t.state === "PAUSED" ? `trial ${t.number} is paused by now` : undefined;
};

// carriedOut sends a request or, for several trials, one for each: one that is refused does not hold up the others.
async function carriedOut(steer: Steer, x: string, r: Request): Promise<Done> {
  if (!r.trials) return steer.send(r.method ?? "POST", x, r.path, r.body);
  const refused: Problem[] = [];
  for (const number of r.trials) {
    try {
      await steer.send("POST", x, `/trials/${number}${r.path}`, r.body);
    } catch (e) {
      refused.push(e instanceof Problem ? e : new Problem(0, "the server cannot be reached"));
      if (refused.length === r.trials.length || refused[refused.length - 1]?.status === 0) throw refused[0];
    }
  }
  const all = r.trials.length;
  return { message: `running ${refused.length > 0 ? `${all - refused.length} of ` : ""}${plural(all, "failed trial")} again`, warnings: [...new Set(refused.map((p) => p.message))] };
}

// refusal asks once more where the server says that progress would be lost.
function refusal(r: Request, e: unknown): { problem?: Problem; question?: Question } {
  const problem = e instanceof Problem ? e : unreached;
  if (!problem.loses) return { problem };
  return { question: { title: "Pause, and lose progress?", text: problem.message, button: "Pause anyway",
    request: { ...r, body: { force: true } } } };
}

// Said shows what happened, and asks. An open form shows by itself what went wrong.
function Said({ of, inForm }: { of: Actions; inForm: boolean }): JSX.Element {
  const { question } = of;
  return <>
    <div role="status" aria-live="polite">{of.said ? <p class="said">✓ {of.said}</p>
      : of.now ? <span class="hidden">{of.now}</span> : null}</div>
    <Failure of={inForm ? undefined : of.problem} />
    {question ? <Dialog title={question.title} onClose={() => of.ask()}>
      <p>{question.text}</p>
      {question.warning ? <p class="lost" id="losses">⚠ {question.warning}</p> : null}
      <div class="row"><button type="button" class="danger" disabled={of.off} onClick={() => void of.send(question.request)}>{question.button}</button>
        <button type="button" autofocus onClick={() => of.ask()}>Cancel</button></div></Dialog> : null}
  </>;
}

// Act is a button that sends a request, or asks first.
function Act({ of, request, question, ask, children, danger, cannot }: { of: Actions; request?: Request; question?: Question;
  ask?: () => Promise<Question>; danger?: boolean; cannot?: string; children: ComponentChildren }): JSX.Element {
  const act = (): void => {
    if (question) of.ask(question);
    else if (ask) void ask().then(of.ask, of.fail);
    else if (request) void of.send(request);
  };
  return <Button danger={danger} off={of.off} cannot={cannot} on={act}>{children}</Button>;
}

const stopAll = (x: string, s: Status): Question => ({ title: `Stop ${x}?`, button: "Stop the experiment", request: { path: "/stop" },
  text: `The trials that have begun end with their last results, and none of them trains on later. ${remaining(s)} To train on later, interrupt the experiment instead.` });

// remaining says what Resume does after a stop.
function remaining(s: Status): string {
  const begun = Object.values(s.counts).reduce((a, b) => a + b, 0);
  if (s.exhausted) return "There is no further trial to make: the searcher has no more points.";
  if (s.planned < 0) return "Resume later goes on with further trials.";
  return s.planned > begun ? `Resume later goes on with the ${plural(s.planned - begun, "trial")} not yet made.`
    : "There is no further trial to make: Resume can go on once their number is raised in Settings.";
}

const forWorkers = "Its trials run once workers ask this server for them; Interrupt gives it back to a program with AskTell. ";

// again asks before all failed trials run again. While a host runs the experiment, each is retried on its own.
async function again(source: Source, x: string, s: Status): Promise<Question> {
  const n = s.counts["ERROR"] ?? 0;
  const title = `Run ${plural(n, "failed trial")} again?`;
  if (s.state !== "running") {
    return { title, button: "Run again", request: { path: "/resume", body: { errored: true } },
      text: `The experiment is resumed, with whatever else is left of it. ${s.by_workers ? forWorkers : ""}Failed trials start from the beginning, in new directories; their results so far are replaced.` };
  }
  const { trials } = await source.trials(x, { state: "ERROR", limit: 10000, fields: "state" });
  return { title: `Run ${plural(trials.length, "failed trial")} again?`, button: "Run again", request: { path: "/retry", trials: trials.map((t) => t.number) },
    text: "Each continues from its last checkpoint, or starts from the beginning if it has none." };
}

const interrupt = (x: string, lost: string): Question => ({ title: `Interrupt ${x}?`, button: lost ? "Interrupt anyway" : "Interrupt",
  request: { path: "/interrupt" }, text: "Trials save if they can, and the host ends. The experiment can be resumed.",
  warning: lost && `Progress since the last checkpoints would be lost now: ${lost}.` });

// interruption asks with what would be lost at this time.
async function interruption(steer: Steer, x: string): Promise<Question> {
  try {
    return interrupt(x, await steer.losses(x));
  } catch {
    return interrupt(x, "it is not known what, as the server cannot be reached");
  }
}

// Steering has the buttons of an experiment.
export function Steering({ x, watched }: { x: string; watched: Watched }): JSX.Element | null {
  const source = useSource();
  const { steer, made } = source;
  const { status } = watched;
  const actions = useActions(steer, x, `${status?.state} ${status?.paused}`, `experiment ${status?.paused ? "paused" : status?.state}`, watched.lost !== undefined, overtaken(x, status));
  const [form, open] = useState("");
  if (!status || made) return null;
  if (!steer) return <p class="quiet steering" id="read-only">Read only: the token of this page changes nothing.</p>;
  if (status.unsteerable) return <Elsewhere why={status.unsteerable} />;
  const running = status.state === "running";
  const ending = running && status.ending ? `the experiment is ending: ${status.ending}` : undefined;
  const failed = status.counts["ERROR"] ?? 0;
  const close = (): void => open("");
  return <section aria-label="control" class="steering">
    <div class="steer">
      {running && !status.paused ? <Act of={actions} request={{ path: "/pause" }} cannot={ending}>❚❚ Pause</Act>
        : running ? <Act of={actions} request={{ path: "/resume" }} cannot={ending}>▶ Continue</Act>
          : <Act of={actions} request={{ path: "/resume" }} cannot={status.resumable ? undefined : nothingLeft(status)}>▶ Resume</Act>}
      {running ? <Act of={actions} ask={() => interruption(steer, x)}>Interrupt…</Act> : null}
      {running ? <Act of={actions} question={stopAll(x, status)} danger>■ Stop…</Act> : null}
      {failed > 0 ? <Act of={actions} ask={() => again(source, x, status)} cannot={ending}>↻ Retry {count(failed)} failed…</Act> : null}
      <Button off={actions.off} cannot={running ? ending : "trials are added while the experiment runs"} on={() => open("add")}>Add a trial…</Button>
      <Button off={actions.off} on={() => open("set")}>Settings…</Button>
      {["finished", "stopped"].includes(status.state) && watched.lost === undefined ? <span class="quiet" id="more"><Advice of={status} dir={word(status.dir)} /></span> : null}
      {running || watched.lost !== undefined ? null : <span class="quiet" id="adds">Trials are added while the experiment runs{status.resumable ? ": Resume it first" : ""}.</span>}
    </div>
    <Said of={actions} inForm={form !== ""} />
    {form === "add" ? <Point x={x} title="Add a trial" button="Add" path="/trials" actions={actions} onClose={close}
      hint="Parameters that are left empty are sampled." /> : null}
    {form === "set" ? <Settings x={x} status={status} actions={actions} onClose={close} /> : null}
  </section>;
}

// Elsewhere is in the place of buttons that the server would refuse: another process has the experiment.
const Elsewhere = ({ why }: { why: string }): JSX.Element => <p class="quiet steering" id="unsteerable">Read only here. {why}</p>;

// nothingLeft says why an experiment cannot be resumed.
const nothingLeft = (s: Status): string => (s.exhausted ? "all trials have ended, and the searcher has no more points"
  : s.state === "stopped" ? "the experiment was stopped, and all its trials were made: raise their number in Settings"
  : `all trials have ended: ${lacking(s)}`);

const stopOne = (t: Trial): Question => ({ title: `Stop trial ${t.number}?`, button: "Stop the trial",
  request: { path: `/trials/${t.number}/stop` }, text: "The trial ends with its last result. This cannot be undone." });

const anew = (t: Trial): Question => ({ title: `Run trial ${t.number} again from the beginning?`, button: "Run again",
  request: { path: `/trials/${t.number}/retry`, body: { fresh: true } },
  text: "The trial starts in a new directory, without its checkpoints. Its results so far are replaced." });

// TrialSteering has the buttons of a trial. While no host runs the experiment, Retry begins one.
export function TrialSteering({ x, trial, status, lost }: { x: string; trial: Detail; status: Status; lost: boolean }): JSX.Element | null {
  const { steer } = useSource();
  const actions = useActions(steer, x, `${trial.state} ${status.state}`, `trial ${trial.number} ${stateWord(fate(trial))}`, lost, gone(trial, status));
  // the form that is open stays as it is when the first checkpoint is saved
  const [cloning, open] = useState<"" | "anew" | "saved">("");
  const close = (): void => open("");
  if (!steer) return null;
  if (status.unsteerable) return <Elsewhere why={status.unsteerable} />;
  const { state, number } = trial;
  const saved = trial.checkpoints.length > 0;
  const over = state === "TERMINATED" || state === "ERROR";
  const rests = status.state === "running" ? undefined : `no host runs the experiment${status.resumable ? ": Resume it first" : ""}`;
  const held = state === "PAUSED" && status.on_hold ? "the experiment is paused: continue that first" : undefined;
  const at = (what: string): Request => ({ path: `/trials/${number}/${what}` });
  return <section aria-label="control of the trial" class="steering">
    <div class="steer">
      {state === "RUNNING" || state === "PENDING" ? <Act of={actions} request={at("pause")} cannot={rests}>❚❚ Pause</Act>
        : state === "PAUSED" ? <Act of={actions} request={at("resume")} cannot={rests ?? held}>▶ Continue</Act> : null}
      {over ? null : <Act of={actions} question={stopOne(trial)} danger cannot={rests}>■ Stop trial {number}…</Act>}
      {state === "ERROR" ? <><Act of={actions} request={at("retry")}>↻ Retry</Act>
        <Act of={actions} question={anew(trial)}>↻ Retry from the beginning…</Act></> : null}
      <Button off={actions.off} cannot={rests} on={() => open(saved ? "saved" : "anew")}>{saved ? "Clone…" : "Add with these parameters…"}</Button>
      {rests ? <span class="quiet" id="rests">{state === "ERROR" ? `No host runs the experiment: to run the trial again resumes it${status.by_workers ? ", and a worker has to ask for it" : ""}.` : rests + "."}</span>
        : held ? <span class="quiet" id="held">The trial does not continue by itself: {held}.</span> : null}
    </div>
    <Said of={actions} inForm={cloning !== ""} />
    {cloning === "anew" ? <Point x={x} title={`Add a trial like trial ${number}`} button="Add" path="/trials" from={trial.params} all
      hint="The new trial starts from the beginning, with these parameters." actions={actions} onClose={close} /> : null}
    {cloning === "saved" ? <Point x={x} title={`Clone trial ${number}`} button="Clone" path={`/trials/${number}/clone`} from={trial.params}
      hint="The new trial starts from this one's checkpoint, with these parameters." actions={actions}
      onClose={close} /> : null}
  </section>;
}

interface PointProps {
  x: string;
  title: string;
  button: string;
  path: string;
  hint: string;
  from?: Params;
  // all sends also what is as in `from`.
  all?: boolean;
  actions: Actions;
  onClose: () => void;
}

// useFirstField has the first field of a form focused once its fields are there: the form opens before they are known.
function useFirstField(ready: boolean): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (ready) form.current?.querySelector<HTMLElement>("input, select, textarea")?.focus();
  }, [ready]);
  return form;
}

// Point is a form with a field for each parameter. Only what differs from `from` is sent.
function Point(p: PointProps): JSX.Element {
  const source = useSource();
  const first = useData(`params ${p.x}`, 0, async () => (await source.space(p.x)).parameters);
  const [values, set] = useState<Named<string>>(named());
  const [wrong, say] = useState("");
  const form = useFirstField(first.data !== undefined);
  // held keeps the Enter that was meant for the button before from adding a trial of which nothing is typed
  const held = (e: KeyboardEvent): void => {
    if (e.key === "Enter" && e.target instanceof HTMLInputElement && Object.keys(values).length === 0) e.preventDefault();
  };
  const submit = async (e: Event): Promise<void> => {
    e.preventDefault();
    say("");
    const base = p.all && p.from ? given(p.from, first.data ?? []) : [];
    const now = new FormData(e.currentTarget as HTMLFormElement);
    if (await p.actions.send({ path: p.path, body: { params: named([...base, ...typed(now, first.data ?? [], p.from)]) } })) p.onClose();
    else say("It was not added:");
  };
  return <Dialog title={p.title} onClose={p.onClose}>
    <p class="quiet">{p.hint}</p>
    {first.data ? <form ref={form} onSubmit={(e) => void submit(e)} onKeyDown={held} onKeyPress={held}>
      {first.data.map((q) => <Field key={q.name} of={q} text={values[q.name] ?? (p.from ? shown(p.from, q) : "")}
        empty={p.from ? "as it is" : "sampled"} on={(text) => set((old) => changed(old, q.name, text))} />)}
      <div class="wrong">{wrong ? <p>{wrong}</p> : null}<Failure of={p.actions.problem} /></div>
      <div class="row"><button type="submit" class="main" disabled={p.actions.off}>{p.button}</button>
        <button type="button" onClick={p.onClose}>Cancel</button></div>
    </form> : <Waiting error={first.error} />}</Dialog>;
}

// control names the field of a parameter. No property of a form or an element has a slash in its name: a field with the
// name of one, such as "action", hides it from the browser and from Preact.
const control = (q: Parameter): string => `params/${q.name}`;

interface FieldProps {
  of: Parameter;
  text: string;
  // empty says what becomes of a parameter whose field is empty.
  empty: string;
  on: (text: string) => void;
}

// Field is a list of choices, or an input that says what may be typed. What is typed is not read before it is sent: a
// number is no JSON on its way, such as "0." and "1e-".
function Field({ of: q, text, empty, on }: FieldProps): JSX.Element {
  return <label>{q.name}
    {q.choices ? <OneOf of={q} choices={q.choices} text={text} empty={empty} on={on} />
      : <input name={control(q)} value={text} placeholder={range(q)} onInput={(e) => on(e.currentTarget.value)} />}
    {q.when ? <span class="quiet">only when {q.when}</span> : null}</label>;
}

// OneOf has the choices of a parameter as JSON, which tells 1 from "1"; one that a trial has is also there if it is none
// of them.
function OneOf({ of: q, choices, text, empty, on }: FieldProps & { choices: unknown[] }): JSX.Element {
  const known = choices.map((_, i) => jsonOf(choices, String(i)));
  const all = [...known, ...(text === "" || known.includes(text) ? [] : [text])];
  const none = `(${empty})`;
  const texts = choiceTexts(parse(`[${all.join()}]`) as unknown[], exact, [none]);
  return <select name={control(q)} value={text} onChange={(e) => on(e.currentTarget.value)}><option value="">{none}</option>
    {all.map((c, i) => <option key={c} value={c}>{texts[i]}</option>)}</select>;
}

// range says which numbers a parameter has.
function range(q: Parameter): string {
  if (q.mean !== undefined) return `normal: mean ${q.mean}, standard deviation ${q.sd}`;
  return `${q.low ?? ""} to ${q.high ?? ""}${q.step ? ` in steps of ${q.step}` : ""}${q.log ? ", logarithmic" : ""}`;
}

// shown is a parameter in its field; one that the trial does not have is empty. Choices are JSON, which tells 1 from "1".
function shown(from: Params, q: Parameter): string {
  const v = param(from, q.name);
  return v === undefined ? "" : q.choices ? jsonOf(flat(from, { parameters: [q] }), q.name) : exact(v);
}

// given are the parameters that a trial has, by their names.
function given(from: Params, list: Parameter[]): [string, unknown][] {
  const all = flat(from, { parameters: list });
  return list.map((q): [string, unknown] => [q.name, member(all, q.name)]).filter(([, v]) => v !== undefined);
}

// typed are the parameters whose fields say something else than they did at first. They are taken from the form itself:
// what it shows is what is sent.
function typed(form: FormData, list: Parameter[], from?: Params): [string, unknown][] {
  return list.flatMap((q): [string, unknown][] => {
    const text = String(form.get(control(q)) ?? "");
    return text.trim() !== "" && text !== (from ? shown(from, q) : "") ? [[q.name, q.choices ? value(text) : read(text)]] : [];
  });
}

// read takes JSON as it is, other numbers, such as .25, as numbers, and any other text as text.
function read(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(text) ? Number(text) : text;
  }
}

// asText is a setting in its field.
const asText = (v: unknown): string => (v === undefined || v === null ? "" : exact(v));

// Later says which settings wait for the experiment to be resumed: they are why it can be.
export function Later({ of }: { of: Status["pending"] }): JSX.Element | null {
  if (!of || of.length === 0) return null;
  return <p class="state-paused" id="later">… {of.map((p) => `pending ${p.key}: ${asText(p.old) || "nothing"} → ${asText(p.new) || "nothing"}`).join(", ")},
    when the experiment is resumed</p>;
}

// addLines adds settings, one a line, as --set has them or as the file does. It returns the first mistake: the names of
// an object would hide that a key is given twice.
function addLines(to: [string, unknown][], text: string): string {
  for (const line of text.split("\n").map((l) => l.trim()).filter((l) => l !== "")) {
    const [, name = "", after = ""] = /^([^=:]*)[=:](.*)$/.exec(line) ?? [];
    const key = name.trim(), given = after.trim();
    if (!key) return `${JSON.stringify(line)}: expected KEY=VALUE`;
    if (!given) return `${line}: the value is missing; ${key}=null removes the key`;
    if (to.some(([k]) => k === key)) return `${key} is given twice`;
    to.push([key, read(given)]);
  }
  return "";
}

// Settings changes what `tunehost set` can. Whatever was typed is sent, also a value that is in force: another one
// may wait for the experiment to be resumed.
function Settings({ x, status, actions, onClose }: { x: string; status: Status; actions: Actions; onClose: () => void }): JSX.Element {
  const source = useSource();
  const { data: space, error } = useData(`settings ${x}`, 0, () => source.space(x));
  const [typed, type] = useState<Record<string, string>>({});
  const touched = useRef(new Set<string>());
  const [others, setOthers] = useState("");
  const [wrong, say] = useState("");
  const form = useFirstField(space !== undefined);
  const submit = async (e: Event): Promise<void> => {
    e.preventDefault();
    const body: [string, unknown][] = [];
    const now = new FormData(e.currentTarget as HTMLFormElement);
    const last = (key: string): string => String(now.get(key) ?? "").trim();
    for (const key of touched.current) if (last(key) !== "") body.push([key, read(last(key))]);
    const empty = [...touched.current].find((key) => last(key) === "");
    const mistake = empty ? `${empty}: give a number` : addLines(body, last("others"));
    say(mistake || (body.length === 0 ? "nothing is changed yet: give another value" : ""));
    if (mistake || body.length === 0) return;
    if (await actions.send({ method: "PATCH", path: "/settings", body: named(body) })) onClose();
  };
  const later = status.pending ?? [];
  const change = (key: string, text: string): void => {
    touched.current.add(key);
    type((old) => ({ ...old, [key]: text }));
  };
  const field = (key: string, label: string): JSX.Element => <label>{label}
    <input name={key} inputMode="numeric" value={typed[key] ?? asText(later.find((p) => p.key === key)?.new ?? space?.settings[key])} onInput={(e) => change(key, e.currentTarget.value)} /></label>;
  return <Dialog title="Settings" onClose={onClose}>
    {space ? <form ref={form} onSubmit={(e) => void submit(e)}>
      {field("trials", space.parameters.some((p) => p.grid) ? "trials, for each combination of the grid" : status.added ? "trials, without those added by hand" : "trials, in total")}
      {field("concurrency", "concurrency: trials at a time; 0: as many as there is room for")}
      <label>other keys of the experiment file, one a line<textarea name="others" placeholder="stop.iteration=30" value={others}
        onInput={(e) => setOthers(e.currentTarget.value)} /></label>
      {status.added ? <p class="quiet">{plural(status.added, "trial")} added by hand {status.added === 1 ? "comes" : "come"} on top{status.planned < 0 ? "" : `: there are ${status.planned} in total`}.</p> : null}
      {status.exhausted ? <p class="state-paused" id="exhausted">The searcher has no more points: a larger number of trials makes no more of them.</p> : null}
      {status.state === "running" ? null : <p class="quiet">The experiment does not run: what you change takes effect with Resume.</p>}
      {later.length > 0 ? <p id="pending">Waiting for Resume: {later.map((p) => `${p.key} ${asText(p.old)} → ${asText(p.new)}`).join(", ")}</p> : null}
      <Failure of={wrong ? new Problem(0, wrong) : actions.problem} />
      <div class="row"><button type="submit" class="main" disabled={actions.off}>Change</button>
        <button type="button" onClick={onClose}>Cancel</button></div>
    </form> : <Waiting error={error} />}</Dialog>;
}
