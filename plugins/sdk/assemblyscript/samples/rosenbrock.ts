// Gradient descent on Rosenbrock's function, which both descents train.

import { Random, Values } from "../assembly";

/** JSON Schema of the options. */
export const OPTIONS: string = `{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "epochs": {"type": "integer", "minimum": 1, "default": 27, "description": "how many steps are taken, and results reported"}
  }
}`;

export class Rosenbrock {
  private x: f64 = 0;
  private y: f64 = 0;
  private dx: f64 = 0;
  private dy: f64 = 0;
  private lr: f64;
  private momentum: f64;

  /** Begins where the seed says. */
  constructor(seed: u64, params: Values) {
    const random = new Random(seed);
    this.x = random.float64() * 4 - 2;
    this.y = random.float64() * 4 - 2;
    this.lr = params.number("lr", 1e-3);
    this.momentum = params.number("momentum", 0);
  }

  step(): void {
    this.dx = this.momentum * this.dx - this.lr * (-2 * (1 - this.x) - 400 * this.x * (this.y - this.x * this.x));
    this.dy = this.momentum * this.dy - this.lr * 200 * (this.y - this.x * this.x);
    this.x += this.dx;
    this.y += this.dy;
  }

  loss(): f64 {
    const valley = this.y - this.x * this.x;
    return (1 - this.x) * (1 - this.x) + 100 * valley * valley;
  }

  save(): Uint8Array {
    const state = Float64Array.wrap(new ArrayBuffer(32));
    state[0] = this.x;
    state[1] = this.y;
    state[2] = this.dx;
    state[3] = this.dy;
    return Uint8Array.wrap(state.buffer);
  }

  /** False when that is no state of save's. */
  restore(bytes: Uint8Array): bool {
    if (bytes.length != 32) return false;
    const state = Float64Array.wrap(bytes.buffer, bytes.byteOffset, 4);
    this.x = state[0];
    this.y = state[1];
    this.dx = state[2];
    this.dy = state[3];
    return true;
  }
}
