use crate::{Event, Point, Result, Traits};

/// Suggests the parameters of trials.
///
/// Calls come one at a time. Its answers must depend only on the
/// [`Problem`](crate::Problem), its options, the events observed so far and the requests'
/// seeds: not on time, the process, or how events were batched.
pub trait Searcher: Send {
    /// Its properties; called once after it was opened.
    fn traits(&self) -> Traits {
        Traits::default()
    }

    /// Receives the events since the last call, in order.
    fn observe(&mut self, events: &[Event]) -> Result<()>;

    /// Answers the requests, in order. It may answer fewer than requested:
    /// [`Suggestions::status`] then gives the reason.
    fn suggest(&mut self, requests: &[Request]) -> Result<Suggestions>;

    /// The state after the events observed so far, if [`Traits::snapshots`] is set.
    fn snapshot(&mut self) -> Result<Vec<u8>> {
        Err("the plugin does not support snapshots".into())
    }

    /// Called once, before anything else, with what [`snapshot`](Self::snapshot) returned.
    fn restore(&mut self, _snapshot: &[u8]) -> Result<()> {
        Err("a snapshot was given to a plugin that does not support snapshots".into())
    }
}

/// Asks for one suggestion.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The suggestion's number, from 0.
    pub trial: u32,
    /// The only source of randomness for this suggestion
    /// ([`Rng::new`](crate::Rng::new)).
    pub seed: u64,
    /// A point whose coordinates other than NaN are fixed. The SDK replaces those of
    /// the searcher's answer by them; a searcher that takes them into account does better.
    pub given: Option<Point>,
}

/// The answer to requests.
#[derive(Clone, Debug, Default)]
pub struct Suggestions {
    /// The suggestions for the first requests.
    pub points: Vec<Point>,
    /// Why they are fewer than the requests.
    pub status: Status,
}

/// The status of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// Every request is answered.
    #[default]
    Ready,
    /// No suggestion now; the host asks again after the next events.
    Wait,
    /// There will be no further suggestions.
    Exhausted,
}
