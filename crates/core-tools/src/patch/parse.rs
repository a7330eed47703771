//! From the text of a patch to what it wants.

use codecell_tools::ToolError;

use super::{Action, FileChange, Hunk, HunkLine, invalid, unified};
use crate::lines::clip;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const UPDATE: &str = "*** Update File:";
const MOVE: &str = "*** Move to:";
const END_OF_FILE: &str = "*** End of File";

/// The lines of a patch with their numbers, from 1.
pub(super) struct Lines<'a> {
    lines: Vec<&'a str>,
    next: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.next).copied()
    }

    pub(super) fn next(&mut self) -> Option<&'a str> {
        let line = self.peek()?;
        self.next += 1;
        Some(line)
    }

    /// Whether the line that was read last is the mark of a missing line end.
    pub(super) fn current_is_mark(&self) -> bool {
        let last = self.next.checked_sub(1).and_then(|last| self.lines.get(last));
        last.copied().is_some_and(unified::is_mark)
    }

    /// The number of the line that was read last.
    pub(super) fn number(&self) -> usize {
        self.next
    }
}

/// Understands both formats.
///
/// # Errors
///
/// Fails with the line that makes no sense, and what would.
pub(super) fn parse(patch: &str) -> Result<Vec<FileChange>, ToolError> {
    let mut lines = Lines {
        lines: patch.lines().collect(),
        next: 0,
    };
    while lines.peek().is_some_and(|line| line.trim().is_empty()) {
        lines.next();
    }
    let changes = match lines.peek() {
        Some(first) if first.trim() == BEGIN => {
            lines.next();
            sections(&mut lines)?
        }
        Some(first) if unified::begins(first) => unified::parse(&mut lines)?,
        _ => {
            return Err(invalid(format!(
                "a patch begins with `{BEGIN}` (or is a unified diff that begins with `---` or `diff --git`)"
            )));
        }
    };
    if changes.is_empty() {
        return Err(invalid("the patch changes no file".to_owned()));
    }
    Ok(changes)
}

fn sections(lines: &mut Lines<'_>) -> Result<Vec<FileChange>, ToolError> {
    let mut changes = Vec::new();
    loop {
        let Some(line) = lines.next() else {
            return Err(invalid(format!(
                "the patch is cut off: it does not end with `{END}`"
            )));
        };
        let line = line.trim();
        if line == END {
            break;
        } else if let Some(path) = after(line, ADD) {
            let content = added(lines)?;
            let (path, action) = (path.to_owned(), Action::Add { content });
            changes.push(FileChange { path, action });
        } else if let Some(path) = after(line, DELETE) {
            let (path, action) = (path.to_owned(), Action::Delete);
            changes.push(FileChange { path, action });
        } else if let Some(path) = after(line, UPDATE) {
            let move_to = lines.peek().and_then(|line| after(line.trim(), MOVE));
            if move_to.is_some() {
                lines.next();
            }
            let hunks = hunks(lines, path)?;
            if hunks.is_empty() && move_to.is_none() {
                return Err(invalid(format!("`{path}` is to be updated but has no hunk")));
            }
            let move_to = move_to.map(str::to_owned);
            let (path, action) = (path.to_owned(), Action::Update { move_to, hunks });
            changes.push(FileChange { path, action });
        } else if !line.is_empty() {
            return Err(invalid(format!(
                "line {}: expected `{ADD}`, `{DELETE}`, `{UPDATE}` or `{END}`, got `{}`",
                lines.number(),
                clip(line, 80)
            )));
        }
    }
    if let Some(line) = lines
        .lines
        .iter()
        .skip(lines.next)
        .find(|line| !line.trim().is_empty())
    {
        return Err(invalid(format!("`{}` follows after `{END}`", clip(line, 80))));
    }
    Ok(changes)
}

/// What follows a marker, if the line is one and something follows.
fn after<'a>(line: &'a str, marker: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(marker)?.trim();
    (!rest.is_empty()).then_some(rest)
}

/// Whether a section ends before this line.
fn is_marker(line: &str) -> bool {
    line.starts_with("*** ") && line.trim_end() != END_OF_FILE
}

fn added(lines: &mut Lines<'_>) -> Result<String, ToolError> {
    let mut content = String::new();
    while let Some(line) = lines.peek().filter(|line| !is_marker(line)) {
        lines.next();
        match line.strip_prefix('+') {
            Some(text) => {
                content.push_str(text);
                content.push('\n');
            }
            None if line.trim().is_empty() && lines.peek().is_none_or(is_marker) => {}
            None => {
                return Err(invalid(format!(
                    "line {}: every line of a new file starts with `+`, this one is `{}`",
                    lines.number(),
                    clip(line, 80)
                )));
            }
        }
    }
    Ok(content)
}

