//! Child processes that never outlive the gateway.
//!
//! Every child leads a process group of its own, and it is always the whole group that is ended, because the
//! servers of `npx`, `uvx` and `sh -c` are grandchildren. While the gateway lives it ends them itself. Should
//! it be killed, the [`Guardian`] does.
use std::{collections::BTreeMap, path::Path, process::Stdio, sync::Arc, time::Duration};

use codecell_core_tools::Guardian;
#[cfg(unix)]
use codecell_core_tools::Watch;
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
    #[cfg(unix)]
    watch: Option<Watch>,
}

impl Group {
    #[cfg(unix)]
    fn of(child: &Child, guardian: &Arc<Guardian>) -> Self {
        let id = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(rustix::process::Pid::from_raw);
        let watch = id.map(|id| guardian.watch(id.as_raw_nonzero().get()));
        Self { id, watch }
    }

    #[cfg(not(unix))]
    fn of(_child: &Child, _guardian: &Arc<Guardian>) -> Self {
        Self {}
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
        self.id = None;
        self.watch = None;
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
