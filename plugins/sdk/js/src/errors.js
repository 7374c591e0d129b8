/** Thrown by a report when training has to end now; do not catch it. */
export class StoppedError extends Error {
  /** @param {boolean} [paused] the trial will continue later */
  constructor(paused = false) {
    super(paused ? "the trial was told to stop for now: it is paused" : "the trial was told to stop");
    this.name = "StoppedError";
    this.paused = paused;
  }
}

/**
 * Thrown by a report when nobody has decided that training ends: the host is gone, or has killed the trial. The last
 * result may be missing in the record, so nothing that the trial writes from now on is final; do not catch it.
 */
export class KilledError extends Error {
  /** @param {string} [message] */
  constructor(message = "the trial was killed, or its host is gone") {
    super(message);
    this.name = "KilledError";
  }
}

/** Fails a trial that could not start to train; retrying does not help. */
export class StartError extends Error {
  /** @param {string} message @param {ErrorOptions} [options] */
  constructor(message, options) {
    super(message, options);
    this.name = "StartError";
  }
}

/** Fails a trial whose checkpoint could not be loaded. The host may try once more without it. */
export class RestoreError extends Error {
  /** @param {string} message @param {ErrorOptions} [options] */
  constructor(message, options) {
    super(`cannot restore the checkpoint: ${message}`, options);
    this.name = "RestoreError";
  }
}

/**
 * The message of a thrown value.
 * @param {unknown} thrown
 */
export function messageOf(thrown) {
  return thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
}

/** What is not the author's: this package, installed ones and Node.js itself. */
const own = new URL(".", import.meta.url).pathname;

/** @param {string} line */
function isAuthors(line) {
  return !(line.includes(own) || line.includes("/node_modules/") || line.includes("(node:") || line.includes("at node:"));
}

/**
 * Where it was thrown, without the lines of this package if there are others.
 * @param {unknown} thrown
 */
export function stackOf(thrown) {
  if (!(thrown instanceof Error && thrown.stack)) {
    return String(thrown);
  }
  const lines = thrown.stack.split("\n");
  const frames = lines.filter((line) => /^ +at /.test(line));
  if (!frames.some(isAuthors)) {
    return thrown.stack;
  }
  return lines.filter((line) => !/^ +at /.test(line) || isAuthors(line)).join("\n");
}

/**
 * The message of a thrown value with its type and the author's line, in one line.
 * @param {unknown} thrown
 */
export function describe(thrown) {
  const text = messageOf(thrown).split(/\s*\n\s*/).join(" ");
  if (!(thrown instanceof Error)) {
    return text;
  }
  const frame = stackOf(thrown).split("\n").find((line) => /^ +at /.test(line) && isAuthors(line));
  const place = frame?.match(/([^/(\s]+:\d+):\d+\)?$/)?.[1];
  return `${thrown.name === text ? "" : `${thrown.name}: `}${text}${place ? ` (${place})` : ""}`;
}
