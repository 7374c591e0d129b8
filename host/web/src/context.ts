import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Watched } from "./live";
import type { Source } from "./source";

export const Context = createContext<Source | null>(null);

export function useSource(): Source {
  const source = useContext(Context);
  if (!source) throw new Error("no source");
  return source;
}

// PageProps are what each page about an experiment gets.
export interface PageProps {
  x: string;
  watched: Watched;
  id?: string;
}
