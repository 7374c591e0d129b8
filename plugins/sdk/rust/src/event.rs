use crate::space::{Point, Space};

/// What a searcher or scheduler receives when it is opened.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// The parameters to vary.
    pub space: Space,
    /// The objectives; at least one.
    pub objectives: Vec<Objective>,
    /// The plugin's seed: two plugins of one experiment have different seeds.
    pub seed: u64,
    /// How many trials are planned; 0 when unbounded.
    pub trials: u64,
    /// How many may run at a time; 0 when unbounded.
    pub concurrency: u64,
    /// What each trial requests, in the form of the experiment file, as JSON:
    /// `{"cpu": "2"}`. Empty if it is not known or consists of several bundles.
    pub request: String,
    /// The total resources when the experiment began, in the same form. Empty
    /// if another system runs the trials.
    pub capacity: String,
}

/// A metric to minimise or to maximise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Objective {
    /// Its name in results.
    pub metric: String,
    /// Larger is better. [`Event::losses`] has its sign inverted already.
    pub maximize: bool,
}

/// The kind of an event, in the order in which they occur to a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// A trial exists; `point` holds its parameters.
    TrialAdded,
    /// It started, for the first time or again (`attempt` counts).
    TrialStarted,
    /// It reported a result; `iteration`, `losses` and `metrics` are set.
    ResultReported,
    /// It was paused and may continue later.
    TrialPaused,
    /// It finished or was stopped; `losses` are its last ones, empty if it never reported.
    TrialCompleted,
    /// It failed and will not be retried.
    TrialFailed,
    /// It was removed while it was waiting or paused, or the experiment ended before its first result.
    TrialRemoved,
    /// One of its checkpoints is complete on disk.
    CheckpointSaved,
    /// It failed or lost its node and will be run again.
    TrialRequeued,
    /// No event will follow.
    ExperimentEnded,
    /// The searcher has no more to suggest.
    SearchEnded,
    /// An event of a later version of the protocol: ignore it.
    Other(u64),
}

/// One event. `kind` determines which fields are set.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The position in the history, from 1, without gaps.
    pub number: u64,
    /// The kind of the event.
    pub kind: EventKind,
    /// The trial's number, from 0 in the order of creation.
    pub trial: u32,
    /// Counts the starts of the trial, from 1.
    pub attempt: u32,
    /// The result's or checkpoint's iteration, from 1.
    pub iteration: u64,
    /// The trial's parameters (`TrialAdded`).
    pub point: Point,
    /// One value for each objective: smaller is better in either direction; never NaN,
    /// and infinite if the metric was missing or not finite.
    pub losses: Vec<f64>,
    /// The reported numbers, unchanged, sorted by name. Empty unless
    /// [`Traits::metrics`] asks for them.
    pub metrics: Vec<Metric>,
    /// The trial's training time so far.
    pub seconds: f64,
    /// Whether all of `seconds` was told by the caller of ask and tell, and nothing of it
    /// measured, so that the same requests give the same seconds.
    pub seconds_told: bool,
    /// A restarted trial reports this iteration once more. Only plugins with the trait
    /// [`again`](Traits::again) are told such results.
    pub again: bool,
    /// The reason, for users (`TrialCompleted`, `TrialFailed`, `TrialRemoved`).
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
            seconds_told: false,
            again: false,
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

/// The properties of an opened searcher or scheduler, which may depend on its
/// options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// Suggestions do not depend on results, so the host may ask ahead of free slots,
    /// and does not send the results of running trials (searchers).
    pub independent: bool,
    /// It never decides anything, so the host does not have to ask (schedulers).
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
    /// It combines the grid axes of the space itself, so requests do not fix them. It suggests each
    /// combination once before it repeats one (searchers).
    pub combines_grid: bool,
    /// It is told the results of a restarted trial also for iterations that the trial had reported
    /// before ([`Event::again`]), and decides on them. Without it, it is told each iteration once.
    pub again: bool,
    /// It implements `snapshot` and `restore`, which are faster than reading the whole history
    /// again.
    pub snapshots: bool,
}

/// Describes a plugin before it is opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Info {
    /// The name that users write in the experiment file: lower case, digits and dashes.
    pub name: &'static str,
    /// The version of the plugin.
    pub version: &'static str,
    /// A description in one sentence.
    pub summary: &'static str,
    /// A JSON Schema of the options: an object with `additionalProperties` false, and a
    /// description and a default for each. Empty: it has no options.
    pub options: &'static str,
}
