// How an experiment goes or has ended, and how many of its trials are done.
import type { JSX } from "preact";
import type { Status, Trial } from "./api";
import { useSource } from "./context";
import { plural } from "./format";
import { State, Warning } from "./ui";

const never = (s: Status): number => s.never_started;
const inState = (s: Status, state: string): number => s.counts[state] ?? 0;

// terminated is how many trials have run and were ended without an error.
export const terminated = (s: Status): number => inState(s, "TERMINATED") - never(s);

// ended is how many trials have run to an end. Those that never started have not run.
export const ended = (s: Status): number => terminated(s) + inState(s, "ERROR");

export const made = (s: Status): number => Object.values(s.counts).reduce((a, b) => a + b, 0);
export const whole = (s: Status): number => Math.max(s.planned, made(s));

// flaw says what is wrong with how an experiment has finished, or "".
export function flaw(s: Status): string {
  if (s.state !== "finished") return "";
  if (!s.best && !s.front) return "without a result";
  switch (s.cause?.kind) {
    case "failed_budget": return "by its limit of failed trials";
    case "fail_fast": return "because a trial failed (fail_fast)";
    default: return "";
  }
}

// Outcome is the state of an experiment; one that has finished badly does not look like a success.
export function Outcome({ of: s }: { of: Status }): JSX.Element {
  const { made } = useSource();
  if (made && s.state === "running") {
    return <span class="state state-interrupted"><span aria-hidden="true">◌</span> was {s.paused ? "paused" : "running"} when this report was made</span>;
  }
  if (s.state === "running" && s.paused) return <State state="paused" />;
  if (s.state === "running" && s.waiting) return <span class="state state-paused"><span aria-hidden="true">…</span> waits</span>;
  const wrong = flaw(s);
  return wrong ? <Warning>finished {wrong}</Warning> : <State state={s.state} />;
}

// budgets are the keys of the file that have ended an experiment, by its cause.
const budgets: Record<string, string> = { time_budget: "budget.time", failed_budget: "budget.trials_failed",
  budget_expression: "budget.when", budget_plateau: "budget.plateau" };

// raised is the budget with a number that has ended an experiment, or "": nothing runs before it is larger, but failed
// trials that run again are no longer failed.
function raised(s: Status): string {
  const budget = budgets[s.cause?.kind ?? ""] ?? "";
  return ["budget.time", "budget.trials_failed"].includes(budget) ? budget : "";
}

// lacking says what an experiment that has finished needs for more trials.
export function lacking(s: Status): string {
  const budget = budgets[s.cause?.kind ?? ""];
  if (!budget) return "raise their number in Settings";
  return raised(s) ? `raise ${budget} in Settings` : `change ${budget} in the file`;
}

// Advice says what continues an experiment that has finished, beside what buttons do.
export function Advice({ of: s, dir }: { of: Status; dir: string }): JSX.Element | null {
  const failed = inState(s, "ERROR");
  if (failed === 0 && never(s) === 0 && s.exhausted) return <>For more trials with another searcher: <code>tunehost run FILE --set searcher=NAME --extend</code></>;
  if (failed === 0 && never(s) === 0) return s.resumable ? null : <>For more trials, {lacking(s)}, then press Resume.</>;
  if (s.by_workers && failed > 0) return <>Retry above hands {failed === 1 ? "the trial that failed" : `the ${plural(failed, "trial")} that failed`} out again, once workers
    ask for {failed === 1 ? "it" : "them"}: a program with AskTell once this server does not have the experiment any more, or requests to this server.</>;
  const command = (flag: string): JSX.Element => <code>tunehost resume {dir} {flag}</code>;
  return <>
    {failed > 0 ? <>{command("--errored")} runs {failed === 1 ? "the trial that failed" : `the ${plural(failed, "trial")} that failed`} again,
      as does Retry above; Retry on the page of such a trial runs that one. </> : null}
    {never(s) > 0 ? <>{raised(s) ? `Once ${raised(s)} is raised in Settings, ` : ""}{command("--unstarted")} runs the {plural(never(s), "trial")} that never started.</> : null}
  </>;
}

// fate is the state of a trial or, of one that has ended without an error, how that came about.
export function fate(t: Pick<Trial, "state" | "cause" | "never_started" | "stopped_early">): string {
  if (t.state !== "TERMINATED" || !t.cause || t.never_started) return t.state;
  return t.stopped_early ? "EARLY" : "COMPLETED";
}
