use crate::{Halt, Json, Metric, RestoreError, Result};

/// Trains trials.
///
/// `train` is called for each attempt of each trial, on a thread of its own, in a process
/// that may have run other trials before ([`TrainableTraits::reusable`]) or runs others at
/// the same time ([`TrainableTraits::shared`]). It returns `Ok` when the training is
/// complete, the [`Halt`] of [`Run::report`] when the trial has to end (`?` does so),
/// and any other error to fail the trial. Panics fail the trial.
pub trait Trainable: Send + Sync {
    /// Its properties; called once after it was opened.
    fn traits(&self) -> TrainableTraits {
        TrainableTraits::default()
    }

    /// Trains one attempt.
    fn train(&self, run: &mut Run) -> Result<()>;

    /// The resources of a trial with these parameters, in the form of the experiment file, as JSON:
    /// `{"cpu": 2, "memory": "4GiB"}`; called if [`TrainableTraits::requests`] is set. It
    /// must depend only on the parameters.
    fn request(&self, _params: &Json) -> Result<String> {
        Err("the trainable does not compute resource requests".into())
    }
}

/// The properties of an opened trainable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrainableTraits {
    /// One process may run several trials, one after the other.
    pub reusable: bool,
    /// One process may run several trials at a time.
    pub shared: bool,
    /// It can save a checkpoint when the host requests one ([`Run::report_saving`]).
    pub saves: bool,
    /// It implements [`Trainable::request`].
    pub requests: bool,
}

/// One granted share of a node.
#[derive(Clone, Debug, Default)]
pub struct Bundle {
    /// The node's name.
    pub node: String,
    /// The JSON of the granted amounts.
    pub resources: String,
    /// The ids of the node's GPUs that are granted here.
    pub devices: Vec<String>,
    /// The address at which the trial's other nodes reach this one; empty: all bundles are on
    /// this machine.
    pub address: String,
}

/// The trial that an attempt trains.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    /// The trial's name in files.
    pub id: String,
    /// Counts from 0.
    pub number: u32,
    /// Counts from 1.
    pub attempt: u32,
    /// The experiment's name.
    pub experiment: String,
    /// The JSON object of the trial's parameters; see [`Run::params`].
    pub params: String,
    /// The JSON object of the trainable's options.
    pub options: String,
    /// The trial's random seed.
    pub seed: u64,
    /// The trial's directory, which exists; empty in a WebAssembly module, which has no
    /// files.
    pub dir: String,
    /// The directory of the checkpoint to continue from, or empty; see [`Run::state`].
    pub restore: String,
    /// The iteration of that checkpoint, or 0.
    pub iteration: u64,
    /// The JSON of the granted resources; of a group, the sum.
    pub resources: String,
    /// The ids of the GPUs granted, each once.
    pub devices: Vec<String>,
    /// The granted shares, in the order of the request.
    pub bundles: Vec<Bundle>,
    /// A checkpoint is made at multiples of this iteration (0: none).
    pub checkpoint_every: u64,
    /// A checkpoint is made of the last result.
    pub checkpoint_at_end: bool,
    /// How many results may be reported before earlier ones are decided.
    pub run_ahead: u32,
    /// The time that a stopped trial has to clean up.
    pub grace_seconds: f64,
    /// The files of its output.
    pub logs: Logs,
    /// The host gives a credit for each recorded result, also for those that meet a stop.
    pub confirms: bool,
}

/// Files in a trial's directory; a name is empty if the output is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logs {
    /// The file for standard output.
    pub stdout: String,
    /// The file for standard error.
    pub stderr: String,
}

impl Default for Logs {
    fn default() -> Logs {
        Logs { stdout: "stdout".into(), stderr: "stderr".into() }
    }
}

/// One result.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub(crate) metrics: Vec<Metric>,
    pub(crate) values: Vec<(String, Json)>,
    pub(crate) iteration: u64,
    pub(crate) done: bool,
}

impl Report {
    /// A result with these numbers; nested names are joined with `/`.
    pub fn new(metrics: &[(&str, f64)]) -> Report {
        let named = |&(name, value): &(&str, f64)| Metric { name: name.into(), value };
        Report { metrics: metrics.iter().map(named).collect(), ..Report::default() }
    }

    /// Adds something that need not be a number: a string, a boolean, a list. It is kept beside
    /// the metrics in the trial's `result.jsonl`, and no decision depends on it. A number is
    /// a metric; the members of an object are added as `name/member`. The values of one
    /// report may take 64 KiB, as JSON; beyond that they are left out.
    pub fn value(mut self, name: &str, value: impl Into<Json>) -> Report {
        self.add(name.into(), value.into());
        self
    }

    fn add(&mut self, name: String, value: Json) {
        match value {
            Json::Number(value) => self.metrics.push(Metric { name, value }),
            Json::Object(members) => {
                members.into_iter().for_each(|(key, value)| self.add(format!("{}/{}", name, key), value))
            }
            value => {
                self.values.retain(|(other, _)| *other != name);
                self.values.push((name, value));
            }
        }
    }

    /// The JSON object of the values, or nothing.
    pub(crate) fn values(&self) -> String {
        match self.values.is_empty() {
            true => String::new(),
            false => Json::Object(self.values.clone()).to_string(),
        }
    }

    /// The iteration as the trainable counts it, from 1; without it the host counts.
    pub fn iteration(mut self, iteration: u64) -> Report {
        self.iteration = iteration;
        self
    }

