//! Finding where hunks belong in a text, and making their changes.

use std::ops::Range;

use super::{Hunk, HunkLine};
use crate::lines::nearest;

/// What a text becomes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fitted {
    pub(super) text: String,
    pub(super) added: usize,
    pub(super) removed: usize,
}

/// Why a hunk has no place, as words that follow `hunk N of FILE`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Misfit {
    /// Number of the hunk, from 1.
    pub(super) hunk: usize,
    pub(super) reason: String,
}

/// A line and its end, which is empty only for the last.
#[derive(Clone, Copy)]
struct Line<'a> {
    text: &'a str,
    end: &'a str,
}

/// Whether a line is the one that is wanted.
type Alike = fn(&str, &str) -> bool;

/// How closely lines have to agree. The closest that gives a place is used: models lose spaces.
const CLOSENESS: [Alike; 3] = [
    |line, wanted| line == wanted,
    |line, wanted| line.trim_end() == wanted.trim_end(),
    |line, wanted| line.trim() == wanted.trim(),
];

/// Makes the changes of all hunks, which follow each other in the text.
///
/// A hunk goes to the first place after the previous one where its kept and removed lines are, or to the place nearest
/// to where a unified diff says. Kept lines stay as they are in the text, added ones get its line ends. A hunk that
/// only adds goes after its header, or to the end.
pub(super) fn fit(text: &str, hunks: &[Hunk]) -> Result<Fitted, Misfit> {
    let old: Vec<Line<'_>> = text.split_inclusive('\n').map(split_end).collect();
    let end = old.first().map_or("\n", |first| first.end);
    let end = if end.is_empty() { "\n" } else { end };
    let mut new: Vec<Line<'_>> = Vec::with_capacity(old.len());
    let (mut done, mut added, mut removed) = (0, 0, 0);
    for (index, hunk) in hunks.iter().enumerate() {
        let misfit = |reason| Misfit {
            hunk: index + 1,
            reason,
        };
        let place = place(text, &old, done, hunk).map_err(misfit)?;
        new.extend(old.get(done..place.start).unwrap_or_default());
        done = place.start;
        for line in &hunk.lines {
            match line {
                HunkLine::Keep(_) if done < place.end => {
                    new.extend(old.get(done));
                    done += 1;
                }
                // A blank line that is not there: it belongs to the patch and not to the text.
                HunkLine::Keep(_) => {}
                HunkLine::Remove(_) => {
                    removed += 1;
                    done += 1;
                }
                HunkLine::Add(text) => {
                    added += 1;
                    new.push(Line { text, end });
                }
                HunkLine::AddUnended(text) => {
                    added += 1;
                    new.push(Line { text, end: "" });
                }
            }
        }
    }
    new.extend(old.get(done..).unwrap_or_default());
    Ok(Fitted {
        text: join(&new, end),
        added,
        removed,
    })
}

fn split_end(line: &str) -> Line<'_> {
    let text = line
        .strip_suffix('\n')
        .map_or(line, |line| line.strip_suffix('\r').unwrap_or(line));
    let end = line.get(text.len()..).unwrap_or_default();
    Line { text, end }
}

/// Only the last line may go without an end.
fn join(lines: &[Line<'_>], end: &str) -> String {
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        text.push_str(line.text);
        let inner = index + 1 < lines.len();
        text.push_str(if inner && line.end.is_empty() {
            end
        } else {
            line.end
        });
    }
    text
}

