//! `apply_patch`: changes to many files, checked as a whole before the first is made.

mod commit;
mod fit;
mod parse;
mod unified;

use std::sync::Arc;

use codecell_tools::ToolError;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::adapter::{Effect, FileTool, check, closed, define};
use crate::roots::Roots;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    patch: String,
}

#[derive(Serialize)]
pub(crate) struct Answer {
    files: Vec<Changed>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Changed {
    path: String,
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(rename = "addedLines")]
    added: usize,
    #[serde(rename = "removedLines")]
    removed: usize,
}

/// What a patch wants of one file.
#[derive(Debug, PartialEq, Eq)]
struct FileChange {
    path: String,
    action: Action,
}

#[derive(Debug, PartialEq, Eq)]
enum Action {
    Add {
        content: String,
    },
    Delete,
    Update {
        move_to: Option<String>,
        hunks: Vec<Hunk>,
    },
}

/// One piece of a change.
#[derive(Debug, Default, PartialEq, Eq)]
struct Hunk {
    /// Lines to go past before looking, such as a class and then one of its methods.
    headers: Vec<String>,
    /// Lines before it in the old file, where the patch says so. Only a hint.
    near: Option<usize>,
    lines: Vec<HunkLine>,
    /// Whether it is about the end of the file.
    at_end: bool,
}

/// A line of a hunk, without its line end.
#[derive(Debug, PartialEq, Eq)]
enum HunkLine {
    Keep(String),
    Remove(String),
    Add(String),
    /// The last line of a file that does not end in a line end.
    AddUnended(String),
}

pub(crate) fn tool(roots: &Arc<Roots>) -> FileTool<Arguments, Answer> {
    let file = closed(
        json!({
            "path": { "type": "string" },
            "action": { "type": "string", "enum": ["add", "update", "delete", "move"] },
            "from": { "type": "string" },
            "addedLines": { "type": "integer" },
            "removedLines": { "type": "integer" },
        }),
        &["path", "action", "addedLines", "removedLines"],
    );
    let definition = define(
        "apply_patch",
        "Apply a patch",
        "Change several files at once; if any part does not fit, nothing is changed. Format: `*** Begin Patch`, then per file \
         `*** Add File: path` and lines with `+`; or `*** Delete File: path`; or `*** Update File: path`, optionally \
         `*** Move to: path`, and hunks: `@@` or `@@ a line above`, then lines starting with a space (kept), `-` or `+`, \
         optionally `*** End of File`; finally `*** End Patch`. Unified diffs are understood too.",
        [
            closed(json!({ "patch": { "type": "string" } }), &["patch"]),
            closed(json!({ "files": { "type": "array", "items": file } }), &["files"]),
        ],
        Effect::Writes,
    );
    FileTool {
        definition,
        roots: Arc::clone(roots),
        work: apply,
    }
}

fn apply(roots: &Roots, arguments: Arguments, cancel: &CancellationToken) -> Result<Answer, ToolError> {
    let changes = parse::parse(&arguments.patch)?;
    let _turn = roots.writing();
    check(cancel)?;
    let plan = commit::plan(roots, changes)?;
    let staged = commit::stage(roots, plan)?;
    check(cancel)?;
    let files = commit::commit(staged)?;
    Ok(Answer { files })
}

fn invalid(message: String) -> ToolError {
    ToolError::new("invalid_patch", message)
}
