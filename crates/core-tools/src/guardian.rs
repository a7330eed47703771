//! What a killed process leaves behind is ended by another one.
//!
//! While this process lives it ends its children itself. Should it be killed, the *guardian* does: a tiny shell that
//! reads the list of process groups from a pipe which only this process holds open, and ends whatever is left when the
//! pipe breaks. (A parent-death signal would need unsafe code, reach only direct children, and fire when a mere thread
//! ends.)

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Ends the process groups that this process leaves behind when it is killed. Its shell starts when it is first needed
/// and ends with the last handle.
#[derive(Debug, Default)]
pub struct Guardian {
    shell: Mutex<Option<Shell>>,
}

#[derive(Debug)]
enum Shell {
    Running {
        pipe: ChildStdin,
        process: Child,
    },
    /// It could not be started: said once, not per child.
    Unavailable,
}

/// A group that is guarded until this is dropped.
#[derive(Debug)]
pub struct Watch {
    guardian: Arc<Guardian>,
    group: i32,
}

/// Reads `+ GROUP` and `- GROUP` lines until the pipe breaks. It ignores the signals that a terminal sends
/// to everyone, since its turn comes after them.
const SCRIPT: &str = r#"
trap '' INT TERM HUP QUIT
groups=
while read -r verb group; do
  case $verb in
    +) groups="$groups $group" ;;
    -) rest=
       for known in $groups; do [ "$known" = "$group" ] || rest="$rest $known"; done
       groups=$rest ;;
  esac
done
[ -n "$groups" ] || exit 0
for group in $groups; do kill -s TERM -- "-$group" 2>/dev/null; done
sleep 1
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
"#;

impl Guardian {
    fn shell(&self) -> MutexGuard<'_, Option<Shell>> {
        self.shell.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the shell unless it runs. Called before a child is started, because a child that is not watched yet
    /// survives a kill.
    pub fn stand_by(&self) {
        self.shell().get_or_insert_with(Shell::start);
    }

    /// Guards a process group that a child of this process leads. To be dropped once the group has ended and before its
    /// leader is reaped where that can be told apart: from then on the number may belong to somebody else.
    #[must_use]
    pub fn watch(self: &Arc<Self>, group: i32) -> Watch {
        self.tell('+', group);
        Watch {
            guardian: Arc::clone(self),
            group,
        }
    }

    fn tell(&self, verb: char, group: i32) {
        let mut shell = self.shell();
        let shell = shell.get_or_insert_with(Shell::start);
        if let Shell::Running { pipe, process } = shell
            && writeln!(pipe, "{verb} {group}").is_err()
        {
            tracing::warn!(
                "the guardian of child processes is gone; they would survive a kill of this process"
            );
            // It is gone or about to be: this only collects it.
            let _ = process.wait();
            *shell = Shell::Unavailable;
        }
    }

    /// Lets the shell go and waits for it: it ends at once when no group is left, and in about a second otherwise.
    pub fn dismiss(&self) {
        // Not under the lock, which others may need meanwhile.
        let shell = self.shell().take();
        if let Some(Shell::Running { pipe, mut process }) = shell {
            drop(pipe);
            let _ = process.wait();
        }
    }
}

impl Drop for Guardian {
    /// Nothing is watched any more: every [`Watch`] holds the guardian.
    fn drop(&mut self) {
        self.dismiss();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.guardian.tell('-', self.group);
    }
}

impl Shell {
    fn start() -> Self {
        let started = Command::new("/bin/sh")
            .args(["-c", SCRIPT])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Out of this process's group, so that what ends that group does not end it.
            .process_group(0)
            .spawn();
        match started.map(|mut process| (process.stdin.take(), process)) {
            Ok((Some(pipe), process)) => Self::Running { pipe, process },
            Ok((None, _)) | Err(_) => {
                tracing::warn!(
                    "no /bin/sh to guard child processes; they would survive a kill of this process"
                );
                Self::Unavailable
            }
        }
    }
}
