// The functions of the host; plugins/sdk/abi describes them.

// @ts-ignore: decorator
@external("tunehost_v1", "log")
declare function hostLog(level: i32, ptr: usize, len: i32): void;

// @ts-ignore: decorator
@external("tunehost_v1", "report")
export declare function hostReport(ptr: usize, len: i32): i32;

// @ts-ignore: decorator
@external("tunehost_v1", "saved")
export declare function hostSaved(ptr: usize, len: i32): i32;

// @ts-ignore: decorator
@external("tunehost_v1", "stopped")
export declare function hostStopped(): i32;

/** Levels of lines in the log. */
export enum Level {
  Debug = 0,
  Info = 1,
  Warn = 2,
  Error = 3,
}

/** Writes a line to the log. */
export function log(level: Level, line: string): void {
  const text = String.UTF8.encode(line);
  hostLog(level, changetype<usize>(text), text.byteLength);
}
