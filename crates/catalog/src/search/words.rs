use std::collections::HashSet;

use rust_stemmers::{Algorithm, Stemmer};

use super::literal;

/// A word as it stands in the index.
pub(super) type Term = String;

/// Longest word kept; anything longer is a blob, a hash or an attack.
const MAX_WORD_CHARS: usize = 64;

/// Words so common in requests to tools that they tell no tool from another. Sorted.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "before",
    "being", "both", "but", "by", "can", "could", "do", "does", "e", "each", "etc", "for", "from", "g",
    "had", "has", "have", "help", "her", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just",
    "let", "like", "may", "me", "more", "most", "must", "my", "need", "needs", "no", "not", "of", "on",
    "only", "or", "other", "our", "out", "over", "please", "s", "same", "should", "so", "some", "such", "t",
    "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "through",
    "to", "tool", "tools", "under", "up", "us", "use", "used", "using", "via", "want", "was", "we", "were",
    "what", "when", "where", "which", "while", "who", "will", "with", "within", "would", "you", "your",
    "yours",
];

/// Turns words into index terms, the same way for tools and for questions.
pub(super) struct Words {
    stemmer: Stemmer,
}

/// A word of a question.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) term: Term,
    /// The word as it was written; `None` if it stands for a value.
    pub(super) written: Option<String>,
}

impl Words {
    pub(super) fn new() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
        }
    }

    /// The words of a question, each term once, stop words left out. Values are replaced by words for what they
    /// are, unless there is nothing else.
    pub(super) fn query(&self, text: &str, most: usize) -> Vec<Asked> {
        let (values, tokens): (Vec<_>, Vec<_>) = text
            .split_whitespace()
            .map(|token| (literal::stands_for(token), token))
            .partition(|(value, _)| value.is_some());
        let mut written: Vec<String> = tokens.iter().flat_map(|(_, token)| text_words(token)).collect();
        let mut meant = Vec::new();
        if written.is_empty() {
            written = text_words(text).collect();
        } else {
            let values = values.iter().filter_map(|(value, _)| value.as_deref());
            meant = values.flat_map(split_words).collect();
        }
        let mut seen = HashSet::new();
        let written = written.into_iter().map(|word| (self.stem(&word), Some(word)));
        let meant = meant.into_iter().map(|word| (self.stem(&word), None));
        written
            .chain(meant)
            .filter(|(term, _)| seen.insert(term.clone()))
            .take(most)
            .map(|(term, written)| Asked { term, written })
            .collect()
    }

    pub(super) fn stem(&self, word: &str) -> Term {
        if word.is_ascii() {
            self.stemmer.stem(word).into_owned()
        } else {
            word.to_owned()
        }
    }
}

/// The words of running text, stop words left out. In a name short words are part of it: see [`split_words`].
pub(super) fn text_words(text: &str) -> impl Iterator<Item = String> {
    split_words(text).into_iter().filter(|word| !is_stop_word(word))
}

fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Lower-case words of `text`: `createIssue` gives `createissue`, `create`, `issue`; unspaced scripts give pairs of
/// characters.
pub(crate) fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for chunk in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|chunk| !chunk.is_empty())
    {
        let mut run: Vec<char> = Vec::new();
        let mut unspaced: Vec<char> = Vec::new();
        for character in chunk.chars() {
            if is_unspaced(character) {
                push_word(&mut run, &mut words);
                unspaced.push(character);
            } else {
                push_pairs(&mut unspaced, &mut words);
                run.push(character);
            }
        }
        push_word(&mut run, &mut words);
        push_pairs(&mut unspaced, &mut words);
    }
    words
}

/// Scripts written without blanks between words.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF            // Thai, Lao
        | 0x1000..=0x109F          // Myanmar
        | 0x1780..=0x17FF          // Khmer
        | 0x3040..=0x30FF          // Kana
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF // Han
        | 0xAC00..=0xD7AF          // Hangul
        | 0x20000..=0x3FFFF) // Han, supplementary planes
}

fn push_pairs(characters: &mut Vec<char>, words: &mut Vec<String>) {
    if let [only] = characters.as_slice() {
        words.push(only.to_string());
    }
    words.extend(characters.windows(2).map(|pair| pair.iter().collect::<String>()));
    characters.clear();
}

/// Adds the whole run and, where case or digits divide it, its parts.
fn push_word(run: &mut Vec<char>, words: &mut Vec<String>) {
    if run.is_empty() || run.len() > MAX_WORD_CHARS {
        run.clear();
        return;
    }
    words.push(lower(run));
    let mut start = 0;
    let mut parts = Vec::new();
    for at in 1..run.len() {
        if divides(run, at) {
            parts.push(run.get(start..at).unwrap_or_default());
            start = at;
        }
    }
    if start > 0 {
        parts.push(run.get(start..).unwrap_or_default());
        // A single letter or digit cut out of a word says nothing; `mp3` stays whole.
        words.extend(parts.into_iter().filter(|part| part.len() > 1).map(lower));
    }
    run.clear();
}

fn lower(characters: &[char]) -> String {
    let mut lower = String::with_capacity(characters.len());
    for c in characters {
        if c.is_ascii() {
            lower.push(c.to_ascii_lowercase());
        } else {
            lower.extend(c.to_lowercase());
        }
    }
    lower
}

fn divides(run: &[char], at: usize) -> bool {
    let (Some(&before), Some(&here)) = (run.get(at.wrapping_sub(1)), run.get(at)) else {
        return false;
    };
    let next_is_lower = run.get(at + 1).is_some_and(|c| c.is_lowercase());
    before.is_numeric() != here.is_numeric()
        || (here.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && next_is_lower)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(split_words(text), expected, "{text:?}");
    }

    #[test]
    fn words_end_at_punctuation_case_and_digits() {
        check("create_issue", &["create", "issue"]);
        check("createIssue", &["createissue", "create", "issue"]);
        check("get.user-2", &["get", "user", "2"]);
        check("HTTPServer", &["httpserver", "http", "server"]);
        check("mp3", &["mp3", "mp"]);
        check("GitHub API v3.", &["github", "git", "hub", "api", "v3"]);
        check("", &[]);
    }

    #[test]
    fn unspaced_scripts_give_pairs_of_characters() {
        check("搜索关键词", &["搜索", "索关", "关键", "键词"]);
        check("用Bing搜索", &["用", "bing", "搜索"]);
    }

    fn asked(text: &str) -> Vec<(Term, Option<String>)> {
        let asked = Words::new().query(text, 8).into_iter();
        asked.map(|asked| (asked.term, asked.written)).collect()
    }

    fn written(term: &str, word: &str) -> (Term, Option<String>) {
        (term.into(), Some(word.into()))
    }

    #[test]
    fn a_question_has_each_term_once_and_no_stop_words() {
        assert_eq!(
            asked("List the issues, listing every issue"),
            [
                written("list", "list"),
                written("issu", "issues"),
                written("everi", "every")
            ]
        );
    }

    #[test]
    fn values_are_asked_for_as_what_they_are() {
        let file = ("file".to_owned(), None);
        assert_eq!(
            asked("save to /a/notes.pdf"),
            [written("save", "save"), file, ("pdf".into(), None)]
        );
        assert_eq!(
            asked("/repos/list"),
            [written("repo", "repos"), written("list", "list")]
        );
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }
}
