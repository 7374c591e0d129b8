// Data that stays up to date while its page is visible.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Status } from "./api";
import { Problem } from "./api";
import type { Source } from "./source";
import { shared } from "./source";

// Loaded is what a page has of its data. Old data stay while newer ones are read, and when they cannot be read.
export interface Loaded<T> {
  data?: T;
  error?: Problem;
  // seen is when the data were read.
  seen?: number;
  // other says that the data are of another part than the one that is asked for, which is not read yet.
  other?: boolean;
}

// silent is how long, in milliseconds, a server may take for an answer until a page says that there is none.
export const silent = 10000;

// unanswered is what a page says of a request that has no answer yet.
export const unanswered = new Problem(0, `the server has not answered for ${silent / 1000} seconds`);

const asProblem = (e: unknown): Problem => (e instanceof Problem ? e
  : new Problem(0, "the server cannot be reached"));

// over is the event of an experiment that has stopped running: its pages read the last of it at once.
const over = "over";

const rest = (ms: number): Promise<void> => new Promise((done) => {
  const end = (): void => {
    clearTimeout(timer);
    document.removeEventListener(over, end);
    done();
  };
  const timer = setTimeout(end, ms);
  document.addEventListener(over, end);
});

// Pauses between two reads: short, but ten times as long as the last read took, so that looking costs a running
// experiment little.
const shortest = 300;
const longest = 15000;
// again is the pause after an answer that may be old. It is longer if there is no newer one so soon.
const again = (): number => Math.min(longest, Math.max(700, shared.next));
const pause = (took: number): number => Math.min(longest, Math.max(shortest, 10 * took));

// Wanted is how data are read.
interface Wanted {
  // awaits says that an answer takes no time, so that a server that gives none for long is not there.
  awaits?: boolean;
  // part is what a control of the page chooses of the data: those of another part stay until these are there, so that the
  // control stays, too, and keeps the focus.
  part?: string;
}

// useData reads data again whenever version changes; of says what they depend on.
export function useData<T>(of: string, version: number, read: () => Promise<T>, { awaits, part = "" }: Wanted = {}): Loaded<T> {
  const key = JSON.stringify([of, part]);
  const [loaded, set] = useState<Loaded<T> & { of?: string; key?: string }>({});
  const wanted = useRef({ key, version, read });
  wanted.current = { key, version, read };
  const busy = useRef<string | undefined>(undefined);
  const alive = useAlive();
  useEffect(() => {
    if (busy.current === key) return;
    busy.current = key;
    void (async () => {
      for (let done = -1; alive.current && wanted.current.key === key && wanted.current.version !== done;) {
        done = wanted.current.version;
        const began = performance.now();
        const { aged } = shared;
        const fail = (error: Problem): void => {
          if (alive.current && wanted.current.key === key) set((old) => ({ ...(old.of === of ? old : {}), of, key, error, other: old.of === of && (old.other || old.key !== key) }));
        };
        const timer = awaits ? setTimeout(() => fail(unanswered), silent) : undefined;
        try {
          const data = await wanted.current.read();
          if (alive.current && wanted.current.key === key) set({ of, key, data, seen: Date.now() });
        } catch (e) {
          fail(asProblem(e));
        }
        clearTimeout(timer);
        const behind = shared.aged > aged;
        if (behind) done = -1; // it is asked for again, until it was made for this page
        await rest(Math.max(pause(performance.now() - began), behind ? again() : 0));
      }
      if (busy.current === key) busy.current = undefined;
    })();
  }, [key, version]);
  if (loaded.of !== of) return {};
  return loaded.key === key ? loaded : { data: loaded.data, seen: loaded.seen, other: true };
}

function useAlive(): { current: boolean } {
  const alive = useRef(true);
  useEffect(() => {
    alive.current = true;
    return () => { alive.current = false; };
  }, []);
  return alive;
}

// Watched is the status of an experiment; version grows when something has changed.
export interface Watched {
  status?: Status;
  error?: Problem;
  // lost is since when the server has not answered; seen is when it last did.
  lost?: number;
  seen?: number;
  version: number;
  // fell says why the best value is worse than it was.
  fell?: string;
}

// every is how often a visible page looks at an experiment: with the quarter of a second that a status is old at most,
// each result is shown within a second.
const every = 750;

// untilLook is how long a page waits before it looks again. All pages look at the same moments by the clock, unless that
// takes long: the server then reads what is new once for all of them, and has nothing to do in between.
const untilLook = (least: number): number => (least >= every ? least
  : shortest + every - ((Date.now() + shortest) % every));

