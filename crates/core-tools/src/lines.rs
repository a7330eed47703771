//! Lines of a text, for messages about it.

/// Longest text that is looked through for a similar line, in lines.
const MAX_COMPARED: usize = 20_000;

/// Longest line shown in a message, in characters.
const MAX_SHOWN: usize = 120;

/// How alike two lines must be to be worth showing, of 1.
const ALIKE: f64 = 0.4;

/// The number of the line that `offset` lies in, from 1.
pub(crate) fn number_at(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().get(..offset).unwrap_or_default();
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

/// At most `max` characters, with a mark where something is missing.
pub(crate) fn clip(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// Words that point at the line most like the first line of `wanted`, to follow a message; empty if none is.
pub(crate) fn nearest(text: &str, wanted: &str) -> String {
    let Some(wanted) = wanted.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return String::new();
    };
    let wanted_pairs = pairs(wanted);
    let mut best: Option<(f64, usize, &str)> = None;
    for (index, line) in text.lines().enumerate().take(MAX_COMPARED) {
        let score = likeness(wanted, &wanted_pairs, line.trim());
        if score >= ALIKE && best.is_none_or(|(most, _, _)| score > most) {
            best = Some((score, index + 1, line));
        }
    }
    match best {
        Some((_, number, line)) => format!("; the nearest is line {number}: `{}`", clip(line, MAX_SHOWN)),
        None => String::new(),
    }
}

fn pairs(line: &str) -> Vec<(char, char)> {
    let mut pairs: Vec<_> = line.chars().zip(line.chars().skip(1)).take(MAX_SHOWN).collect();
    pairs.sort_unstable();
    pairs
}

/// The share of character pairs that two lines have in common.
fn likeness(wanted: &str, wanted_pairs: &[(char, char)], line: &str) -> f64 {
    if wanted == line {
        return 1.0;
    }
    let line_pairs = pairs(line);
    let total = wanted_pairs.len() + line_pairs.len();
    if total == 0 {
        return 0.0;
    }
    let (mut left, mut right) = (wanted_pairs.iter().peekable(), line_pairs.iter().peekable());
    let mut common = 0_u32;
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        match a.cmp(b) {
            std::cmp::Ordering::Less => _ = left.next(),
            std::cmp::Ordering::Greater => _ = right.next(),
            std::cmp::Ordering::Equal => {
                common += 1;
                _ = left.next();
                _ = right.next();
            }
        }
    }
    // Both numbers are bounded by `MAX_SHOWN`.
    2.0 * f64::from(common) / f64::from(u32::try_from(total).unwrap_or(u32::MAX))
}
