use crate::{Json, Metric, RestoreError, Result, Stopped};

/// Trains.
///
/// `train` is called for each attempt of each trial, on a thread of its own, in a process
/// that may have run other trials before ([`TrainableTraits::reusable`]) or runs others at
/// the same time ([`TrainableTraits::shared`]). It returns `Ok` when the training is
/// complete, the [`Stopped`] of [`Run::report`] when that told it to stop (`?` does so),
/// and any other error to fail the trial. Panics fail the trial.
pub trait Trainable: Send + Sync {
    /// What it says about itself, asked once when it is open.
    fn traits(&self) -> TrainableTraits {
        TrainableTraits::default()
    }

    /// Trains one attempt.
    fn train(&self, run: &mut Run) -> Result<()>;

    /// What a trial with these parameters needs, as the experiment file writes it, in JSON:
    /// `{"cpu": 2, "memory": "4GiB"}`; asked if [`TrainableTraits::requests`] is set. It
    /// depends on the parameters alone.
    fn request(&self, _params: &Json) -> Result<String> {
        Err("the trainable does not compute what trials need".into())
    }
}

/// What an opened trainable says about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrainableTraits {
    /// One process may run trial after trial.
    pub reusable: bool,
    /// One process may run many trials at a time.
    pub shared: bool,
    /// It can save when the host asks for it ([`Run::report_saving`]).
    pub saves: bool,
    /// It implements [`Trainable::request`].
    pub requests: bool,
}

/// One place that was granted: a part of one node.
#[derive(Clone, Debug, Default)]
pub struct Bundle {
    /// The node's name.
    pub node: String,
    /// The JSON of the place's amounts.
    pub resources: String,
    /// The ids of the node's GPUs that are granted here.
    pub devices: Vec<String>,
}

/// What an attempt has to train.
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
    /// The trial's randomness.
    pub seed: u64,
    /// The trial's directory, which exists; empty in a WebAssembly module, which has no
    /// files.
    pub dir: String,
    /// The directory of the checkpoint to go on from, or empty; see [`Run::state`].
    pub restore: String,
    /// The iteration of that checkpoint, or 0.
    pub iteration: u64,
    /// The JSON of what was granted; of a group, the sum.
    pub resources: String,
    /// The ids of the GPUs granted, each once.
    pub devices: Vec<String>,
    /// The places granted, in the order of the request.
    pub bundles: Vec<Bundle>,
    /// Results at multiples of it will be saved (0: none).
    pub checkpoint_every: u64,
    /// The last result will be saved.
    pub checkpoint_at_end: bool,
    /// How many results may be reported beyond the decided ones.
    pub run_ahead: u32,
    /// The time that a stopped trial has to clean up.
    pub grace_seconds: f64,
    /// Where what it prints goes.
    pub logs: Logs,
}

/// Files of a trial's directory; a name is empty where what is printed is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logs {
    /// That of the standard output.
    pub stdout: String,
    /// That of the standard error output.
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

    /// Adds something that need not be a number: a text, a truth, a list. It is kept beside
    /// the metrics in the trial's `result.jsonl`, and nothing is decided by it. A number is
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

    /// The trainable's own count, from 1; without it the host counts.
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

/// How many bytes of values the host takes with a result.
const MAX_VALUES: usize = 64 << 10;

/// What makes the state that a checkpoint holds.
pub(crate) type Save<'a> = &'a mut dyn FnMut() -> Result<Vec<u8>>;

/// Carries what a run says to the host: a stream of a process, or imports of a module.
pub(crate) trait Carrier {
    fn report(&mut self, report: Report, save: Option<Save>) -> std::result::Result<(), Stopped>;
    fn stopped(&self) -> Option<Stopped>;
    fn log(&mut self, line: &str);
    fn reject(&mut self, text: &str);
    fn state(&mut self) -> Result<Option<Vec<u8>>>;
}

/// One attempt of one trial, as the trainable sees it.
pub struct Run<'a> {
    pub(crate) trial: &'a Trial,
    pub(crate) carrier: &'a mut dyn Carrier,
}

impl Run<'_> {
    /// What to train.
    pub fn trial(&self) -> &Trial {
        self.trial
    }

    /// The trial's parameters.
    pub fn params(&self) -> Result<Json> {
        Json::parse(&self.trial.params).map_err(|e| format!("parameters: {}", e).into())
    }

    /// The state to go on from, which was saved at `trial().iteration`. The error is a
    /// [`RestoreError`].
    pub fn state(&mut self) -> Result<Option<Vec<u8>>> {
        self.carrier.state().map_err(|e| RestoreError(e).into())
    }

    /// Hands over one result and returns when the trial may go on. For trainables that
    /// cannot save.
    pub fn report(&mut self, report: Report) -> std::result::Result<(), Stopped> {
        let report = self.bounded(report);
        self.carrier.report(report, None)
    }

    /// As [`report`](Self::report); `save` returns the training's state when the host wants
    /// a checkpoint of just this result. It is called inside, on this thread.
    pub fn report_saving(
        &mut self,
        report: Report,
        mut save: impl FnMut() -> Result<Vec<u8>>,
    ) -> std::result::Result<(), Stopped> {
        let report = self.bounded(report);
        self.carrier.report(report, Some(&mut save))
    }

    /// The report without values that the host would not take.
    fn bounded(&mut self, mut report: Report) -> Report {
        if report.values().len() > MAX_VALUES {
            self.log("the values of a report take more than 64 KiB: they are left out");
            report.values.clear();
        }
        report
    }

    /// Whether the trial was told to end. Trainables that do not report for long look
    /// here between.
    pub fn stopped(&self) -> Option<Stopped> {
        self.carrier.stopped()
    }

    /// Writes a line to the trial's log.
    pub fn log(&mut self, line: &str) {
        self.carrier.log(line);
    }

    /// Notes something that a program of the user's reported as refused: it is no result.
    pub fn reject(&mut self, text: &str) {
        self.carrier.reject(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps what is handed over.
    #[derive(Default)]
    struct Kept(Vec<Report>, Vec<String>);

    impl Carrier for Kept {
        fn report(&mut self, report: Report, _: Option<Save>) -> std::result::Result<(), Stopped> {
            self.0.push(report);
            Ok(())
        }
        fn stopped(&self) -> Option<Stopped> {
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
