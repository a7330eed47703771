//! Unified diffs, as `git diff` and `diff -u` write them.

use codecell_tools::ToolError;

use super::parse::{Lines, hunk_line};
use super::{Action, FileChange, Hunk, HunkLine, invalid};
use crate::lines::clip;

/// The name of no file.
const NOTHING: &str = "/dev/null";

/// The positions of a hunk: `-3,2 +3,4`.
#[derive(Clone, Copy)]
pub(super) struct Range {
    start: usize,
    old: usize,
    new: usize,
}

impl Range {
    /// Reads what follows the first `@@`.
    pub(super) fn parse(header: &str) -> Option<Self> {
        let (positions, _) = header.trim_start().strip_prefix('-')?.split_once("@@")?;
        let (old, new) = positions.trim_end().split_once(" +")?;
        let (start, old) = counted(old)?;
        let (_, new) = counted(new)?;
        Some(Self { start, old, new })
    }

    /// How many lines of the old file lie before it.
    pub(super) fn before(&self) -> usize {
        // Where nothing is removed the position is the line before.
        if self.old == 0 {
            self.start
        } else {
            self.start.saturating_sub(1)
        }
    }
}

fn counted(text: &str) -> Option<(usize, usize)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

/// Whether a diff begins with this line.
pub(super) fn begins(line: &str) -> bool {
    line.starts_with("--- ") || line.starts_with("diff --git ")
}

pub(super) fn parse(lines: &mut Lines<'_>) -> Result<Vec<FileChange>, ToolError> {
    let mut changes = Vec::new();
    let mut renamed = Renamed::default();
    while let Some(line) = lines.next() {
        if line.starts_with("diff --git ") {
            changes.extend(std::mem::take(&mut renamed).alone());
        } else if let Some(path) = line.strip_prefix("rename from ") {
            renamed.from = Some(path.to_owned());
        } else if let Some(path) = line.strip_prefix("rename to ") {
            renamed.to = Some(path.to_owned());
        } else if let Some(old) = line.strip_prefix("--- ") {
            let new = lines.next().unwrap_or_default();
            let Some(new) = new.strip_prefix("+++ ") else {
                let number = lines.number();
                return Err(invalid(format!(
                    "line {number}: expected `+++`, got `{}`",
                    clip(new, 80)
                )));
            };
            changes.push(file(lines, old, new, std::mem::take(&mut renamed))?);
        } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            return Err(invalid(format!(
                "line {}: binary files cannot be patched",
                lines.number()
            )));
        } else if line.starts_with("@@") {
            return Err(invalid(format!(
                "line {}: a hunk without `---` and `+++` before it",
                lines.number()
            )));
        }
        // Modes, hashes and commit messages are passed over.
    }
    changes.extend(renamed.alone());
    Ok(changes)
}

#[derive(Default)]
struct Renamed {
    from: Option<String>,
    to: Option<String>,
}

impl Renamed {
    /// The change of a file that gets nothing but a new name.
    fn alone(self) -> Option<FileChange> {
        let action = Action::Update {
            move_to: Some(self.to?),
            hunks: Vec::new(),
        };
        Some(FileChange {
            path: self.from?,
            action,
        })
    }
}

fn file(lines: &mut Lines<'_>, old: &str, new: &str, renamed: Renamed) -> Result<FileChange, ToolError> {
    let (old, new) = (name(old, "a/"), name(new, "b/"));
    let mut hunks = Vec::new();
    while let Some(header) = lines.peek().and_then(|line| line.strip_prefix("@@")) {
        lines.next();
        let Some(range) = Range::parse(header) else {
            let number = lines.number();
            return Err(invalid(format!(
                "line {number}: expected `@@ -1,2 +1,2 @@`, got `@@{}`",
                clip(header, 80)
            )));
        };
        hunks.push(hunk(lines, range)?);
    }
    if old == NOTHING {
        let content = hunks.iter().flat_map(|hunk| &hunk.lines).map(|line| match line {
            HunkLine::Add(text) => format!("{text}\n"),
            HunkLine::AddUnended(text) => text.clone(),
            HunkLine::Keep(_) | HunkLine::Remove(_) => String::new(),
        });
        let action = Action::Add {
            content: content.collect(),
        };
        let path = new.to_owned();
        return Ok(FileChange { path, action });
    }
    if new == NOTHING {
        let (path, action) = (old.to_owned(), Action::Delete);
        return Ok(FileChange { path, action });
    }
    if hunks.is_empty() {
        return Err(invalid(format!("`{new}` is to be updated but has no hunk")));
    }
    let (path, move_to) = match (renamed.from, renamed.to) {
        (Some(from), Some(to)) => (from, Some(to)),
        // Without a word of renaming, a different old name is that of a backup.
        _ => (new.to_owned(), None),
    };
    let action = Action::Update { move_to, hunks };
    Ok(FileChange { path, action })
}

