// The messages of the host, for authors.

import { Reader, Writer } from "./proto";
import { Random } from "./random";
import { Space } from "./space";

/** The description of a plugin. */
export class Info {
  constructor(
    /** The name that users write in the experiment file: lower case, digits and dashes. */
    public name: string,
    public version: string,
    /** A description in one sentence. */
    public summary: string,
    /** JSON Schema of the options: an object with additionalProperties false, a description and a default for each. */
    public options: string,
  ) {}

  write(kind: string): Writer {
    const info = new Writer();
    info.string(1, kind);
    info.string(2, this.name);
    info.string(3, this.version);
    info.string(4, this.summary);
    info.string(5, this.options);
    const response = new Writer();
    response.message(1, info);
    return response;
  }
}

/** The properties of an opened searcher or scheduler. */
export class Traits {
  independent: bool = false;
  quiet: bool = false;
  runAhead: u32 = 0;
  metrics: bool = false;
  saves: bool = false;
  requires: string[] = [];
  combinesGrid: bool = false;
  /** It is told results of a restarted trial also for iterations that the trial had reported before (Event.again), and
   * decides on them. Without it, it is told each iteration once. */
  again: bool = false;

  write(): Writer {
    const w = new Writer();
    w.bool(1, this.independent);
    w.bool(2, this.quiet);
    w.uint(3, this.runAhead);
    w.bool(4, this.metrics);
    w.bool(5, this.saves);
    for (let i = 0; i < this.requires.length; i++) w.string(6, this.requires[i]);
    w.bool(8, this.combinesGrid);
    w.bool(9, this.again);
    const response = new Writer();
    response.message(1, w);
    return response;
  }
}

export class Objective {
  metric: string = "";
  maximize: bool = false;
}

/** What a searcher or scheduler receives when it is opened. */
export class Problem {
  space: Space = new Space();
  objectives: Objective[] = [];
  /** The plugin's seed. */
  seed: u64 = 0;
  /** How many trials are planned; 0 when unbounded. */
  trials: u64 = 0;
  /** How many may run at a time; 0 when unbounded. */
  concurrency: u64 = 0;
  /** What each trial requests, in the form of the experiment file, as JSON: `{"cpu": "2"}`.
   * Empty if it is not known or consists of several bundles. */
  request: string = "";
  /** The total resources when the experiment began, in the same form. Empty if
   * another system runs the trials. */
  capacity: string = "";

  static read(r: Reader): Problem {
    const p = new Problem();
    while (r.next()) {
      if (r.field == 1) p.space = Space.read(r.message());
      else if (r.field == 2) p.objectives.push(readObjective(r.message()));
      else if (r.field == 3) p.seed = r.uint();
      else if (r.field == 4) p.trials = r.uint();
      else if (r.field == 5) p.concurrency = r.uint();
      else if (r.field == 6) p.request = r.string();
      else if (r.field == 7) p.capacity = r.string();
      else r.skip();
    }
    return p;
  }
}

function readObjective(r: Reader): Objective {
  const o = new Objective();
  while (r.next()) {
    if (r.field == 1) o.metric = r.string();
    else if (r.field == 2) o.maximize = r.bool();
    else r.skip();
  }
  return o;
}

/** The request to open a searcher or scheduler, and the options of a trainable. */
export class Opening {
  problem: Problem = new Problem();
  options: string = "";

  static read(r: Reader): Opening {
    const o = new Opening();
    while (r.next()) {
      if (r.field == 1) o.problem = Problem.read(r.message());
      else if (r.field == 2) o.options = r.string();
      else r.skip();
    }
    return o;
  }
}

/** The kinds of events, by their number in the protocol; other kinds may occur and must be ignored. */
export enum EventKind {
  TrialAdded = 1,
  TrialStarted = 2,
  ResultReported = 3,
  TrialPaused = 4,
  TrialCompleted = 5,
  TrialFailed = 6,
  TrialRemoved = 7,
  CheckpointSaved = 8,
  TrialRequeued = 9,
  ExperimentEnded = 10,
  SearchEnded = 11,
}

/** One event. */
export class Event {
  number: u64 = 0;
  kind: EventKind = EventKind.TrialAdded;
  trial: u32 = 0;
  attempt: u32 = 0;
  iteration: u64 = 0;
  /** The trial's point (TrialAdded). */
  point: f64[] = [];
  /** One for each objective: smaller is better, never NaN. */
  losses: f64[] = [];
  /** Empty unless asked for (Traits). */
  metrics: Map<string, f64> = new Map<string, f64>();
  seconds: f64 = 0;
  /** Whether all of seconds was told by the caller of ask and tell, and nothing of it measured. */
  secondsTold: bool = false;
  /** Whether a restarted trial reports this iteration once more. Only told with the trait again. */
  again: bool = false;
  reason: string = "";

