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

impl Default for Words {
    fn default() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
        }
    }
}

impl Words {
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
        let written = written.into_iter().map(|word| (self.stem(&word), Some(word)));
        let meant = meant.into_iter().map(|word| (self.stem(&word), None));
        let mut asked: Vec<Asked> = Vec::new();
        for (term, written) in written.chain(meant) {
            if asked.len() == most {
                break;
            }
            if asked.iter().all(|earlier| earlier.term != term) {
                asked.push(Asked { term, written });
            }
        }
        asked
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

/// Whether the word tells nothing where it stands in running text.
pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Lower-case words of `text`: `createIssue` gives `createissue`, `create`, `issue`; unspaced scripts give pairs of
/// characters.
pub(crate) fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    Splitter::default().split(text, &mut |word| words.push(word.to_owned()));
    words
}

/// Cuts texts into words, with memory that it keeps from one text to the next.
#[derive(Default)]
pub(super) struct Splitter {
    run: Vec<char>,
    unspaced: Vec<char>,
    word: String,
}

impl Splitter {
    /// Gives every word that [`split_words`] tells of.
    pub(super) fn split(&mut self, text: &str, give: &mut impl FnMut(&str)) {
        for chunk in text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|chunk| !chunk.is_empty())
        {
            for character in chunk.chars() {
                if is_unspaced(character) {
                    self.end_word(give);
                    self.unspaced.push(character);
                } else {
                    self.end_pairs(give);
                    self.run.push(character);
                }
            }
            self.end_word(give);
            self.end_pairs(give);
        }
    }

    fn end_pairs(&mut self, give: &mut impl FnMut(&str)) {
        if self.unspaced.is_empty() {
            return;
        }
        let pairs = if self.unspaced.len() == 1 { 1 } else { 2 };
        for pair in self.unspaced.windows(pairs) {
            self.word.clear();
            self.word.extend(pair);
            give(&self.word);
        }
        self.unspaced.clear();
    }

    /// Gives the whole run and, where case or digits divide it, its parts.
    fn end_word(&mut self, give: &mut impl FnMut(&str)) {
        let (run, word) = (self.run.as_slice(), &mut self.word);
        if let Some((first, rest)) = run.split_first()
            && run.len() <= MAX_WORD_CHARS
        {
            give(lower(run, word));
            // Nothing divides a word that is small letters after the first one, as most are.
            let is_plain = first.is_ascii_alphabetic() && rest.iter().all(char::is_ascii_lowercase);
            let mut start = if is_plain { run.len() } else { 0 };
            for end in start + 1..=run.len() {
                let ends = if end == run.len() {
                    start > 0
                } else {
                    divides(run, end)
                };
                if !ends {
                    continue;
                }
                let part = run.get(start..end).unwrap_or_default();
                // A single letter or digit cut out of a word says nothing; `mp3` stays whole.
                if part.len() > 1 {
                    give(lower(part, word));
                }
                start = end;
            }
        }
        self.run.clear();
    }
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

/// The characters in lower case, written to `word`.
fn lower<'a>(characters: &[char], word: &'a mut String) -> &'a str {
    word.clear();
    for c in characters {
        if c.is_ascii() {
            word.push(c.to_ascii_lowercase());
        } else {
            word.extend(c.to_lowercase());
        }
    }
    word
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
        let asked = Words::default().query(text, 8).into_iter();
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
