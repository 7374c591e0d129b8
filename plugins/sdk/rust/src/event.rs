use crate::space::{Point, Space};

/// What a searcher or scheduler is opened with.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// What may be varied.
    pub space: Space,
    /// At least one.
    pub objectives: Vec<Objective>,
    /// The plugin's own: two plugins of one experiment have different ones.
    pub seed: u64,
    /// How many trials are planned; 0 when unbounded.
    pub trials: u64,
    /// How many may run at a time; 0 when not bounded.
    pub concurrency: u64,
    /// What each trial asks for, as the experiment file writes it, in JSON:
    /// `{"cpu": "2"}`. Empty where that is not known, or is several bundles.
    pub request: String,
    /// What there was in all when the experiment began, in the same form. Empty
    /// where trials are run by somebody else.
    pub capacity: String,
}

/// A metric to be made small or large.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Objective {
    /// Its name in results.
    pub metric: String,
    /// Larger is better. [`Event::losses`] has the sign turned already.
    pub maximize: bool,
}

/// What happened to a trial, in the order in which a trial meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// A trial exists; `point` holds its parameters.
    TrialAdded,
    /// It runs, for the first time or again (`attempt` counts).
    TrialStarted,
    /// It reported; `iteration`, `losses` and `metrics` are set.
    ResultReported,
    /// It stopped running and may go on later.
    TrialPaused,
    /// It ended well or was stopped; `losses` are its last, empty when it never reported.
    TrialCompleted,
    /// It ended in an error that will not be retried.
    TrialFailed,
    /// It was taken away while it was waiting or paused.
    TrialRemoved,
    /// A checkpoint of it is whole on disk.
    CheckpointSaved,
    /// It failed or lost its node and will be run again.
    TrialRequeued,
    /// Nothing will follow.
    ExperimentEnded,
    /// The searcher has no more to suggest.
    SearchEnded,
    /// Something of a later version of the protocol: ignore it.
    Other(u64),
}

/// One thing that happened. Which fields are set depends on `kind`.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The position in the history, from 1, without gaps.
    pub number: u64,
    /// What happened.
    pub kind: EventKind,
    /// The trial's number, from 0 in the order of creation.
    pub trial: u32,
    /// Counts the starts of the trial, from 1.
    pub attempt: u32,
    /// The result's or checkpoint's iteration, from 1.
    pub iteration: u64,
    /// The trial's parameters (`TrialAdded`).
    pub point: Point,
    /// One value for each objective: smaller is better whatever its direction, never NaN,
    /// and infinite where the metric was missing or no finite number.
    pub losses: Vec<f64>,
    /// The reported numbers as they were, sorted by name. Empty unless
    /// [`Traits::metrics`] asks for them.
    pub metrics: Vec<Metric>,
    /// The trial's training time so far.
    pub seconds: f64,
    /// Why, for people (`TrialCompleted`, `TrialFailed`, `TrialRemoved`).
    pub reason: String,
}

impl Default for Event {
    fn default() -> Self {
        Event {
            number: 0,
            kind: EventKind::Other(0),
            trial: 0,
            attempt: 0,
            iteration: 0,
            point: Point::new(),
            losses: Vec::new(),
            metrics: Vec::new(),
            seconds: 0.0,
            reason: String::new(),
        }
    }
}

/// One reported number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metric {
    /// Nested names are joined with `/`.
    pub name: String,
    /// May be NaN or infinite.
    pub value: f64,
}

/// What an opened searcher or scheduler says about itself, which may depend on its
/// options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// Suggestions do not depend on results, so the host may ask ahead of free slots
    /// (searchers).
    pub independent: bool,
    /// It never decides anything, so that the host need not ask (schedulers).
    pub quiet: bool,
    /// How many results a trial may report beyond the last one that was decided
    /// (schedulers).
    pub run_ahead: u32,
    /// Events must carry all metrics, not only the losses.
    pub metrics: bool,
    /// It works on checkpoints, so that trials must be able to make them (schedulers).
    pub saves: bool,
    /// Metrics that every result must have beside the objectives'.
    pub requires: Vec<String>,
    /// It implements `snapshot` and `restore`, which are faster than the whole history
    /// again.
    pub snapshots: bool,
}

/// Describes a plugin before it is opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Info {
    /// What users write in the experiment file: lower case, digits and dashes.
    pub name: &'static str,
    /// The plugin's own version.
    pub version: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// A JSON Schema of the options: an object with `additionalProperties` false, and a
    /// description and a default for each. Empty: it has no options.
    pub options: &'static str,
}
