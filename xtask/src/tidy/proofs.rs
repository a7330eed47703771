//! Tests that our documents name as proofs: each must exist, so that no line claims what nothing checks.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;

/// The documents whose lines are claims with proofs.
pub(super) const DOCUMENTS: [&str; 3] = ["docs/checklist.md", "docs/field-bugs.md", "docs/robustness.md"];

/// The functions of every crate, by the name of its folder.
#[derive(Debug, Default)]
pub(super) struct Functions(BTreeMap<String, BTreeSet<String>>);

impl Functions {
    /// Takes note of the functions that a source file defines.
    pub(super) fn read(&mut self, path: &str, text: &str) {
        let Some(folder) = crate_of(path) else {
            return;
        };
        let known = self.0.entry(folder.to_owned()).or_default();
        for line in text.lines() {
            let line = line.trim_start();
            let line = line.strip_prefix("pub ").unwrap_or(line);
            let line = line.strip_prefix("async ").unwrap_or(line);
            if let Some((name, _)) = line.strip_prefix("fn ").and_then(|rest| rest.split_once('(')) {
                known.insert(name.to_owned());
            }
        }
    }

    /// The proofs of a document that are not there.
    pub(super) fn missing(&self, path: &str, markdown: &str) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (number, line) in (1..).zip(markdown.lines()) {
            for (folder, test) in proofs(line) {
                let there = self.0.get(folder).is_some_and(|known| known.contains(test));
                if !there {
                    findings.push(Finding {
                        path: path.into(),
                        line: number,
                        message: format!("names the test `{folder}::{test}`, which does not exist"),
                    });
                }
            }
        }
        findings
    }
}

fn crate_of(path: &str) -> Option<&str> {
    let rest = path
        .strip_prefix("crates/")
        .or_else(|| path.strip_prefix("examples/"))
        .or_else(|| path.starts_with("xtask/").then_some(path))?;
    rest.ends_with(".rs").then(|| rest.split('/').next())?
}

/// `crate::test` in code spans; other paths in code have more segments or capitals.
fn proofs(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let spans = line.split('`').skip(1).step_by(2);
    spans
        .filter_map(|span| span.split_once("::"))
        .filter(|(folder, test)| {
            let folder_like = |c: char| c.is_ascii_lowercase() || c == '-';
            let test_like = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            !test.is_empty() && folder.chars().all(folder_like) && test.chars().all(test_like)
        })
}

#[cfg(test)]
mod tests {
    use super::Functions;

    #[test]
    fn a_test_that_is_named_and_missing_is_found() {
        let mut functions = Functions::default();
        functions.read(
            "crates/tools/tests/it/a.rs",
            "async fn one_holds() {}\n    fn two_holds() {}",
        );
        functions.read("crates/tools/README.md", "fn three_holds() {}");
        let document = "| a | `tools::one_holds`, `tools::two_holds` |\n| b | `tools::three_holds`, \
                        `codecell_tools::Scope`, `other::one_holds` |";
        let found: Vec<String> = functions
            .missing("docs/checklist.md", document)
            .into_iter()
            .map(|finding| format!("{}: {}", finding.line, finding.message))
            .collect();
        assert_eq!(
            found,
            [
                "2: names the test `tools::three_holds`, which does not exist",
                "2: names the test `other::one_holds`, which does not exist",
            ]
        );
    }
}
