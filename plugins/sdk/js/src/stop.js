// How a plain program learns that its trial must end: SIGTERM between its reports, or
// the answer to one of them. The host then gives it stop_grace, and kills it.

import { StoppedError } from "./errors.js";

const control = new AbortController();
/** The exit status of a program that SIGTERM has ended. */
const terminated = 143;

let listening = false;

/**
 * A signal that is aborted, with a StoppedError, when the trial must end. A program that reads it,
 * or that reports, is expected to end by itself. Outside of a
 * trial it is never aborted.
 * @returns {AbortSignal}
 */
export function stopped() {
  listen();
  return control.signal;
}

/** Handles SIGTERM in the program of a trial, but not in its child processes. */
export function listen() {
  if (listening || process.env.TUNEHOST_TRIAL_ID === undefined) {
    return;
  }
  listening = true;
  process.env.TUNEHOST_SDK_PID ??= String(process.pid);
  if (process.env.TUNEHOST_SDK_PID === String(process.pid)) {
    process.on("SIGTERM", () => {
      if (!control.signal.aborted) {
        tell(false);
        endQuietly();
      }
    });
  }
}

/**
 * Aborts the signal once: later signals do not disturb the program's cleanup.
 * @param {boolean} paused
 */
export function tell(paused) {
  control.abort(new StoppedError(paused));
}

/** A StoppedError that the program does not catch ends it without a stack trace. */
function endQuietly() {
  if (process.listenerCount("uncaughtException") > 0) {
    return;
  }
  process.on("uncaughtException", (thrown) => {
    if (thrown instanceof StoppedError || thrown?.name === "AbortError") {
      process.exit(terminated);
    }
    console.error(thrown);
    process.exit(1);
  });
}
