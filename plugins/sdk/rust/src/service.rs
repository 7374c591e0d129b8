//! The protocol's calls, except the stream of a trainable: bytes in, bytes out. Both
//! transports use them.

use crate::guard::{check_decisions, check_suggestions, overlay, protect, Panicked};
use crate::space::Tight;
use crate::{wire, Error, Info, Json, Options, Problem, Result, Scheduler, Searcher, Suggestions, Trainable};
use std::sync::Arc;

/// The error of a call: a gRPC status code and a line with the reason.
#[derive(Debug)]
pub struct Failure {
    pub code: u8,
    pub why: String,
}

pub const INVALID_ARGUMENT: u8 = 3;
pub const FAILED_PRECONDITION: u8 = 9;
pub const ABORTED: u8 = 10;
pub const OUT_OF_RANGE: u8 = 11;
pub const UNIMPLEMENTED: u8 = 12;
pub const INTERNAL: u8 = 13;

pub type Answer = std::result::Result<Vec<u8>, Failure>;

impl Failure {
    pub fn new(code: u8, why: impl ToString) -> Failure {
        Failure { code, why: why.to_string() }
    }

    fn not_open() -> Failure {
        Failure::new(FAILED_PRECONDITION, "the plugin was not opened")
    }
}

/// Converts an error of the author's code: the code says whether the user must change
/// something (`INVALID_ARGUMENT`) or the plugin is broken.
fn failed(code: u8) -> impl Fn(Error) -> Failure {
    move |e| Failure::new(if e.is::<Panicked>() { INTERNAL } else { code }, e)
}

/// Converts an error of `suggest`: if no point satisfies the constraints, asking again would change
/// nothing.
fn unsuggested(e: Error) -> Failure {
    let code = if e.is::<Tight>() { OUT_OF_RANGE } else { ABORTED };
    failed(code)(e)
}

fn malformed(e: wire::Malformed) -> Failure {
    Failure::new(INVALID_ARGUMENT, e)
}

type Open<T> = Box<dyn Fn(Problem, &mut Options) -> Result<T> + Send>;
type OpenTrainable = Box<dyn Fn(&mut Options) -> Result<Arc<dyn Trainable>> + Send>;

/// A plugin that can be served.
pub enum Service {
    Searcher(Opened<dyn Searcher>),
    Scheduler(Opened<dyn Scheduler>),
    Trainable(Training),
}

/// A searcher or scheduler, before or after it is opened.
pub struct Opened<T: ?Sized> {
    info: Info,
    open: Open<Box<T>>,
    plugin: Option<Box<T>>,
    dims: usize,
}

/// A trainable, before or after it is opened.
pub struct Training {
    info: Info,
    open: OpenTrainable,
    pub plugin: Option<Arc<dyn Trainable>>,
}

impl Service {
    pub fn searcher<T: Searcher + 'static>(info: Info, open: OpenFn<T>) -> Service {
        let open: Open<Box<dyn Searcher>> = Box::new(move |p, o| Ok(Box::new(open(p, o)?)));
        Service::Searcher(Opened { info, open, plugin: None, dims: 0 })
    }

    pub fn scheduler<T: Scheduler + 'static>(info: Info, open: OpenFn<T>) -> Service {
        let open: Open<Box<dyn Scheduler>> = Box::new(move |p, o| Ok(Box::new(open(p, o)?)));
        Service::Scheduler(Opened { info, open, plugin: None, dims: 0 })
    }

    pub fn trainable<T: Trainable + 'static>(info: Info, open: fn(&mut Options) -> Result<T>) -> Service {
        let open: OpenTrainable = Box::new(move |o| Ok(Arc::new(open(o)?)));
        Service::Trainable(Training { info, open, plugin: None })
    }

    /// Its kind and its description.
    pub fn info(&self) -> (&'static str, Info) {
        match self {
            Service::Searcher(s) => ("searcher", s.info),
            Service::Scheduler(s) => ("scheduler", s.info),
            Service::Trainable(t) => ("trainable", t.info),
        }
    }

    /// Calls a method by its gRPC name, `/tunehost.v1.SearcherService/Suggest`.
    pub fn call(&mut self, method: &str, request: &[u8]) -> Answer {
        let (kind, info) = self.info();
        let name = method.strip_prefix("/tunehost.v1.").unwrap_or("");
        match (&mut *self, name) {
            (Service::Searcher(_), "SearcherService/DescribeSearcher")
            | (Service::Scheduler(_), "SchedulerService/DescribeScheduler")
            | (Service::Trainable(_), "TrainableService/DescribeTrainable") => {
                Ok(wire::describe_response(kind, &info))
            }
            (Service::Searcher(s), _) => s.call(name, request),
            (Service::Scheduler(s), _) => s.call(name, request),
            (Service::Trainable(t), _) => t.call(name, request),
        }
    }
}

/// The author's function that opens a searcher or scheduler.
pub type OpenFn<T> = fn(Problem, &mut Options) -> Result<T>;

