//! The plugins of host/plugin/internal/suite in Rust: they misbehave as their options and
//! parameters say.

use std::time::Duration;
use tunehost::{
    Command, Decision, Decisions, Event, EventKind, Info, Json, Options, Order, Problem, Report, Request,
    RestoreError, Result, Run, Scheduler, Searcher, StartError, Status, Suggestions, Trainable,
    TrainableTraits, Traits, Verdict,
};

const INFO: Info = Info {
    name: "probe",
    version: "1.2.3",
    summary: "Misbehaves on demand.",
    options: r#"{"type":"object"}"#,
};

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("scheduler") => tunehost::scheduler(INFO, open_scheduler),
        Some("trainable") => tunehost::trainable(INFO, open_trainable),
        _ => tunehost::searcher(INFO, open_searcher),
    }
}

/// Suggests points made of the request's seed and what it observed.
struct Probe {
    what: String,
    dims: usize,
    seen: u64,
}

fn open_searcher(problem: Problem, options: &mut Options) -> Result<Probe> {
    let what = options.string("do", "")?;
    match what.as_str() {
        "refuse" => return Err("population must be even".into()),
        "panic in open" => panic!("no luck"),
        "nothing" => return Err("its Open returned nothing".into()),
        _ => {}
    }
    Ok(Probe { what, dims: problem.space.params.len(), seen: 0 })
}

impl Searcher for Probe {
    fn traits(&self) -> Traits {
        Traits { run_ahead: 3, requires: vec!["loss".into()], snapshots: true, ..Traits::default() }
    }

    fn observe(&mut self, events: &[Event]) -> Result<()> {
        if self.what == "fail in observe" {
            return Err("observed too much".into());
        }
        for event in events {
            if event.number != self.seen + 1 {
                return Err(format!("event {} after {}", event.number, self.seen).into());
            }
            self.seen = event.number;
        }
        Ok(())
    }

    fn suggest(&mut self, requests: &[Request]) -> Result<Suggestions> {
        println!("suggesting {}", requests.len());
        let mut answer = Suggestions::default();
        match self.what.as_str() {
            "panic" => panic!("no luck"),
            "fail" => return Err("the matrix\nis singular".into()),
            "hang" => std::thread::sleep(Duration::from_secs(3600)),
            "wait" => answer.status = Status::Wait,
            "few" => {}
            "short" => answer.points = vec![Vec::new(); requests.len()],
            _ => {
                let point = |r: &Request| vec![r.seed as f64 + self.seen as f64 / 1000.0; self.dims];
                answer.points = requests.iter().map(point).collect();
            }
        }
        Ok(answer)
    }

    fn snapshot(&mut self) -> Result<Vec<u8>> {
        Ok(self.seen.to_string().into_bytes())
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<()> {
        self.seen = std::str::from_utf8(snapshot)?.parse()?;
        Ok(())
    }
}

/// Stops what has a loss above 1, pauses what is reported again, and resumes trial 7.
struct Judge {
    twice: bool,
}

fn open_scheduler(_problem: Problem, options: &mut Options) -> Result<Judge> {
    Ok(Judge { twice: options.string("do", "")? == "twice" })
}

impl Scheduler for Judge {
    fn traits(&self) -> Traits {
        Traits { saves: true, again: true, ..Traits::default() }
    }

    fn decide(&mut self, events: &[Event]) -> Result<Decisions> {
        let results = events.iter().filter(|e| e.kind == EventKind::ResultReported);
        let decide = |e: &Event| match (e.losses[0] > 1.0, e.again) {
            (true, _) => {
                Decision { event: e.number, verdict: Verdict::Stop, until: 0, reason: "too large".into() }
            }
            (_, true) => Decision {
                event: e.number,
                verdict: Verdict::Pause,
                until: 0,
                reason: "reported again".into(),
            },
            _ => Decision { event: e.number, until: e.iteration + 1, ..Decision::default() },
        };
        let mut decisions: Vec<Decision> = results.map(decide).collect();
        if self.twice {
            decisions.extend(decisions.clone());
        }
        let commands = vec![Command { trial: 7, order: Order::Resume, reason: "its turn".into() }];
        Ok(Decisions { decisions, commands })
    }
}

/// Prints who it is, and has a child do so.
fn talk(id: &str) -> Result<()> {
    print!("out {}, ", id);
    eprintln!("err {}", id);
    tunehost::log(tunehost::Level::Info, &format!("logged {}", id));
    std::io::Write::flush(&mut std::io::stdout())?;
    std::process::Command::new("echo").args(["child", id]).status()?;
    print!("no end");
    Ok(())
}

/// Reports results of loss 1/iteration, as many as its parameter n says.
struct Trainer {
    what: String,
}

fn open_trainable(options: &mut Options) -> Result<Trainer> {
    match options.string("do", "")?.as_str() {
        "refuse" => Err("no such data set".into()),
        what => Ok(Trainer { what: what.into() }),
    }
}

impl Trainable for Trainer {
    fn traits(&self) -> TrainableTraits {
        let is = |what| self.what == what;
        TrainableTraits {
            saves: true,
            reusable: is("reusable"),
            shared: is("shared"),
            requests: is("request"),
        }
    }

    fn request(&self, params: &Json) -> Result<String> {
        if self.what != "request" {
            return Err("the trainable does not compute resource requests".into());
        }
        if params.text("do").unwrap_or("") == "panic" {
            panic!("no luck");
        }
        Ok(format!(r#"{{"cpu": {}}}"#, params.number("n")?))
    }

    fn train(&self, run: &mut Run) -> Result<()> {
        let params = run.params()?;
        let what = params.text("do").unwrap_or("");
        let n = params.number("n").unwrap_or(0.0) as u64;
        let greeting = format!("training {}", run.trial().id);
        run.log(&greeting);
        match what {
            "panic" => panic!("no luck"),
            "fail" => return Err("the loss is NaN".into()),
            "not started" => return Err(StartError("train.py: no such file".into()).into()),
            "cannot restore" => return Err(RestoreError("bad magic".into()).into()),
            "until killed" | "until stopped" => {
                while run.stopped().is_none() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                return Ok(());
            }
            "reject" => run.reject("los=0.3"),
            "talk" => talk(&run.trial().id)?,
            _ => {}
        }
        for i in 1..=n {
            let report = Report::new(&[("loss", 1.0 / i as f64), ("nan", f64::NAN)]).done(i == n);
            match what {
                "cannot save" => run.report(report)?,
                "fail to save" => run.report_saving(report, || Err("disk full".into()))?,
                "panic to save" => run.report_saving(report, || panic!("disk full"))?,
                _ => run.report_saving(report, || Ok(b"weights".to_vec()))?,
            }
        }
        Ok(())
    }
}
