//! scaffold-name is a scheduler for tunehost: it stops a trial whose result is worse than the
//! median of what other trials reported at the same iteration.
//!
//! Everything here may be changed. What must stay true: answers depend on the problem, the
//! options and the events alone, and not on how the events were cut into calls, so that a
//! crashed scheduler can be started again and told the same.

use std::collections::HashMap;
use tunehost::{
    Decision, Decisions, Event, EventKind, Info, Options, Problem, Result, Scheduler, Verdict,
};

const INFO: Info = Info {
    name: "scaffold-name",
    version: "0.1.0",
    summary: "Stops trials that are worse than the median of the others.",
    // What users may write beside the name; tunehost checks it for you.
    options: r#"{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "grace": {
      "type": "integer", "minimum": 1, "default": 2,
      "description": "iterations before which no trial is stopped"
    },
    "others": {
      "type": "integer", "minimum": 1, "default": 3,
      "description": "results of other trials that a result is compared with, at the least"
    }
  }
}"#,
};

struct Plugin {
    grace: u64,
    others: usize,
    /// By trial, the last iteration that was judged.
    last: HashMap<u32, u64>,
    /// By iteration, sorted.
    losses: HashMap<u64, Vec<f64>>,
}

/// Called once, before anything else.
fn open(_problem: Problem, options: &mut Options) -> Result<Plugin> {
    Ok(Plugin {
        grace: options.count("grace", 2)?,
        others: options.count("others", 3)?.try_into()?,
        last: HashMap::new(),
        losses: HashMap::new(),
    })
}

impl Scheduler for Plugin {
    /// Hears what happened, in order, and answers the results. A result without an answer
    /// continues.
    fn decide(&mut self, events: &[Event]) -> Result<Decisions> {
        let mut answer = Decisions::default();
        for event in events
            .iter()
            .filter(|e| e.kind == EventKind::ResultReported)
        {
            // A trial that continues from a checkpoint may repeat iterations.
            let last = self.last.entry(event.trial).or_insert(0);
            if event.iteration <= *last {
                continue;
            }
            *last = event.iteration;
            if let Some(reason) = self.judge(event) {
                answer.decisions.push(Decision {
                    event: event.number,
                    verdict: Verdict::Stop,
                    reason,
                    ..Decision::default()
                });
            }
        }
        Ok(answer)
    }
}

impl Plugin {
    /// Why a trial is to stop. Losses are smaller where better, and infinite if there is
    /// none.
    fn judge(&mut self, event: &Event) -> Option<String> {
        let loss = event.losses.first().copied().unwrap_or(f64::INFINITY);
        let others = self.losses.entry(event.iteration).or_default();
        let judged = event.iteration >= self.grace && others.len() >= self.others;
        let worse = judged && loss > others[others.len() / 2];
        let reason = format!(
            "worse than the median of {} trials at iteration {}",
            others.len(),
            event.iteration
        );
        let at = others.partition_point(|&other| other < loss);
        others.insert(at, loss);
        worse.then_some(reason)
    }
}

fn main() {
    tunehost::scheduler(INFO, open)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worst of four trials is stopped, after the grace.
    #[test]
    fn stops_the_worst() {
        let mut scheduler = open(Problem::default(), &mut Options::parse("{}").unwrap()).unwrap();
        let mut events = Vec::new();
        for number in 0..8u32 {
            events.push(Event {
                number: u64::from(number) + 1,
                kind: EventKind::ResultReported,
                trial: number % 4,
                iteration: u64::from(number / 4) + 1,
                losses: vec![f64::from(number % 4)],
                ..Event::default()
            });
        }
        let stopped: Vec<u64> = scheduler
            .decide(&events)
            .unwrap()
            .decisions
            .iter()
            .map(|d| d.event)
            .collect();
        assert_eq!(stopped, [8]);
    }
}
