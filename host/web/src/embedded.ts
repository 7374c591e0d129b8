// The data of a report, which are inside its page: replies of the API by their paths.
import { Problem } from "./api";
import type { Curves, Detail, Journal, Space, TrialPage, TrialQuery } from "./api";
import { parse } from "./exact";
import { sorted } from "./sort";
import { at, one, Paths, problem } from "./source";
import type { Made, Query, Source, TextPath } from "./source";

// Reply is an answer; with a status, a problem. Metrics are told apart by ?metric= in the path.
interface Reply {
  status?: number;
  body: unknown;
}

interface Data {
  made: string;
  version: string;
  answers: Record<string, Reply>;
}

// unpacked reads what host/web/report.go has written.
export async function unpacked(text: string): Promise<Embedded> {
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Embedded(parse(await new Response(stream).text()) as Data);
}

const pageSize = 200;

// Embedded reads a report.
export class Embedded extends Paths implements Source {
  readonly made: Made;

  constructor(private readonly data: Data) {
    super();
    this.made = { at: data.made, version: data.version };
  }

  protected get<T>(path: string, query: Query = {}): Promise<T> {
    const reply = this.answer(path, query);
    if (!reply) return Promise.reject(new Problem(404, "the report does not have this"));
    if (reply.status) return Promise.reject(problem(reply.status, JSON.stringify(reply.body)));
    return Promise.resolve(reply.body as T);
  }

  private answer(path: string, { metric }: Query): Reply | undefined {
    const key = metric ? `${path}?metric=${encodeURIComponent(metric)}` : path;
    return Object.hasOwn(this.data.answers, key) ? this.data.answers[key] : undefined;
  }

  protected getText(path: string): Promise<string> {
    return this.get<string>(path);
  }

  override offered(x: string, what: "curves" | "importance", metrics: string[]): string[] {
    return metrics.filter((metric) => this.answer(at(x, "/" + what), { metric }));
  }

  override trials = async (x: string, q: TrialQuery): Promise<TrialPage> => {
    if (q.where) throw new Problem(422, "a report does not filter by an expression; tunehost trials DIR --where does");
    const all = await this.get<TrialPage>(at(x, "/trials"));
    const fitting = all.trials.filter((t) => !q.state || q.state.split(",").includes(t.state));
    const list = q.sort ? sorted(fitting, await this.get<Space>(at(x, "/space")), q.sort) : fitting;
    const from = q.offset ?? 0;
    return { total: all.total, found: list.length, trials: list.slice(from, from + (q.limit ?? 100)) };
  };

  // trial is what the list has, and, of some trials, what only their page shows.
  override trial = async (x: string, id: string): Promise<Detail> => {
    const { trials } = await this.get<TrialPage>(at(x, "/trials"));
    const found = trials.find((t) => String(t.number) === id || t.trial === id);
    if (!found) throw new Problem(404, "the report does not have this trial");
    const more = this.answer(one(x, String(found.number)), {})?.body as Partial<Detail> | undefined;
    return { checkpoints: [], reasons: [], ...found, ...more } as Detail;
  };

  override results = async (x: string, id: string): ReturnType<Source["results"]> => {
    const path = one(x, id, "/results");
    if (!this.answer(path, {})) throw new Problem(404, "the report has the results of some trials, and not of this one; tunehost results DIR has all");
    return (await this.get<{ results: Awaited<ReturnType<Source["results"]>> }>(path)).results;
  };

  override curves = (x: string, metric: string): Promise<Curves> => this.get(at(x, "/curves"), { metric });

  override journal = async (x: string, after: number): Promise<Journal & { oldest: number }> => {
    const all = await this.get<Journal>(at(x, "/journal"));
    const oldest = all.entries[0]?.number ?? 1;
    const from = after < 0 ? all.total + after : after;
    const first = Math.max(0, all.entries.findIndex((e) => e.number > from));
    return { ...all, oldest, entries: all.entries.slice(first, first + pageSize) };
  };

  async text(of: TextPath): Promise<string> {
    if (of.of === "log") throw new Problem(404, "a report does not have the output of trials");
    return this.get<string>(at(of.x, "/host-log"));
  }
}
