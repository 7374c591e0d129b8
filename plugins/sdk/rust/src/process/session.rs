//! The runs of a trainable. The session receives commands of the host and returns events; the
//! author's code trains each run on a separate thread.

use super::lock;
use super::output::Output;
use crate::error::cause;
use crate::guard::protect;
use crate::service::Failure;
use crate::trainable::{unsaved, Carrier, Save};
use crate::wire::{self, Order, Said};
use crate::{Halt, Report, RestoreError, Result, Run, StartError, Trainable, TrainableTraits, Trial};
use std::collections::{HashMap, VecDeque};
use std::fs;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;
use tokio::sync::mpsc;

/// An item of the queue to the stream.
pub enum Item {
    /// An event of a run.
    Said(u64, Said),
    /// The host has closed its side, or broken the protocol: later items are not sent.
    End(std::result::Result<(), Failure>),
}

/// The name of the file in a checkpoint directory that holds the state.
const STATE: &str = "state";

/// Runs a trainable for one host: many runs, in sequence or at the same time, as its traits
/// allow.
pub struct Session {
    trainable: Arc<dyn Trainable>,
    traits: TrainableTraits,
    out: mpsc::Sender<Item>,
    state: Mutex<State>,
    /// A run's thread has ended.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    runs: HashMap<u64, Arc<Orders>>,
    started: bool,
    closed: bool,
    threads: usize,
}

impl Session {
    pub fn new(trainable: Arc<dyn Trainable>, out: mpsc::Sender<Item>) -> Arc<Session> {
        let traits = trainable.traits();
        Arc::new(Session { trainable, traits, out, state: Mutex::default(), ended: Condvar::new() })
    }

    /// Executes the commands of a TrainRequest in order, without waiting for their effect. The
    /// error says how the host broke the protocol.
    pub fn order(self: &Arc<Self>, message: &[u8]) -> std::result::Result<(), String> {
        for (run, order) in wire::train_request(message)? {
            let mut state = lock(&self.state);
            match (order, state.runs.get(&run)) {
                _ if state.closed => return Ok(()),
                (Order::Start(_), Some(_)) => return Err(format!("run {} was started twice", run)),
                (Order::Start(trial), None) => self.start(&mut state, run, *trial),
                (order, Some(orders)) => orders.give(order),
                (_, None) => {} // the run has ended before the command arrived
            }
        }
        Ok(())
    }

    fn start(self: &Arc<Self>, state: &mut State, run: u64, trial: Trial) {
        let refused = self.refuses(state);
        let orders = Arc::new(Orders::default());
        if refused.is_none() {
            state.started = true;
            state.runs.insert(run, orders.clone());
        }
        state.threads += 1;
        let session = self.clone();
        let work = move || {
            match refused {
                Some(why) => session.say(run, ended(why.into(), false, true)),
                None => session.train(run, trial, orders),
            }
            lock(&session.state).threads -= 1;
            session.ended.notify_all();
        };
        if let Err(e) = thread::Builder::new().name(format!("run {}", run)).spawn(|| super::vital(work)) {
            state.threads -= 1;
            state.runs.remove(&run);
            self.never_started(run, format!("cannot start: no thread: {}", e));
        }
    }

    /// Reports that a run cannot begin; other runs continue. It must not block: all other
    /// commands need this thread.
    fn never_started(&self, run: u64, why: String) {
        let out = self.out.clone();
        tokio::spawn(async move { out.send(Item::Said(run, ended(why, false, true))).await });
    }