    /// Whether this is the last result.
    pub fn done(mut self, done: bool) -> Report {
        self.done = done;
        self
    }
}

/// How many bytes of values the host accepts with a result.
const MAX_VALUES: usize = 64 << 10;

/// Returns the state that is stored in a checkpoint.
pub(crate) type Save<'a> = &'a mut dyn FnMut() -> Result<Vec<u8>>;

/// The error for the host when it wants a checkpoint of a result that was reported without its state.
pub(crate) fn unsaved(iteration: u64) -> String {
    format!(
        "the result of iteration {} was reported without a state, and a checkpoint of it is wanted: \
         report each result with report_saving",
        iteration
    )
}

/// The connection of a run to the host: a stream of a process, or imports of a module.
pub(crate) trait Carrier {
    fn report(&mut self, report: Report, save: Option<Save>) -> std::result::Result<(), Halt>;
    fn stopped(&self) -> Option<Halt>;
    fn log(&mut self, line: &str);
    fn reject(&mut self, text: &str);
    fn state(&mut self) -> Result<Option<Vec<u8>>>;
}

/// One attempt of one trial, for the trainable.
pub struct Run<'a> {
    pub(crate) trial: &'a Trial,
    pub(crate) carrier: &'a mut dyn Carrier,
}

impl Run<'_> {
    /// The trial to train.
    pub fn trial(&self) -> &Trial {
        self.trial
    }

    /// The trial's parameters.
    pub fn params(&self) -> Result<Json> {
        Json::parse(&self.trial.params).map_err(|e| format!("parameters: {}", e).into())
    }

    /// The state to continue from, which was saved at `trial().iteration`. The error is a
    /// [`RestoreError`].
    pub fn state(&mut self) -> Result<Option<Vec<u8>>> {
        self.carrier.state().map_err(|e| RestoreError(e).into())
    }

    /// Reports one result and returns when the trial may continue. For trainables that
    /// cannot save.
    pub fn report(&mut self, report: Report) -> std::result::Result<(), Halt> {
        let report = self.bounded(report);
        self.carrier.report(report, None)
    }

    /// Like [`report`](Self::report); `save` returns the training's state if the host requests
    /// a checkpoint of this result. It is called on this thread, before this function returns.
    pub fn report_saving(
        &mut self,
        report: Report,
        mut save: impl FnMut() -> Result<Vec<u8>>,
    ) -> std::result::Result<(), Halt> {
        let report = self.bounded(report);
        self.carrier.report(report, Some(&mut save))
    }

    /// The report without values that the host would not accept.
    fn bounded(&mut self, mut report: Report) -> Report {
        if report.values().len() > MAX_VALUES {
            self.log("the values of a report take more than 64 KiB: they are left out");
            report.values.clear();
        }
        report
    }

    /// Whether and why the trial must end. Trainables with long intervals between reports should
    /// check it in between.
    pub fn stopped(&self) -> Option<Halt> {
        self.carrier.stopped()
    }

    /// Writes a line to the trial's log.
    pub fn log(&mut self, line: &str) {
        self.carrier.log(line);
    }

    /// Records that a report of the user's program was refused: it is not a result.
    pub fn reject(&mut self, text: &str) {
        self.carrier.reject(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stores what is reported.
    #[derive(Default)]
    struct Kept(Vec<Report>, Vec<String>);

    impl Carrier for Kept {
        fn report(&mut self, report: Report, _: Option<Save>) -> std::result::Result<(), Halt> {
            self.0.push(report);
            Ok(())
        }
        fn stopped(&self) -> Option<Halt> {
            None
        }
        fn log(&mut self, line: &str) {
            self.1.push(line.into());
        }
        fn reject(&mut self, _: &str) {}
        fn state(&mut self) -> Result<Option<Vec<u8>>> {
            Ok(None)
        }
    }

    #[test]
    fn values_are_beside_the_metrics() {
        let nested = Json::parse(r#"{"by": "me", "deep": {"x": 2, "none": null}}"#).unwrap();
        let report = Report::new(&[("loss", 1.0)])
            .value("note", "first")
            .value("note", String::from("a \"b\""))
            .value("ok", true)
            .value("rows", vec![vec![1.0], vec![]])
            .value("in", nested);
        assert_eq!(
            report.values(),
            r#"{"note":"a \"b\"","ok":true,"rows":[[1],[]],"in/by":"me","in/deep/none":null}"#
        );
        let names: Vec<&str> = report.metrics.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names, ["loss", "in/deep/x"]);
        assert_eq!(Report::new(&[("loss", 1.0)]).values(), "");
    }

    #[test]
    fn too_many_values_are_left_out_and_said() {
        let (trial, mut kept) = (Trial::default(), Kept::default());
        let mut run = Run { trial: &trial, carrier: &mut kept };
        for size in [10, 1 << 20] {
            run.report(Report::new(&[("loss", 1.0)]).value("note", "x".repeat(size))).unwrap();
            run.report_saving(Report::new(&[]).value("note", "x".repeat(size)), || Ok(Vec::new())).unwrap();
        }
        let values: Vec<usize> = kept.0.iter().map(|r| r.values.len()).collect();
        assert_eq!(values, [1, 1, 0, 0]);
        assert_eq!((kept.0[2].metrics.len(), kept.1.len()), (1, 2));
    }
}
