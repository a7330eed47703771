use std::collections::{BTreeMap, HashMap};

use super::{
    field::{FIELDS, words_of},
    words::{Term, Words},
};
use crate::{spec::Owner, tool::Tool};

/// Dictionary words compared per query word when looking inside words, and for typing mistakes.
const MAX_SUBWORD_CANDIDATES: usize = 512;
const MAX_NEIGHBOUR_CANDIDATES: usize = 4_096;

/// Shortest query word that is looked for inside other words, and that is taken for a typing mistake.
const MIN_SUBWORD_CHARS: usize = 4;
const MIN_NEIGHBOUR_CHARS: usize = 5;

/// BM25's `k1`: how soon repeating a word stops helping.
const SATURATION: f32 = 1.2;

/// Flattens the inverse document frequency. A catalog is a small collection: that a word is in one tool only is often
/// chance, and at full weight it beats two words that fit.
const RARITY_POWER: f32 = 0.75;

#[derive(Debug)]
pub(super) struct Posting {
    pub(super) tool: u32,
    pub(super) weight: f32,
}

/// The inverted index of one catalog.
#[derive(Debug)]
pub(crate) struct Index {
    terms: HashMap<Term, usize>,
    /// Sorted.
    dictionary: Vec<Term>,
    postings: Vec<Vec<Posting>>,
    rarities: Vec<f32>,
    trigrams: HashMap<[char; 3], Vec<u32>>,
    exact: HashMap<String, Vec<usize>>,
    /// For every tool, the number of its owner. The core is no family: its tools have nothing in common.
    families: Vec<Option<u32>>,
    family_sizes: Vec<u32>,
}

impl Index {
    pub(crate) fn build(tools: &[Tool]) -> Self {
        let mut index = Self {
            terms: HashMap::new(),
            dictionary: Vec::new(),
            postings: Vec::new(),
            rarities: Vec::new(),
            trigrams: HashMap::new(),
            exact: HashMap::with_capacity(tools.len() * 2),
            families: Vec::with_capacity(tools.len()),
            family_sizes: Vec::new(),
        };
        for (number, (term, postings)) in collect(tools).into_iter().enumerate() {
            for gram in trigrams(&term) {
                let numbers = index.trigrams.entry(gram).or_default();
                if numbers.last() != Some(&(number as u32)) {
                    numbers.push(number as u32);
                }
            }
            index.rarities.push(rarity(tools.len(), postings.len()));
            index.terms.insert(term.clone(), number);
            index.dictionary.push(term);
            index.postings.push(postings);
        }
        let mut families: HashMap<&Owner, u32> = HashMap::new();
        for (position, tool) in tools.iter().enumerate() {
            let spec = tool.spec();
            for name in [tool.id().as_str(), &spec.name] {
                index.exact.entry(letters(name)).or_default().push(position);
            }
            let family = spec.owner.name().map(|_| {
                let next = families.len() as u32;
                *families.entry(&spec.owner).or_insert(next)
            });
            index.families.push(family);
            if let Some(family) = family {
                index.family_sizes.resize(families.len(), 0);
                if let Some(size) = index.family_sizes.get_mut(family as usize) {
                    *size += 1;
                }
            }
        }
        index
    }

    /// Number of tools.
    pub(super) fn tools(&self) -> usize {
        self.families.len()
    }

    /// The family of every tool, and how many tools each family has.
    pub(super) fn families(&self) -> (&[Option<u32>], &[u32]) {
        (&self.families, &self.family_sizes)
    }

    /// The number of a term that some tool has.
    pub(super) fn number(&self, term: &str) -> Option<usize> {
        self.terms.get(term).copied()
    }

    pub(super) fn postings(&self, number: usize) -> &[Posting] {
        self.postings.get(number).map(Vec::as_slice).unwrap_or_default()
    }

    /// How much a term tells, by how few tools have it.
    pub(super) fn rarity(&self, number: usize) -> f32 {
        self.rarities.get(number).copied().unwrap_or_default()
    }

    /// The tools whose name or id has the letters of `query`.
    pub(super) fn named(&self, query: &str) -> &[usize] {
        let asked = letters(query);
        // A name of punctuation alone has no letters to be asked by.
        let found = (!asked.is_empty()).then(|| self.exact.get(&asked)).flatten();
        found.map(Vec::as_slice).unwrap_or_default()
    }

    /// The words that contain this one, such as `spreadsheet` for `sheet`, and how much of them it is.
    pub(super) fn containing(&self, term: &str) -> Vec<(usize, f32)> {
        if term.chars().count() < MIN_SUBWORD_CHARS {
            return Vec::new();
        }
        // The words with the rarest of the three-letter pieces are few, and all that can match are among them.
        let lists =
            trigrams(term).map(|gram| self.trigrams.get(&gram).map(Vec::as_slice).unwrap_or_default());
        let rarest = lists.min_by_key(|list| list.len()).unwrap_or_default();
        let share = |number: &u32| {
            let candidate = self.dictionary.get(*number as usize)?;
            let inside = candidate != term && candidate.contains(term);
            inside.then(|| (*number as usize, term.len() as f32 / candidate.len() as f32))
        };
        rarest
            .iter()
            .take(MAX_SUBWORD_CANDIDATES)
            .filter_map(share)
            .collect()
    }

