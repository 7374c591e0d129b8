// The order of trials in a report. It is that of `tunehost trials --sort`.
import { param, toNumber } from "./api";
import type { Space, Trial } from "./api";
import { exact } from "./format";

// Key is what a trial is sorted by; undefined: it has no value, and comes last.
type Key = number | string | undefined;

const order = ["PENDING", "RUNNING", "PAUSED", "TERMINATED", "ERROR"];

const instant = (t: string | null): Key => (t ? Date.parse(t) : undefined);

const fixed: Record<string, (t: Trial) => Key> = { number: (t) => t.number, state: (t) => order.indexOf(t.state),
  iteration: (t) => t.iteration, results: (t) => t.results, failures: (t) => t.failures, started: (t) => instant(t.started),
  ended: (t) => instant(t.ended), time: (t) => toNumber(t.time_total_s) };

// ran are the keys of how a trial ran: a parameter or a metric of the same name comes first.
const ran: Record<string, (t: Trial) => Key> = { attempts: (t) => t.attempts, node: (t) => t.node, cause: (t) => t.cause?.kind };

function keyOf(space: Space, name: string): (t: Trial) => Key {
  if (space.objectives.some((o) => o.metric === name)) return metricKey(name);
  if (Object.hasOwn(fixed, name)) return fixed[name]!;
  if (space.parameters.some((p) => p.name === name)) return (t) => paramKey(param(t.params, name));
  if (Object.hasOwn(ran, name) && !space.metrics.includes(name)) return ran[name]!;
  return metricKey(name);
}

const metricKey = (name: string) => (t: Trial): Key => (Object.hasOwn(t.metrics, name) ? toNumber(t.metrics[name]) : undefined);

function paramKey(v: unknown): Key {
  return v === undefined || v === null ? undefined : typeof v === "number" ? v : typeof v === "bigint" ? Number(v) : exact(v);
}

// sorted returns trials by an objective, another key, a parameter or another metric: the first that has the name. An
// objective sorts from the best to the worst, all else from the least to the largest; - reverses the order.
export function sorted(list: Trial[], space: Space, sort: string): Trial[] {
  const reverse = sort.startsWith("-");
  const name = sort.replace(/^-/, "");
  const objective = space.objectives.find((o) => o.metric === name);
  const sign = (objective?.mode === "max" ? -1 : 1) * (reverse ? -1 : 1);
  const key = keyOf(space, name);
  return list.map((t) => ({ t, k: key(t) })).sort((a, b) => compare(a.k, b.k, sign, reverse && objective !== undefined))
    .map((x) => x.t);
}

// kind puts finite numbers before infinities, and NaN behind both.
const kind = (x: number): number => (Number.isNaN(x) ? 2 : Number.isFinite(x) ? 0 : 1);

function compare(a: Key, b: Key, sign: number, worstFirst: boolean): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  const [x, y] = [typeof a === "number" ? a : 0, typeof b === "number" ? b : 0];
  const kinds = kind(x) - kind(y);
  if (kinds !== 0) return worstFirst ? -kinds : kinds;
  if (x !== y && !Number.isNaN(x)) return x < y ? -sign : sign;
  const [s, t] = [typeof a === "string" ? a : "", typeof b === "string" ? b : ""];
  return s === t ? 0 : s < t ? -sign : sign;
}
