//! `edit`: exact replacements in a text file, all of them or none.

use std::ops::Range;
use std::sync::Arc;

use codecell_tools::ToolError;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::adapter::{Effect, FileTool, check, closed, define};
use crate::content;
use crate::lines;
use crate::problem;
use crate::roots::Roots;
use crate::stage::{Folders, Target};

/// Most line numbers that are named when a text occurs too often.
const MAX_NAMED: usize = 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    path: String,
    edits: Vec<Edit>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Edit {
    old_text: String,
    new_text: String,
    #[serde(default)]
    all: bool,
}

#[derive(Serialize)]
pub(crate) struct Answer {
    path: String,
    replacements: usize,
}

pub(crate) fn tool(roots: &Arc<Roots>) -> FileTool<Arguments, Answer> {
    let edit = closed(
        json!({
            "oldText": { "type": "string", "minLength": 1, "description": "Must occur exactly once, unless `all`" },
            "newText": { "type": "string" },
            "all": { "type": "boolean", "description": "Replace every occurrence" },
        }),
        &["oldText", "newText"],
    );
    let definition = define(
        "edit",
        "Edit a file",
        "Replace exact pieces of a text file. Every `oldText` is looked up in the file as it is now, and must occur exactly \
         once unless `all` is true. Either all edits are made or none.",
        [
            closed(
                json!({ "path": { "type": "string" }, "edits": { "type": "array", "items": edit, "minItems": 1 } }),
                &["path", "edits"],
            ),
            closed(
                json!({ "path": { "type": "string" }, "replacements": { "type": "integer" } }),
                &["path", "replacements"],
            ),
        ],
        Effect::Writes,
    );
    FileTool {
        definition,
        roots: Arc::clone(roots),
        work: edit_file,
    }
}

fn edit_file(roots: &Roots, arguments: Arguments, cancel: &CancellationToken) -> Result<Answer, ToolError> {
    let _turn = roots.writing();
    check(cancel)?;
    let place = roots.place(&arguments.path)?;
    let mut target = Target::find(&place, Folders::MustExist)?;
    let text = content::exact(&place.shown, target.read()?)?;
    let (changed, replacements) = apply(&place.shown, &text, &arguments.edits)?;
    let permissions = target.permissions();
    let staged = target.stage(changed.as_bytes(), permissions)?;
    check(cancel)?;
    staged.commit()?;
    Ok(Answer {
        path: place.shown,
        replacements,
    })
}

/// One piece to be replaced.
struct Piece<'a> {
    range: Range<usize>,
    new: std::borrow::Cow<'a, str>,
    /// Number of the edit, from 1.
    edit: usize,
}

fn apply(shown: &str, text: &str, edits: &[Edit]) -> Result<(String, usize), ToolError> {
    let mut pieces = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        pieces.extend(find(shown, text, edit, index + 1)?);
    }
    pieces.sort_by_key(|piece| piece.range.start);
    let mut changed = String::with_capacity(text.len());
    let mut done = 0;
    let mut last = 0;
    for piece in &pieces {
        if piece.range.start < done {
            let message = format!(
                "edits {last} and {} overlap at line {} of `{}`; make them one edit",
                piece.edit,
                lines::number_at(text, piece.range.start),
                problem::shown(shown)
            );
            return Err(ToolError::new("overlap", message));
        }
        changed.push_str(text.get(done..piece.range.start).unwrap_or_default());
        changed.push_str(&piece.new);
        done = piece.range.end;
        last = piece.edit;
    }
    changed.push_str(text.get(done..).unwrap_or_default());
    Ok((changed, pieces.len()))
}

fn find<'a>(shown: &str, text: &str, edit: &'a Edit, number: usize) -> Result<Vec<Piece<'a>>, ToolError> {
    if edit.old_text.is_empty() {
        let message = format!("edit {number} has an empty `oldText`; `write` writes whole files");
        return Err(ToolError::new("invalid_arguments", message));
    }
    let occurrences = |old: &str| -> Vec<Range<usize>> {
        text.match_indices(old)
            .map(|(start, found)| start..start + found.len())
            .collect()
    };
    let mut new = std::borrow::Cow::Borrowed(edit.new_text.as_str());
    let mut found = occurrences(&edit.old_text);
    // Models write `\n` whatever a file has; its own line ends stay.
    if found.is_empty() && text.contains("\r\n") && !edit.old_text.contains('\r') {
        found = occurrences(&edit.old_text.replace('\n', "\r\n"));
        if !edit.new_text.contains('\r') {
            new = edit.new_text.replace('\n', "\r\n").into();
        }
    }
    let shown = problem::shown(shown);
    match found.as_slice() {
        [] => {
            let near = lines::nearest(text, &edit.old_text);
            let message = format!("the `oldText` of edit {number} does not occur in `{shown}`{near}");
            Err(ToolError::new("no_match", message))
        }
        [_, _, ..] if !edit.all => {
            let mut numbers: Vec<String> = found
                .iter()
                .take(MAX_NAMED)
                .map(|range| lines::number_at(text, range.start).to_string())
                .collect();
            if found.len() > MAX_NAMED {
                numbers.push("…".to_owned());
            }
            let message = format!(
                "the `oldText` of edit {number} occurs {} times in `{shown}`, in lines {}; give more of the text around \
                 it, or `all: true`",
                found.len(),
                numbers.join(", ")
            );
            Err(ToolError::new("ambiguous", message))
        }
        _ => Ok(found
            .into_iter()
            .map(|range| Piece {
                range,
                new: new.clone(),
                edit: number,
            })
            .collect()),
    }
}
