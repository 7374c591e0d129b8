// The one way to the data. Pages know Source; Live reads a server, Embedded (embedded.ts) a report that has the data inside.
import { newKey, Problem } from "./api";
import { json, parse } from "./exact";
import { shown } from "./key";
import type { Curves, Decisions, Detail, Done, History, Importance, Item, Journal, Params, Plugin, Points, Ranked, Resources, Result, Space, Status,
  Stretch, Timeline, TrialPage, TrialQuery } from "./api";

export type Query = Record<string, string | number | undefined> & { metric?: string };

// Made says when a report was made, and by which version of tunehost.
export interface Made {
  at: string;
  version: string;
}

export interface Source {
  // steer is absent where nothing can be changed.
  readonly steer?: Steer;
  // made is set in a report, which does not change.
  readonly made?: Made;
  // offered are the metrics for which there is an answer.
  offered(x: string, what: "curves" | "importance", metrics: string[]): string[];
  experiments(): Promise<Item[]>;
  status(x: string): Promise<Status>;
  space(x: string): Promise<Space>;
  trials(x: string, q: TrialQuery): Promise<TrialPage>;
  points(x: string): Promise<Points>;
  trial(x: string, id: string): Promise<Detail>;
  results(x: string, id: string): Promise<Result[]>;
  best(x: string, metric?: string, scope?: string): Promise<Ranked>;
  history(x: string, metric?: string): Promise<History>;
  curves(x: string, metric: string): Promise<Curves>;
  importance(x: string, metric?: string, mode?: string): Promise<Importance>;
  pareto(x: string): Promise<Ranked[]>;
  lineage(x: string): Promise<{ bests: number[]; stretches: Stretch[] }>;
  resources(x: string): Promise<Resources>;
  timeline(x: string): Promise<Timeline>;
  plugins(x: string): Promise<Plugin[]>;
  decisions(x: string): Promise<Decisions>;
  file(x: string): Promise<string>;
  // journal has the first event that can be read, if that is not the first of all.
  journal(x: string, after: number): Promise<Journal & { oldest?: number }>;
  // text is the end of a text that may grow.
  text(path: TextPath): Promise<string>;
}

export type TextPath = { x: string; of: "host-log" } | { x: string; of: "log"; trial: string; stream: string };

export interface Steer {
  // losses says what running trials would lose if the host ended now; "" for nothing.
  losses(x: string): Promise<string>;
  // send carries out a request once, however often it is sent.
  send(method: "POST" | "PATCH", x: string, path: string, body?: unknown): Promise<Done>;
}

// root is beside the page: a proxy may have a prefix for the server. A report has its answers by paths from the root.
const root = "/api/v1/experiments";
export const at = (x: string, rest = ""): string => `${root}/${encodeURIComponent(x)}${rest}`;
export const one = (x: string, id: string, rest = ""): string => at(x, `/trials/${encodeURIComponent(id)}${rest}`);

// Paths reads everything from the paths of the API.
export abstract class Paths {
  protected abstract get<T>(path: string, query?: Query): Promise<T>;
  protected abstract getText(path: string): Promise<string>;

  offered(_x: string, _what: "curves" | "importance", metrics: string[]): string[] {
    return metrics;
  }

  experiments = async (): Promise<Item[]> => (await this.get<{ experiments: Item[] }>(root)).experiments;
  status = (x: string): Promise<Status> => this.get(at(x));
  space = (x: string): Promise<Space> => this.get(at(x, "/space"));
  trials = (x: string, q: TrialQuery): Promise<TrialPage> => this.get(at(x, "/trials"), { ...q });
  trial = (x: string, id: string): Promise<Detail> => this.get(one(x, id));
  best = (x: string, metric?: string, scope?: string): Promise<Ranked> => this.get(at(x, "/best"), { metric, scope });
  results = async (x: string, id: string): Promise<Result[]> =>
    (await this.get<{ results: Result[] }>(one(x, id, "/results"))).results;
  history = (x: string, metric?: string): Promise<History> => this.get(at(x, "/history"), { metric });
  curves = (x: string, metric: string): Promise<Curves> =>
    this.get(at(x, "/curves"), { metric, points: 100, trials: 2000 });
  importance = (x: string, metric?: string, mode?: string): Promise<Importance> =>
    this.get(at(x, "/importance"), { metric, mode });
  pareto = async (x: string): Promise<Ranked[]> =>
    (await this.get<{ trials: Ranked[] }>(at(x, "/pareto"))).trials;
  lineage = (x: string): Promise<{ bests: number[]; stretches: Stretch[] }> => this.get(at(x, "/lineage"));
  resources = (x: string): Promise<Resources> => this.get(at(x, "/resources"));
  timeline = (x: string): Promise<Timeline> => this.get(at(x, "/timeline"), { spread: "true" });
  plugins = async (x: string): Promise<Plugin[]> =>
    (await this.get<{ plugins: Plugin[] }>(at(x, "/plugins"))).plugins;
  decisions = (x: string): Promise<Decisions> => this.get(at(x, "/decisions"));
  file = (x: string): Promise<string> => this.getText(at(x, "/file"));
  journal = (x: string, after: number): Promise<Journal & { oldest?: number }> => this.get(at(x, "/journal"), { after, limit: 200 });
  points = (x: string): Promise<Points> => this.get(at(x, "/points"));
}

// Live reads a server, and changes its experiments.
export class Live extends Paths implements Source {
  private reads = false;
  // steer is absent for a token that only reads, which the answers say.
  get steer(): Steer | undefined {
    return this.reads ? undefined : this.all;
  }

