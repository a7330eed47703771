//! The list of expected failures: `PATH MODE` a line, sorted, under the reason that they share.

use std::collections::BTreeSet;
use std::fmt;

use anyhow::{Result, ensure};

/// Where failures go that nobody has looked at.
const UNEXPLAINED: &str = "Not explained yet";

/// The list, in the order of its file.
pub(super) struct Expected {
    /// What stands above the first group.
    head: String,
    groups: Vec<Group>,
}

struct Group {
    reason: String,
    names: BTreeSet<String>,
}

impl Expected {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut head = String::new();
        let mut groups: Vec<Group> = Vec::new();
        let mut seen = BTreeSet::new();
        for (index, line) in text.lines().enumerate() {
            if let Some(reason) = line.strip_prefix("## ") {
                groups.push(Group {
                    reason: reason.into(),
                    names: BTreeSet::new(),
                });
            } else if let Some(group) = groups.last_mut() {
                if !line.is_empty() {
                    ensure!(seen.insert(line), "line {}: `{line}` is there twice", index + 1);
                    group.names.insert(line.into());
                }
            } else if !line.is_empty() {
                head += &format!("{line}\n");
            }
        }
        Ok(Self { head, groups })
    }

    /// The expected failures whose name contains `filter`.
    pub(super) fn names(&self, filter: &str) -> BTreeSet<String> {
        let names = self.groups.iter().flat_map(|group| &group.names);
        names.filter(|name| name.contains(filter)).cloned().collect()
    }

    pub(super) fn unexplained(&self) -> usize {
        let open = self.groups.iter().filter(|group| group.reason == UNEXPLAINED);
        open.map(|group| group.names.len()).sum()
    }

    /// Takes out what passes, and puts what fails where somebody has to give it a reason.
    pub(super) fn update(&mut self, failing: BTreeSet<String>, passing: &BTreeSet<String>) {
        for group in &mut self.groups {
            group.names.retain(|name| !passing.contains(name));
        }
        match self.groups.iter_mut().find(|group| group.reason == UNEXPLAINED) {
            Some(group) => group.names.extend(failing),
            None => self.groups.push(Group {
                reason: UNEXPLAINED.into(),
                names: failing,
            }),
        }
        self.groups.retain(|group| !group.names.is_empty());
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.head)?;
        for group in &self.groups {
            write!(f, "\n## {}\n", group.reason)?;
            for name in &group.names {
                writeln!(f, "{name}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# What fails.\n\n## The engine does not have it\na.js sloppy\nb.js strict\n\n## Too deep\nc.js sloppy\n";

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_list_is_written_as_it_was_read() {
        assert_eq!(Expected::parse(LIST).unwrap().to_string(), LIST);
    }

    #[test]
    fn an_update_takes_out_what_passes_and_sets_apart_what_fails() {
        let mut expected = Expected::parse(LIST).unwrap();
        expected.update(set(&["d.js strict"]), &set(&["c.js sloppy", "b.js strict"]));
        let written = "# What fails.\n\n## The engine does not have it\na.js sloppy\n\n## Not explained yet\nd.js strict\n";
        assert_eq!(expected.to_string(), written);
        assert_eq!(expected.unexplained(), 1);
        assert_eq!(expected.names("d.js"), set(&["d.js strict"]));
    }

    #[test]
    fn a_test_has_one_reason() {
        assert!(Expected::parse("## a\nx.js strict\n## b\nx.js strict\n").is_err());
    }
}
