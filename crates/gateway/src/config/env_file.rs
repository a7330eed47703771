//! `.env` files: one `NAME=value` a line, comments, optional `export` and quotes.

/// Reads the assignments; lines that are none are returned by number.
pub(super) fn parse(text: &str) -> (Vec<(String, String)>, Vec<usize>) {
    let mut pairs = Vec::new();
    let mut bad = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        match line.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => {
                pairs.push((name.trim().to_owned(), unquote(value.trim())));
            }
            _ => bad.push(number + 1),
        }
    }
    (pairs, bad)
}

fn unquote(value: &str) -> String {
    if let Some(inner) = value.strip_prefix('\'').and_then(|v| v.strip_suffix('\'')) {
        return inner.to_owned();
    }
    if let Some(inner) = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')) {
        let mut out = String::with_capacity(inner.len());
        let mut letters = inner.chars();
        while let Some(letter) = letters.next() {
            match (letter, letter == '\\') {
                (_, true) => match letters.next() {
                    Some('n') => out.push('\n'),
                    Some('t') => out.push('\t'),
                    Some(other) => out.push(other),
                    None => out.push('\\'),
                },
                (letter, false) => out.push(letter),
            }
        }
        return out;
    }
    // Unquoted values end at a comment that is set off by a space.
    value.split(" #").next().unwrap_or(value).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_comments_and_quotes_are_read() {
        let (pairs, bad) = parse("# c\nA=1\nexport B = \"x\\ny\" \n\nC='a # b'\nD=v # note\nnonsense\n=x\n");
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(pairs, [("A", "1"), ("B", "x\ny"), ("C", "a # b"), ("D", "v")]);
        assert_eq!(bad, [7, 8]);
    }
}
