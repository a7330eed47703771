use std::{ops::Range, sync::Mutex};

use super::{
    alike::{self, Grams},
    board::Board,
    synonyms,
    texts::Texts,
};

/// Boards kept for the next searches; more searches than this at one moment make their own.
const MAX_SPARE_BOARDS: usize = 4;

/// That one tool has one term.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Posting {
    pub(super) tool: u32,
    pub(super) weight: f32,
}

/// The tools of one owner, which stand side by side.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) tools: Range<usize>,
    /// The core is no family: its tools have nothing in common.
    pub(super) is_family: bool,
}

/// Tools that may be found, as positions: ranges in ascending order that do not overlap.
pub(crate) type Visible = [Range<usize>; 2];

/// The inverted index of one catalog.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(super) tools: usize,
    /// The terms. Their numbers are their places here.
    pub(super) dictionary: Texts,
    pub(super) grams: Grams,
    /// The number of each term of [`synonyms::terms`], where a tool has it.
    pub(super) synonyms: Vec<Option<usize>>,
    /// The postings of all terms, in the order of the terms and then of the tools.
    pub(super) postings: Vec<Posting>,
    /// Where the postings of each term end; those of the next one start there.
    pub(super) ends: Vec<usize>,
    /// How much each term tells, by how few tools have it.
    pub(super) rarities: Vec<f32>,
    /// The [`letters`] of all names and ids, with the tool that each belongs to.
    pub(super) names: Texts,
    pub(super) named: Vec<u32>,
    /// The tools of each owner, ascending; every tool is in one.
    pub(super) groups: Vec<Group>,
    /// Boards of earlier searches: a fresh one costs a large catalog more than scoring.
    pub(super) spare: Mutex<Vec<Board>>,
}

impl Index {
    /// The number of a term that some tool has.
    pub(super) fn number(&self, term: &str) -> Option<usize> {
        self.dictionary.position(term)
    }

    /// The numbers of the terms that stand for `term`.
    pub(super) fn related(&self, term: &str) -> impl Iterator<Item = usize> {
        synonyms::of(term)
            .iter()
            .filter_map(|other| self.synonyms.get(usize::from(*other)).copied().flatten())
    }

    pub(super) fn postings(&self, number: usize) -> &[Posting] {
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before));
        let (start, end) = (start.copied().unwrap_or(0), self.ends.get(number).copied());
        end.and_then(|end| self.postings.get(start..end))
            .unwrap_or_default()
    }

    /// How much a term tells, by how few tools have it.
    pub(super) fn rarity(&self, number: usize) -> f32 {
        self.rarities.get(number).copied().unwrap_or_default()
    }

    /// The tools whose name or id has the letters of `query`, ascending.
    pub(super) fn named(&self, query: &str) -> &[u32] {
        let asked = letters(query);
        // A name of punctuation alone has no letters to be asked by.
        if asked.is_empty() {
            return &[];
        }
        self.named.get(self.names.equal_to(&asked)).unwrap_or_default()
    }

    /// The terms that contain this one, and how much of them it is.
    pub(super) fn containing<'a>(&'a self, term: &'a str) -> impl Iterator<Item = (usize, f32)> + 'a {
        self.grams.containing(&self.dictionary, term)
    }

    /// The terms one typing mistake away.
    pub(super) fn neighbours(&self, term: &str) -> Vec<usize> {
        alike::neighbours(&self.dictionary, term)
    }

    /// A board without scores; [`put_back`](Self::put_back) it when done.
    pub(super) fn board(&self) -> Board {
        let spare = self.spare.lock().ok().and_then(|mut spare| spare.pop());
        spare.unwrap_or_else(|| Board::new(self.tools))
    }

    pub(super) fn put_back(&self, mut board: Board) {
        board.clear();
        if let Ok(mut spare) = self.spare.lock()
            && spare.len() < MAX_SPARE_BOARDS
        {
            spare.push(board);
        }
    }
}

/// A name or a question without case, blanks and punctuation: `createIssue` and `create issue` are one.
pub(super) fn letters(text: &str) -> String {
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}
