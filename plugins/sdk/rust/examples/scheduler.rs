//! `halfway`: looks at each trial once, at an iteration, and stops it when it is worse than
//! the median of the others.

use std::collections::BTreeMap;
use tunehost::{Decision, Decisions, Event, EventKind, Info, Options, Problem, Result, Scheduler, Verdict};

const INFO: Info = Info {
    name: "halfway",
    version: "1.0.0",
    summary: "Stops a trial that is worse than the median of the others at one iteration.",
    options: r#"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "at": {"type": "integer", "minimum": 1, "default": 5, "description": "The iteration at which each trial is judged."}
  }
}"#,
};

/// How many other trials it takes to judge one.
const LEAST_OTHERS: usize = 3;

struct Halfway {
    at: u64,
    metric: String,
    /// The losses of trials at the iteration.
    losses: BTreeMap<u32, f64>,
}

fn open(problem: Problem, options: &mut Options) -> Result<Halfway> {
    let metric = problem.objectives.first().map(|o| o.metric.clone()).unwrap_or_default();
    Ok(Halfway { at: options.count("at", 5)?, metric, losses: BTreeMap::new() })
}

impl Scheduler for Halfway {
    fn decide(&mut self, events: &[Event]) -> Result<Decisions> {
        let results = events.iter().filter(|e| e.kind == EventKind::ResultReported);
        Ok(Decisions { decisions: results.map(|e| self.result(e)).collect(), commands: Vec::new() })
    }
}

impl Halfway {
    fn result(&mut self, event: &Event) -> Decision {
        let go_on = |until| Decision { event: event.number, until, ..Decision::default() };
        if event.iteration < self.at {
            return go_on(self.at);
        }
        if event.iteration > self.at {
            return go_on(u64::MAX);
        }
        let loss = event.losses.first().copied().unwrap_or(f64::INFINITY);
        self.losses.insert(event.trial, loss);
        match self.median_of_others(event.trial) {
            Some(median) if loss > median => Decision {
                event: event.number,
                verdict: Verdict::Stop,
                until: 0,
                reason: format!(
                    "{} at iteration {} is worse than the median of {} others",
                    self.metric,
                    self.at,
                    self.losses.len() - 1
                ),
            },
            _ => go_on(u64::MAX),
        }
    }

    fn median_of_others(&self, trial: u32) -> Option<f64> {
        let others = self.losses.iter().filter(|(t, _)| **t != trial);
        let mut losses: Vec<f64> = others.map(|(_, loss)| *loss).collect();
        if losses.len() < LEAST_OTHERS {
            return None;
        }
        losses.sort_by(f64::total_cmp);
        let (low, high) = (losses[(losses.len() - 1) / 2], losses[losses.len() / 2]);
        Some(if low == high { low } else { low / 2.0 + high / 2.0 })
    }
}

fn main() {
    tunehost::scheduler(INFO, open)
}
