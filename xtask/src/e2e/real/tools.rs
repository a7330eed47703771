//! What the checks against the real world need, installed once under the target folder with pinned versions.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};

use crate::{process, workspace};

/// The Inspector needs a newer Node than many machines have; npm carries one.
pub(crate) const NODE: &str = "node@24.21.0";

const NPM_PACKAGES: &[&str] = &[
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/inspector@2.12.0",
    "typescript@7.0.2",
    "openai@7.59.0",
];

const PYTHON_PACKAGES: &[&str] = &["mcp==2.3.0", "mcp-server-git==2026.10.19", "openai==3.57.0"];

/// Longest that one package manager may take.
const INSTALL_LIMIT: Duration = Duration::from_secs(600);

/// Tries per installation: a registry that does not answer once is no failure of ours.
const TRIES: usize = 3;

/// The installed programs.
pub(super) struct Tools {
    folder: PathBuf,
}

impl Tools {
    /// Installs everything, unless the pinned versions are already there.
    pub(super) fn install() -> Result<Tools> {
        let tools = Tools {
            folder: workspace::target_dir()?.join("e2e-tools"),
        };
        let pinned = format!(
            "{NODE}\n{}\n{}\n",
            NPM_PACKAGES.join("\n"),
            PYTHON_PACKAGES.join("\n")
        );
        let stamp = tools.folder.join("installed");
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == pinned) {
            return Ok(tools);
        }
        if tools.folder.exists() {
            fs::remove_dir_all(&tools.folder).context("removing older tools")?;
        }
        println!(
            "installing {NODE}, {} and {}",
            NPM_PACKAGES.join(", "),
            PYTHON_PACKAGES.join(", ")
        );
        for (folder, packages) in [("node", &[NODE][..]), ("npm", NPM_PACKAGES)] {
            npm(&tools.folder.join(folder), packages, |command| {
                tools.with_node(command)
            })?;
        }
        retried(
            Command::new("python3")
                .args(["-m", "venv"])
                .arg(tools.folder.join("python")),
        )?;
        retried(
            Command::new(tools.python())
                .args(["-m", "pip", "install", "--quiet"])
                .args(PYTHON_PACKAGES),
        )?;
        for program in [
            tools.node(),
            tools.script("mcp-inspector"),
            tools.script("tsc"),
            tools.python_script("mcp-server-git"),
        ] {
            ensure!(program.exists(), "`{}` was not installed", program.display());
        }
        fs::write(&stamp, pinned).context("writing the stamp")?;
        Ok(tools)
    }

    /// Puts the installed Node first on the search path of `command`.
    pub(super) fn with_node(&self, command: &mut Command) {
        let node = self.node();
        let mut folders = vec![node.parent().unwrap_or(&node).to_owned()];
        folders.extend(std::env::split_paths(
            &std::env::var_os("PATH").unwrap_or_default(),
        ));
        if let Ok(path) = std::env::join_paths(folders) {
            command.env("PATH", path);
        }
    }

    /// The Node binary.
    pub(super) fn node(&self) -> PathBuf {
        self.folder.join("node/node_modules/node/bin/node")
    }

    /// A script that an npm package installed, to be run by [`node`](Self::node).
    pub(super) fn script(&self, name: &str) -> PathBuf {
        self.node_modules().join(".bin").join(name)
    }

    /// Where the npm packages lie.
    pub(super) fn node_modules(&self) -> PathBuf {
        self.folder.join("npm/node_modules")
    }

    /// The Python interpreter that sees the packages.
    pub(super) fn python(&self) -> PathBuf {
        self.python_script("python")
    }

    /// A program that a Python package installed.
    pub(super) fn python_script(&self, name: &str) -> PathBuf {
        self.folder.join("python/bin").join(name)
    }
}

/// Installs packages into a folder of their own; `prepare` sees the command before it runs.
pub(crate) fn npm(folder: &Path, packages: &[&str], prepare: impl FnOnce(&mut Command)) -> Result<()> {
    fs::create_dir_all(folder)?;
    // Without a manifest of its own npm would look for one further up.
    fs::write(folder.join("package.json"), "{ \"private\": true }\n")?;
    let mut command = Command::new("npm");
    command
        .args([
            "install",
            "--no-audit",
            "--no-fund",
            "--no-progress",
            "--save-exact",
        ])
        .args(packages)
        .current_dir(folder);
    prepare(&mut command);
    retried(&mut command)
}

fn retried(command: &mut Command) -> Result<()> {
    let mut said = String::new();
    for _ in 0..TRIES {
        let finished = process::run(command, "", INSTALL_LIMIT)?;
        if finished.code == Some(0) {
            return Ok(());
        }
        said = format!("{}{}", finished.stdout, finished.stderr);
    }
    bail!("{command:?} failed {TRIES} times; at last it said:\n{said}")
}

/// A path as text, for configuration files and command lines.
pub(crate) fn text(path: &Path) -> Result<&str> {
    path.to_str().context("a path that is no text")
}
