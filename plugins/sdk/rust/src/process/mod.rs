//! Runs a plugin as a program; see plugins/sdk/PROTOCOL.md.

mod grpc;
pub mod output;
mod session;
mod tls;

use crate::service::Service;
use crate::{Error, Result};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use session::Session;
use std::env;
use std::future::Future;
use std::io::Write;
use std::os::unix::process::parent_id;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::Path;
use std::process::exit;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::{UnixListener, UnixStream};
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;

const COOKIE: &str = "d2f0a5be-3a0f-4a55-8f63-2b8a4f2c9d17";

/// How often the parent process is checked, and how long a plugin waits for its host to
/// connect again.
const PARENT_EVERY: Duration = Duration::from_secs(1);

/// How long training code may take to return after the host has ended.
const END_GRACE: Duration = Duration::from_secs(5);

/// Serves until the host ends the plugin, and then ends the process.
pub fn serve(service: Service) {
    if let Err(why) = start(service) {
        eprintln!("{}", why);
        exit(1);
    }
}

fn start(service: Service) -> Result<()> {
    let parent = parent_id();
    startable(&service, &env::var("TUNEHOST_PLUGIN").unwrap_or_default())?;
    crate::log::panics();
    leave_end_to_host();
    let (tls, certificate) = tls::server(&variable("PLUGIN_CLIENT_CERT")?)?;
    let dir = variable("PLUGIN_UNIX_SOCKET_DIR")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let socket = Path::new(&dir).join("s");
        let listener = UnixListener::bind(&socket)?;
        announce(&format!("1|1|unix|{}|grpc|{}", socket.display(), certificate))?;
        let plugin = Arc::new(Plugin::new(service));
        vital_task(plugin.clone().watch(parent));
        loop {
            let (stream, _) = listener.accept().await?;
            vital_task(plugin.clone().connection(tls.clone(), stream));
        }
    })
}

/// Runs a function that must not fail: a panic ends the process, after the panic hook has
/// logged it. Otherwise the host would wait for ever.
fn vital(work: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(work)).is_err() {
        exit(101);
    }
}

/// The same for a task.
fn vital_task(task: impl Future<Output = ()> + Send + 'static) {
    let task = tokio::spawn(task);
    tokio::spawn(async move {
        if task.await.is_err() {
            exit(101);
        }
    });
}

/// Has the process live on when it gets SIGTERM. An engine sends that to all processes of a job that
/// ends soon; the plugin is needed until trials have saved. The host, or its agent, ends it, and it ends
/// when they are gone. The programs that it starts are not changed: an exec resets the handler.
fn leave_end_to_host() {
    extern "C" fn live_on(_: libc::c_int) {}
    let handler = live_on as extern "C" fn(libc::c_int);
    // SAFETY: the handler does nothing, so that it may interrupt anything.
    unsafe {
        let before = libc::signal(libc::SIGTERM, handler as libc::sighandler_t);
        if before != libc::SIG_DFL && before != libc::SIG_ERR {
            libc::signal(libc::SIGTERM, before); // the author's own handler
        }
    }
}

fn variable(name: &str) -> Result<String> {
    env::var(name).map_err(|_| format!("{} is not set: this host speaks another protocol", name).into())
}

/// Returns a message if a person started the program: then it does not serve.
fn startable(service: &Service, cookie: &str) -> Result<()> {
    if cookie == COOKIE {
        return Ok(());
    }
    let (kind, info) = service.info();
    let program = env::args().next().unwrap_or_default();
    let what = format!(
        "this is the {} {:?} for tunehost, which starts it by itself; name it in an experiment file, or try it with: tunehost plugins check {}",
        kind, info.name, program
    );
    Err(what.into())
}

/// Prints the handshake. Later output to stdout goes to stderr, which is the log.
fn announce(line: &str) -> Result<()> {
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{}", line)?;
    stdout.flush()?;
    // SAFETY: both descriptors are open, and nothing else uses them by number.
    match unsafe { libc::dup2(2, 1) } {
        -1 => Err(std::io::Error::last_os_error().into()),
        _ => Ok(()),
    }
}

