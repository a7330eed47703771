//! Turns a question into the best tools of an [`Index`].

use super::{
    board::Form,
    index::{Index, Visible},
    words::{Asked, Words},
};

/// Characters and terms of a query that count; a longer one is a text, not a question.
const MAX_QUERY_CHARS: usize = 2_048;
pub(super) const MAX_QUERY_TERMS: usize = 48;

/// Words of a query that are compared with the dictionary letter by letter.
pub(super) const MAX_RESPELLED: usize = 8;

/// What a synonym and a part of a word count beside the word itself, and where no tool has the word at all.
pub(super) const SYNONYM: f32 = 0.6;
pub(super) const PART: f32 = 0.3;
pub(super) const STANDING_IN: f32 = 0.8;

/// What a word counts that is one typing mistake away from the one that was asked for.
pub(super) const RESPELLED: f32 = 0.4;

/// Positions of the found tools, and the words nothing matched.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hits {
    pub(crate) positions: Vec<usize>,
    pub(crate) unmatched: Vec<String>,
}

impl Index {
    /// The best `limit` tools among the visible ones.
    pub(crate) fn search(&self, query: &str, limit: usize, visible: &Visible) -> Hits {
        let end = query.char_indices().nth(MAX_QUERY_CHARS);
        let query = end.and_then(|(end, _)| query.get(..end)).unwrap_or(query);
        let mut board = self.board();
        let mut unmatched = Vec::new();
        let mut respelled = 0;
        let mut forms = Vec::new();
        for Asked { term, written } in Words::default().query(query, MAX_QUERY_TERMS) {
            forms.clear();
            self.each_form(&term, |number, factor| {
                self.put(number, factor, visible, &mut forms)
            });
            if forms.is_empty() {
                if respelled < MAX_RESPELLED {
                    respelled += 1;
                    for number in self.neighbours(&term) {
                        self.put(number, RESPELLED * self.rarity(number), visible, &mut forms);
                    }
                }
                unmatched.extend(written);
            }
            board.add(&forms);
        }
        let exact = self.named(query).iter().map(|tool| *tool as usize);
        let exact: Vec<usize> = exact
            .filter(|tool| visible.iter().any(|range| range.contains(tool)))
            .collect();
        let positions = board.best(limit, &self.groups, &exact);
        self.put_back(board);
        Hits { positions, unmatched }
    }

    /// Adds the visible tools that have this term to the forms of a word.
    fn put<'a>(&'a self, number: usize, factor: f32, visible: &Visible, forms: &mut Vec<Form<'a>>) {
        let postings = self.postings(number);
        for range in visible {
            let before = |position: usize| {
                if position >= self.tools {
                    postings.len()
                } else {
                    postings.partition_point(|posting| (posting.tool as usize) < position)
                }
            };
            let start = if range.start == 0 { 0 } else { before(range.start) };
            let postings = postings.get(start..before(range.end)).unwrap_or_default();
            if !postings.is_empty() {
                forms.push(Form { factor, postings });
            }
        }
    }

    /// Gives every indexed term that answers a word of the query, and how much it counts.
    fn each_form(&self, term: &str, mut give: impl FnMut(usize, f32)) {
        let literal = self.number(term);
        let (synonym, part) = if literal.is_some() {
            (SYNONYM, PART)
        } else {
            (STANDING_IN, STANDING_IN)
        };
        // Words for one thing are as common as the commonest of them; else the oddest word would win.
        let rarity = literal
            .into_iter()
            .chain(self.related(term))
            .map(|number| self.rarity(number))
            .fold(f32::INFINITY, f32::min);
        for number in self.related(term) {
            give(number, synonym * rarity);
        }
        if let Some(number) = literal {
            give(number, self.rarity(number));
        }
        for (number, share) in self.containing(term) {
            give(number, part * share * self.rarity(number).min(rarity));
        }
    }
}