    /// The words one typing mistake away: a letter too many, too few or wrong, or two swapped, but not the first.
    pub(super) fn neighbours(&self, term: &str) -> Vec<usize> {
        let asked: Vec<char> = term.chars().collect();
        let Some(first) = asked.first().filter(|_| asked.len() >= MIN_NEIGHBOUR_CHARS) else {
            return Vec::new();
        };
        let start = self
            .dictionary
            .partition_point(|word| word.chars().next() < Some(*first));
        self.dictionary
            .iter()
            .enumerate()
            .skip(start)
            .take(MAX_NEIGHBOUR_CANDIDATES)
            .take_while(|(_, word)| word.starts_with(*first))
            .filter(|(_, word)| word.len().abs_diff(term.len()) <= 4 && is_one_mistake(&asked, word))
            .map(|(number, _)| number)
            .collect()
    }
}

/// Every term of the tools, sorted, with its postings in the order of the tools.
fn collect(tools: &[Tool]) -> Vec<(Term, Vec<Posting>)> {
    let mut numbers = Numbers::new();
    let fields: Vec<[Vec<u32>; 6]> = tools
        .iter()
        .map(|tool| words_of(tool).map(|words| words.into_iter().map(|word| numbers.of(word)).collect()))
        .collect();
    let numbers = numbers.by_term;
    let mut average = [0.0_f32; 6];
    for fields in &fields {
        for (sum, terms) in average.iter_mut().zip(fields) {
            *sum += terms.len() as f32;
        }
    }
    for sum in &mut average {
        *sum = (*sum / tools.len().max(1) as f32).max(1.0);
    }
    let mut postings: Vec<Vec<Posting>> = numbers.iter().map(|_| Vec::new()).collect();
    for (position, fields) in fields.into_iter().enumerate() {
        let mut weights: BTreeMap<u32, f32> = BTreeMap::new();
        for ((field, terms), average) in FIELDS.into_iter().zip(fields).zip(average) {
            let dilution = field.dilution();
            let share = field.weight() / (1.0 - dilution + dilution * terms.len() as f32 / average);
            for term in terms {
                *weights.entry(term).or_default() += share;
            }
        }
        for (term, weight) in weights {
            if let Some(postings) = postings.get_mut(term as usize) {
                postings.push(Posting {
                    tool: position as u32,
                    weight: weight * (SATURATION + 1.0) / (weight + SATURATION),
                });
            }
        }
    }
    let mut sorted: Vec<(Term, u32)> = numbers.into_iter().collect();
    sorted.sort_unstable();
    sorted
        .into_iter()
        .map(|(term, number)| {
            let mut postings = postings
                .get_mut(number as usize)
                .map(std::mem::take)
                .unwrap_or_default();
            postings.shrink_to_fit();
            (term, postings)
        })
        .collect()
}

/// Numbers for terms. Words repeat: most are stemmed once.
struct Numbers {
    words: Words,
    by_word: HashMap<String, u32>,
    by_term: HashMap<Term, u32>,
}

impl Numbers {
    fn new() -> Self {
        Self {
            words: Words::new(),
            by_word: HashMap::new(),
            by_term: HashMap::new(),
        }
    }

    /// The number of the term that `word` has.
    fn of(&mut self, word: String) -> u32 {
        if let Some(number) = self.by_word.get(&word) {
            return *number;
        }
        let next = self.by_term.len() as u32;
        let number = *self.by_term.entry(self.words.stem(&word)).or_insert(next);
        self.by_word.insert(word, number);
        number
    }
}

/// BM25's inverse document frequency, flattened.
fn rarity(tools: usize, having: usize) -> f32 {
    let having = having as f32;
    (1.0 + (tools as f32 - having + 0.5) / (having + 0.5))
        .ln()
        .powf(RARITY_POWER)
}

/// A name or a question without case, blanks and punctuation: `createIssue` and `create issue` are one.
fn letters(text: &str) -> String {
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// Every three neighbouring characters of a word.
fn trigrams(word: &str) -> impl Iterator<Item = [char; 3]> {
    let characters: Vec<char> = word.chars().collect();
    (2..characters.len()).filter_map(move |end| {
        Some([
            *characters.get(end - 2)?,
            *characters.get(end - 1)?,
            *characters.get(end)?,
        ])
    })
}

/// Whether one insertion, deletion, replacement or swap of neighbours makes `word` out of `asked`.
fn is_one_mistake(asked: &[char], word: &str) -> bool {
    let word: Vec<char> = word.chars().collect();
    let same = asked.iter().zip(&word).take_while(|(a, b)| a == b).count();
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
        let check = |asked: &str, word: &str| is_one_mistake(&asked.chars().collect::<Vec<_>>(), word);
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
}
