use crate::{Event, Point, Result, Traits};

/// Suggests the parameters of trials.
///
/// Calls come one at a time. What it answers must depend only on the
/// [`Problem`](crate::Problem), its options, the events observed so far and the requests'
/// seeds: not on time, the process, or how events were batched.
pub trait Searcher: Send {
    /// What it says about itself, asked once when it is open.
    fn traits(&self) -> Traits {
        Traits::default()
    }

    /// Tells what happened since the last call, in order.
    fn observe(&mut self, events: &[Event]) -> Result<()>;

    /// Answers the requests, in order. It may answer fewer than were asked:
    /// [`Suggestions::status`] then says why.
    fn suggest(&mut self, requests: &[Request]) -> Result<Suggestions>;

    /// The state after the events observed so far, if [`Traits::snapshots`] is set.
    fn snapshot(&mut self) -> Result<Vec<u8>> {
        Err("the plugin makes no snapshots".into())
    }

    /// Called once, before anything else, with what [`snapshot`](Self::snapshot) returned.
    fn restore(&mut self, _snapshot: &[u8]) -> Result<()> {
        Err("a snapshot was given to a plugin that makes none".into())
    }
}

/// Asks for one suggestion.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The suggestion's number, from 0.
    pub trial: u32,
    /// The only randomness that may be used for this suggestion
    /// ([`Rng::new`](crate::Rng::new)).
    pub seed: u64,
    /// A point whose coordinates other than NaN are fixed. The SDK lays them over whatever
    /// the searcher answers; a searcher that models them does better.
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

/// What a searcher says beside its suggestions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// Every request is answered.
    #[default]
    Ready,
    /// Nothing now; ask again after something has happened.
    Wait,
    /// Nothing ever again.
    Exhausted,
}
