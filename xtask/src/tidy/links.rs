//! Links between our Markdown files: each must lead to a file, and to a heading where it names one.

use std::collections::BTreeSet;

use super::Finding;

/// A link to a place in the tree.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) line: usize,
    /// Relative path, empty for the file itself.
    pub(super) path: String,
    /// Heading anchor, without `#`.
    pub(super) anchor: Option<String>,
}

/// The links of `markdown` that stay in the tree; code is skipped.
pub(super) fn links(markdown: &str) -> Vec<Link> {
    let mut found = Vec::new();
    for (line, text) in prose(markdown) {
        for (start, _) in text.match_indices("](") {
            let Some(target) = text
                .get(start + 2..)
                .and_then(|rest| rest.split([')', ' ']).next())
            else {
                continue;
            };
            if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (path, anchor) = match target.split_once('#') {
                Some((path, anchor)) => (path, Some(anchor.to_owned())),
                None => (target, None),
            };
            found.push(Link {
                line,
                path: path.to_owned(),
                anchor,
            });
        }
    }
    found
}

/// The anchors that the headings of `markdown` make, as code hosts spell them.
pub(super) fn anchors(markdown: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    for (_, text) in prose_with_code_spans(markdown) {
        let Some(heading) = text
            .strip_prefix('#')
            .map(|rest| rest.trim_start_matches('#').trim())
        else {
            continue;
        };
        let slug: String = heading
            .chars()
            .filter_map(|c| match c {
                ' ' => Some('-'),
                '-' | '_' => Some(c),
                _ if c.is_alphanumeric() => c.to_lowercase().next(),
                _ => None,
            })
            .collect();
        let unique = (1..).map(|n| format!("{slug}-{n}"));
        let name = std::iter::once(slug.clone())
            .chain(unique)
            .find(|name| !seen.contains(name));
        seen.extend(name);
    }
    seen
}

/// Checks the links of one file; `read` returns the text of a path of the tree, `None` when there is none.
pub(super) fn check(path: &str, markdown: &str, read: impl Fn(&str) -> Option<String>) -> Vec<Finding> {
    let finding = |line, message| Finding {
        path: path.to_owned(),
        line,
        message,
    };
    let mut findings = Vec::new();
    for link in links(markdown) {
        let target = if link.path.is_empty() {
            path.to_owned()
        } else {
            resolve(path, &link.path)
        };
        let Some(text) = read(&target) else {
            findings.push(finding(
                link.line,
                format!("links to `{target}`, which does not exist"),
            ));
            continue;
        };
        if let Some(anchor) = link.anchor
            && target.ends_with(".md")
            && !anchors(&text).contains(&anchor)
        {
            findings.push(finding(
                link.line,
                format!("links to `{target}#{anchor}`, a heading that does not exist"),
            ));
        }
    }
    findings
}

/// `link` seen from the file `from`, as a path from the root of the tree.
fn resolve(from: &str, link: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Numbered lines outside fenced code, inline code removed.
fn prose(markdown: &str) -> impl Iterator<Item = (usize, String)> {
    prose_with_code_spans(markdown).map(|(line, text)| {
        let outside: Vec<&str> = text.split('`').step_by(2).collect();
        // Joined by a mark so that text around a code span does not grow together into a link.
        (line, outside.join("`"))
    })
}

fn prose_with_code_spans(markdown: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    markdown.lines().enumerate().filter_map(move |(index, text)| {
        if text.trim_start().starts_with("```") {
            fenced = !fenced;
            return None;
        }
        (!fenced).then_some((index + 1, text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(path: &str) -> Option<String> {
        match path {
            "docs/a.md" => Some("# One thing\n## `x` & y\n## One thing\n".into()),
            "docs" | "LICENSE" => Some(String::new()),
            _ => None,
        }
    }

    fn check_text(path: &str, text: &str, expected: &[&str]) {
        let messages: Vec<String> = check(path, text, tree)
            .into_iter()
            .map(|f| format!("{}: {}", f.line, f.message))
            .collect();
        assert_eq!(messages, expected);
    }

    #[test]
    fn links_that_lead_somewhere_pass() {
        check_text(
            "README.md",
            "[a](docs/a.md#one-thing) [b](docs/a.md#x--y \"title\") [c](docs/) [d](https://example.org/x)\n[e](docs/a.md#one-thing-1)",
            &[],
        );
        check_text(
            "docs/b.md",
            "[`up`](../LICENSE) and `[code](nowhere.md)`\n```\n[x](nowhere.md)\n```\n",
            &[],
        );
    }

    #[test]
    fn broken_links_are_named() {
        check_text(
            "docs/b.md",
            "\n[a](c.md) [b](a.md#two)",
            &[
                "2: links to `docs/c.md`, which does not exist",
                "2: links to `docs/a.md#two`, a heading that does not exist",
            ],
        );
        check_text(
            "docs/a.md",
            "# Here\n[x](#there)",
            &["2: links to `docs/a.md#there`, a heading that does not exist"],
        );
    }
}
