use std::fmt::Write as _;

use codecell_catalog::{Catalog, Entry, Source, schema::quote};

/// Most of the whole index, in UTF-16 code units, the unit in which providers and hosts count characters.
pub const MAX_INDEX_UNITS: usize = 8_000;

/// Longest line. Hints take up to 1,100 characters of it; a longer line is an id that would crowd out dozens of tools.
const MAX_LINE_UNITS: usize = 1_600;

const HEADER: &str =
    "Index: exact id, input, and the value where it is known (`?` = see `tools.describe`).\n";

const COMPLETE: &str = "These are all built-in tools.";

/// Lists the core and plugin tools a program can call without looking them up first.
///
/// The same tools make the same text. Tools whose value is known come first, since they can be used blindly; then by id.
/// A line that is too long or no longer fits is left out, a later shorter one may still get in, and the last line says
/// how many are missing. Nothing a tool calls itself or its properties can begin a line or look like another one: ids
/// and names that are no identifiers are quoted, with everything invisible escaped. `None` if there is nothing to list.
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
    let none_too_long = lines.iter().all(|line| units(line) <= MAX_LINE_UNITS);
    if none_too_long && whole <= MAX_INDEX_UNITS {
        return Some(format!("{HEADER}{}{COMPLETE}", lines.concat()));
    }
    // Room is kept for the longest last line there can be.
    let mut left = MAX_INDEX_UNITS - units(HEADER) - units(&partial(lines.len()));
    let mut text = HEADER.to_owned();
    let mut omitted = 0;
    for line in &lines {
        let length = units(line);
        match left.checked_sub(length) {
            Some(rest) if length <= MAX_LINE_UNITS => {
                left = rest;
                text.push_str(line);
            }
            _ => omitted += 1,
        }
    }
    let _ = write!(text, "{}", partial(omitted));
    Some(text)
}

fn line(entry: &Entry) -> String {
    let line = format!(
        "- {} {} -> {}\n",
        quote(entry.id.as_str()),
        entry.input,
        entry.output.as_deref().unwrap_or("?")
    );
    // Only inside quotes can there be one, where the escape means the same; it would end code formatting.
    line.replace('`', "\\u0060")
}

fn partial(omitted: usize) -> String {
    format!(
        "PARTIAL: {omitted} more built-in tools are not listed here; `tools.search` and `ALL_TOOLS` have them."
    )
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}
