use std::error::Error as StdError;
use std::fmt;

/// Any error: text (`Err("no data".into())`) and anything that `?` converts.
pub type Error = Box<dyn StdError + Send + Sync>;

/// The result of the author's code.
pub type Result<T> = std::result::Result<T, Error>;

/// A trial must end: [`Run::report`](crate::Run::report) returns it. Propagate it
/// with `?`; the trial does not fail because of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The trial was told to end.
    Stopped {
        /// It will continue later.
        paused: bool,
    },
    /// Nobody has told the trial to end: its host is gone, or has killed it. The last result may be missing in the
    /// record, so nothing that the trial writes from now on is final; the next host runs it again.
    Killed,
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Halt::Stopped { paused: true } => "the trial was told to stop for now: it is paused",
            Halt::Stopped { paused: false } => "the trial was told to stop",
            Halt::Killed => "the trial was killed, or its host is gone",
        })
    }
}

impl StdError for Halt {}

/// Fails a trial that could not start to train, for example because a program is missing: it is not
/// retried.
#[derive(Debug)]
pub struct StartError(pub Error);

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for StartError {}

/// Fails a trial whose saved state could not be used. The host may try once more
/// without it.
#[derive(Debug)]
pub struct RestoreError(pub Error);

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "cannot restore the checkpoint: {}", self.0)
    }
}

impl StdError for RestoreError {}

/// The error of type `E` that `error` is, or that it was caused by.
pub(crate) fn cause<E: StdError + 'static>(error: &Error) -> Option<&E> {
    let mut at: Option<&(dyn StdError + 'static)> = Some(error.as_ref());
    while let Some(e) = at {
        if let Some(found) = e.downcast_ref() {
            return Some(found);
        }
        at = e.source();
    }
    None
}
