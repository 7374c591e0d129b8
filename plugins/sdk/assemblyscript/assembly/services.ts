// The methods of the protocol.

import { Event, EventKind, Opening, Request, Trial } from "./messages";
import { Plugins, Scheduler, Searcher, Trainable } from "./plugin";
import { Reader, Writer } from "./proto";
import { Run } from "./run";
import { TIGHT } from "./space";
import { Values } from "./values";

// gRPC's status codes.
const INVALID_ARGUMENT: u8 = 3;
const FAILED_PRECONDITION: u8 = 9;
const ABORTED: u8 = 10;
const OUT_OF_RANGE: u8 = 11;
const UNIMPLEMENTED: u8 = 12;

let openSearcher: Searcher | null = null;
let openScheduler: Scheduler | null = null;
let openTrainable: Trainable | null = null;
let params: i32 = 0; // of the opened problem's space

/** An answer: a status code, and a message or a text. */
export class Answer {
  constructor(public code: u8, public body: Writer) {}

  static ok(body: Writer): Answer {
    return new Answer(0, body);
  }

  static error(code: u8, why: string): Answer {
    const w = new Writer();
    w.text(why);
    return new Answer(code, w);
  }
}

const NOT_OPEN: string = "the plugin was not opened";

/** Calls a method by its gRPC name. */
export function call(method: string, r: Reader): Answer {
  const searcher = Plugins.searcher;
  if (searcher) {
    if (method == "/tunehost.v1.SearcherService/DescribeSearcher") return Answer.ok(searcher.write("searcher"));
    if (method == "/tunehost.v1.SearcherService/OpenSearcher") return opensSearcher(r);
    if (method == "/tunehost.v1.SearcherService/Suggest") return suggest(r);
  }
  const scheduler = Plugins.scheduler;
  if (scheduler) {
    if (method == "/tunehost.v1.SchedulerService/DescribeScheduler") return Answer.ok(scheduler.write("scheduler"));
    if (method == "/tunehost.v1.SchedulerService/OpenScheduler") return opensScheduler(r);
    if (method == "/tunehost.v1.SchedulerService/Decide") return decide(r);
  }
  const trainable = Plugins.trainable;
  if (trainable) {
    if (method == "/tunehost.v1.TrainableService/DescribeTrainable") return Answer.ok(trainable.write("trainable"));
    if (method == "/tunehost.v1.TrainableService/OpenTrainable") return opensTrainable(r);
    if (method == "/tunehost.v1.GuestService/GuestTrain") return train(r);
  }
  return Answer.error(UNIMPLEMENTED, "there is no method " + method);
}

/** The error in the problem or the options; "" if there is none. */
function wrong(options: Values): string {
  options.close();
  return options.error;
}

function opensSearcher(r: Reader): Answer {
  const o = Opening.read(r);
  let why = o.problem.space.unknown();
  if (why.length > 0) return Answer.error(INVALID_ARGUMENT, why);
  const options = new Values(o.options);
  const opened = Plugins.openSearcher!(o.problem, options);
  why = wrong(options);
  if (why.length > 0) return Answer.error(INVALID_ARGUMENT, why);
  openSearcher = opened;
  params = o.problem.space.params.length;
  return Answer.ok(opened.traits.write());
}

function opensScheduler(r: Reader): Answer {
  const o = Opening.read(r);
  let why = o.problem.space.unknown();
  if (why.length > 0) return Answer.error(INVALID_ARGUMENT, why);
  const options = new Values(o.options);
  const opened = Plugins.openScheduler!(o.problem, options);
  why = wrong(options);
  if (why.length > 0) return Answer.error(INVALID_ARGUMENT, why);
  openScheduler = opened;
  return Answer.ok(opened.traits.write());
}

function suggest(r: Reader): Answer {
  const searcher = openSearcher;
  if (!searcher) return Answer.error(FAILED_PRECONDITION, NOT_OPEN);
  const response = new Writer();
  const requests: Request[] = [];
  while (r.next()) {
    if (r.field == 1) searcher.observe(Event.read(r.message()));
    else if (r.field == 2) requests.push(Request.read(r.message()));
    else r.skip();
  }
  for (let i = 0; i < requests.length; i++) {
    const answer = searcher.suggest(requests[i]);
    // If no point satisfies the constraints, asking again would change nothing.
    if (answer.error.length > 0) return Answer.error(answer.error == TIGHT ? OUT_OF_RANGE : ABORTED, answer.error);
    if (answer.status != 0) {
      response.uint(2, answer.status);
      break;
    }
    if (answer.point.length != params) return Answer.error(ABORTED, "its point has length " + answer.point.length.toString() + "; expected " + params.toString() + ", one for each parameter");
    response.message(1, pointOf(requests[i].overlay(answer.point)));
  }
  return Answer.ok(response);
}

function pointOf(values: f64[]): Writer {
  const w = new Writer();
  w.doubles(1, values);
  return w;
}

function decide(r: Reader): Answer {
  const scheduler = openScheduler;
  if (!scheduler) return Answer.error(FAILED_PRECONDITION, NOT_OPEN);
  const response = new Writer();
  while (r.next()) {
    if (r.field != 1) {
      r.skip();
      continue;
    }
    const event = Event.read(r.message());
    if (event.kind != EventKind.ResultReported) {
      scheduler.observe(event);
      continue;
    }
    const decision = scheduler.decide(event);
    if (decision) response.message(1, decision.write(event.number));
  }
  return Answer.ok(response);
}

function opensTrainable(r: Reader): Answer {
  let json = "";
  while (r.next()) {
    if (r.field == 1) json = r.string();
    else r.skip();
  }
  const options = new Values(json);
  const opened = Plugins.openTrainable!(options);
  const why = wrong(options);
  if (why.length > 0) return Answer.error(INVALID_ARGUMENT, why);
  openTrainable = opened;
  const response = new Writer();
  response.bool(1, opened.reusable);
  response.bool(3, opened.saves);
  return Answer.ok(response);
}

function train(r: Reader): Answer {
  const trainable = openTrainable;
  if (!trainable) return Answer.error(FAILED_PRECONDITION, NOT_OPEN);
  let trial = new Trial();
  let restored = false;
  let state = new Uint8Array(0);
  while (r.next()) {
    if (r.field == 1) trial = Trial.read(r.message());
    else if (r.field == 2) restored = r.bool();
    else if (r.field == 3) state = r.bytes();
    else r.skip();
  }
  const run = new Run(trial, restored ? state : null);
  if (run.params.error.length > 0) return Answer.error(INVALID_ARGUMENT, run.params.error);
  trainable.train(run);
  const response = new Writer();
  response.string(1, run.error.length > 0 ? run.error : run.params.error);
  response.bool(2, run.restoreFailed);
  return Answer.ok(response);
}
