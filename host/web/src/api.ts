// The models of the API. openapi.d.ts is generated of docs/openapi.json by `make web` and is not committed: a field
// that the API does not have is an error of the type checker.
import { copyMember } from "./exact";
import { named } from "./named";
import type { components } from "./openapi";

type Schemas = components["schemas"];

// Numeric is a number of a trial: JSON has no NaN and no infinities.
export type Numeric = number | "NaN" | "Infinity" | "-Infinity";

export type Item = Schemas["Item"];
export type Status = Schemas["Status"];
export type Trial = Schemas["Trial"] & { params: Params; metrics: Record<string, Numeric> };
export type Ranked = Schemas["Ranked"] & { params: Params; metrics: Record<string, Numeric> };
export type Params = Record<string, unknown>;
export type Detail = Schemas["Detail"] & { params: Params; metrics: Record<string, Numeric> };
export type Result = Schemas["Result"] & { metrics: Record<string, Numeric> };
export type Space = Schemas["Space"];
export type Parameter = Schemas["Parameter"];
export type History = Schemas["Improving"];
export type Points = Schemas["Points"];
export type Curves = Schemas["LearningCurves"];
export type Curve = Schemas["LearningCurve"];
export type Timeline = Schemas["Timeline"];
export type Segment = Schemas["Segment"];
export type Journal = Schemas["JournalPage"];
export type Share = Schemas["Share"];
export type Importance = Schemas["ImportanceOf"];
export type Stretch = Schemas["Stretch"] & { params: Params };
export type Plugin = Schemas["Plugin"];
export type Decisions = Schemas["Decisions"];
export type Said = Schemas["Said"];
export type Given = Schemas["GivenTrial"];
export type Done = Schemas["Done"];
export type Resources = Schemas["ResourceList"];

// repeats is how often each suggestion runs. Its value is a mean if that is more than once.
export const repeats = (space?: Space): number => Number(space?.settings["repeat"] ?? 1);

// Leader is the best trial or, with several runs of each, the best suggestion.
export type Leader = Pick<Schemas["Ranked"], "number" | "mean_of" | "suggestion">;

// leaderOf has the best of an answer: it fits the values of that answer. The status may know of a better one by then.
export function leaderOf(best: number[], repeat: number): Leader | undefined {
  const [one] = best;
  if (one === undefined) return undefined;
  const suggestion = Math.floor(one / repeat);
  return repeat > 1 ? { number: suggestion * repeat, mean_of: best, suggestion } : { number: one };
}

// runsOf are the trials whose value is the best: one, or the runs whose mean it is.
export const runsOf = (best?: Pick<Schemas["Ranked"], "number" | "mean_of"> | null): number[] => (best ? best.mean_of ?? [best.number] : []);

// TrialPage is a part of the list of trials; with `fields` most fields of a trial may be missing.
export interface TrialPage {
  total: number;
  found: number;
  trials: Trial[];
}

export interface TrialQuery {
  state?: string;
  where?: string;
  sort?: string;
  offset?: number;
  limit?: number;
  fields?: string;
}

// ids are unique names of requests that change something: a request that is sent again is carried out once.
export const newKey = (): string => Array.from(crypto.getRandomValues(new Uint8Array(16)),
  (b) => b.toString(16).padStart(2, "0")).join("");

// Problem is an answer that refuses a request: its message is the line that the command would print.
export class Problem extends Error {
  constructor(readonly status: number, message: string, readonly loses = false) {
    super(message);
  }
}

// param returns a parameter by the name that the space has for it: of one in a group the path, with slashes.
export function param(params: Params, name: string): unknown {
  let at: unknown = params;
  for (const part of name.split("/")) at = isGroup(at) && Object.hasOwn(at, part) ? at[part] : undefined;
  return at;
}

const isGroup = (v: unknown): v is Params => typeof v === "object" && v !== null && !Array.isArray(v);

function join(to: Params, from: Params): void {
  for (const name of Object.keys(from)) copyMember(from, name, to, name);
}

// flat are all parameters by such names. A value that is an object counts as a group, unless the space has a parameter of
// that name: then it is a choice.
export function flat(params: Params, space?: Pick<Space, "parameters">, prefix = ""): Params {
  const group = (name: string, v: unknown): v is Params => isGroup(v) && Object.keys(v).length > 0
    && !space?.parameters.some((p) => p.name === name);
  const all: Params = named();
  for (const [k, v] of Object.entries(params)) {
    if (!group(prefix + k, v)) copyMember(params, k, all, prefix + k);
    else join(all, flat(v, space, `${prefix}${k}/`));
  }
  return all;
}

// toNumber returns NaN for what is no finite number.
export const toNumber = (v: unknown): number => (typeof v === "number" ? v : typeof v === "bigint" ? Number(v) : v === "Infinity" ? Infinity
  : v === "-Infinity" ? -Infinity : NaN);
