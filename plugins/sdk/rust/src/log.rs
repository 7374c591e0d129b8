//! Lines for the host's log.

/// The level of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Details for authors of plugins.
    Debug,
    /// General information.
    Info,
    /// Something may be wrong.
    Warn,
    /// Something is wrong.
    Error,
}

/// Writes a line to the host's log. Output to stdout and stderr goes there as
/// well, except that of a trial that has the process to itself: it has its own files. A
/// module in the sandbox has no stdout or stderr.
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

/// Writes panics to the log.
pub(crate) fn panics() {
    std::panic::set_hook(Box::new(|info| log(Level::Error, &info.to_string().replace('\n', " "))));
}
