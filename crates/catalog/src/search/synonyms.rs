//! Everyday words for what tools call differently.

/// Words of one row stand for each other. General vocabulary of software and offices, kept small on purpose: each
/// row must be true of any catalog.
const ROWS: &[&[&str]] = &[
    &["ticket", "issue", "bug", "task"],
    &["email", "mail", "message"],
    &["folder", "directory", "dir"],
    &["file", "document", "doc"],
    &["delete", "remove", "erase", "drop"],
    &["create", "make", "add", "new"],
    &["edit", "update", "modify", "change"],
    &["show", "list", "display", "view"],
    &["find", "search", "query", "lookup"],
    &["get", "fetch", "retrieve", "obtain"],
    &["send", "post", "publish"],
    &["picture", "image", "photo"],
    &["website", "webpage", "page", "site", "url"],
    &["meeting", "event", "appointment", "calendar"],
    &["repo", "repository", "project"],
    &["chart", "graph", "plot", "diagram"],
    &["spreadsheet", "excel", "sheet", "workbook"],
    &["presentation", "slide", "powerpoint", "ppt"],
    &["table", "database", "sql"],
    &["person", "people", "user", "member", "contact"],
    &["run", "execute", "start", "launch"],
    &["save", "store", "write"],
    &["read", "open", "load"],
    &["price", "cost", "quote"],
    &["calculate", "compute", "math"],
    &["weather", "forecast"],
    &["convert", "transform", "export"],
    &["directions", "route", "navigation"],
];

/// The other words of every row `word` is in.
pub(super) fn of(word: &str) -> impl Iterator<Item = &'static str> {
    let asked = word.to_owned();
    ROWS.iter()
        .filter(move |row| row.contains(&word))
        .flat_map(|row| row.iter().copied())
        .filter(move |other| *other != asked)
        .collect::<Vec<_>>()
        .into_iter()
}
