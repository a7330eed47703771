//! Others, on the same programs. Each is installed on demand, at a pinned version, into the target folder.

mod monty;
mod quickjs;

use std::{ffi::OsString, fs, path::Path, process::Command};

use anyhow::{Context, Result, ensure};

use super::rows::{Row, printed};
use crate::process;

/// Somebody to be measured beside us.
pub(super) struct Peer {
    pub(super) name: &'static str,
    /// The groups it has something comparable in.
    groups: &'static [&'static str],
    program: OsString,
    /// Come before and behind the name of a group.
    arguments: (Vec<OsString>, Vec<OsString>),
}

/// Names of peers, as the report and the reasons of losses spell them.
pub(super) const QUICKJS: &str = "quickjs-wasi";
pub(super) const WORKERS: &str = "quickjs-wasi, worker";
pub(super) const MONTY: &str = "pydantic-monty";

impl Peer {
    /// Whether it has anything to say about a group.
    pub(super) fn measures(&self, group: &str) -> bool {
        self.groups.contains(&group)
    }

    pub(super) fn measure(&self, group: &str) -> Result<Vec<Row>> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments.0).arg(group).args(&self.arguments.1);
        printed(&mut command, self.name)
    }
}

/// The packages that are measured, and their versions.
pub(super) fn pinned() -> [(&'static str, String); 2] {
    [(QUICKJS, quickjs::version()), (MONTY, monty::VERSION.to_owned())]
}

/// Installs those that can be installed here, and says of the others why not.
pub(super) fn install() -> Result<(Vec<Peer>, Vec<String>)> {
    let folder = crate::workspace::target_dir()?.join("bench-peers");
    let (mut peers, mut left_out) = (Vec::new(), Vec::new());
    for (name, installed) in [
        (QUICKJS, quickjs::install(&folder.join("quickjs"))),
        (MONTY, monty::install(&folder.join("monty"))),
    ] {
        match installed {
            Ok(installed) => peers.extend(installed),
            Err(error) => left_out.push(format!("{name} is left out: {error:#}")),
        }
    }
    Ok((peers, left_out))
}

/// Writes the files of a peer.
fn write(folder: &Path, files: &[(&str, &str)]) -> Result<()> {
    for (name, text) in files {
        let file = folder.join(name);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&file, text).with_context(|| format!("writing {name}"))?;
    }
    Ok(())
}

/// Longest that installing may take.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(300);

/// Runs commands that install `what`, unless it is what was installed last.
fn once(folder: &Path, what: &str, commands: &mut [Command]) -> Result<()> {
    let stamp = folder.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == what) {
        return Ok(());
    }
    for command in commands {
        let program = command.get_program().to_string_lossy().into_owned();
        let finished = process::run(command, "", PATIENCE)
            .map_err(|error| error.context(format!("`{program}` does not work")))?;
        let complaint = finished.stderr.lines().last().unwrap_or_default();
        ensure!(finished.code == Some(0), "`{program}` failed: {complaint}");
    }
    fs::write(stamp, what)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_is_not_installed_again() {
        let folder = tempfile::tempdir().unwrap();
        let install = |what| {
            let mut command = Command::new("sh");
            command
                .current_dir(folder.path())
                .args(["-c", &format!("echo {what} >>log; test {what} != broken")]);
            once(folder.path(), what, &mut [command]).map_err(|error| error.to_string())
        };
        assert_eq!(install("one"), Ok(()));
        assert_eq!(install("one"), Ok(()));
        assert_eq!(install("broken"), Err("`sh` failed: ".to_owned()));
        assert_eq!(install("broken"), Err("`sh` failed: ".to_owned()));
        let log = fs::read_to_string(folder.path().join("log")).unwrap();
        assert_eq!(log, "one\nbroken\nbroken\n");
    }
}
