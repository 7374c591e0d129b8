// The usual range of values. Where a few are very far from all others, a plot of all of them shows nothing else.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { number, plural } from "../format";
import { Choice } from "../ui";

export interface Usual {
  // range is that of the values that are not far from all others; undefined: none is.
  range?: [number, number];
  // far are the others, in order, of so many values.
  far: number[];
  total: number;
}

// A value is far from the others if it is so many times the distance between their quartiles away from these; it is left
// out where the others take less than this share of an axis with all.
const [fence, crowded, fewest] = [5, 0.2, 5];

// usual finds the values that are far from all others. Those of kept are shown in any case.
export function usual(values: Iterable<unknown>, kept: number[] = []): Usual {
  const list = Float64Array.from([...values].filter((v): v is number => typeof v === "number" && Number.isFinite(v))).sort();
  const n = list.length;
  const [first, last] = [list[0] ?? NaN, list[n - 1] ?? NaN];
  if (n < fewest) return { far: [], total: n };
  const log = first > 0 && last / first > 1000;
  const half = Math.max(-first, last) > 1e300 ? 2 : 1; // the difference of two numbers may be too large for one
  const at = (v: number): number => (log ? Math.log(v) : v / half);
  const [lower, middle, upper] = [0.25, 0.5, 0.75].map((q) => at(list[Math.floor(q * (n - 1))]!)) as [number, number, number];
  const reach = fence * (upper - lower || (log ? Math.LN2 : Math.abs(middle)));
  const near = kept.filter(Number.isFinite).map(at);
  const from = list.findIndex((v) => at(v) >= Math.min(lower - reach, ...near));
  const to = list.findLastIndex((v) => at(v) <= Math.max(upper + reach, ...near));
  const [low, high] = [list[from]!, list[to]!];
  if (reach === 0 || at(high) - at(low) >= crowded * (at(last) - at(first))) return { far: [], total: n };
  return { range: [low, high], far: [...list.subarray(0, from), ...list.subarray(to + 1)], total: n };
}

// Far says how many values are not in their place.
export function Far({ of: { far, total } }: { of: Usual }): JSX.Element | null {
  if (far.length === 0) return null;
  const [low, high] = [far[0]!, far[far.length - 1]!];
  return <p class="quiet far">⚠ {far.length} of {plural(total, "value")} {far.length === 1 ? "lies" : "lie"} far from all others, {low === high ? `at ${number(low)}` : `between ${number(low)} and ${number(high)}`},
    and outside of the plot: a triangle at its edge. “all values” shows {far.length === 1 ? "it in its" : "them in their"} place.</p>;
}

// useUsual leaves values that are far from all others out of a plot, and lets the user see all.
export function useUsual(values: number[], kept: number[] = []): { range?: [number, number]; choice: JSX.Element | null; note: JSX.Element | null } {
  const [part, choose] = useState<"" | "all">("");
  const found = useMemo(() => usual(values, kept), [values.join(), kept.join()]);
  if (!found.range) return { choice: null, note: null };
  return { range: part === "" ? found.range : undefined, note: part === "" ? <Far of={found} /> : null,
    choice: <Choice label="values" of={[["", "usual values"], ["all", "all values"]]} chosen={part} on={choose} /> };
}
