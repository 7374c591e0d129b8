//! Redirects the output of a trial that does not share the process to files in its directory.

use super::lock;
use crate::{Logs, Result};
use std::fs::{File, OpenOptions};
use std::io::{stdout, Error, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Mutex;

/// The process's original stderr, which is the log, while output goes to a trial's files.
static LOG: Mutex<Option<File>> = Mutex::new(None);

/// Writes a line to the log.
pub fn log(line: &str) {
    match lock(&LOG).as_mut() {
        Some(log) => drop(log.write_all(format!("{}\n", line).as_bytes())),
        None => eprintln!("{}", line),
    }
}

/// While this exists, output goes to the files of a trial; when it is dropped, to the log again.
pub struct Output;

impl Output {
    /// Redirects output to the files.
    pub fn send_to(dir: &str, logs: &Logs) -> Result<Output> {
        let files = [open(dir, &logs.stdout)?, open(dir, &logs.stderr)?];
        let mut log = lock(&LOG);
        if log.is_none() {
            *log = Some(kept(2)?);
        }
        drop(log);
        let sent = Output; // restores the output if one of the next lines fails
        replace(1, &files[0])?;
        replace(2, &files[1])?;
        Ok(sent)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(log) = lock(&LOG).as_ref() {
            let _ = replace(1, log).and(replace(2, log));
        }
    }
}

/// A copy of a descriptor that children do not inherit.
fn kept(fd: i32) -> Result<File> {
    // SAFETY: the copy is owned by the file alone.
    match unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) } {
        -1 => Err(Error::last_os_error().into()),
        copy => Ok(unsafe { File::from_raw_fd(copy) }),
    }
}

/// Makes a descriptor of this process refer to the file, after flushing buffered output.
fn replace(fd: i32, file: &File) -> Result<()> {
    stdout().flush()?;
    // SAFETY: both descriptors are open.
    match unsafe { libc::dup2(file.as_raw_fd(), fd) } {
        -1 => Err(Error::last_os_error().into()),
        _ => Ok(()),
    }
}

/// Opens an output file of the trial; without a name, output is discarded. Anything else than
/// a regular file is refused: a link could point to any file of the user, and opening a pipe
/// would block.
fn open(dir: &str, name: &str) -> Result<File> {
    if name.is_empty() {
        return Ok(OpenOptions::new().write(true).open("/dev/null")?);
    }
    let path = Path::new(dir).join(name);
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(&path)
        .map_err(|e| format!("{}: {}", path.display(), e))?;
    let found = file.metadata()?;
    if !found.is_file() || found.nlink() > 1 {
        return Err(
            format!("{} is not a regular file, or has other links: move it away", path.display()).into()
        );
    }
    Ok(file)
}
