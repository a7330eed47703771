//! A program and everything it starts, ended together.

use std::process::Child;
use std::sync::{Arc, mpsc};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::sync::oneshot;

use crate::guardian::{Guardian, Watch};

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Exited(i32),
    Killed(i32),
    /// The system would not say.
    Unknown,
}

/// The process group that a child leads. Dropping it kills whatever is left of the group.
///
/// The child is reaped only afterwards: until then its number cannot be given to anybody else, so that nothing but
/// the group is ever hit.
pub(super) struct Group {
    leader: Option<Pid>,
    /// Goes before the child is reaped, as a number that is free is not to be guarded.
    _watch: Option<Watch>,
    /// Its end tells the waiting thread to reap.
    _reap: mpsc::Sender<()>,
}

impl Group {
    /// Takes charge of a child that was started as the leader of its own group. The receiver hears how it ended.
    pub(super) fn lead(mut child: Child, guardian: &Arc<Guardian>) -> (Self, oneshot::Receiver<Ended>) {
        let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let watch = leader.map(|leader| guardian.watch(leader.as_raw_nonzero().get()));
        let (ended, heard) = oneshot::channel();
        let (reap, told) = mpsc::channel::<()>();
        tokio::task::spawn_blocking(move || {
            // Nobody may be listening any more.
            let _ = ended.send(leader.map_or(Ended::Unknown, wait));
            // Nothing is ever sent: the other side goes away.
            let _ = told.recv();
            let _ = child.wait();
        });
        let group = Self {
            leader,
            _watch: watch,
            _reap: reap,
        };
        (group, heard)
    }

    /// Signals the whole group. That it is gone already is fine.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            let _ = kill_process_group(leader, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Waits for the child without reaping it.
fn wait(leader: Pid) -> Ended {
    loop {
        match waitid(WaitId::Pid(leader), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Ok(Some(status)) => {
                return match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => Ended::Exited(code),
                    (None, Some(signal)) => Ended::Killed(signal),
                    (None, None) => Ended::Unknown,
                };
            }
            Err(Errno::INTR) => {}
            Ok(None) | Err(_) => return Ended::Unknown,
        }
    }
}

/// The usual name of a signal.
pub(super) fn name(signal: i32) -> String {
    let known = [
        (1, "SIGHUP"),
        (2, "SIGINT"),
        (3, "SIGQUIT"),
        (4, "SIGILL"),
        (6, "SIGABRT"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (13, "SIGPIPE"),
        (14, "SIGALRM"),
        (15, "SIGTERM"),
    ];
    known
        .iter()
        .find(|(number, _)| *number == signal)
        .map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}
