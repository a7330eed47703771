//! `cargo xtask tidy`: the layers between crates, and house rules that no lint knows.

mod layers;
mod links;
mod proofs;
mod rules;
mod source;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::workspace;

/// Something that does not hold.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    path: String,
    /// Counted from 1; 0 when the whole file is meant.
    line: usize,
    message: String,
}

/// Most bytes of recorded test data in the repository: larger checks take a folder as an argument.
const MAX_FIXTURE_BYTES: u64 = 1_800_000;

/// Largest text file that is read; nothing we write comes near.
const MAX_TEXT_BYTES: u64 = 4 * 1024 * 1024;

/// Folders without files of ours.
const SKIPPED: &[&str] = &[".git", "target", "node_modules"];

/// Files that must be there, with the words that make them what they are.
const REQUIRED: &[(&str, &str)] = &[
    ("LICENSE-MIT", "Permission is hereby granted, free of charge"),
    ("LICENSE-APACHE", "Apache License"),
    ("README.md", "cargo test"),
    ("ARCHITECTURE.md", "#"),
    ("CHANGELOG.md", "#"),
    ("docs/decisions.md", "#"),
    (".ci/run", "cargo test"),
];

/// Runs every rule over the tree and prints what does not hold.
pub(crate) fn run() -> Result<()> {
    let root = workspace::root();
    let files = files_below(&root)?;
    let mut findings = layers::check(&workspace::metadata(&root.join("Cargo.toml"))?);
    let guest = root.join("crates/guest/Cargo.toml");
    if guest.exists() {
        findings.extend(layers::check(&workspace::metadata(&guest)?));
    }
    let mut functions = proofs::Functions::default();
    let mut claims = Vec::new();
    let mut fixture_bytes = 0;
    for file in &files {
        let path = relative(&root, file);
        let size = fs::metadata(file)
            .with_context(|| format!("reading `{path}`"))?
            .len();
        if path.split('/').any(|part| part == "fixtures") {
            fixture_bytes += size;
        }
        if size > MAX_TEXT_BYTES {
            continue;
        }
        // Binary files have no text to check.
        let Ok(text) = fs::read_to_string(file) else {
            continue;
        };
        findings.extend(rules::check(&path, &text));
        functions.read(&path, &text);
        if proofs::DOCUMENTS.contains(&path.as_str()) {
            claims.push((path.clone(), text.clone()));
        }
        if path.ends_with(".md") {
            findings.extend(links::check(&path, &text, |target| read_place(&root, target)));
        }
    }
    for (path, text) in &claims {
        findings.extend(functions.missing(path, text));
    }
    findings.extend(fixtures_fit(fixture_bytes));
    findings.extend(required(|path| fs::read_to_string(root.join(path)).ok()));
    for manifest in member_manifests(&workspace::metadata(&root.join("Cargo.toml"))?) {
        let text =
            fs::read_to_string(&manifest).with_context(|| format!("reading `{}`", manifest.display()))?;
        findings.extend(inherits_lints(&relative(&root, &manifest), &text));
    }
    if findings.is_empty() {
        println!("tidy: {} files, nothing to report", files.len());
        return Ok(());
    }
    for Finding { path, line, message } in &findings {
        match line {
            0 => println!("{path}: {message}"),
            _ => println!("{path}:{line}: {message}"),
        }
    }
    bail!("{} house rules broken", findings.len());
}

fn fixtures_fit(bytes: u64) -> Option<Finding> {
    (bytes > MAX_FIXTURE_BYTES).then(|| Finding {
        path: "fixtures".into(),
        line: 0,
        message: format!("{bytes} bytes of recorded data, the limit is {MAX_FIXTURE_BYTES}"),
    })
}

fn required(read: impl Fn(&str) -> Option<String>) -> Vec<Finding> {
    let missing = REQUIRED.iter().filter_map(|(path, words)| {
        let message = match read(path) {
            None => "is missing".to_owned(),
            Some(text) if !text.contains(words) => format!("does not contain `{words}`"),
            Some(_) => return None,
        };
        Some(Finding {
            path: (*path).into(),
            line: 0,
            message,
        })
    });
    missing.collect()
}

fn inherits_lints(path: &str, manifest: &str) -> Option<Finding> {
    let mut section = manifest
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != "[lints]")
        .skip(1);
    let inherited = section
        .find(|line| !line.is_empty())
        .is_some_and(|line| line.replace(' ', "") == "workspace=true");
    (!inherited).then(|| Finding {
        path: path.into(),
        line: 0,
        message: "does not inherit the workspace's lints (`[lints] workspace = true`)".into(),
    })
}

fn member_manifests(metadata: &Value) -> Vec<PathBuf> {
    let packages: &[Value] = metadata["packages"].as_array().map_or(&[], Vec::as_slice);
    packages
        .iter()
        .filter_map(|package| package["manifest_path"].as_str())
        .map(PathBuf::from)
        .collect()
}

/// All files of the tree, in a fixed order.
fn files_below(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("reading `{}`", folder.display()))? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() && !SKIPPED.iter().any(|name| entry.file_name() == *name) {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

fn relative(root: &Path, file: &Path) -> String {
    let path = file.strip_prefix(root).unwrap_or(file);
    path.components()
        .map(|part| part.as_os_str().to_string_lossy())
        .collect::<Vec<_>>()
        .join("/")
}

/// The text behind a link; a folder counts as an empty text.
fn read_place(root: &Path, target: &str) -> Option<String> {
    let path = root.join(target);
    match fs::read(&path) {
        Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Err(_) => path.is_dir().then(String::new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_without_the_lints_is_named() {
        assert_eq!(inherits_lints("a", "[lints]\nworkspace = true\n"), None);
        for manifest in [
            "",
            "[lints]\n[dependencies]\nworkspace = true\n",
            "[lints]\nworkspace = false\n",
        ] {
            let finding = inherits_lints("a", manifest).map(|finding| finding.message);
            assert_eq!(
                finding.as_deref(),
                Some("does not inherit the workspace's lints (`[lints] workspace = true`)")
            );
        }
    }

    #[test]
    fn fixtures_have_a_limit() {
        assert_eq!(fixtures_fit(MAX_FIXTURE_BYTES), None);
        let message = fixtures_fit(MAX_FIXTURE_BYTES + 1).map(|finding| finding.message);
        assert_eq!(
            message.as_deref(),
            Some("1800001 bytes of recorded data, the limit is 1800000")
        );
    }

    #[test]
    fn required_files_are_there_and_say_what_they_must() {
        let whole = |path: &str| {
            REQUIRED
                .iter()
                .find(|(required, _)| *required == path)
                .map(|(_, words)| (*words).to_owned())
        };
        assert_eq!(required(whole), []);
        let without_mit = |path: &str| if path == "LICENSE-MIT" { None } else { whole(path) };
        assert_eq!(
            required(without_mit),
            [Finding {
                path: "LICENSE-MIT".into(),
                line: 0,
                message: "is missing".into()
            }]
        );
        let empty_ci = |path: &str| {
            if path == ".ci/run" {
                Some(String::new())
            } else {
                whole(path)
            }
        };
        assert_eq!(
            required(empty_ci),
            [Finding {
                path: ".ci/run".into(),
                line: 0,
                message: "does not contain `cargo test`".into()
            }]
        );
    }
}
