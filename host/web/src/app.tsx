// The frame of all pages, and which page an address has.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Status } from "./api";
import { Boundary } from "./boundary";
import type { PageProps } from "./context";
import { Context, useSource } from "./context";
import type { Watched } from "./live";
import { unanswered, useWatch } from "./live";
import { Compare } from "./pages/compare";
import { Experiments } from "./pages/experiments";
import { Overview } from "./pages/overview";
import { TrialPage } from "./pages/trial";
import { Trials } from "./pages/trials";
import { views } from "./pages/views";
import { useFall } from "./fall";
import { clock, time, word } from "./format";
import { ended, whole } from "./outcome";
import { href, listed, useRoute } from "./route";
import type { Source } from "./source";
import { Later, Steering } from "./steering";
import type { Chosen } from "./theme";
import { choose, chosen } from "./theme";
import { Failure, Waiting } from "./ui";
import { visible } from "./visible";

export function App({ source }: { source: Source }): JSX.Element {
  return <Context.Provider value={source}><Frame /></Context.Provider>;
}

function Frame(): JSX.Element {
  const { path, query } = useRoute();
  const { made } = useSource();
  const [kind, x, view = "overview", id] = path;
  const one = kind === "x" && x !== undefined;
  const compared = listed(query.get("of")) ?? [];
  useEffect(() => { if (!one) document.title = "tunehost"; }, [one]);
  return <>
    <a class="skip" href="#main" onClick={skip}>to the content</a>
    <header class="top">
      <a href={href([])} class="brand">tunehost</a>
      <nav aria-label="where">{one ? <a href={href(["x", x])}>{x}</a> : null}</nav>
      {made ? <span class="quiet" id="made">report of {time(made.at)}, tunehost {made.version}</span> : null}
      <Theme />
    </header>
    <Boundary at={path.join("/")} main>{one ? <One key={x} x={x} view={view} id={id} /> : <main id="main" tabIndex={-1}>
      {kind === "compare" ? <Compare names={compared} /> : kind === undefined ? <Experiments />
        : <p class="failure">There is no such page. <a href={href([])}>All experiments</a></p>}</main>}</Boundary>
  </>;
}

function skip(e: Event): void {
  e.preventDefault();
  document.getElementById("main")?.focus(); // which scrolls there
}

// One is a page about one experiment. It reads its data after the status, which says from when on they may change: they
// would have to be read once more otherwise.
function One({ x, view, id }: { x: string; view: string; id?: string }): JSX.Element {
  const source = useSource();
  const seen = useWatch(source, x);
  const watched = { ...seen, fell: useFall(source, x, seen.status) };
  const props = { x, watched, id };
  // nothing is drawn anew when only time has passed, which the overview alone shows
  const page = useMemo(() => pageOf(view, props), [view, id, watched.version, watched.lost, watched.status !== undefined]);
  const progress = watched.status ? progressOf(watched.status) : "";
  useEffect(() => {
    document.title = visible(`${progress}${x} · ${view === "trials" && id ? "trial " + id : view} · tunehost`);
  }, [progress, x, view, id]);
  const tabs = useRef<HTMLElement>(null);
  useEffect(() => { // in a narrow window they are one row that scrolls
    const row = tabs.current, current = row?.querySelector<HTMLElement>("[aria-current]");
    if (row && current) row.scrollLeft = current.offsetLeft - (row.clientWidth - current.clientWidth) / 2;
  }, [view]);
  // a server that does not answer may come back; what it says does not change by itself
  const unread = !watched.status && (watched.error?.status ?? 0) !== 0;
  return <>
    <nav ref={tabs} class="tabs" aria-label="views">{views.map((v) => <a key={v.name} href={href(["x", x, v.name])}
      aria-current={v.name === view ? "page" : undefined}>{v.title}</a>)}</nav>
    <main id="main" tabIndex={-1}>
      {unread ? <><Failure of={watched.error} /><p><a href={href([])}>All experiments</a></p></> : <Lost watched={watched} />}
      <Moment state={watched.status?.state} />
      {watched.status ? <>{watched.status.dir.includes("://")
        ? <p class="quiet" id="elsewhere">In {watched.status.dir}, for reading: commands go to the machine that runs it.</p>
        : view === "trials" && id !== undefined ? null // a trial has buttons of its own, which look the same
          : <Boundary at={x}><Steering x={x} watched={watched} /></Boundary>}
        <Later of={watched.status.pending} />
        <Boundary at={`${view}/${id ?? ""}`}>{view === "overview" ? <Overview {...props} /> : page}</Boundary></>
        : watched.error ? null : <Waiting />}
    </main>
  </>;
}

// progressOf is how far an experiment that runs has come, for the title of a page that is behind others.
const progressOf = (s: Status): string => (s.state !== "running" ? "" : s.paused ? "❚❚ " : s.planned < 0 ? `▶ ${ended(s)} · `
  : `▶ ${ended(s)}/${whole(s)} · `);

function pageOf(view: string, props: PageProps): JSX.Element {
  const known = views.find((v) => v.name === view);
  if (view === "trials") return props.id ? <TrialPage {...props} id={props.id} /> : <Trials {...props} />;
  return known?.page ? <known.page {...props} /> : <p class="failure">There is no such view.</p>;
}

// Moment says what a report of a running experiment is.
function Moment({ state }: { state?: string }): JSX.Element | null {
  const { made } = useSource();
  if (!made || state !== "running") return null;
  return <p class="card" id="moment">▶ This is a picture of a moment: the experiment was running at{" "}
    <time dateTime={made.at}>{time(made.at)}</time>, and may have gone on since. This page does not change.</p>;
}

// Lost says that what the page shows is old.
function Lost({ watched }: { watched: Watched }): JSX.Element | null {
  const { lost, seen, error, status } = watched;
  if (!lost || !error) return null;
  return <p class="lost" role="alert"><strong>⚠ This page is not up to date</strong> since{" "}
    {clock(seen ?? lost)}: {error.message}.
    {error === unanswered ? <> It may be busy, or stopped, or the connection to it may be lost: this page goes on by itself when it answers.</> : error.status === 0 ? <> The run or its server has ended, or this browser has no connection to it.
      {" "}Start it again as before{status ? <>, or <code>tunehost serve {word(status.dir)}</code> for this experiment alone</> : null}, and open the URL that it prints. If only the connection was lost, this page goes on by itself.</> : null}</p>;
}

function Theme(): JSX.Element {
  const [theme, set] = useState<Chosen>(chosen);
  useEffect(() => choose(theme), [theme]);
  const next = theme === "" ? "dark" : theme === "dark" ? "light" : "";
  const word = theme === "dark" ? "☾ dark" : theme === "light" ? "☀ light" : "◐ auto";
  return <button type="button" class="small" id="theme" onClick={() => set(next)} title="change the colours">
    <span class="hidden">colours: </span>{word}</button>;
}
