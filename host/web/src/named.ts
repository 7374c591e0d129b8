// Objects of what users have named: they have no prototype, as a parameter may be named constructor or __proto__.

// Named has something by names.
export type Named<T> = Record<string, T>;

// named makes one of entries.
export const named = <T>(entries: Iterable<readonly [string, T]> = []): Named<T> =>
  Object.setPrototypeOf(Object.fromEntries(entries), null) as Named<T>;

// changed is one with another value of a name; undefined: without it.
export function changed<T>(of: Named<T>, name: string, v: T | undefined): Named<T> {
  const all = new Map(Object.entries(of));
  if (v === undefined) all.delete(name);
  else all.set(name, v);
  return named(all);
}

// bare takes the prototypes from what JSON.parse has made.
export function bare(v: unknown): unknown {
  if (typeof v !== "object" || v === null) return v;
  if (!Array.isArray(v)) Object.setPrototypeOf(v, null);
  for (const of of Array.isArray(v) ? v as unknown[] : Object.values(v)) bare(of);
  return v;
}
