//! `grep`: lines that match a regular expression.

use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use codecell_tools::ToolError;
use globset::GlobMatcher;
use regex::bytes::{Regex, RegexBuilder};
use rustix::fs::{FileType, OFlags, fstat};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::adapter::{Effect, FileTool, check, closed, define};
use crate::beneath::open_no_link;
use crate::content;
use crate::glob::{matcher, starts};
use crate::lines::clip;
use crate::problem;
use crate::roots::{Place, Roots, Spot};
use crate::walk::{Found, Kind, walk};

/// Matches of one answer unless the caller says otherwise, and at most.
const DEFAULT_LIMIT: usize = 200;
const MAX_LIMIT: usize = 2000;

/// Most lines of context on each side.
const MAX_CONTEXT: usize = 10;

/// Longest line of an answer, in bytes; of longer ones the part around the match is shown.
const MAX_LINE: usize = 500;

/// Most text of one answer, in bytes.
const MAX_TEXT: usize = 256 << 10;

/// How much of one file is searched, in bytes. What lies beyond counts as left out.
const MAX_SEARCHED: u64 = 64 << 20;

/// Largest compiled expression, in bytes. Matching is linear in any case.
const MAX_PROGRAM: usize = 1 << 20;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    context: usize,
    limit: Option<usize>,
}

#[derive(Serialize)]
pub(crate) struct Answer {
    matches: Vec<Match>,
    truncated: bool,
}

#[derive(Serialize)]
struct Match {
    path: String,
    line: usize,
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<String>,
}

pub(crate) fn tool(roots: &Arc<Roots>) -> FileTool<Arguments, Answer> {
    let found = closed(
        json!({
            "path": { "type": "string" },
            "line": { "type": "integer" },
            "text": { "type": "string" },
            "before": { "type": "array", "items": { "type": "string" } },
            "after": { "type": "array", "items": { "type": "string" } },
        }),
        &["path", "line", "text"],
    );
    let definition = define(
        "grep",
        "Search in files",
        "Find lines that match a regular expression (Rust syntax, no look-around) in a file or folder (default: the root). \
         `glob` narrows the files: `*.rs` at any depth, `src/**/*.rs` from `path`. `context` lines come as `before` and \
         `after`. Leaves out binary files, what `.gitignore` excludes, and `.git`.",
        [
            closed(
                json!({
                    "pattern": { "type": "string" },
                    "path": { "type": "string" },
                    "glob": { "type": "string" },
                    "ignoreCase": { "type": "boolean" },
                    "context": { "type": "integer", "minimum": 0, "maximum": MAX_CONTEXT },
                    "limit": { "type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "description": "Default 200" },
                }),
                &["pattern"],
            ),
            closed(
                json!({ "matches": { "type": "array", "items": found }, "truncated": { "type": "boolean" } }),
                &["matches", "truncated"],
            ),
        ],
        Effect::Reads,
    );
    FileTool {
        definition,
        roots: Arc::clone(roots),
        work: grep,
    }
}

fn grep(roots: &Roots, arguments: Arguments, cancel: &CancellationToken) -> Result<Answer, ToolError> {
    let pattern = compile(&arguments.pattern, arguments.ignore_case)?;
    let filter = arguments.glob.as_deref().map(Filter::new).transpose()?;
    let mut search = Search {
        pattern,
        context: arguments.context.min(MAX_CONTEXT),
        limit: arguments.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT),
        cancel,
        matches: Vec::new(),
        text: 0,
        truncated: false,
    };
    let path = arguments.path.as_deref();
    // A file that is named is searched whatever the rest says.
    if let Some(Spot::In(place)) = path.map(|path| roots.find(path)).transpose()? {
        let (file, stat) = place.open()?;
        match Kind::from(FileType::from_raw_mode(stat.st_mode)) {
            Kind::Dir => {}
            Kind::File => {
                // There is nothing else to go on with.
                let _ = search.file(File::from(file), &place.shown)?;
                return Ok(search.answer());
            }
            Kind::Symlink | Kind::Other => return Err(problem::not_a_file(&place.shown)),
        }
    }
    for (prefix, place) in starts(roots, path)? {
        let left_out = walk(&place, cancel, &mut |found| {
            let wanted = filter
                .as_ref()
                .is_none_or(|filter| filter.takes(&prefix.join(found.path)));
            if found.kind == Kind::File && wanted {
                search.found(&place, &found)
            } else {
                Ok(ControlFlow::Continue(()))
            }
        })?;
        search.truncated |= left_out;
    }
    Ok(search.answer())
}

