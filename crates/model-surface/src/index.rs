use std::fmt::Write as _;

use codecell_catalog::{Catalog, Entry, Source};

/// Most of the whole index, in UTF-16 code units, the unit in which providers and hosts count characters.
pub const MAX_INDEX_UNITS: usize = 8_000;

const HEADER: &str =
    "Index: exact id, input, and the value where it is known (`?` = see `tools.describe`).\n";

const COMPLETE: &str = "These are all built-in tools.";

/// Lists the core and plugin tools a program can call without looking them up first.
///
/// The same tools make the same text. Tools whose value is known come first, since they can be used blindly; then by id.
/// A line that no longer fits is left out, a later shorter one may still get in, and the last line says how many are
/// missing. `None` if there is nothing to list.
#[must_use]
pub fn quick_index(catalog: &Catalog) -> Option<String> {
    let mut entries: Vec<&Entry> = catalog
        .guest_entries()
        .filter(|entry| entry.source == Source::OpenClaw)
        .collect();
    if entries.is_empty() {
        return None;
    }
    entries.sort_by_key(|entry| (entry.output.is_none(), &entry.id));
    let lines: Vec<String> = entries.into_iter().map(line).collect();

    let whole = units(HEADER) + lines.iter().map(|line| units(line)).sum::<usize>() + units(COMPLETE);
    if whole <= MAX_INDEX_UNITS {
        return Some(format!("{HEADER}{}{COMPLETE}", lines.concat()));
    }
    // Room is kept for the longest last line there can be.
    let mut left = MAX_INDEX_UNITS - units(HEADER) - units(&partial(lines.len()));
    let mut text = HEADER.to_owned();
    let mut omitted = 0;
    for line in &lines {
        match left.checked_sub(units(line)) {
            Some(rest) => {
                left = rest;
                text.push_str(line);
            }
            None => omitted += 1,
        }
    }
    let _ = write!(text, "{}", partial(omitted));
    Some(text)
}

fn line(entry: &Entry) -> String {
    let id = serde_json::Value::from(entry.id.as_str());
    format!(
        "- {id} {} -> {}\n",
        entry.input,
        entry.output.as_deref().unwrap_or("?")
    )
}

fn partial(omitted: usize) -> String {
    format!(
        "PARTIAL: {omitted} more built-in tools are not listed here; `tools.search` and `ALL_TOOLS` have them."
    )
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}