    /// Why no run can be started now.
    fn refuses(&self, state: &State) -> Option<&'static str> {
        if self.traits.shared {
            None
        } else if !state.runs.is_empty() {
            Some("the process already runs a trial, and the trainable does not share it")
        } else if state.started && !self.traits.reusable {
            Some("the process has run a trial, and the trainable cannot be reused")
        } else {
            None
        }
    }

    /// Calls the author's code and reports how it ended.
    fn train(&self, run: u64, trial: Trial, orders: Arc<Orders>) {
        let ended = match self.output(&trial) {
            Ok(_printing) => self.attempt(run, &trial, orders),
            Err(e) => ended(cut(&format!("cannot write the trial's log: {}", e)), false, true),
        };
        // The run is removed before its end is sent: the host may answer with the next start.
        lock(&self.state).runs.remove(&run);
        self.say(run, ended);
    }

    /// Redirects the trial's output to its files, if it does not share the process.
    fn output(&self, trial: &Trial) -> Result<Option<Output>> {
        match self.traits.shared || trial.dir.is_empty() {
            true => Ok(None),
            false => Output::send_to(&trial.dir, &trial.logs).map(Some),
        }
    }

    fn attempt(&self, run: u64, trial: &Trial, orders: Arc<Orders>) -> Said {
        self.say(run, Said::Started { pid: std::process::id() });
        let mut attempt = Attempt {
            session: self,
            run,
            trial,
            orders,
            reported: 0,
            iteration: trial.iteration,
            told: false,
        };
        outcome(protect("panic", || self.trainable.train(&mut Run { trial, carrier: &mut attempt })))
    }

    /// Adds an event. Waits while the queue is full; does nothing after the end.
    fn say(&self, run: u64, said: Said) {
        let _ = self.out.blocking_send(Item::Said(run, said));
    }

    /// Ends the stream with this status.
    pub async fn end(&self, status: std::result::Result<(), Failure>) {
        let _ = self.out.send(Item::End(status)).await;
    }

    /// Tells every run to end immediately.
    pub fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        state.runs.values().for_each(|orders| orders.give(Order::Kill));
    }

    /// Waits until no code of the author runs, but at most `longest`.
    pub fn wait(&self, longest: Duration) {
        let running = |state: &mut State| state.threads > 0;
        drop(self.ended.wait_timeout_while(lock(&self.state), longest, running));
    }
}

fn ended(error: String, restore_failed: bool, never_started: bool) -> Said {
    Said::Ended { error, restore_failed, never_started }
}

fn outcome(result: Result<()>) -> Said {
    match result {
        Err(e) if cause::<Halt>(&e).is_none() => {
            ended(cut(&e.to_string()), cause::<RestoreError>(&e).is_some(), cause::<StartError>(&e).is_some())
        }
        _ => ended(String::new(), false, false),
    }
}

/// Limits the length of a line or an error, so that no message exceeds the host's limit.
fn cut(text: &str) -> String {
    const MAX: usize = 64 << 10;
    if text.len() <= MAX {
        return text.into();
    }
    String::from_utf8_lossy(&text.as_bytes()[..MAX]).into_owned() + " [cut]"
}

/// The pending commands of a run.
#[derive(Default)]
struct Orders {
    given: Mutex<Given>,
    /// A command has arrived.
    change: Condvar,
}

#[derive(Default)]
struct Given {
    granted: u64,
    /// Directories for requested checkpoints, oldest first.
    saves: VecDeque<String>,
    stop: Option<Halt>,
    /// The stop requests a checkpoint first.
    stop_saves: bool,
    killed: bool,
}

impl Given {
    fn grant(&mut self, credits: u32) {
        self.granted = self.granted.saturating_add(u64::from(credits));
    }

    /// Whether the run must end without another result. A stop that requests a checkpoint
    /// first allows one more, which is saved.
    fn over(&self, recorded: bool) -> Option<Halt> {
        self.told(recorded).filter(|_| !self.stop_saves)
    }

    /// Why the run must end, as far as that is known: a stop may not be the answer yet.
    fn told(&self, recorded: bool) -> Option<Halt> {
        match self.killed {
            true => self.halt(recorded),
            false => self.stop,
        }
    }

    /// The answer of a stop to the results so far. Without their record there is none, and a kill ends the wait for it.
    fn halt(&self, recorded: bool) -> Option<Halt> {
        match self.killed && !recorded {
            true => Some(Halt::Killed),
            false => self.stop.filter(|_| recorded),
        }
    }
}

