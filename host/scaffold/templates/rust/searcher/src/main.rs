//! scaffold-name is a searcher for tunehost: it draws points at random, and every other one
//! near the best so far.
//!
//! Everything here may be changed. What must stay true: answers depend on the problem, the
//! options, the events and the requests' seeds alone, so that a crashed searcher can be
//! started again and told the same.

use std::collections::HashMap;
use tunehost::{
    Event, EventKind, Info, Options, Point, Problem, Request, Result, Rng, Searcher, Seen, Space,
    Status, Suggestions,
};

const INFO: Info = Info {
    name: "scaffold-name",
    version: "0.1.0",
    summary: "Draws points at random, every other one near the best so far.",
    // What users may write beside the name; tunehost checks it for you.
    options: r#"{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "spread": {
      "type": "number", "exclusiveMinimum": 0, "maximum": 1, "default": 0.2,
      "description": "how far a step from the best may go, as a part of each parameter's range"
    }
  }
}"#,
};

/// The size up to which a finite space's points are remembered.
const MOST: usize = 1 << 16;

/// How often a step from the best may miss the constraints.
const TRIES: usize = 100;

struct Plugin {
    space: Space,
    spread: f64,
    /// So that no point of a finite space comes twice.
    seen: Seen,
    /// By trial.
    points: HashMap<u32, Point>,
    /// The smallest loss, and its point.
    best: Option<(f64, Point)>,
}

/// Called once, before anything else.
fn open(problem: Problem, options: &mut Options) -> Result<Plugin> {
    Ok(Plugin {
        spread: options.number("spread", 0.2)?,
        seen: Seen::new(&problem.space, MOST)?,
        space: problem.space,
        points: HashMap::new(),
        best: None,
    })
}

impl Searcher for Plugin {
    /// Hears of every trial: its point when it is added, its losses (one for each objective,
    /// smaller is better) when it has ended.
    fn observe(&mut self, events: &[Event]) -> Result<()> {
        for event in events {
            match event.kind {
                EventKind::TrialAdded => {
                    self.seen.add(&event.point);
                    self.points.insert(event.trial, event.point.clone());
                }
                EventKind::TrialCompleted => self.ended(event),
                _ => {}
            }
        }
        Ok(())
    }

    /// Answers each request with a point, until there are no more. The request's seed is the
    /// only randomness to use; coordinates that it fixes are in `given`.
    fn suggest(&mut self, requests: &[Request]) -> Result<Suggestions> {
        let mut answer = Suggestions::default();
        for request in requests {
            match self.point(request)? {
                Some(point) => answer.points.push(point),
                None => {
                    answer.status = Status::Exhausted;
                    break;
                }
            }
        }
        Ok(answer)
    }
}

impl Plugin {
    fn ended(&mut self, event: &Event) {
        if let (Some(&loss), Some(point)) = (event.losses.first(), self.points.get(&event.trial)) {
            if self.best.as_ref().is_none_or(|(least, _)| loss < *least) {
                self.best = Some((loss, point.clone()));
            }
        }
    }

    /// The first draw that is new and satisfies the constraints; none when all is known.
    fn point(&mut self, request: &Request) -> Result<Option<Point>> {
        let mut rng = Rng::new(request.seed);
        let (space, spread) = (&self.space, self.spread);
        let origin = self.best.as_ref().filter(|_| request.trial % 2 == 1);
        self.seen.pick(
            request.given.as_deref(),
            &mut rng,
            |rng, try_| match origin {
                Some((_, best)) if try_ < TRIES => near(space, best, spread, rng),
                _ => space.draw(rng),
            },
        )
    }
}

/// A step from a point. In units every parameter goes from 0 to 1, on a log scale where the
/// user asked for one; NaN says that it does not exist in the origin: it is drawn.
fn near(space: &Space, origin: &[f64], spread: f64, rng: &mut Rng) -> Point {
    let mut point = space.draw(rng);
    for (i, &x) in origin.iter().enumerate() {
        if !x.is_nan() {
            let u = space.to_unit(i, x) + spread * (rng.uniform() - 0.5);
            point[i] = space.from_unit(i, u);
        }
    }
    point
}

fn main() {
    tunehost::searcher(INFO, open)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunehost::space::{Kind, Param};

    /// It finds the minimum of a parabola better than chance would.
    #[test]
    fn finds() {
        let x = Param {
            name: "x".into(),
            kind: Kind::Real,
            low: -10.0,
            high: 10.0,
            ..Param::default()
        };
        let space = Space {
            params: vec![x],
            ..Space::default()
        };
        let problem = Problem {
            space,
            ..Problem::default()
        };
        let mut searcher = open(problem, &mut Options::parse("{}").unwrap()).unwrap();
        let mut best = f64::INFINITY;
        for trial in 0..40 {
            let request = Request {
                trial,
                seed: trial.into(),
                given: None,
            };
            let point = searcher.suggest(&[request]).unwrap().points.remove(0);
            let loss = (point[0] - 3.0).powi(2);
            best = best.min(loss);
            let added = Event {
                kind: EventKind::TrialAdded,
                trial,
                point,
                ..Event::default()
            };
            let ended = Event {
                kind: EventKind::TrialCompleted,
                trial,
                losses: vec![loss],
                ..Event::default()
            };
            searcher.observe(&[added, ended]).unwrap();
        }
        assert!(best < 0.1, "the best loss of 40 trials is {best}");
    }
}
