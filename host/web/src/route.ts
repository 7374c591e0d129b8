// The address of a view is behind the # of the URL, so that it works in a report, which is a file, too.
import { useEffect, useState } from "preact/hooks";

export interface Route {
  path: string[];
  query: URLSearchParams;
}

export function parse(hash: string): Route {
  const [path = "", ...query] = hash.replace(/^#\/?/, "").split("?");
  return { path: path.split("/").filter(Boolean).map(decode), query: new URLSearchParams(query.join("?")) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// listed are the names of a list in an address, which joined has made. A name may have commas, and is not empty.
export const listed = (text: string | null): string[] | undefined => text?.split(",").filter(Boolean).map(decode);

export const joined = (names: string[]): string => names.map(encodeURIComponent).join(",");

export function href(path: (string | number)[], query?: Record<string, string | undefined>): string {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(query ?? {})) if (v !== undefined && v !== "") q.set(k, v);
  const text = q.toString();
  return "#/" + path.map((p) => encodeURIComponent(p)).join("/") + (text ? "?" + text : "");
}

export function useRoute(): Route {
  const [route, set] = useState(() => parse(location.hash));
  useEffect(() => {
    const changed = (): void => set(parse(location.hash));
    addEventListener("hashchange", changed);
    changed(); // the address may have changed since the first drawing
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}

// setQuery changes parameters of the view's address; with step, Back undoes it.
export function setQuery(changes: Record<string, string | undefined>, step = false): void {
  const at = parse(location.hash);
  const q: Record<string, string | undefined> = { ...Object.fromEntries(at.query), ...changes };
  if (step) history.pushState(null, "", href(at.path, q));
  else history.replaceState(null, "", href(at.path, q));
  dispatchEvent(new HashChangeEvent("hashchange"));
}
