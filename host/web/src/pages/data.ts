// What several plots need of the trials.
import { toNumber } from "../api";
import type { Points, Space } from "../api";
import { useSource } from "../context";
import type { Loaded } from "../live";
import { useData } from "../live";

export interface Table {
  space: Space;
  points: Points;
}

// useTable reads the trials in columns.
export function useTable(x: string, version: number): Loaded<Table> {
  const source = useSource();
  return useData("points " + x, version, async () => {
    const [space, points] = await Promise.all([source.space(x), source.points(x)]);
    return { space, points };
  });
}

export const metricOf = ({ space, points }: Table, chosen: string | null): string =>
  (chosen && points.metrics[chosen] ? chosen : space.objectives[0]?.metric ?? space.metrics[0] ?? "");

// drawable are the values of a parameter: of a number as large as it can be drawn.
function drawable(t: Table, name: string): unknown[] | undefined {
  const list: unknown[] | undefined = t.points.params[name];
  return list?.some((v) => typeof v === "bigint") && !t.space.parameters.some((p) => p.name === name && p.choices)
    ? list.map((v) => (typeof v === "bigint" ? Number(v) : v)) : list;
}

// known are the values of a parameter, undefined where a trial does not have it. Answers have null there, which is also
// a choice of some parameters: where those always exist, it is the choice.
function known(t: Table, name: string): unknown[] | undefined {
  const list = drawable(t, name);
  const chosen = t.space.parameters.some((p) => p.name === name && !p.when && p.choices?.includes(null));
  return chosen ? list : list?.map((v) => v ?? undefined);
}

export const column = (t: Table, name: string): unknown[] =>
  known(t, name) ?? t.points.metrics[name]?.map((v) => (v === null ? undefined : toNumber(v))) ?? [];

// Place is what has a dot where values are compared: a trial, or a suggestion as its first run that counts.
export interface Place {
  trial: number;
  // at are the places in the columns of the runs that count.
  at: number[];
  // ran says that the mean of several runs counts.
  ran?: number[];
}

// places are the trials or, where suggestions have several runs, those whose runs have all ended, as on the server.
export function places({ points: { numbers, states } }: Table, repeat: number): Place[] {
  if (repeat === 1) return numbers.map((trial, i) => ({ trial, at: [i] }));
  const runs = new Map<number, number[]>();
  numbers.forEach((n, i) => runs.set(Math.floor(n / repeat), [...runs.get(Math.floor(n / repeat)) ?? [], i]));
  return [...runs.values()].filter((at) => at.length === repeat && at.every((i) => ["TERMINATED", "ERROR"].includes(states[i]!)))
    .map((at) => at.filter((i) => states[i] === "TERMINATED")).filter((at) => at.length > 0)
    .map((at) => ({ trial: numbers[at[0]!]!, at, ran: at.map((i) => numbers[i]!) }));
}

// placed are the values of a column, or their means.
export function placed(list: Place[], values: unknown[]): unknown[] {
  return list.map(({ at, ran }) => {
    if (!ran) return values[at[0]!];
    const known = at.map((i) => values[i]).filter((v): v is number => typeof v === "number");
    return known.length > 0 ? known.reduce((a, b) => a + b, 0) / known.length : undefined;
  });
}

// failed says whether the trial at a place of the columns has failed.
export const failed = (t: Table, i: number): boolean => t.points.states[i] === "ERROR";

// statesOf are the states of the trials that have a finite value of each of the metrics: plots of these show no others.
export function statesOf(t: Table, ...metrics: string[]): string[] {
  const columns = metrics.map((m) => column(t, m));
  return t.points.states.filter((_, i) => columns.every((values) => Number.isFinite(values[i])));
}

// better is +1 where larger values of a metric are better, -1 where smaller ones are.
export const better = (t: Table, metric: string): number =>
  (t.space.objectives.find((o) => o.metric === metric)?.mode === "max" ? 1 : -1);

// directed is a metric with what is better, as `tunehost plot` says it; of one that is no objective that is not known.
export function directed(t: Table, metric: string): string {
  const mode = t.space.objectives.find((o) => o.metric === metric)?.mode;
  return mode ? `${metric} (${mode === "max" ? "higher" : "lower"} is better)` : metric;
}

// shades are the ranks of values from 0 to 1, the best 1: ranks tell values apart, however they are distributed.
export function shades(values: unknown[], sign: number): number[] {
  const order = values.map((v, i) => [v, i] as const).filter((e): e is readonly [number, number] =>
    typeof e[0] === "number" && Number.isFinite(e[0])).sort((a, b) => sign * (a[0] - b[0]));
  const out = new Array<number>(values.length).fill(NaN);
  order.forEach(([, i], rank) => { out[i] = order.length > 1 ? rank / (order.length - 1) : 1; });
  return out;
}

// extent is the least and the largest of the numbers.
export function extent(values: unknown[]): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const v of values) {
    if (typeof v !== "number" || !Number.isFinite(v)) continue;
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return [low, high];
}
