//! Which words of the dictionary look like another: those it is a part of, and those one typing mistake away.

use super::texts::Texts;

/// Dictionary words compared per query word when looking inside words, and for typing mistakes.
const MAX_SUBWORD_CANDIDATES: usize = 512;
const MAX_NEIGHBOUR_CANDIDATES: usize = 4_096;

/// Shortest query word that is looked for inside other words, and that is taken for a typing mistake.
const MIN_SUBWORD_CHARS: usize = 4;
const MIN_NEIGHBOUR_CHARS: usize = 5;

/// Three neighbouring characters of a word, 21 bits each.
type Gram = u64;

/// Which words have which three characters in a row.
#[derive(Debug, Default)]
pub(super) struct Grams {
    /// Ascending.
    known: Vec<Gram>,
    /// Where the words of each gram end in `words`; those of the next one start there.
    ends: Vec<u32>,
    /// Numbers of words, ascending for each gram.
    words: Vec<u32>,
}

impl Grams {
    pub(super) fn of(dictionary: &Texts) -> Self {
        let mut pairs: Vec<(Gram, u32)> = Vec::with_capacity(dictionary.len() * 6);
        for number in 0..dictionary.len() {
            pairs.extend(grams(dictionary.get(number)).map(|gram| (gram, number as u32)));
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut all = Self {
            words: Vec::with_capacity(pairs.len()),
            ..Self::default()
        };
        for (gram, word) in pairs {
            if all.known.last() != Some(&gram) {
                all.known.push(gram);
                all.ends.push(0);
            }
            all.words.push(word);
            if let Some(end) = all.ends.last_mut() {
                *end = all.words.len() as u32;
            }
        }
        all.known.shrink_to_fit();
        all.ends.shrink_to_fit();
        all
    }

    fn words(&self, gram: Gram) -> &[u32] {
        let Ok(number) = self.known.binary_search(&gram) else {
            return &[];
        };
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before));
        let (start, end) = (start.copied().unwrap_or(0), self.ends.get(number).copied());
        self.words
            .get(start as usize..end.unwrap_or(start) as usize)
            .unwrap_or_default()
    }

    /// The words that contain this one, such as `spreadsheet` for `sheet`, and how much of them it is.
    pub(super) fn containing<'a>(
        &'a self,
        dictionary: &'a Texts,
        term: &'a str,
    ) -> impl Iterator<Item = (usize, f32)> + 'a {
        let long_enough = term.chars().nth(MIN_SUBWORD_CHARS - 1).is_some();
        // The words with the rarest of the three-letter pieces are few, and all that can match are among them.
        let rarest = grams(term)
            .filter(|_| long_enough)
            .map(|gram| self.words(gram))
            .min_by_key(|words| words.len());
        let candidates = rarest.unwrap_or_default().iter().take(MAX_SUBWORD_CANDIDATES);
        candidates.filter_map(move |number| {
            let number = *number as usize;
            let candidate = dictionary.get(number);
            is_inside(term, candidate).then(|| (number, term.len() as f32 / candidate.len() as f32))
        })
    }
}

/// The words one typing mistake away: a letter too many, too few or wrong, or two swapped, but not the first.
pub(super) fn neighbours(dictionary: &Texts, term: &str) -> Vec<usize> {
    let asked: Vec<char> = term.chars().collect();
    let Some(first) = asked.first().filter(|_| asked.len() >= MIN_NEIGHBOUR_CHARS) else {
        return Vec::new();
    };
    let start = dictionary.partition_point(|word| word.chars().next() < Some(*first));
    let end = dictionary.len().min(start + MAX_NEIGHBOUR_CANDIDATES);
    let is_near = |word: &str| {
        // Most words are not of the right length, and of the others most are plain ASCII, as the asked one is.
        if word.len().abs_diff(term.len()) > 4 {
            false
        } else if term.is_ascii() && word.is_ascii() {
            is_one_mistake(term.as_bytes(), word.as_bytes())
        } else {
            is_one_mistake(&asked, &word.chars().collect::<Vec<_>>())
        }
    };
    (start..end)
        .map(|number| (number, dictionary.get(number)))
        .take_while(|(_, word)| word.starts_with(*first))
        .filter(|(_, word)| is_near(word))
        .map(|(number, _)| number)
        .collect()
}

/// Every three neighbouring characters of a word.
fn grams(word: &str) -> impl Iterator<Item = Gram> {
    let mut window: Gram = 0;
    word.chars().enumerate().filter_map(move |(at, character)| {
        window = ((window << 21) | Gram::from(u32::from(character))) & 0x7FFF_FFFF_FFFF_FFFF;
        (at >= 2).then_some(window)
    })
}

/// Whether `word` is longer than `part` and has it in it. Words are too short for a clever search to pay.
fn is_inside(part: &str, word: &str) -> bool {
    let (part, word) = (part.as_bytes(), word.as_bytes());
    word.len() > part.len()
        && word
            .windows(part.len().max(1))
            .any(|piece| piece.first() == part.first() && piece == part)
}

/// Whether one insertion, deletion, replacement or swap of neighbours makes `word` out of `asked`.
fn is_one_mistake<C: PartialEq>(asked: &[C], word: &[C]) -> bool {
    if asked.len().abs_diff(word.len()) > 1 {
        return false;
    }
    let same = asked.iter().zip(word).take_while(|(a, b)| a == b).count();
    let (asked, word) = (
        asked.get(same..).unwrap_or_default(),
        word.get(same..).unwrap_or_default(),
    );
    match (asked, word) {
        ([], []) => false,
        ([a, b, rest @ ..], [c, d, other @ ..]) if a == d && b == c && rest == other => true,
        ([_, rest @ ..], [_, other @ ..]) if rest == other => true,
        ([_, rest @ ..], all) if rest == all => true,
        (all, [_, rest @ ..]) => all == rest,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mistake_is_one() {
        let check = |asked: &str, word: &str| {
            let by_characters = is_one_mistake(
                &asked.chars().collect::<Vec<_>>(),
                &word.chars().collect::<Vec<_>>(),
            );
            assert_eq!(
                by_characters,
                is_one_mistake(asked.as_bytes(), word.as_bytes()),
                "{asked} {word}"
            );
            by_characters
        };
        for (asked, word) in [
            ("cacul", "calcul"),
            ("browwser", "browser"),
            ("broswer", "browser"),
            ("brawser", "browser"),
            ("browse", "browser"),
            ("browsers", "browser"),
        ] {
            assert!(check(asked, word), "{asked} {word}");
        }
        for (asked, word) in [
            ("browser", "browser"),
            ("brwsr", "browser"),
            ("resworb", "browser"),
            ("a", "abc"),
        ] {
            assert!(!check(asked, word), "{asked} {word}");
        }
    }

    #[test]
    fn a_word_inside_another_is_shorter() {
        for (part, word, inside) in [
            ("sheet", "spreadsheet", true),
            ("sheet", "sheets", true),
            ("sheet", "sheet", false),
            ("sheet", "shee", false),
            ("sheet", "shesheep", false),
            ("索关键", "搜索关键", true),
        ] {
            assert_eq!(is_inside(part, word), inside, "{part} {word}");
        }
    }
}
