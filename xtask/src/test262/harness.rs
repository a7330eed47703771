//! The suite's own library: which files a test is preceded by.
//!
//! SpiderMonkey keeps it in a `shell.js` of each folder, put together from the original files, each under a line with
//! its name. Here they are taken apart again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::suite;

/// What the suite expects of its host.
const HOST: &str = include_str!("host.js");

/// What precedes every test.
const ALWAYS: [&str; 2] = ["assert.js", "sta.js"];

pub(super) struct Harness {
    files: BTreeMap<String, String>,
    folder: PathBuf,
    /// Scripts that were put together, by what they include.
    written: BTreeMap<Vec<String>, PathBuf>,
}

impl Harness {
    /// Reads the library of the suite; scripts made of it are put into `folder`.
    pub(super) fn read(suite: &Path, folder: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        for shell in suite::files(suite)?
            .iter()
            .filter(|file| file.ends_with("shell.js"))
        {
            let text = fs::read_to_string(suite.join(shell))?;
            for part in text.split("// file: ").skip(1) {
                let (name, body) = part.split_once('\n').context("a library file without a name")?;
                files
                    .entry(name.trim().to_owned())
                    .or_insert_with(|| global(body));
            }
        }
        fs::create_dir_all(folder)?;
        Ok(Self {
            files,
            folder: folder.into(),
            written: BTreeMap::new(),
        })
    }

    /// The script that precedes a test that wants nothing of the library.
    pub(super) fn host(&self) -> Result<PathBuf> {
        let path = self.folder.join("host.js");
        fs::write(&path, HOST)?;
        Ok(path)
    }

    /// The script that precedes a test with these `includes`.
    pub(super) fn script(&mut self, includes: &[String]) -> Result<PathBuf> {
        if let Some(path) = self.written.get(includes) {
            return Ok(path.clone());
        }
        let mut text = HOST.to_owned();
        for name in ALWAYS.iter().copied().chain(includes.iter().map(String::as_str)) {
            text += self
                .files
                .get(name)
                .with_context(|| format!("the suite has no library file `{name}`"))?;
        }
        let path = self.folder.join(format!("{}.js", self.written.len()));
        fs::write(&path, text)?;
        self.written.insert(includes.to_vec(), path.clone());
        Ok(path)
    }
}

/// The text of a library file, evaluated by an `eval`, whose `const` is its own.
fn global(text: &str) -> String {
    let lines = text.lines().map(|line| match line.strip_prefix("const ") {
        Some(rest) => format!("var {rest}\n"),
        None => format!("{line}\n"),
    });
    lines.collect()
}
