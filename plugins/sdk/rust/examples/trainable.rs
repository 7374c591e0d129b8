//! `descent`: gradient descent with momentum on Rosenbrock's function.

use tunehost::{Info, Options, Report, Result, Rng, Run, Trainable, TrainableTraits};

const INFO: Info = Info {
    name: "descent",
    version: "1.0.0",
    summary: "Gradient descent with parameters lr and momentum on Rosenbrock's function.",
    options: r#"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "epochs": {"type": "integer", "minimum": 1, "default": 27, "description": "How many results a trial reports."}
  }
}"#,
};

struct Descent {
    epochs: u64,
}

fn open(options: &mut Options) -> Result<Descent> {
    Ok(Descent { epochs: options.count("epochs", 27)? })
}

impl Trainable for Descent {
    fn traits(&self) -> TrainableTraits {
        TrainableTraits { reusable: true, shared: true, ..TrainableTraits::default() }
    }

    fn train(&self, run: &mut Run) -> Result<()> {
        let params = run.params()?;
        let (lr, momentum) = (params.number("lr")?, params.number("momentum")?);
        let mut rng = Rng::new(run.trial().seed);
        let (mut x, mut y) = (4.0 * rng.uniform() - 2.0, 4.0 * rng.uniform() - 1.0);
        let (mut vx, mut vy) = (0.0, 0.0);
        for epoch in 1..=self.epochs {
            vx = momentum * vx - lr * (400.0 * x * (x * x - y) + 2.0 * (x - 1.0));
            vy = momentum * vy - lr * 200.0 * (y - x * x);
            x += vx;
            y += vy;
            let loss = (1.0 - x) * (1.0 - x) + 100.0 * (y - x * x) * (y - x * x);
            run.report(Report::new(&[("loss", loss)]).done(epoch == self.epochs))?;
        }
        Ok(())
    }
}

fn main() {
    tunehost::trainable(INFO, open)
}