/// Locks a mutex even if a panic of the author's code has poisoned it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The program's one plugin.
struct Plugin {
    service: Mutex<Service>,
    /// The runs of a trainable, once its stream is open.
    session: Mutex<Option<Arc<Session>>>,
    connections: AtomicUsize,
    /// The host has told the plugin to end.
    ending: AtomicBool,
}

impl Plugin {
    fn new(service: Service) -> Plugin {
        Plugin {
            service: Mutex::new(service),
            session: Mutex::new(None),
            connections: AtomicUsize::new(0),
            ending: AtomicBool::new(false),
        }
    }

    /// Serves one connection, if it has the host's certificate.
    async fn connection(self: Arc<Plugin>, tls: TlsAcceptor, stream: UnixStream) {
        let stream = match tls.accept(stream).await {
            Ok(stream) => stream,
            Err(_) => return, // not the host, which reports errors itself
        };
        self.connections.fetch_add(1, SeqCst);
        let plugin = self.clone();
        let handle = service_fn(move |request| grpc::handle(plugin.clone(), request));
        // It does not matter how a connection ended: the host closed it or has ended.
        let _ =
            http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), handle).await;
        if self.connections.fetch_sub(1, SeqCst) == 1 {
            self.disconnected().await;
        }
    }

    /// The last connection was lost: the host has ended the plugin, or has ended itself.
    async fn disconnected(self: Arc<Plugin>) {
        if self.ending.load(SeqCst) {
            self.end(0).await;
        }
        sleep(PARENT_EVERY).await;
        if self.connections.load(SeqCst) == 0 {
            self.end(1).await;
        }
    }

    /// Detects that the host has ended, even before it has connected.
    async fn watch(self: Arc<Plugin>, parent: u32) {
        while parent_id() == parent {
            sleep(PARENT_EVERY).await;
        }
        self.end(1).await;
    }

    /// `plugin.GRPCController/Shutdown`: the process ends when the host has the answer and
    /// hangs up.
    fn shutdown(self: Arc<Plugin>) {
        self.ending.store(true, SeqCst);
        tokio::spawn(async move {
            sleep(PARENT_EVERY).await;
            self.end(0).await;
        });
    }

    /// Tells training code to return, waits a moment, and ends the process.
    async fn end(&self, status: i32) {
        let session = lock(&self.session).take();
        if let Some(session) = session {
            session.close();
            let _ = tokio::task::spawn_blocking(move || session.wait(END_GRACE)).await;
        }
        exit(status);
    }

    /// Calls a method on a thread where the author's code may block.
    async fn call(self: Arc<Plugin>, method: String, request: Vec<u8>) -> crate::service::Answer {
        let call = move || lock(&self.service).call(&method, &request);
        let answer = tokio::task::spawn_blocking(call).await;
        answer.unwrap_or_else(|e| Err(crate::service::Failure::new(crate::service::INTERNAL, Error::from(e))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs this test's own binary again, which then does `what`.
    fn again(test: &str, what: &str) -> std::process::Output {
        std::process::Command::new(env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env("TUNEHOST_TEST", what)
            .output()
            .unwrap()
    }

    #[test]
    fn a_panic_of_vital_work_ends_the_process_and_prints_why() {
        match env::var("TUNEHOST_TEST").as_deref() {
            Ok("thread") => {
                let _ = std::thread::spawn(|| vital(|| panic!("a mistake"))).join();
            }
            Ok(_) => tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
                vital_task(async { panic!("a mistake") });
                std::future::pending::<()>().await;
            }),
            Err(_) => {
                for what in ["thread", "task"] {
                    let done =
                        again("process::tests::a_panic_of_vital_work_ends_the_process_and_prints_why", what);
                    let last = String::from_utf8_lossy(&done.stderr).into_owned();
                    assert_eq!(done.status.code(), Some(101), "{}", what);
                    assert!(last.contains("a mistake"), "{}", last);
                }
            }
        }
    }
}