/// A file's name without a time after it and without git's prefix.
fn name<'a>(text: &'a str, prefix: &str) -> &'a str {
    let text = text.split('\t').next().unwrap_or_default().trim_end();
    text.strip_prefix(prefix).unwrap_or(text)
}

/// Reads as many lines as the header counts: a removed line may look like the header of the next file.
fn hunk(lines: &mut Lines<'_>, range: Range) -> Result<Hunk, ToolError> {
    let begin = lines.number();
    let mut hunk = Hunk {
        near: Some(range.before()),
        ..Hunk::default()
    };
    let (mut old, mut new) = (range.old, range.new);
    while old > 0 || new > 0 {
        let line = lines.next().and_then(hunk_line);
        let fits = match &line {
            Some(HunkLine::Keep(_)) => count(&mut old) && count(&mut new),
            Some(HunkLine::Remove(_)) => count(&mut old),
            Some(HunkLine::Add(_) | HunkLine::AddUnended(_)) => count(&mut new),
            // The old side has no line end; that of the new side follows its line.
            None if lines.current_is_mark() => {
                unend(&mut hunk);
                continue;
            }
            None => false,
        };
        match line.filter(|_| fits) {
            Some(line) => hunk.lines.push(line),
            None => {
                return Err(invalid(format!(
                    "the hunk that begins in line {begin} is cut off"
                )));
            }
        }
    }
    if lines.peek().is_some_and(is_mark) {
        lines.next();
        unend(&mut hunk);
    }
    Ok(hunk)
}

fn count(left: &mut usize) -> bool {
    match left.checked_sub(1) {
        Some(less) => {
            *left = less;
            true
        }
        None => false,
    }
}

/// `\ No newline at end of file`
pub(super) fn is_mark(line: &str) -> bool {
    line.starts_with('\\')
}

fn unend(hunk: &mut Hunk) {
    if let Some(last) = hunk.lines.pop() {
        hunk.lines.push(match last {
            HunkLine::Add(text) => HunkLine::AddUnended(text),
            other => other,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_git_diff_is_understood() {
        let patch = "\
diff --git a/x.rs b/x.rs
index 1..2 100644
--- a/x.rs
+++ b/x.rs
@@ -3,2 +3,2 @@ fn main() {
 keep
--- removed
+added
\\ No newline at end of file
diff --git a/new b/new
new file mode 100644
--- /dev/null
+++ b/new
@@ -0,0 +1 @@
+hello
diff --git a/gone b/gone
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-bye
diff --git a/p b/q
rename from p
rename to q
";
        let update = |move_to: Option<&str>, hunks| Action::Update {
            move_to: move_to.map(str::to_owned),
            hunks,
        };
        let hunk = Hunk {
            near: Some(2),
            lines: vec![
                HunkLine::Keep("keep".into()),
                HunkLine::Remove("-- removed".into()),
                HunkLine::AddUnended("added".into()),
            ],
            ..Hunk::default()
        };
        let content = "hello\n".to_owned();
        let expected = [
            ("x.rs", update(None, vec![hunk])),
            ("new", Action::Add { content }),
            ("gone", Action::Delete),
            ("p", update(Some("q"), Vec::new())),
        ]
        .map(|(path, action)| FileChange {
            path: path.into(),
            action,
        });
        assert_eq!(super::super::parse::parse(patch).unwrap(), expected);
    }
}
