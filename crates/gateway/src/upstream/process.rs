//! Child processes that never outlive the gateway.
//!
//! Every child leads a process group of its own, and it is always the whole group that is ended, because the
//! servers of `npx`, `uvx` and `sh -c` are grandchildren. While the gateway lives it ends them itself. Should
//! it be killed, a *guardian* does: a tiny shell that reads the list of groups from a pipe which only the
//! gateway holds open, and ends whatever is left when the pipe breaks. (A parent-death signal would need
//! unsafe code, reach only direct children, and fire when a mere thread ends.)
use std::{collections::BTreeMap, path::Path, process::Stdio, sync::Arc, time::Duration};

use tokio::process::{Child, Command};

use crate::config::Secret;

/// Time a server gets to leave by itself once its input is closed. Half of all servers do.
const LEAVE_GRACE: Duration = Duration::from_millis(400);

/// Time between SIGTERM and SIGKILL.
const TERM_GRACE: Duration = Duration::from_millis(1500);

/// Time the kernel gets to clear a killed group away.
const KILL_GRACE: Duration = Duration::from_millis(500);

/// How often a dying group is looked at: the kernel has no event for "the group is empty".
const POLL: Duration = Duration::from_millis(5);

/// What a child inherits. Everything else of the gateway's environment, tokens above all, stays here; a
/// server that needs more names it under `env`.
const INHERITED: [&str; 26] = [
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    // Windows cannot start most programs without these.
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "APPDATA",
    "LOCALAPPDATA",
    "USERPROFILE",
    "PATHEXT",
];

/// Families of variables that are inherited too.
const INHERITED_PREFIXES: [&str; 2] = ["LC_", "XDG_"];

fn inherits(name: &str) -> bool {
    INHERITED.contains(&name) || INHERITED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Starts a program in a group of its own with all three streams piped.
pub(super) fn start(
    command: &str,
    args: &[Secret],
    env: &BTreeMap<String, Secret>,
    cwd: Option<&Path>,
    guardian: &Arc<Guardian>,
) -> Result<(Child, Group), String> {
    if let Some(cwd) = cwd
        && !cwd.is_dir()
    {
        return Err(format!(
            "its working directory `{}` does not exist",
            cwd.display()
        ));
    }
    let mut builder = Command::new(command);
    builder
        .args(args.iter().map(Secret::expose))
        .env_clear()
        .envs(std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(inherits)))
        .envs(env.iter().map(|(name, value)| (name, value.expose())))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if let Some(cwd) = cwd {
        builder.current_dir(cwd);
    }
    #[cfg(unix)]
    {
        builder.process_group(0);
        guardian.stand_by();
    }
    let child = builder.spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!("program `{command}` was not found: is it installed and on the PATH?")
        }
        _ => format!("program `{command}` cannot be started: {error}"),
    })?;
    let group = Group::of(&child, guardian);
    Ok((child, group))
}

/// How a child ended, in words that follow its name.
pub(super) fn describe(status: std::process::ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("was killed by signal {signal}");
    }
    match status.code() {
        Some(code) => format!("exited with status {code}"),
        None => "exited".to_owned(),
    }
}

/// The group a child leads. Dropping it kills whatever is left of the group.
pub(super) struct Group {
    #[cfg(unix)]
    id: Option<rustix::process::Pid>,
    guardian: Arc<Guardian>,
}

impl Group {
    #[cfg(unix)]
    fn of(child: &Child, guardian: &Arc<Guardian>) -> Self {
        let id = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(rustix::process::Pid::from_raw);
        if let Some(id) = id {
            guardian.watch(id.as_raw_nonzero().get());
        }
        Self {
            id,
            guardian: Arc::clone(guardian),
        }
    }

    #[cfg(not(unix))]
    fn of(_child: &Child, guardian: &Arc<Guardian>) -> Self {
        Self {
            guardian: Arc::clone(guardian),
        }
    }

