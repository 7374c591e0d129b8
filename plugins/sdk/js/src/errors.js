/** Thrown by a report when training shall return now; let it pass. */
export class StoppedError extends Error {
  /** @param {boolean} [paused] the trial will go on later */
  constructor(paused = false) {
    super(paused ? "the trial was told to stop for now: it is paused" : "the trial was told to stop");
    this.name = "StoppedError";
    this.paused = paused;
  }
}

/** Fails a trial that never began to train; retrying does not help. */
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
 * What was thrown, in one text.
 * @param {unknown} thrown
 */
export function messageOf(thrown) {
  return thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
}

/**
 * Where it was thrown.
 * @param {unknown} thrown
 */
export function stackOf(thrown) {
  return thrown instanceof Error && thrown.stack ? thrown.stack : String(thrown);
}
