// Gradient descent on Rosenbrock's function, which both descents train.

import { Random } from "tunehost";

/** JSON Schema of the options. */
export const options = {
  type: "object",
  additionalProperties: false,
  properties: {
    epochs: { type: "integer", minimum: 1, default: 27, description: "how many steps are taken, and results reported" },
  },
};

/** @typedef {{x: number, y: number, dx: number, dy: number}} State */

/** @param {bigint} seed @returns {State} a start that depends on the seed */
export function start(seed) {
  const random = new Random(seed);
  return { x: random.float64() * 4 - 2, y: random.float64() * 4 - 2, dx: 0, dy: 0 };
}

/** @param {State} at @param {{lr?: number, momentum?: number}} params @returns {State} */
export function step({ x, y, dx, dy }, { lr = 1e-3, momentum = 0 }) {
  dx = momentum * dx - lr * (-2 * (1 - x) - 400 * x * (y - x * x));
  dy = momentum * dy - lr * 200 * (y - x * x);
  return { x: x + dx, y: y + dy, dx, dy };
}

/** @param {State} at */
export function loss({ x, y }) {
  return (1 - x) ** 2 + 100 * (y - x * x) ** 2;
}
