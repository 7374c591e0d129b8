//! Write searchers, schedulers and trainables for [tunehost](https://github.com/tunehost/tunehost).
//!
//! A plugin is a program whose `main` is one call:
//!
//! ```no_run
//! use tunehost::{Event, Info, Options, Problem, Request, Result, Rng, Searcher, Space, Suggestions};
//!
//! struct Guess(Space);
//!
//! impl Searcher for Guess {
//!     fn observe(&mut self, _events: &[Event]) -> Result<()> {
//!         Ok(())
//!     }
//!
//!     fn suggest(&mut self, requests: &[Request]) -> Result<Suggestions> {
//!         let mut answer = Suggestions::default();
//!         for request in requests {
//!             let mut rng = Rng::new(request.seed);
//!             answer.points.push(self.0.sample_given(&mut rng, request.given.as_deref())?);
//!         }
//!         Ok(answer)
//!     }
//! }
//!
//! fn open(problem: Problem, _options: &mut Options) -> Result<Guess> {
//!     Ok(Guess(problem.space))
//! }
//!
//! fn main() {
//!     let info = Info { name: "guess", version: "1", summary: "Draws points.", options: "{}" };
//!     tunehost::searcher(info, open)
//! }
//! ```
//!
//! The same source is built in two ways. As a program it is started by tunehost and communicates
//! with it over gRPC (feature `process`, on by default). For the target
//! `wasm32-unknown-unknown` it is a WebAssembly module that tunehost runs in a sandbox;
//! that part of the crate needs no other crate and compiles with Rust 1.63. README.md says
//! how.

#![warn(missing_docs)]

mod error;
mod event;
mod guard;
#[cfg(target_family = "wasm")]
mod guest;
mod json;
mod log;
mod options;
// Its dependencies need a newer Rust than the rest of the crate.
#[cfg(all(unix, feature = "process"))]
#[allow(clippy::incompatible_msrv)]
mod process;
mod scheduler;
mod searcher;
mod service;
pub mod space;
mod trainable;
mod wire;

pub use self::error::{Error, Halt, RestoreError, Result, StartError};
pub use self::event::{Event, EventKind, Info, Metric, Objective, Problem, Traits};
pub use self::json::Json;
pub use self::log::{log, Level};
pub use self::options::Options;
pub use self::scheduler::{Command, Decision, Decisions, Order, Scheduler, Verdict};
pub use self::searcher::{Request, Searcher, Status, Suggestions};
pub use self::space::{Point, Rng, Seen, Space};
pub use self::trainable::{Bundle, Logs, Report, Run, Trainable, TrainableTraits, Trial};

use self::service::Service;

/// Serves a searcher. `open` checks the problem and the options, and creates the searcher. In
/// a program this function takes over stdout and does not return: it ends the process.
pub fn searcher<T: Searcher + 'static>(info: Info, open: fn(Problem, &mut Options) -> Result<T>) {
    serve(Service::searcher(info, open));
}

/// Serves a scheduler, like [`searcher`].
pub fn scheduler<T: Scheduler + 'static>(info: Info, open: fn(Problem, &mut Options) -> Result<T>) {
    serve(Service::scheduler(info, open));
}

/// Serves a trainable, like [`searcher`].
pub fn trainable<T: Trainable + 'static>(info: Info, open: fn(&mut Options) -> Result<T>) {
    serve(Service::trainable(info, open));
}

#[cfg(target_family = "wasm")]
use guest::serve;
#[cfg(all(unix, feature = "process"))]
use process::serve;

#[cfg(not(any(target_family = "wasm", all(unix, feature = "process"))))]
fn serve(service: Service) {
    let (kind, info) = service.info();
    eprintln!(
        "the {} {:?} was built without the feature \"process\", or not for Unix: tunehost cannot start it",
        kind, info.name
    );
    std::process::exit(1);
}