    /// Ends the group in at most the sum of the three graces; the child's input is closed by now.
    pub(super) async fn end(mut self, mut child: Child) {
        drop(child.stdin.take());
        #[cfg(unix)]
        {
            use rustix::process::Signal;
            if !self.gone_within(&mut child, LEAVE_GRACE).await {
                self.signal(Signal::TERM);
                if !self.gone_within(&mut child, TERM_GRACE).await {
                    self.signal(Signal::KILL);
                    self.gone_within(&mut child, KILL_GRACE).await;
                }
            }
            self.forget();
        }
        #[cfg(not(unix))]
        {
            if tokio::time::timeout(LEAVE_GRACE, child.wait()).await.is_err() {
                let _ = tokio::time::timeout(TERM_GRACE + KILL_GRACE, child.kill()).await;
            }
        }
    }

    #[cfg(unix)]
    async fn gone_within(&self, child: &mut Child, limit: Duration) -> bool {
        let until = tokio::time::Instant::now() + limit;
        loop {
            // Reaping comes first: a zombie leader still counts as a member of its group.
            let reaped = matches!(child.try_wait(), Ok(Some(_)) | Err(_));
            let Some(id) = self.id else { return reaped };
            if reaped && rustix::process::test_kill_process_group(id).is_err() {
                return true;
            }
            if tokio::time::Instant::now() >= until {
                return false;
            }
            tokio::time::sleep(POLL).await;
        }
    }

    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        if let Some(id) = self.id {
            // Fails only if the group is gone, which is what was wanted.
            let _ = rustix::process::kill_process_group(id, signal);
        }
    }

    #[cfg(unix)]
    fn forget(&mut self) {
        if let Some(id) = self.id.take() {
            self.guardian.release(id.as_raw_nonzero().get());
        }
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        if self.id.is_some() {
            self.signal(rustix::process::Signal::KILL);
            self.forget();
        }
    }
}

/// Ends the groups that a killed gateway leaves behind. Started with the first child; one per gateway.
#[derive(Default)]
pub(super) struct Guardian {
    #[cfg(unix)]
    shell: std::sync::Mutex<Option<Shell>>,
}

#[cfg(unix)]
enum Shell {
    Running {
        pipe: std::process::ChildStdin,
        process: std::process::Child,
    },
    /// It could not be started: said once, not per server.
    Unavailable,
}

/// Reads `+ GROUP` and `- GROUP` lines until the pipe breaks. It ignores the signals that a terminal sends
/// to everyone, since its turn comes after them.
#[cfg(unix)]
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

#[cfg(unix)]
impl Guardian {
    /// Starts the shell unless it was. Before the child, which survives a kill until it is watched.
    fn stand_by(&self) {
        let mut shell = self
            .shell
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        shell.get_or_insert_with(Self::start);
    }

    fn watch(&self, group: i32) {
        self.tell('+', group);
    }

    fn release(&self, group: i32) {
        self.tell('-', group);
    }

    fn tell(&self, verb: char, group: i32) {
        use std::io::Write;
        let mut shell = self
            .shell
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let shell = shell.get_or_insert_with(Self::start);
        if let Shell::Running { pipe, .. } = shell
            && writeln!(pipe, "{verb} {group}").is_err()
        {
            tracing::warn!("the guardian of child processes is gone; they would survive a killed gateway");
            *shell = Shell::Unavailable;
        }
    }

    fn start() -> Shell {
        use std::os::unix::process::CommandExt;
        let started = std::process::Command::new("/bin/sh")
            .args(["-c", SCRIPT])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Out of the gateway's group, so that what ends the gateway's group does not end it.
            .process_group(0)
            .spawn();
        match started.map(|mut process| (process.stdin.take(), process)) {
            Ok((Some(pipe), process)) => Shell::Running { pipe, process },
            Ok((None, _)) | Err(_) => {
                tracing::warn!("no /bin/sh to guard child processes; they would survive a killed gateway");
                Shell::Unavailable
            }
        }
    }

    /// Lets the shell go and waits for it: it ends at once when no group is left.
    pub(super) fn dismiss(&self) {
        let shell = self
            .shell
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take();
        if let Some(Shell::Running { pipe, mut process }) = shell {
            drop(pipe);
            let _ = process.wait();
        }
    }
}

#[cfg(not(unix))]
impl Guardian {
    pub(super) fn dismiss(&self) {}
}
