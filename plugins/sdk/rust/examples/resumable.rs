//! `descent-resumable`: as `descent`, and can be paused and resumed: the losses are the same
//! as without the pause.

use tunehost::{Info, Options, Report, RestoreError, Result, Rng, Run, Trainable, TrainableTraits};

const INFO: Info = Info {
    name: "descent-resumable",
    version: "1.0.0",
    summary: "Gradient descent on Rosenbrock's function that can be paused and resumed.",
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
        TrainableTraits { reusable: true, shared: true, saves: true, ..TrainableTraits::default() }
    }

    fn train(&self, run: &mut Run) -> Result<()> {
        let params = run.params()?;
        let (lr, momentum) = (params.number("lr")?, params.number("momentum")?);
        let mut at = match run.state()? {
            Some(state) => Place::from_bytes(&state)?,
            None => Place::start(run.trial().seed),
        };
        for epoch in run.trial().iteration + 1..=self.epochs {
            at.step(lr, momentum);
            let report = Report::new(&[("loss", at.loss())]).done(epoch == self.epochs);
            run.report_saving(report, || Ok(at.to_bytes()))?;
        }
        Ok(())
    }
}

/// Where the descent is, and how fast.
struct Place {
    x: f64,
    y: f64,
    vx: f64,
    vy: f64,
}

impl Place {
    fn start(seed: u64) -> Place {
        let mut rng = Rng::new(seed);
        Place { x: 4.0 * rng.uniform() - 2.0, y: 4.0 * rng.uniform() - 1.0, vx: 0.0, vy: 0.0 }
    }

    fn step(&mut self, lr: f64, momentum: f64) {
        let Place { x, y, .. } = *self;
        self.vx = momentum * self.vx - lr * (400.0 * x * (x * x - y) + 2.0 * (x - 1.0));
        self.vy = momentum * self.vy - lr * 200.0 * (y - x * x);
        self.x += self.vx;
        self.y += self.vy;
    }

    fn loss(&self) -> f64 {
        let Place { x, y, .. } = *self;
        (1.0 - x) * (1.0 - x) + 100.0 * (y - x * x) * (y - x * x)
    }

    fn to_bytes(&self) -> Vec<u8> {
        [self.x, self.y, self.vx, self.vy].iter().flat_map(|n| n.to_le_bytes()).collect()
    }

    fn from_bytes(state: &[u8]) -> Result<Place> {
        let mut words = state.chunks_exact(8).map(|b| b.try_into().map(f64::from_le_bytes));
        match (words.next(), words.next(), words.next(), words.next(), state.len()) {
            (Some(Ok(x)), Some(Ok(y)), Some(Ok(vx)), Some(Ok(vy)), 32) => Ok(Place { x, y, vx, vy }),
            _ => Err(RestoreError(format!("the state has {} bytes; expected 32", state.len()).into()).into()),
        }
    }
}

fn main() {
    tunehost::trainable(INFO, open)
}