fn unimplemented(method: &str) -> Answer {
    Err(Failure::new(UNIMPLEMENTED, format!("there is no method {}", method)))
}

impl<T: ?Sized> Opened<T> {
    /// Opens the plugin; `restore` gives it its snapshot, if there is one.
    fn open(&mut self, request: &[u8], restore: impl Fn(&mut T, &[u8]) -> Result<()>) -> Result<&mut T> {
        let (problem, options, snapshot) = wire::open_request(request)?;
        let mut options = Options::parse(&options)?;
        self.dims = problem.space.params.len();
        let mut plugin = protect("panic in Open", || (self.open)(problem, &mut options))?;
        options.finish()?;
        if !snapshot.is_empty() {
            protect("panic in Restore", || restore(&mut plugin, &snapshot))?;
        }
        Ok(self.plugin.insert(plugin))
    }

    fn opened(&mut self) -> std::result::Result<&mut T, Failure> {
        self.plugin.as_deref_mut().ok_or_else(Failure::not_open)
    }
}

impl Opened<dyn Searcher> {
    fn call(&mut self, name: &str, request: &[u8]) -> Answer {
        match name {
            "SearcherService/OpenSearcher" => {
                let plugin = self.open(request, |s, b| s.restore(b)).map_err(failed(INVALID_ARGUMENT))?;
                Ok(wire::open_response(&plugin.traits()))
            }
            "SearcherService/Suggest" => self.suggest(request),
            "SearcherService/SnapshotSearcher" => {
                let plugin = self.opened()?;
                let state = protect("panic in Snapshot", || plugin.snapshot());
                Ok(wire::snapshot_response(&state.map_err(failed(ABORTED))?))
            }
            _ => unimplemented(name),
        }
    }

    fn suggest(&mut self, request: &[u8]) -> Answer {
        let dims = self.dims;
        let plugin = self.opened()?;
        let (events, requests) = wire::suggest_request(request).map_err(malformed)?;
        if !events.is_empty() {
            protect("panic in Observe", || plugin.observe(&events)).map_err(failed(ABORTED))?;
        }
        let mut answer = Suggestions::default();
        if !requests.is_empty() {
            answer = protect("panic in Suggest", || plugin.suggest(&requests)).map_err(unsuggested)?;
            check_suggestions(dims, &requests, &answer).map_err(failed(ABORTED))?;
            overlay(&mut answer.points, &requests);
        }
        Ok(wire::suggest_response(&answer))
    }
}

impl Opened<dyn Scheduler> {
    fn call(&mut self, name: &str, request: &[u8]) -> Answer {
        match name {
            "SchedulerService/OpenScheduler" => {
                let plugin = self.open(request, |s, b| s.restore(b)).map_err(failed(INVALID_ARGUMENT))?;
                Ok(wire::open_response(&plugin.traits()))
            }
            "SchedulerService/Decide" => self.decide(request),
            "SchedulerService/SnapshotScheduler" => {
                let plugin = self.opened()?;
                let state = protect("panic in Snapshot", || plugin.snapshot());
                Ok(wire::snapshot_response(&state.map_err(failed(ABORTED))?))
            }
            _ => unimplemented(name),
        }
    }

    fn decide(&mut self, request: &[u8]) -> Answer {
        let dims = self.dims;
        let plugin = self.opened()?;
        let events = wire::decide_request(request).map_err(malformed)?;
        let answer = protect("panic in Decide", || plugin.decide(&events)).map_err(failed(ABORTED))?;
        check_decisions(dims, &events, &answer).map_err(failed(ABORTED))?;
        Ok(wire::decide_response(&answer))
    }
}

impl Training {
    fn call(&mut self, name: &str, request: &[u8]) -> Answer {
        match name {
            "TrainableService/OpenTrainable" => self.open(request),
            "TrainableService/RequestResources" => self.request(request),
            _ => unimplemented(name),
        }
    }

    fn open(&mut self, request: &[u8]) -> Answer {
        if self.plugin.is_some() {
            return Err(Failure::new(FAILED_PRECONDITION, "the trainable is open already"));
        }
        let text = wire::json_request(request).map_err(malformed)?;
        let mut options = Options::parse(&text).map_err(failed(INVALID_ARGUMENT))?;
        let opened =
            protect("panic in Open", || (self.open)(&mut options)).map_err(failed(INVALID_ARGUMENT))?;
        options.finish().map_err(failed(INVALID_ARGUMENT))?;
        Ok(wire::open_trainable_response(self.plugin.insert(opened).traits()))
    }

    /// The opened trainable.
    pub fn opened(&self) -> std::result::Result<Arc<dyn Trainable>, Failure> {
        self.plugin.clone().ok_or_else(Failure::not_open)
    }

    fn request(&self, request: &[u8]) -> Answer {
        let plugin = self.opened()?;
        let params = wire::json_request(request).map_err(malformed)?;
        let resources = protect("panic in Request", || plugin.request(&Json::parse(&params)?));
        Ok(wire::resources_response(&resources.map_err(failed(ABORTED))?))
    }
}
