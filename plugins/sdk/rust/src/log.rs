//! Lines for the host's log.

/// How much a line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// For authors.
    Debug,
    /// For whoever looks.
    Info,
    /// Something may be wrong.
    Warn,
    /// Something is wrong.
    Error,
}

/// Writes a line to the host's log. What is printed to stdout or stderr goes there as
/// well, but for what a trial prints that has the process to itself: it has files of its own. A
/// module in the sandbox can print nothing.
pub fn log(level: Level, line: &str) {
    write(level, line);
}

#[cfg(target_family = "wasm")]
use crate::guest::log as write;

#[cfg(not(target_family = "wasm"))]
fn write(level: Level, line: &str) {
    let name = match level {
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warn => "warn",
        Level::Error => "error",
    };
    print(&format!(r#"{{"@level":"{}","@message":{}}}"#, name, crate::Json::Text(line.into())));
}

#[cfg(all(unix, feature = "process"))]
use crate::process::output::log as print;

#[cfg(not(any(target_family = "wasm", all(unix, feature = "process"))))]
fn print(line: &str) {
    eprintln!("{}", line);
}

/// Makes panics lines of the log.
pub(crate) fn panics() {
    std::panic::set_hook(Box::new(|info| log(Level::Error, &info.to_string().replace('\n', " "))));
}
