use super::{fields, Decoded, Malformed, Value, Writer};
use crate::space::{Expr, Kind, Op, Param, Point, Space, OPS};
use crate::{
    Decision, Decisions, Event, EventKind, Info, Metric, Objective, Order, Problem, Request, Status,
    Suggestions, Traits, Verdict,
};

/// How deep expressions may nest.
const MAX_DEPTH: usize = 500;

/// OpenSearcherRequest and OpenSchedulerRequest: the problem, the options, a snapshot.
pub fn open_request(message: &[u8]) -> Decoded<(Problem, String, Vec<u8>)> {
    let (mut problem, mut options, mut snapshot) = (Problem::default(), String::new(), Vec::new());
    fields(message, |field, value| {
        match field {
            1 => problem = read_problem(value.bytes()?)?,
            2 => options = value.text()?,
            3 => snapshot = value.bytes()?.to_vec(),
            _ => {}
        }
        Ok(())
    })?;
    Ok((problem, options, snapshot))
}

fn read_problem(message: &[u8]) -> Decoded<Problem> {
    let mut p = Problem::default();
    fields(message, |field, value| {
        match field {
            1 => p.space = read_space(value.bytes()?)?,
            2 => p.objectives.push(read_objective(value.bytes()?)?),
            3 => p.seed = value.uint()?,
            4 => p.trials = value.uint()?,
            5 => p.concurrency = value.uint()?,
            6 => p.request = value.text()?,
            7 => p.capacity = value.text()?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(p)
}

fn read_objective(message: &[u8]) -> Decoded<Objective> {
    let mut o = Objective::default();
    fields(message, |field, value| {
        match field {
            1 => o.metric = value.text()?,
            2 => o.maximize = value.flag()?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(o)
}

fn read_space(message: &[u8]) -> Decoded<Space> {
    let mut s = Space::default();
    fields(message, |field, value| {
        match field {
            1 => s.params.push(read_param(value.bytes()?)?),
            2 => s.constraints.push(read_expr(value.bytes()?, 0)?),
            3 => s.opaque = value.flag()?,
            _ => {}
        }
        Ok(())
    })?;
    for (i, param) in s.params.iter().enumerate() {
        param.when.iter().try_for_each(|when| refers(when, i))?;
    }
    s.constraints.iter().try_for_each(|c| refers(c, s.params.len()))?;
    Ok(s)
}

/// Refuses an expression that is about other than the first `known` parameters.
fn refers(e: &Expr, known: usize) -> Decoded<()> {
    match e {
        Expr::Number(i) | Expr::In(i, _) if *i >= known => {
            Err(Malformed("an expression refers to a parameter that is not known there"))
        }
        Expr::Call(_, args) => args.iter().try_for_each(|arg| refers(arg, known)),
        _ => Ok(()),
    }
}

fn read_param(message: &[u8]) -> Decoded<Param> {
    let mut p = Param::default();
    let mut kind = None;
    fields(message, |field, value| {
        match field {
            1 => p.name = value.text()?,
            2 => kind = read_kind(value.uint()?),
            3 => p.low = value.double()?,
            4 => p.high = value.double()?,
            5 => p.log = value.flag()?,
            6 => p.step = value.double()?,
            7 => p.mean = value.double()?,
            8 => p.sd = value.double()?,
            9 => p.choices.push(value.text()?),
            10 => p.grid = value.flag()?,
            11 => p.when = Some(read_expr(value.bytes()?, 0)?),
            _ => {}
        }
        Ok(())
    })?;
    p.kind = kind.ok_or(Malformed("a parameter has an unknown kind"))?;
    Ok(p)
}

fn read_kind(number: u64) -> Option<Kind> {
    Some(match number {
        1 => Kind::Real,
        2 => Kind::Int,
        3 => Kind::Normal,
        4 => Kind::Choice,
        5 => Kind::Ordinal,
        _ => return None,
    })
}

fn read_expr(message: &[u8], depth: usize) -> Decoded<Expr> {
    if depth >= MAX_DEPTH {
        return Err(Malformed("an expression is nested too deep"));
    }
    let (mut op, mut param, mut number, mut set, mut args) = (0, 0, 0.0, Vec::new(), Vec::new());
    fields(message, |field, value| {
        match field {
            1 => op = value.uint()? as usize,
            2 => param = value.small()? as usize,
            3 => number = value.double()?,
            4 => value.uints(&mut set)?,
            5 => args.push(read_expr(value.bytes()?, depth + 1)?),
            _ => {}
        }
        Ok(())
    })?;
    match op {
        1 => Ok(Expr::Const(number)),
        2 => Ok(Expr::Number(param)),
        3 => Ok(Expr::In(param, set)),
        _ => call(op.checked_sub(4).and_then(|i| OPS.get(i)), args),
    }
}

fn call(op: Option<&Op>, args: Vec<Expr>) -> Decoded<Expr> {
    match op {
        Some(op) if op.takes(args.len()) => Ok(Expr::Call(*op, args)),
        Some(_) => Err(Malformed("an operation has a wrong number of arguments")),
        None => Err(Malformed("an expression has an unknown operation")),
    }
}

fn read_point(message: &[u8]) -> Decoded<Point> {
    let mut p = Point::new();
    fields(message, |field, value| match field {
        1 => value.doubles(&mut p),
        _ => Ok(()),
    })?;
    Ok(p)
}

fn write_point(w: &mut Writer, field: u64, p: &[f64]) {
    w.nested(field, |w| w.doubles(1, p));
}

/// SuggestRequest: events and requests.
pub fn suggest_request(message: &[u8]) -> Decoded<(Vec<Event>, Vec<Request>)> {
    let (mut events, mut requests) = (Vec::new(), Vec::new());
    fields(message, |field, value| {
        match field {
            1 => events.push(read_event(value.bytes()?)?),
            2 => requests.push(read_request(value.bytes()?)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok((events, requests))
}

/// DecideRequest.
pub fn decide_request(message: &[u8]) -> Decoded<Vec<Event>> {
    suggest_request(message).map(|(events, _)| events)
}

fn read_request(message: &[u8]) -> Decoded<Request> {
    let mut r = Request::default();
    fields(message, |field, value| {
        match field {
            1 => r.trial = value.small()?,
            2 => r.seed = value.uint()?,
            3 => r.given = Some(read_point(value.bytes()?)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(r)
}

fn read_event(message: &[u8]) -> Decoded<Event> {
    let mut e = Event::default();
    fields(message, |field, value| {
        match field {
            1 => e.number = value.uint()?,
            2 => e.kind = read_event_kind(value),
            3 => e.trial = value.small()?,
            4 => e.attempt = value.small()?,
            5 => e.iteration = value.uint()?,
            6 => e.point = read_point(value.bytes()?)?,
            7 => value.doubles(&mut e.losses)?,
            8 => e.metrics.push(read_metric(value.bytes()?)?),
            9 => e.seconds = value.double()?,
            10 => e.reason = value.text()?,
            11 => e.seconds_told = value.flag()?,
            12 => e.again = value.flag()?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(e)
}

fn read_event_kind(value: Value) -> EventKind {
    match value.uint().unwrap_or(0) {
        1 => EventKind::TrialAdded,
        2 => EventKind::TrialStarted,
        3 => EventKind::ResultReported,
        4 => EventKind::TrialPaused,
        5 => EventKind::TrialCompleted,
        6 => EventKind::TrialFailed,
        7 => EventKind::TrialRemoved,
        8 => EventKind::CheckpointSaved,
        9 => EventKind::TrialRequeued,
        10 => EventKind::ExperimentEnded,
        11 => EventKind::SearchEnded,
        other => EventKind::Other(other),
    }
}

fn read_metric(message: &[u8]) -> Decoded<Metric> {
    let mut m = Metric::default();
    fields(message, |field, value| {
        match field {
            1 => m.name = value.text()?,
            2 => m.value = value.double()?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(m)
}

pub(super) fn write_metrics(w: &mut Writer, field: u64, metrics: &[Metric]) {
    for metric in metrics {
        w.nested(field, |w| {
            w.text(1, &metric.name);
            w.double(2, metric.value);
        });
    }
}

/// The Describe… responses.
pub fn describe_response(kind: &str, info: &Info) -> Vec<u8> {
    Writer::message(|w| {
        w.nested(1, |w| {
            w.text(1, kind);
            w.text(2, info.name);
            w.text(3, info.version);
            w.text(4, info.summary.trim());
            w.text(5, info.options);
        })
    })
}

/// OpenSearcherResponse and OpenSchedulerResponse.
pub fn open_response(t: &Traits) -> Vec<u8> {
    Writer::message(|w| {
        w.nested(1, |w| {
            w.flag(1, t.independent);
            w.flag(2, t.quiet);
            w.uint(3, u64::from(t.run_ahead));
            w.flag(4, t.metrics);
            w.flag(5, t.saves);
            t.requires.iter().for_each(|name| w.element(6, name.as_bytes()));
            w.flag(7, t.snapshots);
            w.flag(8, t.combines_grid);
            w.flag(9, t.again);
        })
    })
}

/// The Snapshot… responses.
pub fn snapshot_response(snapshot: &[u8]) -> Vec<u8> {
    Writer::message(|w| w.bytes(1, snapshot))
}

/// SuggestResponse.
pub fn suggest_response(s: &Suggestions) -> Vec<u8> {
    Writer::message(|w| {
        s.points.iter().for_each(|p| write_point(w, 1, p));
        w.uint(
            2,
            match s.status {
                Status::Ready => 0,
                Status::Wait => 1,
                Status::Exhausted => 2,
            },
        );
    })
}

/// DecideResponse.
pub fn decide_response(d: &Decisions) -> Vec<u8> {
    Writer::message(|w| {
        d.decisions.iter().for_each(|d| w.nested(1, |w| write_decision(w, d)));
        d.commands.iter().for_each(|c| w.nested(2, |w| write_command(w, c)));
    })
}

fn write_decision(w: &mut Writer, d: &Decision) {
    w.uint(1, d.event);
    w.uint(
        2,
        match d.verdict {
            Verdict::Continue => 0,
            Verdict::Pause => 1,
            Verdict::Stop => 2,
        },
    );
    w.uint(3, d.until);
    w.text(4, &d.reason);
}

fn write_command(w: &mut Writer, c: &crate::Command) {
    w.uint(
        1,
        match c.order {
            Order::Resume => 1,
            Order::Stop => 2,
            Order::Exploit { .. } => 3,
            Order::Resize(_) => 4,
            Order::StopAll => 5,
        },
    );
    w.uint(2, u64::from(c.trial));
    match &c.order {
        Order::Exploit { donor, iteration, point } => {
            w.uint(3, u64::from(*donor));
            w.uint(4, *iteration);
            point.iter().for_each(|p| write_point(w, 5, p));
        }
        Order::Resize(resources) => w.text(6, resources),
        Order::Resume | Order::Stop | Order::StopAll => {}
    }
    w.text(7, &c.reason);
}
