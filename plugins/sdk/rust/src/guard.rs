//! Calls the author's code, for every transport: turns panics into errors, puts given
//! coordinates into suggestions, and checks answers.

use crate::{Decisions, Event, EventKind, Order, Point, Request, Result, Status, Suggestions};
use std::collections::HashSet;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// A panic in an author's code.
#[derive(Debug)]
pub struct Panicked(pub String);

impl std::fmt::Display for Panicked {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Panicked {}

/// Calls `f` and turns a panic into a [`Panicked`] that begins with `what`. (Where panics
/// abort, as in a module, the hook logs them instead.)
pub fn protect<T>(what: &str, f: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("(no text)");
        Err(Panicked(format!("{}: {}", what, text)).into())
    })
}

/// Replaces coordinates of a suggestion by those that its request fixes.
pub fn overlay(points: &mut [Point], requests: &[Request]) {
    for (point, request) in points.iter_mut().zip(requests) {
        for (x, given) in point.iter_mut().zip(request.given.iter().flatten()) {
            if !given.is_nan() {
                *x = *given;
            }
        }
    }
}

/// Checks an answer's shape: as many points as the status requires, each with `dims`
/// values. The host checks whether they lie in the space.
pub fn check_suggestions(dims: usize, requests: &[Request], answer: &Suggestions) -> Result<()> {
    let (points, asked) = (answer.points.len(), requests.len());
    if points > asked {
        return Err(format!("it returned more points ({}) than requests ({})", points, asked).into());
    }
    if points < asked && answer.status == Status::Ready {
        let what = format!(
            "it returned fewer points ({}) than requests ({}) without a reason (wait or exhausted)",
            points, asked
        );
        return Err(what.into());
    }
    let wrong = answer.points.iter().zip(requests).find(|(p, _)| p.len() != dims);
    wrong.map_or(Ok(()), |(p, r)| Err(wrong_length(r.trial, p, dims)))
}

fn wrong_length(trial: u32, p: &[f64], dims: usize) -> crate::Error {
    format!("its point for trial {} has length {}; expected {}, one for each parameter", trial, p.len(), dims)
        .into()
}

/// Checks an answer's shape: decisions are on results among the events, at most one on
/// each. The host checks whether the trials allow them.
pub fn check_decisions(dims: usize, events: &[Event], answer: &Decisions) -> Result<()> {
    let results = events.iter().filter(|e| e.kind == EventKind::ResultReported);
    let mut open: HashSet<u64> = results.map(|e| e.number).collect();
    for d in &answer.decisions {
        if !open.remove(&d.event) {
            let what = format!(
                "it decided on event {}, which is not a result of this call or was decided already",
                d.event
            );
            return Err(what.into());
        }
    }
    for c in &answer.commands {
        match &c.order {
            Order::Exploit { point: Some(p), .. } if p.len() != dims => {
                return Err(wrong_length(c.trial, p, dims))
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decision;

    #[test]
    fn a_panic_is_an_error() {
        let e = protect::<()>("panic in Suggest", || panic!("no {}", "luck")).unwrap_err();
        assert_eq!(e.to_string(), "panic in Suggest: no luck");
        assert!(e.is::<Panicked>());
    }

    #[test]
    fn given_coordinates_win() {
        let mut points = vec![vec![1.0, 2.0], vec![3.0, 4.0]];
        let given = Some(vec![f64::NAN, 9.0]);
        overlay(&mut points, &[Request { given, ..Request::default() }, Request::default()]);
        assert_eq!(points, [[1.0, 9.0], [3.0, 4.0]]);
    }

    #[test]
    fn answers_have_the_right_shape() {
        let requests = vec![Request::default(); 2];
        let answer = |points: &[Point], status| Suggestions { points: points.to_vec(), status };
        let check = |a: Suggestions| check_suggestions(1, &requests, &a).is_ok();
        let p = vec![0.5];
        assert!(check(answer(&[p.clone(), p.clone()], Status::Ready)));
        assert!(check(answer(&[vec![0.5]], Status::Wait)));
        assert!(!check(answer(&[vec![0.5]], Status::Ready)));
        assert!(!check(answer(&[p.clone(), vec![]], Status::Ready)));
        assert!(!check(answer(&[p.clone(), p.clone(), p], Status::Ready)));
    }

    #[test]
    fn decisions_are_on_results_just_told() {
        let events = [Event { number: 4, kind: EventKind::ResultReported, ..Event::default() }];
        let decide = |on: &[u64]| Decisions {
            decisions: on.iter().map(|n| Decision { event: *n, ..Decision::default() }).collect(),
            commands: vec![],
        };
        let check = |d: Decisions| check_decisions(1, &events, &d).is_ok();
        assert!(check(decide(&[4])) && check(decide(&[])));
        assert!(!check(decide(&[4, 4])) && !check(decide(&[5])));
    }
}
