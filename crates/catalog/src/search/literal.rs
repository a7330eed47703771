//! Values in a question. `save it to /data/notes/cv.md` asks for a tool about files and Markdown, not for one about
//! notes: what a value is says more than what it is called.

/// Suffixes that people write in requests, with the words tools use for such files.
const KINDS: &[(&[&str], &str)] = &[
    (&["md", "markdown"], "markdown"),
    (&["txt", "log"], "text"),
    (&["xlsx", "xls"], "excel spreadsheet"),
    (&["csv", "tsv"], "csv"),
    (&["pptx", "ppt"], "presentation"),
    (&["docx", "doc"], "word document"),
    (&["pdf"], "pdf"),
    (&["png", "jpg", "jpeg", "gif", "webp", "svg", "bmp"], "image"),
    (&["mp3", "wav", "flac", "ogg"], "audio"),
    (&["mp4", "mov", "avi", "mkv"], "video"),
    (&["html", "htm"], "html"),
    (&["json"], "json"),
    (&["zip", "gz", "tar"], "archive"),
];

/// Longest suffix of a file name; what is longer ends a sentence or is a member of something.
const MAX_SUFFIX_CHARS: usize = 5;

/// What stands around a value in a sentence.
const AROUND: &str = "\"'`()[]{}<>,;:!?";

/// The words that stand for `token`, if it is a path, a file name or an address; `None` if it is a word.
///
/// `token` has no blanks in it.
pub(super) fn stands_for(token: &str) -> Option<String> {
    let token = token
        .trim_start_matches(|c| AROUND.contains(c))
        .trim_end_matches(|c| c == '.' || AROUND.contains(c));
    if !token.is_ascii() {
        return None;
    }
    if let Some((_, rest)) = token.split_once("://") {
        return Some(format!("url {}", site(rest)));
    }
    let suffix = token
        .rsplit(['/', '\\'])
        .next()
        .and_then(|name| name.rsplit_once('.'))
        .map(|(_, suffix)| suffix.to_ascii_lowercase())
        .filter(|suffix| !suffix.is_empty() && suffix.len() <= MAX_SUFFIX_CHARS);
    let kind = suffix.as_deref().and_then(kind_of);
    match (is_path(token, suffix.is_some()), suffix, kind) {
        (true, _, Some(kind)) => Some(format!("file {kind}")),
        (true, Some(_), None) => Some("file".to_owned()),
        (true, None, None) => Some("path".to_owned()),
        // `report.pdf` is a file; `v1.2.json` and `.json` may be anything.
        (false, _, Some(kind)) if !token.starts_with('.') && token.matches('.').count() == 1 => {
            Some(format!("file {kind}"))
        }
        _ => None,
    }
}

/// The host of an address without what all hosts have.
fn site(rest: &str) -> &str {
    let host = rest.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let host = host.strip_prefix("www.").unwrap_or(host);
    host.rsplit_once('.').map_or(host, |(name, _)| name)
}

fn is_path(token: &str, has_suffix: bool) -> bool {
    let below_root = |path: &str| path.contains('/') || has_suffix;
    let drive = token.as_bytes().get(1..3) == Some(b":\\");
    ["~/", "./", "../"].iter().any(|start| token.starts_with(start))
        || drive
        // `/deploy` is what some tools are called.
        || token.strip_prefix('/').is_some_and(below_root)
}

fn kind_of(suffix: &str) -> Option<&'static str> {
    KINDS
        .iter()
        .find(|(suffixes, _)| suffixes.contains(&suffix))
        .map(|(_, words)| *words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(token: &str, expected: Option<&str>) {
        assert_eq!(stands_for(token).as_deref(), expected, "{token:?}");
    }

    #[test]
    fn paths_and_file_names_stand_for_their_kind() {
        check("/data/notes/cv.md", Some("file markdown"));
        check("\"/data/sales.XLSX\".", Some("file excel spreadsheet"));
        check("~/music", Some("path"));
        check("../a/b", Some("path"));
        check("C:\\reports\\may.docx", Some("file word document"));
        check("/srv/app/main.rs", Some("file"));
        check("/etc/hosts", Some("path"));
        check("report.pdf,", Some("file pdf"));
    }

    #[test]
    fn an_address_stands_for_its_site() {
        check("https://www.example.com/watch?v=1", Some("url example"));
        check("http://localhost:8080/x", Some("url localhost"));
        check("(https://docs.example.org)", Some("url docs.example"));
    }

    #[test]
    fn words_and_names_stay_words() {
        for token in [
            "issue",
            "create/update",
            "/deploy",
            "node.js",
            "bitable.v1.record",
            ".json",
            "v1.2.json",
            "end.",
            "/",
            "",
            "保存到notes.md",
            "mcp:db:run_query",
        ] {
            check(token, None);
        }
    }
}