// useWatch follows an experiment by looking at its status. A hidden page does not look. Nothing holds a connection: a
// browser has only six connections to a server, for all of its pages.
export function useWatch(source: Source, x: string): Watched {
  const [watched, set] = useState<Watched & { x: string }>({ x, version: 0 });
  useEffect(() => {
    const follower = new Follower(source, x, (change) => set((old) => change(old.x === x ? old : { x, version: 0 })));
    return () => follower.end();
  }, [source, x]);
  return watched.x === x ? watched : { version: 0 };
}

type State = Watched & { x: string };

// acted is the event of a page that has changed something: it looks at once what that has done. Its detail is the path.
export const acted = "acted";

// underway are the words for what a trial was asked for, by the end of the path.
const underway: Record<string, string> = { pause: "pausing", resume: "continuing", stop: "stopping", retry: "starting again" };

// stale is how long, in milliseconds, a page at most waits for a state that it has asked for.
const stale = 10000;

interface Asked {
  of: string;
  word: string;
}

// useAsked says what a trial was asked for on this page until another state is seen, and counts while it waits for that.
export function useAsked(trial: string, state?: string): { word?: string; version: number } {
  const of = `${trial} ${state}`;
  const [asked, ask] = useState<Asked>();
  const waits = asked?.of === of;
  const version = useTicks(shortest, waits);
  useEffect(() => {
    const heard = (e: Event): void => {
      const word = underway[String((e as CustomEvent).detail).split("/").pop() ?? ""];
      if (word) ask({ of, word });
    };
    document.addEventListener(acted, heard);
    return () => document.removeEventListener(acted, heard);
  }, [of]);
  useEffect(() => {
    const timer = setTimeout(() => ask(undefined), stale);
    return () => clearTimeout(timer);
  }, [asked]);
  return { word: waits ? asked.word : undefined, version };
}

class Follower {
  private ended = false;
  private reading = false;
  private timer = 0;
  private last = "";
  private runs = false;

  constructor(private readonly source: Source, private readonly x: string,
    private readonly tell: (change: (old: State) => State) => void) {
    document.addEventListener("visibilitychange", this.look);
    document.addEventListener(acted, this.look);
    this.look();
  }

  end(): void {
    this.ended = true;
    document.removeEventListener("visibilitychange", this.look);
    document.removeEventListener(acted, this.look);
    clearTimeout(this.timer);
  }

  // look reads the status, and sees to it that somebody looks again.
  private look = (): void => {
    clearTimeout(this.timer);
    if (this.reading || this.ended || document.hidden && this.last !== "") return;
    this.reading = true;
    void this.read().then((took) => {
      this.reading = false;
      if (!this.ended && !this.source.made) this.timer = setTimeout(this.look, untilLook(pause(took)));
    });
  };

  // read returns how long it took.
  private async read(): Promise<number> {
    const began = performance.now();
    const timer = setTimeout(() => this.fail(unanswered), silent);
    try {
      const status = await this.source.status(this.x);
      const text = substance(status);
      const same = text === this.last;
      this.last = text;
      const ended = this.runs && status.state !== "running";
      this.runs = status.state === "running";
      if (!this.ended) this.tell((old) => ({ x: this.x, status, seen: Date.now(), version: old.version + (same && !old.lost ? 0 : 1) }));
      if (ended) document.dispatchEvent(new Event(over));
    } catch (e) {
      this.fail(asProblem(e));
    }
    clearTimeout(timer);
    return performance.now() - began;
  }

  private fail(error: Problem): void {
    if (!this.ended) this.tell((old) => ({ ...old, error, lost: old.lost ?? Date.now() }));
  }
}

// substance is a status without what changes with time alone.
const substance = (status: Status): string => JSON.stringify({ ...status, elapsed_s: 0, left_s: 0,
  overdue: status.overdue?.map((o) => o.kind + o.name) });

// useNow reads something again, once in `ms`, while the page is visible and `on` holds.
export function useNow<T>(key: string, ms: number, on: boolean, read: () => Promise<T>): Loaded<T> {
  return useData(key, useTicks(ms, on), read);
}

// useTicks counts while the page is visible.
export function useTicks(ms: number, on = true): number {
  const [n, set] = useState(0);
  const was = useRef(on);
  useEffect(() => {
    if (was.current && !on) set((old) => old + 1); // once more, for what came last
    was.current = on;
    if (!on) return undefined;
    const timer = setInterval(() => { if (!document.hidden) set((old) => old + 1); }, ms);
    return () => clearInterval(timer);
  }, [ms, on]);
  return n;
}
