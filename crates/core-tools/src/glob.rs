//! `glob`: files by the shape of their paths.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use codecell_tools::ToolError;
use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::adapter::{Effect, FileTool, closed, define};
use crate::lines::clip;
use crate::roots::{Place, Roots, Spot};
use crate::walk::walk;

/// Paths of one answer unless the caller says otherwise, and at most.
const DEFAULT_LIMIT: usize = 1000;
const MAX_LIMIT: usize = 10_000;

/// Longest pattern, in bytes: patterns are compiled.
const MAX_PATTERN: usize = 1000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    pattern: String,
    path: Option<String>,
    limit: Option<usize>,
}

#[derive(Serialize)]
pub(crate) struct Answer {
    paths: Vec<String>,
    truncated: bool,
}

pub(crate) fn tool(roots: &Arc<Roots>) -> FileTool<Arguments, Answer> {
    let definition = define(
        "glob",
        "Find files",
        "Find files by a glob such as `src/**/*.{ts,tsx}`, relative to the folder `path` (default: the root); `*` stays within \
         a folder, `**` does not. Leaves out what `.gitignore` excludes, and `.git`. Sorted by path.",
        [
            closed(
                json!({
                    "pattern": { "type": "string" },
                    "path": { "type": "string", "description": "Folder to search" },
                    "limit": { "type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "description": "Default 1000" },
                }),
                &["pattern"],
            ),
            closed(
                json!({
                    "paths": { "type": "array", "items": { "type": "string" } },
                    "truncated": { "type": "boolean" },
                }),
                &["paths", "truncated"],
            ),
        ],
        Effect::Reads,
    );
    FileTool {
        definition,
        roots: Arc::clone(roots),
        work: glob,
    }
}

fn glob(roots: &Roots, arguments: Arguments, cancel: &CancellationToken) -> Result<Answer, ToolError> {
    let pattern = arguments.pattern.strip_prefix("./").unwrap_or(&arguments.pattern);
    let matcher = matcher(pattern)?;
    let limit = arguments.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
    let mut paths = Vec::new();
    let mut truncated = false;
    for (prefix, place) in starts(roots, arguments.path.as_deref())? {
        truncated |= walk(&place, cancel, &mut |found| {
            if !matcher.is_match(prefix.join(found.path)) {
                return Ok(ControlFlow::Continue(()));
            }
            if paths.len() >= limit {
                truncated = true;
                return Ok(ControlFlow::Break(()));
            }
            paths.push(place.join(found.path.as_os_str()).shown);
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(Answer { paths, truncated })
}

/// The places to walk from, and what comes in front of the paths found there before a pattern is held against them.
pub(crate) fn starts<'a>(
    roots: &'a Roots,
    path: Option<&str>,
) -> Result<Vec<(PathBuf, Place<'a>)>, ToolError> {
    match roots.find(path.unwrap_or("."))? {
        Spot::In(place) => Ok(vec![(PathBuf::new(), place)]),
        Spot::Top => {
            let mut all: Vec<Place<'a>> = roots.all().collect();
            all.sort_by(|a, b| a.root.name.cmp(&b.root.name));
            let named = all.into_iter();
            Ok(named
                .map(|place| (Path::new(&place.root.name).to_owned(), place))
                .collect())
        }
    }
}

/// Compiles a pattern whose `*` does not cross folders.
pub(crate) fn matcher(pattern: &str) -> Result<GlobMatcher, ToolError> {
    if pattern.len() > MAX_PATTERN {
        let message = format!(
            "the glob is {} bytes long; the limit is {MAX_PATTERN}",
            pattern.len()
        );
        return Err(ToolError::new("invalid_pattern", message));
    }
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| {
            let message = format!("`{}` is no glob: {}", clip(pattern, 100), error.kind());
            ToolError::new("invalid_pattern", message)
        })
}
