//! Folders that tell whose machine it is.

#[derive(Debug, Clone, Default)]
pub(super) struct Paths {
    /// Longest first, so that the innermost folder counts.
    folders: Vec<(String, String)>,
}

impl Paths {
    pub(super) fn add(&mut self, folder: &str, shown: &str) {
        let folder = folder.trim_end_matches(['/', '\\']);
        if folder.is_empty() {
            return;
        }
        self.folders.push((folder.to_owned(), shown.to_owned()));
        if folder.contains('\\') {
            // As it stands in JSON text.
            self.folders
                .push((folder.replace('\\', "\\\\"), shown.to_owned()));
        }
        self.folders
            .sort_by_key(|(folder, _)| std::cmp::Reverse(folder.len()));
    }

    pub(super) fn replaced(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (folder, shown) in &self.folders {
            if text.contains(folder.as_str()) {
                text = without(&text, folder, shown);
            }
        }
        text
    }
}

fn without(text: &str, folder: &str, shown: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(folder) {
        let (before, from) = rest.split_at(at);
        let after = from.get(folder.len()..).unwrap_or_default();
        out.push_str(before);
        out.push_str(if begins(&out) && ends(after) {
            shown
        } else {
            folder
        });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Whether a path can begin behind `before`: `/srv/home/ann` is not in `/home/ann`.
fn begins(before: &str) -> bool {
    let mut last = before.chars().rev();
    match last.next() {
        Some(ch) if is_name(ch) => last.next() == Some('\\'),
        Some('.') => false,
        _ => true,
    }
}

/// Whether the folder's name is over: `/home/anna` is not in `/home/ann`.
fn ends(after: &str) -> bool {
    let mut next = after.chars();
    match next.next() {
        Some('.') => !next.next().is_some_and(is_name),
        Some(ch) => !is_name(ch),
        None => true,
    }
}

fn is_name(ch: char) -> bool {
    ch.is_alphanumeric() || matches!(ch, '_' | '-')
}