impl Orders {
    fn give(&self, order: Order) {
        let mut given = lock(&self.given);
        match order {
            Order::Continue(credits) => given.grant(credits),
            Order::Save(dir) => given.saves.push_back(dir),
            Order::Stop { credits, dir, paused } => {
                given.grant(credits);
                given.stop = Some(Halt::Stopped { paused });
                given.stop_saves = !dir.is_empty();
                given.saves.extend(Some(dir).filter(|dir| !dir.is_empty()));
            }
            Order::Kill => {
                given.stop = given.stop.or(Some(Halt::Killed));
                given.stop_saves = false;
                given.killed = true;
                given.saves.clear();
            }
            Order::Start(_) => {}
        }
        self.change.notify_all();
    }
}

/// Connects one run with the session, on its training thread.
struct Attempt<'a> {
    session: &'a Session,
    run: u64,
    trial: &'a Trial,
    orders: Arc<Orders>,
    reported: u64,
    iteration: u64,
    /// The author's code knows that the run must end.
    told: bool,
}

impl Attempt<'_> {
    /// Whether the host will ask for a checkpoint of this result before it answers.
    fn due(&self, done: bool, saves: bool) -> bool {
        let saves = saves && self.session.traits.saves;
        let every = self.trial.checkpoint_every;
        if every > 0 && self.iteration % every == 0 {
            return !done || saves;
        }
        done && self.trial.checkpoint_at_end && saves
    }

    fn save(&mut self, dir: String, save: &mut Option<Save>) {
        let state = match save {
            Some(save) => protect("panic in save", save),
            None => Err(unsaved(self.iteration).into()),
        };
        let written = state.and_then(|state| Ok(fs::write(Path::new(&dir).join(STATE), state)?));
        let error = written.err().map_or(String::new(), |e| cut(&e.to_string()));
        self.session.say(self.run, Said::Saved { iteration: self.iteration, dir, error });
    }

    fn answered(&mut self, report: Report, save: Option<Save>) -> std::result::Result<(), Halt> {
        let over = {
            let given = lock(&self.orders.given);
            given.over(self.recorded(&given))
        };
        if let Some(halt) = over.filter(|&halt| !self.meets_pause(halt)) {
            return Err(halt);
        }
        self.iteration = if report.iteration == 0 { self.iteration + 1 } else { report.iteration };
        self.reported += 1;
        let (done, due) = (report.done, self.due(report.done, save.is_some()));
        self.session.say(self.run, Said::Result(report));
        if done && !due {
            return Ok(()); // no decision is needed
        }
        self.obey(done, due, save)
    }

    /// Whether the results so far are recorded, so that a stop is an answer to them.
    fn recorded(&self, given: &Given) -> bool {
        !self.trial.confirms || self.reported <= given.granted
    }

    /// Whether a result meets an order to pause that the author's code has not heard of. It is like one that was sent
    /// just before: it counts, so its answer follows its record.
    fn meets_pause(&self, halt: Halt) -> bool {
        let killed = lock(&self.orders.given).killed;
        self.trial.confirms && !self.told && !killed && halt == Halt::Stopped { paused: true }
    }

    /// Executes commands until the run may continue, or must end.
    fn obey(&mut self, done: bool, due: bool, mut save: Option<Save>) -> std::result::Result<(), Halt> {
        let ahead = if due { 0 } else { u64::from(self.trial.run_ahead) };
        let orders = self.orders.clone();
        let mut given = lock(&orders.given);
        loop {
            if let Some(dir) = given.saves.pop_front() {
                drop(given);
                self.save(dir, &mut save);
                given = lock(&orders.given);
                if done && given.saves.is_empty() && given.stop.is_none() {
                    return Ok(());
                }
                continue; // handle commands that arrived meanwhile
            }
            if let Some(halt) = given.halt(self.recorded(&given)) {
                given.stop_saves = false;
                return Err(halt);
            }
            if given.stop.is_none() && self.reported.saturating_sub(given.granted) <= ahead {
                return Ok(());
            }
            given = orders.change.wait(given).unwrap_or_else(|e| e.into_inner());
        }
    }
}

