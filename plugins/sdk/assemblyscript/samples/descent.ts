// A trainable: gradient descent with momentum.

import { Info, Run, trainable, Trainable, Values } from "../assembly";
import { OPTIONS, Rosenbrock } from "./rosenbrock";

export { tunehost_abi, tunehost_alloc, tunehost_invoke } from "../assembly";

class Descent extends Trainable {
  private epochs: i32;

  constructor(options: Values) {
    super();
    this.reusable = true;
    this.epochs = options.integer("epochs", 27);
  }

  train(run: Run): void {
    const at = new Rosenbrock(run.trial.seed, run.params);
    if (run.params.error.length > 0) return; // a text where a number should be
    for (let epoch = 1; epoch <= this.epochs; epoch++) {
      at.step();
      run.metric("loss", at.loss());
      if (!run.report(epoch, epoch == this.epochs)) return;
    }
  }
}

trainable(
  new Info("descent", "1.0.0", "Gradient descent with lr and momentum on Rosenbrock's function.", OPTIONS),
  (options: Values): Trainable => new Descent(options),
);
