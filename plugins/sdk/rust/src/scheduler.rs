use crate::{Event, Point, Result, Traits};

/// Decides which trials go on.
///
/// Calls come one at a time. What it answers must depend only on the
/// [`Problem`](crate::Problem), its options and the events so far: not on how they were
/// batched.
pub trait Scheduler: Send {
    /// What it says about itself, asked once when it is open.
    fn traits(&self) -> Traits {
        Traits::default()
    }

    /// Tells what happened since the last call, in order, and answers at most one decision
    /// for each `ResultReported` event among them, and any commands.
    fn decide(&mut self, events: &[Event]) -> Result<Decisions>;

    /// The state after the events so far, if [`Traits::snapshots`] is set.
    fn snapshot(&mut self) -> Result<Vec<u8>> {
        Err("the plugin makes no snapshots".into())
    }

    /// Called once, before anything else, with what [`snapshot`](Self::snapshot) returned.
    fn restore(&mut self, _snapshot: &[u8]) -> Result<()> {
        Err("a snapshot was given to a plugin that makes none".into())
    }
}

/// A scheduler's answer.
#[derive(Clone, Debug, Default)]
pub struct Decisions {
    /// In the order of the events. A result without one continues.
    pub decisions: Vec<Decision>,
    /// Carried out after the decisions, in order.
    pub commands: Vec<Command>,
}

/// What happens to a trial after a result. Where several meet, the strongest counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on.
    #[default]
    Continue,
    /// It may go on later.
    Pause,
    /// It is ended.
    Stop,
}

/// The verdict on one result.
#[derive(Clone, Debug, Default)]
pub struct Decision {
    /// The number of the `ResultReported` event.
    pub event: u64,
    /// What happens.
    pub verdict: Verdict,
    /// With `Continue`: results before this iteration of the trial go on without asking,
    /// and are not told. 0: the next result is to be decided again.
    pub until: u64,
    /// Why, for people. Expected with `Pause` and `Stop`.
    pub reason: String,
}

/// An order that is not the answer to a result.
#[derive(Clone, Debug)]
pub struct Command {
    /// The trial's number.
    pub trial: u32,
    /// What is ordered.
    pub order: Order,
    /// Why, for people.
    pub reason: String,
}

/// What a scheduler can order beside decisions.
#[derive(Clone, Debug)]
pub enum Order {
    /// A paused trial is queued to go on, before new ones.
    Resume,
    /// A trial that waits or is paused is ended.
    Stop,
    /// The trial goes on from a checkpoint of another.
    Exploit {
        /// Whose checkpoint.
        donor: u32,
        /// Its iteration.
        iteration: u64,
        /// The trial's new parameters, if they change.
        point: Option<Point>,
    },
    /// A paused trial's request for resources changes: JSON, as the experiment file writes it.
    Resize(String),
    /// The whole experiment ends, whatever the trial is.
    StopAll,
}