impl Carrier for Attempt<'_> {
    fn report(&mut self, report: Report, save: Option<Save>) -> std::result::Result<(), Halt> {
        let answer = self.answered(report, save);
        self.told |= answer.is_err();
        answer
    }

    fn stopped(&self) -> Option<Halt> {
        let given = lock(&self.orders.given);
        given.told(self.recorded(&given))
    }

    fn log(&mut self, line: &str) {
        self.session.say(self.run, Said::Log(cut(line)));
    }

    fn reject(&mut self, text: &str) {
        self.session.say(self.run, Said::Rejected(cut(text)));
    }

    fn state(&mut self) -> Result<Option<Vec<u8>>> {
        if self.trial.restore.is_empty() {
            return Ok(None);
        }
        let file = Path::new(&self.trial.restore).join(STATE);
        fs::read(&file).map(Some).map_err(|e| format!("{}: {}", file.display(), e).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Writer;
    use std::sync::Barrier;

    /// Reports for ever, and remembers how it was stopped.
    #[derive(Default)]
    struct Endless(Mutex<Option<Halt>>);

    impl Trainable for Endless {
        fn train(&self, run: &mut Run) -> Result<()> {
            loop {
                if let Err(stopped) = run.report(Report::new(&[("loss", 1.0)])) {
                    *lock(&self.0) = Some(stopped);
                    return Err(Box::new(Around(stopped)));
                }
            }
        }
    }

    /// Runs ahead by a result, waits for the test twice, and remembers what it is told then.
    struct Ahead {
        met: Barrier,
        told: Mutex<Vec<Option<Halt>>>,
    }

    impl Trainable for Ahead {
        fn train(&self, run: &mut Run) -> Result<()> {
            run.report(Report::new(&[("loss", 1.0)]))?;
            self.met.wait();
            self.met.wait();
            let told = vec![run.stopped(), run.report(Report::new(&[("loss", 2.0)])).err()];
            *lock(&self.told) = told;
            Ok(())
        }
    }

    /// An author's error around the SDK's.
    #[derive(Debug)]
    struct Around(Halt);

    impl std::fmt::Display for Around {
        fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
            f.write_str("training ended")
        }
    }

    impl std::error::Error for Around {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }

    /// A TrainRequest of one command: its kind, the fields that fill writes, run 1.
    fn command(kind: u64, fill: impl Fn(&mut Writer)) -> Vec<u8> {
        Writer::message(|w| {
            w.nested(1, |w| {
                w.uint(1, kind);
                w.uint(2, 1);
                fill(w);
            })
        })
    }

    fn next(said: &mut mpsc::Receiver<Item>) -> Said {
        match said.blocking_recv() {
            Some(Item::Said(1, said)) => said,
            _ => panic!("run 1 says nothing"),
        }
    }

    #[test]
    fn a_pause_is_told_and_no_failure() {
        for paused in [false, true] {
            let trainable = Arc::new(Endless::default());
            let (out, mut said) = mpsc::channel(10);
            let session = Session::new(trainable.clone(), out);
            session.order(&command(1, |w| w.nested(3, |_| {}))).unwrap();
            assert!(matches!(next(&mut said), Said::Started { .. }));
            assert!(matches!(next(&mut said), Said::Result(_)));
            session.order(&command(4, |w| w.flag(6, paused))).unwrap();
            match next(&mut said) {
                Said::Ended { error, .. } => assert_eq!(error, ""),
                other => panic!("{:?}", other),
            }
            assert_eq!(*lock(&trainable.0), Some(Halt::Stopped { paused }));
        }
    }

    // B-150
    #[test]
    fn a_kill_is_no_decision_and_no_failure() {
        for (stop, want) in [(false, Halt::Killed), (true, Halt::Stopped { paused: true })] {
            let trainable = Arc::new(Endless::default());
            let (out, mut said) = mpsc::channel(10);
            let session = Session::new(trainable.clone(), out);
            session.order(&command(1, |w| w.nested(3, |_| {}))).unwrap();
            assert!(matches!(next(&mut said), Said::Started { .. }));
            assert!(matches!(next(&mut said), Said::Result(_)));
            if stop {
                session.order(&command(4, |w| w.flag(6, true))).unwrap();
            }
            session.close();
            assert!(matches!(next(&mut said), Said::Ended { error, .. } if error.is_empty()));
            assert_eq!(*lock(&trainable.0), Some(want));
        }
    }

    // B-080
    #[test]
    fn the_answer_to_a_result_that_meets_a_stop_follows_its_record() {
        let stop = |credits| {
            command(4, move |w| {
                w.uint(4, credits);
                w.flag(6, true);
            })
        };
        let (credit, kill) = (command(2, |w| w.uint(4, 1)), command(5, |_| {}));
        let paused = Halt::Stopped { paused: true };
        for (orders, want) in
            [(vec![stop(1)], paused), (vec![stop(0), credit], paused), (vec![stop(0), kill], Halt::Killed)]
        {
            let trainable = Arc::new(Endless::default());
            let (out, mut said) = mpsc::channel(10);
            let session = Session::new(trainable.clone(), out);
            session.order(&command(1, |w| w.nested(3, |w| w.flag(21, true)))).unwrap();
            assert!(matches!(next(&mut said), Said::Started { .. }));
            assert!(matches!(next(&mut said), Said::Result(_)));
            for order in &orders {
                assert_eq!(*lock(&trainable.0), None, "it is answered before its record");
                session.order(order).unwrap();
            }
            assert!(matches!(next(&mut said), Said::Ended { error, .. } if error.is_empty()));
            assert_eq!(*lock(&trainable.0), Some(want));
        }
    }

    // B-080
    #[test]
    fn a_stop_of_which_the_record_is_unknown_is_no_answer_after_a_kill() {
        let trainable = Arc::new(Ahead { met: Barrier::new(2), told: Mutex::default() });
        let (out, mut said) = mpsc::channel(10);
        let session = Session::new(trainable.clone(), out);
        let ahead = |w: &mut Writer| {
            w.uint(14, 5);
            w.flag(21, true);
        };
        session.order(&command(1, |w| w.nested(3, ahead))).unwrap();
        assert!(matches!(next(&mut said), Said::Started { .. }));
        assert!(matches!(next(&mut said), Said::Result(_)));
        trainable.met.wait(); // the first report has returned: the kill is no answer to it
        session.order(&command(4, |w| w.flag(6, true))).unwrap();
        session.order(&command(5, |_| {})).unwrap();
        trainable.met.wait();
        assert!(matches!(next(&mut said), Said::Ended { error, .. } if error.is_empty()));
        assert_eq!(*lock(&trainable.told), [Some(Halt::Killed); 2]);
    }

    #[test]
    fn a_broken_protocol_is_refused() {
        let (out, _said) = mpsc::channel(100);
        let session = Session::new(Arc::new(Endless::default()), out);
        let start = command(1, |w| w.nested(3, |_| {}));
        assert_eq!(session.order(&command(1, |_| {})).unwrap_err(), "run 1 was started without a trial");
        assert_eq!(session.order(&command(9, |_| {})).unwrap_err(), "unknown command 9 for run 1");
        assert!(session.order(&[0xff]).is_err());
        session.order(&start).unwrap();
        assert_eq!(session.order(&start).unwrap_err(), "run 1 was started twice");
        session.close();
        session.wait(Duration::from_secs(60));
        assert_eq!(lock(&session.state).threads, 0);
    }

    #[test]
    fn long_lines_are_cut() {
        assert_eq!(cut("short"), "short");
        assert!(cut(&"é".repeat(1 << 20)).len() < 66 << 10);
    }
}
