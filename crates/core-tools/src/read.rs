//! `read`: a part of a text file, by lines.

use std::sync::Arc;

use codecell_tools::ToolError;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::adapter::{Effect, FileTool, closed, define};
use crate::content;
use crate::problem;
use crate::roots::Roots;

/// Lines of one answer unless the caller says otherwise.
const DEFAULT_LINES: usize = 2000;

/// Longest text of one answer, in bytes. A longer part is cut, and says so.
const MAX_TEXT_BYTES: usize = 256 << 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    path: String,
    offset: Option<usize>,
    limit: Option<usize>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    path: String,
    text: String,
    start_line: usize,
    lines: usize,
    total_lines: usize,
    truncated: bool,
}

pub(crate) fn tool(roots: &Arc<Roots>) -> FileTool<Arguments, Answer> {
    let definition = define(
        "read",
        "Read a file",
        "Read a text file, or `limit` (default 2000) lines of it from the 1-based line `offset`. The text keeps its line \
         ends; `truncated` says that lines follow. Bytes that are no UTF-8 are shown as U+FFFD; binary files are refused.",
        [
            closed(
                json!({
                    "path": { "type": "string" },
                    "offset": { "type": "integer", "minimum": 1, "description": "First line, from 1" },
                    "limit": { "type": "integer", "minimum": 1, "description": "Most lines" },
                }),
                &["path"],
            ),
            closed(
                json!({
                    "path": { "type": "string" },
                    "text": { "type": "string" },
                    "startLine": { "type": "integer" },
                    "lines": { "type": "integer" },
                    "totalLines": { "type": "integer" },
                    "truncated": { "type": "boolean" },
                }),
                &["path", "text", "startLine", "lines", "totalLines", "truncated"],
            ),
        ],
        Effect::Reads,
    );
    FileTool {
        definition,
        roots: Arc::clone(roots),
        work: read,
    }
}

fn read(roots: &Roots, arguments: Arguments, _: &CancellationToken) -> Result<Answer, ToolError> {
    let place = roots.place(&arguments.path)?;
    let (file, stat) = place.open_file()?;
    let bytes = content::read_all(&place.shown, file, &stat)?;
    let whole = content::readable(&place.shown, &bytes)?;

    let start = arguments.offset.unwrap_or(1).max(1);
    let limit = arguments.limit.unwrap_or(DEFAULT_LINES);
    let total = whole.split_inclusive('\n').count();
    if start > total.max(1) {
        let message = format!(
            "`{}` has {total} lines; line {start} is past its end",
            problem::shown(&place.shown)
        );
        return Err(ToolError::new("invalid_offset", message));
    }
    let mut text = String::new();
    let mut lines = 0;
    let mut cut = false;
    for line in whole.split_inclusive('\n').skip(start - 1).take(limit) {
        if text.len() + line.len() > MAX_TEXT_BYTES {
            cut = true;
            // A single line that is too long is shown as far as it fits; otherwise lines stay whole.
            if text.is_empty() {
                let end = line.floor_char_boundary(MAX_TEXT_BYTES);
                text.push_str(line.get(..end).unwrap_or_default());
                lines = 1;
            }
            break;
        }
        text.push_str(line);
        lines += 1;
    }
    Ok(Answer {
        path: place.shown,
        text,
        start_line: start,
        lines,
        total_lines: total,
        truncated: cut || start - 1 + lines < total,
    })
}
