//! Folders of its own for a binary, so that nothing of the machine's configuration or caches is seen.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Result;

/// What `codecell` finds: no configuration but the one that is given, and a cache that is empty at first.
pub(super) struct Home {
    binary: PathBuf,
    folder: tempfile::TempDir,
}

impl Home {
    pub(super) fn new(binary: &Path) -> Result<Home> {
        let folder = tempfile::Builder::new().prefix("codecell-bench-").tempdir()?;
        for name in ["home", "cache", "config", "files"] {
            fs::create_dir(folder.path().join(name))?;
        }
        Ok(Home {
            binary: binary.to_owned(),
            folder,
        })
    }

    /// The binary with these arguments.
    pub(super) fn codecell(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(arguments)
            .env_clear()
            .current_dir(self.folder.path().join("files"));
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        for (variable, folder) in [
            ("HOME", "home"),
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_CONFIG_HOME", "config"),
            ("CODECELL_RUNTIME_DIR", "runtime"),
        ] {
            command.env(variable, self.folder.path().join(folder));
        }
        command
    }

    /// Writes the configuration that is found without being named.
    pub(super) fn configure(&self, text: &str) -> Result<()> {
        Ok(fs::write(self.folder.path().join("files/codecell.json5"), text)?)
    }
}
