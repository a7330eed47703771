//! Turns a question into the best tools of an [`Index`].

use std::collections::HashSet;

use super::{
    index::Index,
    synonyms,
    words::{Asked, Words},
};

/// Characters and terms of a query that count; a longer one is a text, not a question.
const MAX_QUERY_CHARS: usize = 2_048;
const MAX_QUERY_TERMS: usize = 48;

/// Words of a query that are compared with the dictionary letter by letter.
const MAX_RESPELLED: usize = 8;

/// What a synonym and a part of a word count beside the word itself, and where no tool has the word at all.
const SYNONYM: f32 = 0.6;
const PART: f32 = 0.3;
const STANDING_IN: f32 = 0.8;

/// What a word counts that is one typing mistake away from the one that was asked for.
const RESPELLED: f32 = 0.4;

/// What further forms of one word add to the best of them: a tool that says `find`, `search` and `query` answers one
/// word of the question, not three.
const FURTHER_FORMS: f32 = 0.5;

/// What a tool gains from how well its family answers: among equals, the tool of the server that is about the
/// question's subject.
const FAMILY: f32 = 0.2;

/// Positions of the found tools, and the words nothing matched.
pub(crate) struct Hits {
    pub(crate) positions: Vec<usize>,
    pub(crate) unmatched: Vec<String>,
}

/// An indexed word that answers a word of the query, with its share in the score.
struct Form {
    number: usize,
    factor: f32,
}

impl Index {
    /// The best `limit` tools that `visible` lets through.
    pub(crate) fn search(&self, query: &str, limit: usize, visible: impl Fn(usize) -> bool) -> Hits {
        let query: String = query.chars().take(MAX_QUERY_CHARS).collect();
        let mut board = Board::new(self.tools());
        let mut unmatched = Vec::new();
        let mut respelled = 0;
        for Asked { term, written } in Words::new().query(&query, MAX_QUERY_TERMS) {
            if self.put(&self.forms(&term), &visible, &mut board) {
                continue;
            }
            if respelled < MAX_RESPELLED {
                respelled += 1;
                let neighbours = self.neighbours(&term).into_iter().map(|number| Form {
                    number,
                    factor: RESPELLED * self.rarity(number),
                });
                self.put(&neighbours.collect::<Vec<_>>(), &visible, &mut board);
            }
            unmatched.extend(written);
        }
        let mut scores = board.scores;
        self.lean_on_families(&mut scores);
        let exact = self.named(&query).iter().copied();
        Hits {
            positions: best(&scores, limit, &exact.filter(|tool| visible(*tool)).collect()),
            unmatched,
        }
    }

    /// Scores one word of the query; whether any visible tool has a form of it.
    fn put(&self, forms: &[Form], visible: impl Fn(usize) -> bool, board: &mut Board) -> bool {
        for form in forms {
            for posting in self.postings(form.number) {
                if visible(posting.tool as usize) {
                    board.add(posting.tool, form.factor * posting.weight);
                }
            }
        }
        board.close()
    }

    /// Every indexed word that answers a word of the query, and how much it counts.
    fn forms(&self, term: &str) -> Vec<Form> {
        let literal = self.number(term);
        let (synonym, part) = if literal.is_some() {
            (SYNONYM, PART)
        } else {
            (STANDING_IN, STANDING_IN)
        };
        let related: Vec<usize> = synonyms::of(term)
            .iter()
            .filter_map(|other| self.number(other))
            .collect();
        // Words for one thing are as common as the commonest of them; else the oddest word would win.
        let rarity = literal
            .iter()
            .chain(&related)
            .map(|number| self.rarity(*number))
            .fold(f32::INFINITY, f32::min);
        let mut forms: Vec<Form> = related
            .into_iter()
            .map(|number| Form {
                number,
                factor: synonym * rarity,
            })
            .collect();
        forms.extend(literal.map(|number| Form {
            number,
            factor: self.rarity(number),
        }));
        forms.extend(self.containing(term).into_iter().map(|(number, share)| Form {
            number,
            factor: part * share * self.rarity(number).min(rarity),
        }));
        forms
    }

    /// Adds to every found tool a part of what the rest of its family scored on average.
    fn lean_on_families(&self, scores: &mut [f32]) {
        let (families, sizes) = self.families();
        let mut sums = vec![0.0_f32; sizes.len()];
        for (score, family) in scores.iter().zip(families) {
            if let Some(sum) = family.and_then(|family| sums.get_mut(family as usize)) {
                *sum += score;
            }
        }
        for (score, family) in scores.iter_mut().zip(families) {
            let Some(family) = family.filter(|_| *score > 0.0).map(|family| family as usize) else {
                continue;
            };
            if let (Some(sum), Some(size)) = (sums.get(family), sizes.get(family)) {
                *score += FAMILY * (sum - *score) / *size as f32;
            }
        }
    }
}

/// Scores of all tools, one word of the query at a time.
struct Board {
    scores: Vec<f32>,
    /// The best form of the open word, and all of its forms together.
    word: Vec<(f32, f32)>,
    touched: Vec<u32>,
}

impl Board {
    fn new(tools: usize) -> Self {
        Self {
            scores: vec![0.0; tools],
            word: vec![(0.0, 0.0); tools],
            touched: Vec::new(),
        }
    }

    fn add(&mut self, tool: u32, score: f32) {
        if let Some((best, all)) = self.word.get_mut(tool as usize) {
            if *all == 0.0 {
                self.touched.push(tool);
            }
            *best = best.max(score);
            *all += score;
        }
    }

    /// Ends a word; whether any tool had a form of it.
    fn close(&mut self) -> bool {
        let found = !self.touched.is_empty();
        for tool in self.touched.drain(..) {
            let (word, score) = (
                self.word.get_mut(tool as usize),
                self.scores.get_mut(tool as usize),
            );
            if let (Some(word), Some(score)) = (word, score) {
                let (best, all) = std::mem::take(word);
                *score += best + FURTHER_FORMS * (all - best);
            }
        }
        found
    }
}

/// The exactly named first, then by score; ties in catalog order.
fn best(scores: &[f32], limit: usize, exact: &HashSet<usize>) -> Vec<usize> {
    let mut ranked: Vec<(bool, f32, usize)> = scores
        .iter()
        .enumerate()
        .map(|(position, score)| (exact.contains(&position), *score, position))
        .filter(|(exact, score, _)| *exact || *score > 0.0)
        .collect();
    let order = |a: &(bool, f32, usize), b: &(bool, f32, usize)| {
        b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2))
    };
    // Sorting all of a large catalog for eight hits would be most of the search.
    if limit > 0 && limit < ranked.len() {
        ranked.select_nth_unstable_by(limit - 1, order);
    }
    ranked.truncate(limit);
    ranked.sort_unstable_by(order);
    ranked.into_iter().map(|(.., position)| position).collect()
}