fn hunks(lines: &mut Lines<'_>, path: &str) -> Result<Vec<Hunk>, ToolError> {
    let mut done: Vec<Hunk> = Vec::new();
    let mut open: Option<Hunk> = None;
    while let Some(line) = lines.peek().filter(|line| !is_marker(line)) {
        lines.next();
        if let Some(header) = line.strip_prefix("@@") {
            // Headers in a row lead to one hunk.
            let mut hunk = match open.take() {
                Some(hunk) if hunk.lines.is_empty() => hunk,
                other => {
                    done.extend(other);
                    Hunk::default()
                }
            };
            hunk.head(header);
            open = Some(hunk);
            continue;
        }
        let hunk = open.get_or_insert_default();
        if line.trim_end() == END_OF_FILE {
            hunk.at_end = true;
        } else {
            hunk.lines.push(hunk_line(line).ok_or_else(|| {
                invalid(format!(
                    "line {}: a line of a hunk starts with a space, `-` or `+`, this one is `{}`",
                    lines.number(),
                    clip(line, 80)
                ))
            })?);
        }
    }
    done.extend(open);
    for (index, hunk) in done.iter_mut().enumerate() {
        // Blank lines between sections are layout.
        if hunk
            .lines
            .iter()
            .all(|line| matches!(line, HunkLine::Keep(text) if text.is_empty()))
        {
            hunk.lines.clear();
        }
        if hunk.lines.is_empty() && !(hunk.headers.is_empty() && hunk.near.is_none()) {
            return Err(invalid(format!("hunk {} of `{path}` has no lines", index + 1)));
        }
    }
    done.retain(|hunk| !hunk.lines.is_empty());
    Ok(done)
}

/// A line of a hunk. Editors strip the space that stands for an empty line, so it may be missing.
pub(super) fn hunk_line(line: &str) -> Option<HunkLine> {
    let Some(first) = line.chars().next() else {
        return Some(HunkLine::Keep(String::new()));
    };
    let rest = line.get(first.len_utf8()..).unwrap_or_default().to_owned();
    match first {
        ' ' => Some(HunkLine::Keep(rest)),
        '-' => Some(HunkLine::Remove(rest)),
        '+' => Some(HunkLine::Add(rest)),
        _ => None,
    }
}

impl Hunk {
    /// Takes what follows `@@`: nothing, a line to go past, or the positions of a unified diff.
    fn head(&mut self, header: &str) {
        let header = header.trim();
        if let Some(range) = unified::Range::parse(header) {
            self.near = Some(range.before());
            return;
        }
        let header = header.strip_suffix("@@").unwrap_or(header).trim_end();
        if !header.is_empty() {
            self.headers.push(header.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(text: &str) -> HunkLine {
        HunkLine::Keep(text.into())
    }

    fn remove(text: &str) -> HunkLine {
        HunkLine::Remove(text.into())
    }

    fn add(text: &str) -> HunkLine {
        HunkLine::Add(text.into())
    }

    #[test]
    fn a_patch_with_everything_in_it_is_understood() {
        let patch = "\
*** Begin Patch
*** Add File: new.txt
+one
+
+three
*** Delete File: old.txt
*** Update File: a.py
*** Move to: b.py
@@ class A
@@ def f():
 keep
-old
+new

@@
+last
*** End of File
*** End Patch
";
        let expected = vec![
            FileChange {
                path: "new.txt".into(),
                action: Action::Add {
                    content: "one\n\nthree\n".into(),
                },
            },
            FileChange {
                path: "old.txt".into(),
                action: Action::Delete,
            },
            FileChange {
                path: "a.py".into(),
                action: Action::Update {
                    move_to: Some("b.py".into()),
                    hunks: vec![
                        Hunk {
                            headers: vec!["class A".into(), "def f():".into()],
                            lines: vec![keep("keep"), remove("old"), add("new"), keep("")],
                            ..Hunk::default()
                        },
                        Hunk {
                            lines: vec![add("last")],
                            at_end: true,
                            ..Hunk::default()
                        },
                    ],
                },
            },
        ];
        assert_eq!(parse(patch).unwrap(), expected);
    }

    #[test]
    fn what_is_no_patch_is_refused_with_the_line() {
        let cases = [
            (
                "",
                "a patch begins with `*** Begin Patch` (or is a unified diff that begins with `---` or `diff --git`)",
            ),
            (
                "hello",
                "a patch begins with `*** Begin Patch` (or is a unified diff that begins with `---` or `diff --git`)",
            ),
            ("*** Begin Patch\n*** End Patch", "the patch changes no file"),
            (
                "*** Begin Patch\n*** Add File: a\n+x",
                "the patch is cut off: it does not end with `*** End Patch`",
            ),
            (
                "*** Begin Patch\n*** Add File: a\nx\n*** End Patch",
                "line 3: every line of a new file starts with `+`, this one is `x`",
            ),
            (
                "*** Begin Patch\n*** Update File: a\n*** End Patch",
                "`a` is to be updated but has no hunk",
            ),
            (
                "*** Begin Patch\n*** Update File: a\n@@ f\n*** End Patch",
                "hunk 1 of `a` has no lines",
            ),
            (
                "*** Begin Patch\n*** Update File: a\n@@\nx\n*** End Patch",
                "line 4: a line of a hunk starts with a space, `-` or `+`, this one is `x`",
            ),
            (
                "*** Begin Patch\n*** Rename File: a\n*** End Patch",
                "line 2: expected `*** Add File:`, `*** Delete File:`, `*** Update File:` or `*** End Patch`, got \
                 `*** Rename File: a`",
            ),
            (
                "*** Begin Patch\n*** Delete File: a\n*** End Patch\nmore",
                "`more` follows after `*** End Patch`",
            ),
            (
                "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n",
                "the hunk that begins in line 3 is cut off",
            ),
            (
                "--- a/x\n@@ -1 +1 @@\n",
                "line 2: expected `+++`, got `@@ -1 +1 @@`",
            ),
        ];
        for (patch, message) in cases {
            let error = parse(patch).unwrap_err();
            assert_eq!((error.code, error.message.as_str()), ("invalid_patch", message));
        }
    }
}
