//! `climber`: random points first, then small random steps from the best one observed.

use std::collections::HashMap;
use tunehost::space::Kind;
use tunehost::{
    Event, EventKind, Info, Options, Point, Problem, Request, Result, Rng, Searcher, Seen, Space, Status,
    Suggestions,
};

const INFO: Info = Info {
    name: "climber",
    version: "1.0.0",
    summary: "Draws points at random, then takes small random steps from the best one.",
    options: r#"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "start": {"type": "integer", "minimum": 0, "default": 10, "description": "How many random points come first."},
    "step": {"type": "number", "exclusiveMinimum": 0, "default": 0.1, "description": "The size of a step, as a share of a parameter's range."}
  }
}"#,
};

/// The size up to which a finite space's points are remembered.
const MAX_POINTS: usize = 1 << 16;

struct Climber {
    start: u64,
    step: f64,
    space: Space,
    seen: Seen,
    /// The parameters of trials that may still report a better loss.
    points: HashMap<u32, Point>,
    /// The smallest first loss, and its point.
    best: Option<(f64, Point)>,
}

fn open(problem: Problem, options: &mut Options) -> Result<Climber> {
    Ok(Climber {
        start: options.count("start", 10)?,
        step: options.number("step", 0.1)?,
        seen: Seen::new(&problem.space, MAX_POINTS)?,
        space: problem.space,
        points: HashMap::new(),
        best: None,
    })
}

impl Searcher for Climber {
    fn observe(&mut self, events: &[Event]) -> Result<()> {
        for event in events {
            match event.kind {
                EventKind::TrialAdded => {
                    self.seen.add(&event.point);
                    self.points.insert(event.trial, event.point.clone());
                }
                EventKind::ResultReported | EventKind::TrialCompleted => self.result(event),
                _ => {}
            }
        }
        Ok(())
    }

    fn suggest(&mut self, requests: &[Request]) -> Result<Suggestions> {
        let mut answer = Suggestions::default();
        for request in requests {
            match self.point(request)? {
                Some(p) => answer.points.push(p),
                None => {
                    answer.status = Status::Exhausted;
                    break;
                }
            }
        }
        Ok(answer)
    }
}

impl Climber {
    fn result(&mut self, event: &Event) {
        if let (Some(loss), Some(point)) = (event.losses.first(), self.points.get(&event.trial)) {
            if self.best.as_ref().map_or(true, |(least, _)| loss < least) {
                self.best = Some((*loss, point.clone()));
            }
        }
    }

    /// A new point; none when a finite space has no more.
    fn point(&mut self, request: &Request) -> Result<Option<Point>> {
        let mut rng = Rng::new(request.seed);
        let (space, step) = (&self.space, self.step);
        let from = self.best.as_ref().filter(|_| u64::from(request.trial) >= self.start);
        self.seen.pick(request.given.as_deref(), &mut rng, |rng, _| match from {
            Some((_, best)) => near(space, best, step, rng),
            None => space.draw(rng),
        })
    }
}

/// A point a small step away, with a value for every parameter: the space drops those that
/// do not exist.
fn near(space: &Space, best: &[f64], step: f64, rng: &mut Rng) -> Point {
    let moved = |i: usize| {
        let unordered = space.params[i].kind == Kind::Choice;
        let u = match best[i] {
            x if x.is_nan() => rng.uniform(),
            _ if unordered && rng.uniform() < step => rng.uniform(),
            x if unordered => return x,
            x => space.to_unit(i, x) + step * rng.normal(),
        };
        space.from_unit(i, u)
    };
    (0..best.len()).map(moved).collect()
}

fn main() {
    tunehost::searcher(INFO, open)
}
