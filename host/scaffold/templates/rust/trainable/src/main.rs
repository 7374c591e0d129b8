//! scaffold-name is a trainable for tunehost: a stand-in for training, which walks down a
//! parabola. The parameter lr is its step.
//!
//! Everything here may be changed. What must stay true: each epoch is reported, and training
//! ends when that says so.

use tunehost::{Info, Options, Report, RestoreError, Result, Run, Trainable, TrainableTraits};

const INFO: Info = Info {
    name: "scaffold-name",
    version: "0.1.0",
    summary: "Walks down a parabola.",
    // What users may write under options; tunehost checks it for you.
    options: r#"{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "epochs": {
      "type": "integer", "minimum": 1, "default": 10,
      "description": "results of each trial"
    }
  }
}"#,
};

struct Plugin {
    epochs: u64,
}

/// Called once for each process.
fn open(options: &mut Options) -> Result<Plugin> {
    Ok(Plugin {
        epochs: options.count("epochs", 10)?,
    })
}

impl Trainable for Plugin {
    /// One process trains many trials, at a time if need be, and can continue from checkpoints.
    fn traits(&self) -> TrainableTraits {
        TrainableTraits {
            reusable: true,
            shared: true,
            saves: true,
            ..TrainableTraits::default()
        }
    }

    /// Trains one trial, from its checkpoint if there is one. Reports fail when the trial is
    /// to stop.
    fn train(&self, run: &mut Run) -> Result<()> {
        let params = run.params()?;
        let lr = if params.get("lr").is_some() {
            params.number("lr")?
        } else {
            0.1
        };
        let mut model = match run.state()? {
            Some(state) => Model::from_bytes(&state)?,
            None => Model { x: 10.0 },
        };
        for epoch in run.trial().iteration + 1..=self.epochs {
            let loss = model.step(lr);
            let report = Report::new(&[("loss", loss)]).done(epoch == self.epochs);
            run.report_saving(report, || Ok(model.to_bytes()))?;
        }
        Ok(())
    }
}

/// All that a checkpoint must hold.
#[derive(Clone)]
struct Model {
    x: f64,
}

impl Model {
    /// One epoch of training; returns the loss.
    fn step(&mut self, lr: f64) -> f64 {
        self.x -= lr * 2.0 * self.x;
        self.x * self.x
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.x.to_le_bytes().to_vec()
    }

    fn from_bytes(state: &[u8]) -> Result<Model> {
        match state.try_into() {
            Ok(bytes) => Ok(Model {
                x: f64::from_le_bytes(bytes),
            }),
            Err(_) => Err(RestoreError(
                format!("the state has {} bytes; expected 8", state.len()).into(),
            )
            .into()),
        }
    }
}

fn main() {
    tunehost::trainable(INFO, open)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trains() {
        let mut model = Model { x: 10.0 };
        let losses: Vec<f64> = (0..5).map(|_| model.step(0.2)).collect();
        assert!(losses[4] < losses[0], "{losses:?}");
    }

    /// A model that continues from a checkpoint does what one does that was never stopped.
    #[test]
    fn goes_on() {
        let mut model = Model { x: 10.0 };
        model.step(0.2);
        let mut restored = Model::from_bytes(&model.to_bytes()).unwrap();
        assert_eq!(model.step(0.2), restored.step(0.2));
        assert!(Model::from_bytes(&[1, 2]).is_err());
    }
}