  static read(r: Reader): Event {
    const e = new Event();
    while (r.next()) {
      switch (r.field) {
        case 1: e.number = r.uint(); break;
        case 2: e.kind = <EventKind>r.uint(); break;
        case 3: e.trial = <u32>r.uint(); break;
        case 4: e.attempt = <u32>r.uint(); break;
        case 5: e.iteration = r.uint(); break;
        case 6: e.point = readPoint(r.message()); break;
        case 7: r.doubles(e.losses); break;
        case 8: readMetric(r.message(), e.metrics); break;
        case 9: e.seconds = r.double(); break;
        case 10: e.reason = r.string(); break;
        case 11: e.secondsTold = r.uint() != 0; break;
        case 12: e.again = r.uint() != 0; break;
        default: r.skip();
      }
    }
    return e;
  }
}

function readPoint(r: Reader): f64[] {
  const p: f64[] = [];
  while (r.next()) {
    if (r.field == 1) r.doubles(p);
    else r.skip();
  }
  return p;
}

function readMetric(r: Reader, to: Map<string, f64>): void {
  let name = "";
  let value: f64 = 0;
  while (r.next()) {
    if (r.field == 1) name = r.string();
    else if (r.field == 2) value = r.double();
    else r.skip();
  }
  to.set(name, value);
}

/** Asks for one suggestion. */
export class Request {
  /** The suggestion's number, from 0. */
  trial: u32 = 0;
  seed: u64 = 0;
  /** Fixed coordinates, NaN for the others; they replace those of the answer. */
  given: f64[] | null = null;
  /** Made from the seed: the only source of randomness that may be used. */
  random: Random = new Random(0);

  static read(r: Reader): Request {
    const q = new Request();
    while (r.next()) {
      if (r.field == 1) q.trial = <u32>r.uint();
      else if (r.field == 2) q.seed = r.uint();
      else if (r.field == 3) q.given = readPoint(r.message());
      else r.skip();
    }
    q.random = new Random(q.seed);
    return q;
  }

  /** The point with its coordinates replaced by the given ones. */
  overlay(point: f64[]): f64[] {
    const given = this.given;
    if (!given) return point;
    const out = point.slice();
    for (let i = 0; i < min(given.length, out.length); i++) {
      if (!isNaN(given[i])) out[i] = given[i];
    }
    return out;
  }
}

/** Whether a trial continues after a result. */
export enum Verdict {
  Continue = 0,
  Pause = 1,
  Stop = 2,
}

/** The decision on one result. */
export class Decision {
  verdict: Verdict = Verdict.Continue;
  /** (Continue) no decision is needed before this iteration of the trial. */
  until: u64 = 0;
  /** The reason, for users; expected with Pause and Stop. */
  reason: string = "";

  static continueUntil(iteration: u64): Decision {
    const d = new Decision();
    d.until = iteration;
    return d;
  }

  static pause(reason: string): Decision {
    const d = new Decision();
    d.verdict = Verdict.Pause;
    d.reason = reason;
    return d;
  }

  static stop(reason: string): Decision {
    const d = new Decision();
    d.verdict = Verdict.Stop;
    d.reason = reason;
    return d;
  }

  write(event: u64): Writer {
    const w = new Writer();
    w.uint(1, event);
    w.uint(2, this.verdict);
    w.uint(3, this.until);
    w.string(4, this.reason);
    return w;
  }
}

/** The trial that an attempt trains. */
export class Trial {
  id: string = "";
  number: u32 = 0;
  attempt: u32 = 0;
  experiment: string = "";
  params: string = "";
  seed: u64 = 0;
  /** The iteration of the state to continue from, or 0. */
  iteration: u64 = 0;

  static read(r: Reader): Trial {
    const t = new Trial();
    while (r.next()) {
      switch (r.field) {
        case 1: t.id = r.string(); break;
        case 2: t.number = <u32>r.uint(); break;
        case 3: t.attempt = <u32>r.uint(); break;
        case 4: t.experiment = r.string(); break;
        case 5: t.params = r.string(); break;
        case 7: t.seed = r.uint(); break;
        case 10: t.iteration = r.uint(); break;
        default: r.skip();
      }
    }
    return t;
  }
}
