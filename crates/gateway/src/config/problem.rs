use std::{fmt, path::PathBuf};

/// How much a [`Problem`] matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing is lost.
    Note,
    /// A value was ignored or replaced.
    Warning,
    /// A server, a provider or a whole file is lost.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// One thing that is wrong with a configuration file.
///
/// The message carries the offending value, except where the value may be a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file as it was named by the user.
    pub file: PathBuf,
    /// Where in the file, as in `mcp.servers.github.env.TOKEN`; empty for the whole file.
    pub path: String,
    /// How much it matters.
    pub severity: Severity,
    /// What is wrong and what to do.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.severity, self.file.display())?;
        if !self.path.is_empty() {
            write!(f, ": {}", self.path)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Collects the problems of one file.
pub(super) struct Report<'a> {
    pub(super) file: PathBuf,
    pub(super) problems: &'a mut Vec<Problem>,
}

impl Report<'_> {
    pub(super) fn add(&mut self, severity: Severity, path: &str, message: impl Into<String>) {
        self.problems.push(Problem {
            file: self.file.clone(),
            path: path.to_owned(),
            severity,
            message: message.into(),
        });
    }

    pub(super) fn error(&mut self, path: &str, message: impl Into<String>) {
        self.add(Severity::Error, path, message);
    }

    pub(super) fn warning(&mut self, path: &str, message: impl Into<String>) {
        self.add(Severity::Warning, path, message);
    }

    pub(super) fn note(&mut self, path: &str, message: impl Into<String>) {
        self.add(Severity::Note, path, message);
    }
}

/// Appends a key to a path, quoting it when a dot in it would mislead.
pub(super) fn join(path: &str, key: &str) -> String {
    let plain = !key.is_empty()
        && key
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'));
    let key = if plain { key.to_owned() } else { format!("{key:?}") };
    if path.is_empty() {
        key
    } else {
        format!("{path}.{key}")
    }
}
