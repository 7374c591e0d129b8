use crate::{Event, Point, Result, Traits};

/// Decides which trials continue.
///
/// Calls come one at a time. Its answers must depend only on the
/// [`Problem`](crate::Problem), its options and the events so far: not on how they were
/// batched.
pub trait Scheduler: Send {
    /// Its properties; called once after it was opened.
    fn traits(&self) -> Traits {
        Traits::default()
    }

    /// Receives the events since the last call, in order, and returns at most one decision
    /// for each `ResultReported` event among them, and any commands.
    fn decide(&mut self, events: &[Event]) -> Result<Decisions>;

    /// The state after the events so far, if [`Traits::snapshots`] is set.
    fn snapshot(&mut self) -> Result<Vec<u8>> {
        Err("the plugin does not support snapshots".into())
    }

    /// Called once, before anything else, with what [`snapshot`](Self::snapshot) returned.
    fn restore(&mut self, _snapshot: &[u8]) -> Result<()> {
        Err("a snapshot was given to a plugin that does not support snapshots".into())
    }
}

/// A scheduler's answer.
#[derive(Clone, Debug, Default)]
pub struct Decisions {
    /// In the order of the events. A result without one continues.
    pub decisions: Vec<Decision>,
    /// Executed after the decisions, in order.
    pub commands: Vec<Command>,
}

/// Whether a trial continues after a result. Of several decisions the strongest counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// It continues.
    #[default]
    Continue,
    /// It is paused and may continue later.
    Pause,
    /// It is ended.
    Stop,
}

/// The decision on one result.
#[derive(Clone, Debug, Default)]
pub struct Decision {
    /// The number of the `ResultReported` event.
    pub event: u64,
    /// The action.
    pub verdict: Verdict,
    /// With `Continue`: results before this iteration of the trial need no decision
    /// and are not reported. 0: the next result needs a decision again.
    pub until: u64,
    /// The reason, for users. Expected with `Pause` and `Stop`.
    pub reason: String,
}

/// A command that does not answer a result.
#[derive(Clone, Debug)]
pub struct Command {
    /// The trial's number.
    pub trial: u32,
    /// The action.
    pub order: Order,
    /// The reason, for users.
    pub reason: String,
}

/// The commands of a scheduler.
#[derive(Clone, Debug)]
pub enum Order {
    /// A paused trial is queued to continue, before new ones.
    Resume,
    /// The trial ends: one that waits or is paused at once; one that runs is stopped.
    Stop,
    /// The trial continues from a checkpoint of another trial.
    Exploit {
        /// The trial whose checkpoint is used.
        donor: u32,
        /// Its iteration.
        iteration: u64,
        /// The trial's new parameters, if they change.
        point: Option<Point>,
    },
    /// A paused trial requests other resources: JSON in the form of the experiment file.
    Resize(String),
    /// The whole experiment ends, whatever the trial is.
    StopAll,
}