fn compile(pattern: &str, ignore_case: bool) -> Result<Regex, ToolError> {
    RegexBuilder::new(pattern)
        .case_insensitive(ignore_case)
        .size_limit(MAX_PROGRAM)
        .dfa_size_limit(MAX_PROGRAM)
        .build()
        .map_err(|error| {
            let message = match error {
                regex::Error::CompiledTooBig(limit) => {
                    format!("the expression needs more than {limit} bytes when compiled; make it smaller")
                }
                other => format!(
                    "this is no regular expression: {}",
                    clip(&other.to_string(), 1000)
                ),
            };
            ToolError::new("invalid_pattern", message)
        })
}

/// Which files are searched. A pattern without a folder goes for names at any depth, as people expect it from
/// search tools.
struct Filter {
    matcher: GlobMatcher,
    by_name: bool,
}

impl Filter {
    fn new(glob: &str) -> Result<Self, ToolError> {
        Ok(Self {
            matcher: matcher(glob.strip_prefix("./").unwrap_or(glob))?,
            by_name: !glob.contains('/'),
        })
    }

    fn takes(&self, path: &Path) -> bool {
        match (self.by_name, path.file_name()) {
            (true, Some(name)) => self.matcher.is_match(name),
            _ => self.matcher.is_match(path),
        }
    }
}

struct Search<'a> {
    pattern: Regex,
    context: usize,
    limit: usize,
    cancel: &'a CancellationToken,
    matches: Vec<Match>,
    /// Bytes of text that the matches hold.
    text: usize,
    truncated: bool,
}

impl Search<'_> {
    fn found(&mut self, place: &Place<'_>, found: &Found<'_>) -> Result<ControlFlow<()>, ToolError> {
        // What cannot be opened is skipped, as the walk skips folders.
        let Ok(file) = open_no_link(found.folder, found.name, OFlags::RDONLY) else {
            return Ok(ControlFlow::Continue(()));
        };
        if !is_regular(&file) {
            return Ok(ControlFlow::Continue(()));
        }
        self.file(File::from(file), &place.join(found.path.as_os_str()).shown)
    }

    fn file(&mut self, file: File, shown: &str) -> Result<ControlFlow<()>, ToolError> {
        let mut bytes = Vec::new();
        if file.take(MAX_SEARCHED + 1).read_to_end(&mut bytes).is_err()
            || content::binary_kind(&bytes).is_some()
        {
            return Ok(ControlFlow::Continue(()));
        }
        if bytes.len() as u64 > MAX_SEARCHED {
            self.truncated = true;
            bytes.truncate(usize::try_from(MAX_SEARCHED).unwrap_or(usize::MAX));
        }
        let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        // What follows the last line end is no line.
        if lines.last().is_some_and(|line| line.is_empty()) {
            lines.pop();
        }
        for (index, line) in lines.iter().enumerate() {
            // Looking at the token costs more than looking at a line.
            if index.is_multiple_of(1024) {
                check(self.cancel)?;
            }
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let Some(hit) = self.pattern.find(line) else {
                continue;
            };
            let context = |range: std::ops::Range<usize>| -> Vec<String> {
                let lines = lines.get(range).unwrap_or_default();
                lines.iter().map(|line| shorten(line, 0)).collect()
            };
            let end = (index + 1 + self.context).min(lines.len());
            let found = Match {
                path: shown.to_owned(),
                line: index + 1,
                text: shorten(line, hit.start()),
                before: context(index.saturating_sub(self.context)..index),
                after: context(index + 1..end),
            };
            if self.take(found).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn take(&mut self, found: Match) -> ControlFlow<()> {
        let texts = found.before.iter().chain(&found.after).map(String::len);
        let size = found.path.len() + found.text.len() + texts.sum::<usize>();
        if self.matches.len() >= self.limit || self.text + size > MAX_TEXT {
            self.truncated = true;
            return ControlFlow::Break(());
        }
        self.text += size;
        self.matches.push(found);
        ControlFlow::Continue(())
    }

    fn answer(self) -> Answer {
        Answer {
            matches: self.matches,
            truncated: self.truncated,
        }
    }
}

fn is_regular(file: &OwnedFd) -> bool {
    fstat(file).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
}

/// A line for people: without its end, and if it is long only what is around `hit`.
fn shorten(line: &[u8], hit: usize) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= MAX_LINE {
        return String::from_utf8_lossy(line).into_owned();
    }
    let start = if hit < MAX_LINE / 2 { 0 } else { hit - MAX_LINE / 4 };
    let end = (start + MAX_LINE).min(line.len());
    let part = line.get(start..end).unwrap_or_default();
    // The cut may go through a character; its halves are no text.
    let text = String::from_utf8_lossy(part);
    let text = text.trim_matches(char::REPLACEMENT_CHARACTER);
    format!(
        "{}{text}{}",
        if start > 0 { "…" } else { "" },
        if end < line.len() { "…" } else { "" }
    )
}