/// The lines that a hunk stands for, not before `from`.
fn place(text: &str, old: &[Line<'_>], from: usize, hunk: &Hunk) -> Result<Range<usize>, String> {
    let mut from = from;
    for header in &hunk.headers {
        // A header may be only the beginning of its line.
        let begins = |line: &str, header: &str| line.trim_start().starts_with(header);
        let found = CLOSENESS.iter().chain([&(begins as Alike)]).find_map(|alike| {
            let mut later = old.iter().skip(from);
            later.position(|line| alike(line.text, header))
        });
        match found {
            Some(passed) => from += passed + 1,
            None => {
                let near = nearest(text, header);
                return Err(format!(
                    "has a header that is no line of the file from line {} on: `{header}`{near}",
                    from + 1
                ));
            }
        }
    }
    let wanted: Vec<&str> = hunk.lines.iter().filter_map(old_text).collect();
    if wanted.is_empty() {
        let place = match hunk.near {
            Some(near) => near.clamp(from, old.len()),
            None if hunk.headers.is_empty() || hunk.at_end => old.len(),
            None => from,
        };
        return Ok(place..place);
    }
    let mut lines = wanted.as_slice();
    loop {
        let found = CLOSENESS
            .iter()
            .find_map(|alike| find(old, from, lines, hunk, *alike));
        if let Some(place) = found {
            return Ok(place..place + lines.len());
        }
        // Blank lines at the end of a hunk may only part it from what follows in the patch.
        match lines.split_last() {
            Some((&"", rest)) if ends_blank(hunk) && !rest.is_empty() => lines = rest,
            _ => break,
        }
    }
    let wanted = wanted.join("\n");
    let place = match (hunk.at_end, from) {
        (true, _) => " at its end".to_owned(),
        (false, 0) => String::new(),
        (false, from) => format!(" from line {} on", from + 1),
    };
    let near = nearest(text, &wanted);
    Err(format!(
        "does not fit: its kept and removed lines do not occur in the file{place}{near}"
    ))
}

fn old_text(line: &HunkLine) -> Option<&str> {
    match line {
        HunkLine::Keep(text) | HunkLine::Remove(text) => Some(text),
        HunkLine::Add(_) | HunkLine::AddUnended(_) => None,
    }
}

fn ends_blank(hunk: &Hunk) -> bool {
    matches!(hunk.lines.last(), Some(HunkLine::Keep(text)) if text.is_empty())
}

fn fits(old: &[Line<'_>], place: usize, wanted: &[&str], alike: Alike) -> bool {
    let there = old.get(place..place + wanted.len());
    there.is_some_and(|there| {
        there
            .iter()
            .zip(wanted)
            .all(|(line, wanted)| alike(line.text, wanted))
    })
}

fn find(old: &[Line<'_>], from: usize, wanted: &[&str], hunk: &Hunk, alike: Alike) -> Option<usize> {
    let last = old.len().checked_sub(wanted.len())?;
    let first = if hunk.at_end { last.max(from) } else { from };
    let mut places = (first..=last).filter(|place| fits(old, *place, wanted, alike));
    match hunk.near {
        Some(near) => places.min_by_key(|place| place.abs_diff(near)),
        None => places.next(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::Action;
    use crate::patch::parse::parse;

    /// Fits the hunks of a patch, given from its first `@@` on.
    fn fitted(text: &str, hunks: &str) -> Result<(String, usize, usize), (usize, String)> {
        let patch = format!("*** Begin Patch\n*** Update File: f\n{hunks}\n*** End Patch\n");
        let mut changes = parse(&patch).unwrap();
        let Action::Update { hunks, .. } = changes.remove(0).action else {
            panic!("an update is an update");
        };
        match fit(text, &hunks) {
            Ok(fitted) => Ok((fitted.text, fitted.added, fitted.removed)),
            Err(misfit) => Err((misfit.hunk, misfit.reason)),
        }
    }

    #[test]
    fn hunks_go_where_their_lines_are() {
        let cases = [
            (
                "a line is replaced",
                "a\nb\nc\n",
                "@@\n a\n-b\n+B\n c",
                "a\nB\nc\n",
            ),
            ("the first `@@` may be missing", "a\nb\n", "-a\n+A\n b", "A\nb\n"),
            (
                "a header leads to the second place",
                "f\nx\ng\nx\n",
                "@@ g\n-x\n+y",
                "f\nx\ng\ny\n",
            ),
            (
                "a header may be the beginning of a line",
                "x\n  fn a(b: u8) {\nx\n",
                "@@ fn a\n-x\n+y",
                "x\n  fn a(b: u8) {\ny\n",
            ),
            (
                "headers follow each other",
                "A\nf\nB\nf\n",
                "@@ B\n@@ f\n+x",
                "A\nf\nB\nf\nx\n",
            ),
            (
                "hunks follow each other",
                "x\nx\nx\n",
                "@@\n-x\n+1\n@@\n-x\n+2",
                "1\n2\nx\n",
            ),
            ("what only adds goes to the end", "a\n", "@@\n+b", "a\nb\n"),
            ("also where no line end is", "a", "@@\n+b", "a\nb\n"),
            (
                "the end of the file is its end",
                "x\ny\nx\n",
                "@@\n-x\n+z\n*** End of File",
                "x\ny\nz\n",
            ),
            (
                "line ends stay",
                "a\r\nb\r\n",
                "@@\n a\n-b\n+B\n+C",
                "a\r\nB\r\nC\r\n",
            ),
            (
                "a missing last line end stays missing",
                "a\nb",
                "@@\n-a\n+A\n b",
                "A\nb",
            ),
            (
                "spaces at ends are forgiven, and kept",
                "a  \nb\n",
                "@@\n a\n-b\n+B",
                "a  \nB\n",
            ),
            (
                "indentation is forgiven",
                "\ta\n\tb\n",
                "@@\n a\n-b\n+\tB",
                "\ta\n\tB\n",
            ),
            ("exact comes before forgiven", " x\nx\n", "@@\n-x\n+y", " x\ny\n"),
            (
                "positions are hints",
                "x\na\nx\na\nx\n",
                "@@ -3,1 +3,1 @@\n-x\n+y",
                "x\na\ny\na\nx\n",
            ),
            (
                "a blank line may stand for the end",
                "a\nb\n",
                "@@\n-b\n+B\n\n",
                "a\nB\n",
            ),
            (
                "a blank line may part hunks",
                "a\nb\nc\n",
                "@@\n-a\n+A\n\n@@\n-b\n+B\n\n",
                "A\nB\nc\n",
            ),
            ("a file may become empty", "a\n", "@@\n-a", ""),
            ("an empty file may be filled", "", "@@\n+a", "a\n"),
        ];
        for (what, text, hunks, expected) in cases {
            let text = fitted(text, hunks).map(|(text, ..)| text);
            assert_eq!(text, Ok(expected.to_owned()), "{what}");
        }
    }

    #[test]
    fn lines_are_counted() {
        let done = fitted("a\nb\nc\n", "@@\n a\n-b\n+B\n+BB\n c");
        assert_eq!(done, Ok(("a\nB\nBB\nc\n".to_owned(), 2, 1)));
    }

    #[test]
    fn what_does_not_fit_is_said_with_the_nearest_line() {
        let cases = [
            (
                "let alpha = 1;\n",
                "@@\n-let alpha = 2;\n+x",
                (
                    1,
                    "does not fit: its kept and removed lines do not occur in the file; the nearest is line 1: `let alpha = 1;`",
                ),
            ),
            (
                "a\nb\n",
                "@@\n-b\n+B\n@@\n-a\n+A",
                (
                    2,
                    "does not fit: its kept and removed lines do not occur in the file from line 3 on; the nearest is line 1: `a`",
                ),
            ),
            (
                "a\nb\n",
                "@@\n-a\n+A\n*** End of File",
                (
                    1,
                    "does not fit: its kept and removed lines do not occur in the file at its end; the nearest is line 1: `a`",
                ),
            ),
            (
                "a\n",
                "@@ fn zzz\n-a",
                (
                    1,
                    "has a header that is no line of the file from line 1 on: `fn zzz`",
                ),
            ),
        ];
        for (text, hunks, (hunk, reason)) in cases {
            assert_eq!(fitted(text, hunks), Err((hunk, reason.to_owned())));
        }
    }
}
