// The trainable of plugins/sdk/samples/alike.

import { Info, Level, log, Run, Saver, trainable, Trainable, Values } from "../assembly";

export { tunehost_abi, tunehost_alloc, tunehost_invoke } from "../assembly";

class Alike extends Trainable implements Saver {
  private epoch: i32 = 0;

  constructor() {
    super();
    this.reusable = true;
    this.saves = true;
  }

  train(run: Run): void {
    for (let i = 1; i <= 9; i++) {
      this.epoch = i;
      run.metric("loss", 1 / <f64>i);
      run.metric("whole", 2 * i);
      run.text("note", 'epoch "' + i.toString() + '"');
      run.truth("ok", true);
      run.numbers("sizes", [1, 2.5]);
      if (!run.report(0, false, this)) break;
    }
    log(Level.Info, "cleaned up");
  }

  save(): Uint8Array {
    return Uint8Array.wrap(String.UTF8.encode("state " + this.epoch.toString()));
  }
}

trainable(
  new Info("alike", "1.0.0", "Does what a trainable can do.", '{"type": "object"}'),
  (options: Values): Trainable => new Alike(),
);
