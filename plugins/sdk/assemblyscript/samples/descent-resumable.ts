// The descent that can be paused: it saves where it is, and continues from there.

import { Info, Run, Saver, trainable, Trainable, Values } from "../assembly";
import { OPTIONS, Rosenbrock } from "./rosenbrock";

export { tunehost_abi, tunehost_alloc, tunehost_invoke } from "../assembly";

class Descent extends Trainable implements Saver {
  private epochs: i32;
  private at: Rosenbrock = new Rosenbrock(0, new Values(""));

  constructor(options: Values) {
    super();
    this.reusable = true;
    this.saves = true;
    this.epochs = options.integer("epochs", 27);
  }

  train(run: Run): void {
    this.at = new Rosenbrock(run.trial.seed, run.params);
    if (run.params.error.length > 0) return; // a text where a number should be
    const state = run.state;
    if (state && !this.at.restore(state)) {
      run.error = "the state has " + state.length.toString() + " bytes, not 32";
      run.restoreFailed = true;
      return;
    }
    for (let epoch = <i32>run.trial.iteration + 1; epoch <= this.epochs; epoch++) {
      this.at.step();
      run.metric("loss", this.at.loss());
      if (!run.report(epoch, epoch == this.epochs, this)) return;
    }
  }

  save(): Uint8Array {
    return this.at.save();
  }
}

trainable(
  new Info("descent-resumable", "1.0.0", "Gradient descent on Rosenbrock's function that saves and resumes.", OPTIONS),
  (options: Values): Trainable => new Descent(options),
);