  private readonly all: Steer = {
    losses: async (x) => (await this.get<{ text: string }>(at(x, "/losses"))).text,
    send: (method, x, rest, body) => this.fetch<Done>(at(x, rest), { method, body: json(body ?? {}),
      headers: { "Content-Type": "application/json", "Idempotency-Key": newKey() } }),
  };

  protected get<T>(path: string, query: Query = {}): Promise<T> {
    const q = new URLSearchParams();
    for (const [k, v] of Object.entries(query)) if (v !== undefined && v !== "") q.set(k, String(v));
    return this.fetch<T>(q.size > 0 ? `${path}?${q}` : path);
  }

  protected async getText(path: string): Promise<string> {
    return (await this.answer(path)).text();
  }

  // The list and a status take no time: a server that does not answer at all is asked again.
  override experiments = async (): Promise<Item[]> => (await this.fetch<{ experiments: Item[] }>(root, undefined, soon)).experiments;
  override status = (x: string): Promise<Status> => this.fetch(at(x), undefined, soon);

  private async fetch<T>(path: string, init?: RequestInit, most = late): Promise<T> {
    if (init) {
      try {
        return parse(await (await this.answer(path, { ...init, signal: AbortSignal.timeout(soon) })).text()) as T;
      } finally {
        this.changed = Date.now();
      }
    }
    const had = this.had.get(path);
    const answer = await this.answer(path, { signal: AbortSignal.timeout(most), headers: { ...this.patience(path), ...(had ? { "If-None-Match": had.tag } : {}) } });
    if (answer.headers.has("Age")) {
      shared.aged++;
      shared.next = Number(answer.headers.get("Tunehost-Next") ?? 0);
    }
    if (answer.status === 304 && had) return had.body as T;
    const body = parse(await answer.text());
    this.remember(path, answer.headers.get("ETag"), body);
    return body as T;
  }

  // had are the last answers, which the server need not send again.
  private readonly had = new Map<string, { tag: string; body: unknown }>();

  private remember(path: string, tag: string | null, body: unknown): void {
    this.had.delete(path);
    if (tag === null) return;
    this.had.set(path, { tag, body });
    for (const oldest of this.had.keys()) if (this.had.size > remembered) this.had.delete(oldest);
  }

  // changed is when this page has changed something: it then reads what that has done.
  private changed = 0;

  // followed are the paths that were read since somebody went to the view that is shown.
  private readonly followed = new Set<string>();

  constructor() {
    super();
    addEventListener("hashchange", () => this.followed.clear());
  }

  // patience lets the server answer with what it has told another page a while ago, so that many pages cost a running
  // experiment as little as one. A view that is opened begins with what there is now.
  private patience(path: string): Record<string, string> {
    if (Date.now() - this.changed < 5000) return {};
    const follows = this.followed.has(path);
    this.followed.add(path);
    return { "Cache-Control": `max-age=${follows ? 30 : 1}` };
  }

  // refused is the key that the server has refused last, and when: it is not shown again for a while.
  private refused?: { key: string; at: number; why: Problem };
  private entered = false;

  private async answer(path: string, init?: RequestInit): Promise<Response> {
    const headers = shown();
    const key = headers["Authorization"] ?? "";
    if (this.refused?.key === key && performance.now() - this.refused.at < rarely) throw this.refused.why;
    const answer = await fetch("." + path, { ...init, headers: { ...init?.headers, ...headers } });
    if (answer.status === 401) {
      const why = this.entered ? restarted : problem(401, await answer.text());
      this.refused = { key, at: performance.now(), why };
      throw why;
    }
    this.entered = true;
    this.reads = answer.headers.get("Tunehost-Access") === "read";
    if (answer.ok || answer.status === 304) return answer;
    const text = await answer.text();
    throw problem(answer.status, text);
  }

  text(of: TextPath): Promise<string> {
    return this.getText(of.of === "log" ? one(of.x, of.trial, `/log?stream=${of.stream}&tail=${tail}`)
      : at(of.x, `/host-log?tail=${tail}`));
  }
}

// restarted is why the server does not know a page that it knew.
const restarted = new Problem(401, "the server was started again, or has new tokens. Open the URL that it has printed when it started");

// rarely is how long, in milliseconds, a page waits before it shows a key again that was refused.
const rarely = 60000;

// soon and late are how long, in milliseconds, a page waits for an answer: a server reads a large record first, and waits
// half a minute for a host.
const soon = 60000;
const late = 300000;

// remembered is how many answers a page remembers.
const remembered = 12;

// shared counts the answers that were made for somebody else, and says how many milliseconds after the last of them there
// may be a newer one.
export const shared = { aged: 0, next: 0 };

// tail is how many bytes of a text are shown.
const tail = 200000;

// gateway are the answers of a reverse proxy whose server does not answer. Those of the server itself are JSON.
const gateway = [502, 503, 504];

export function problem(status: number, text: string): Problem {
  try {
    const p = JSON.parse(text) as { detail?: string; title?: string; loses?: boolean };
    return new Problem(status, p.detail ?? p.title ?? text, p.loses === true);
  } catch {
    if (gateway.includes(status)) return new Problem(status, `the server is gone (${status})`);
    if (/^\s*</.test(text)) return new Problem(status, `the server answered ${status}`); // a page, such as of a proxy
    return new Problem(status, `the server answered ${status}: ${text.slice(0, 200)}`);
  }
}

export const isParams = (v: unknown): v is Params => typeof v === "object" && v !== null;
