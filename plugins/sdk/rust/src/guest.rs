//! The functions that a module in the sandbox exports and imports: plugins/sdk/abi,
//! version 1. A module is called by one thread, one call at a time.

use crate::error::cause;
use crate::service::{Answer, Failure, Service};
use crate::trainable::{unsaved, Carrier, Save};
use crate::{log as lines, wire, Error, Halt, Level, Report, RestoreError, Result, Run};
use std::cell::{Cell, RefCell};

#[link(wasm_import_module = "tunehost_v1")]
extern "C" {
    #[link_name = "log"]
    fn host_log(level: i32, ptr: *const u8, len: usize);
    #[link_name = "report"]
    fn host_report(ptr: *const u8, len: usize) -> i32;
    #[link_name = "saved"]
    fn host_saved(ptr: *const u8, len: usize) -> i32;
    #[link_name = "stopped"]
    fn host_stopped() -> i32;
}

extern "C" {
    /// The program's `main`, which calls [`serve`].
    fn main(argc: i32, argv: i32) -> i32;
}

thread_local! {
    static SERVICE: RefCell<Option<Service>> = RefCell::new(None);
    /// The buffer that the host fills for the next call.
    static REQUEST: RefCell<Vec<u8>> = RefCell::new(Vec::new());
    /// The answer; it stays unchanged until the next call.
    static ANSWER: RefCell<Vec<u8>> = RefCell::new(Vec::new());
}

/// Stores the plugin for later calls.
pub fn serve(service: Service) {
    SERVICE.with(|s| *s.borrow_mut() = Some(service));
}

pub fn log(level: Level, line: &str) {
    unsafe { host_log(level as i32, line.as_ptr(), line.len()) }
}

#[no_mangle]
extern "C" fn _initialize() {
    lines::panics();
    unsafe { main(0, 0) };
}

#[no_mangle]
extern "C" fn tunehost_abi() -> i32 {
    1
}

#[no_mangle]
extern "C" fn tunehost_alloc(size: usize) -> *mut u8 {
    REQUEST.with(|r| {
        *r.borrow_mut() = vec![0; size];
        r.borrow_mut().as_mut_ptr()
    })
}

/// The request is always the buffer of the last `tunehost_alloc`.
#[no_mangle]
extern "C" fn tunehost_invoke(_ptr: *const u8, len: usize) -> u64 {
    let mut request = REQUEST.with(RefCell::take);
    request.truncate(len);
    let answer = match invoke(&request) {
        Ok(message) => [&[0], message.as_slice()].concat(),
        Err(Failure { code, why }) => [&[code], why.as_bytes()].concat(),
    };
    let result = (answer.as_ptr() as u64) << 32 | answer.len() as u64;
    ANSWER.with(|a| *a.borrow_mut() = answer);
    result
}

/// Calls the method named in the buffer.
fn invoke(buffer: &[u8]) -> Answer {
    let name_end = match buffer {
        [low, high, rest @ ..] if rest.len() >= usize::from(u16::from_le_bytes([*low, *high])) => {
            2 + usize::from(u16::from_le_bytes([*low, *high]))
        }
        _ => return Err(Failure::new(3, "the call names no method")),
    };
    let method = String::from_utf8_lossy(&buffer[2..name_end]);
    let request = &buffer[name_end..];
    SERVICE.with(|s| match s.borrow_mut().as_mut() {
        Some(Service::Trainable(t)) if method == "/tunehost.v1.GuestService/GuestTrain" => {
            let trainable = t.opened()?;
            let told = wire::guest_train_request(request).map_err(|e| Failure::new(3, e))?;
            let mut carrier = Imports {
                state: told.state,
                saves: trainable.traits().saves,
                iteration: told.trial.iteration,
                told: Cell::new(None),
            };
            Ok(outcome(trainable.train(&mut Run { trial: &told.trial, carrier: &mut carrier })))
        }
        Some(service) => service.call(&method, request),
        None => Err(Failure::new(9, "the program's main serves no plugin")),
    })
}

/// GuestTrainResponse.
fn outcome(result: Result<()>) -> Vec<u8> {
    match result {
        Err(e) if cause::<Halt>(&e).is_none() => {
            wire::guest_train_response(&e.to_string(), cause::<RestoreError>(&e).is_some())
        }
        _ => wire::guest_train_response("", false),
    }
}

/// Connects a run to the host by the imported functions.
struct Imports {
    state: Option<Vec<u8>>,
    saves: bool,
    /// Of the last result.
    iteration: u64,
    /// The answer to a report, once the trial must stop.
    told: Cell<Option<Halt>>,
}

/// The host's answer to a report.
const SAVE: i32 = 2;

impl Imports {
    fn note(&self, answer: i32) -> Option<Halt> {
        match answer {
            1 => self.told.set(Some(Halt::Stopped { paused: false })),
            3 => self.told.set(Some(Halt::Stopped { paused: true })),
            _ => {}
        }
        self.told.get()
    }
}

impl Carrier for Imports {
    fn report(&mut self, report: Report, mut save: Option<Save>) -> std::result::Result<(), Halt> {
        self.iteration = if report.iteration == 0 { self.iteration + 1 } else { report.iteration };
        let message = wire::guest_report(&report, self.saves && save.is_some());
        let mut answer = unsafe { host_report(message.as_ptr(), message.len()) };
        while answer == SAVE {
            let state = match &mut save {
                Some(save) => save(),
                None => Err(unsaved(self.iteration).into()),
            };
            let message = saved(state);
            answer = unsafe { host_saved(message.as_ptr(), message.len()) };
        }
        self.note(answer).map_or(Ok(()), Err)
    }

    fn stopped(&self) -> Option<Halt> {
        self.note(unsafe { host_stopped() })
    }

    fn log(&mut self, line: &str) {
        log(Level::Info, line);
    }

    fn reject(&mut self, text: &str) {
        log(Level::Warn, text);
    }

    fn state(&mut self) -> Result<Option<Vec<u8>>> {
        Ok(self.state.take())
    }
}

fn saved(state: std::result::Result<Vec<u8>, Error>) -> Vec<u8> {
    match state {
        Ok(state) => wire::guest_saved(Ok(&state)),
        Err(e) => wire::guest_saved(Err(&e.to_string())),
    }
}
