// The exports of the module; plugins/sdk/abi describes them.

import { Level, log } from "./host";
import { Reader } from "./proto";
import { call } from "./services";

let request: ArrayBuffer = new ArrayBuffer(0);
let answer: StaticArray<u8> = new StaticArray<u8>(0);

/** The version of the interface. */
export function tunehost_abi(): i32 {
  return 1;
}

/** Returns the address of a buffer for a request of that many bytes. */
export function tunehost_alloc(size: i32): usize {
  request = new ArrayBuffer(size);
  return changetype<usize>(request);
}

/** Calls a method. */
export function tunehost_invoke(ptr: usize, len: i32): u64 {
  const name = <usize>load<u16>(ptr);
  const method = String.UTF8.decodeUnsafe(ptr + 2, name);
  const result = call(method, new Reader(ptr + 2 + name, ptr + len));
  const size = 1 + result.body.length;
  answer = new StaticArray<u8>(size);
  const out = changetype<usize>(answer);
  store<u8>(out, result.code);
  memory.copy(out + 1, result.body.start, result.body.length);
  return (<u64>out << 32) | <u64>size;
}

/** Handles a failed assertion or a bug: writes a line to the log and ends the instance. */
export function abort(message: string | null, file: string | null, line: u32, column: u32): void {
  log(Level.Error, (message ? message : "abort") + " (" + (file ? file : "?") + ":" + line.toString() + ":" + column.toString() + ")");
  unreachable();
}
