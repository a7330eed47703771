use std::collections::HashMap;

use super::{
    alike::Grams,
    field::{FIELDS, Reader},
    index::{Group, Index, Posting, letters},
    synonyms,
    texts::Texts,
    words::{Term, Words, is_stop_word},
};
use crate::tool::Tool;

/// BM25's `k1`: how soon repeating a word stops helping.
const SATURATION: f32 = 1.2;

/// Flattens the inverse document frequency. A catalog is a small collection: that a word is in one tool only is often
/// chance, and at full weight it beats two words that fit.
const RARITY_POWER: f32 = 0.75;

impl Index {
    /// Reads the tools, of which those of one owner stand side by side.
    pub(crate) fn build(tools: &[Tool]) -> Self {
        let mut terms = Terms::default();
        let documents = Documents::read(tools, &mut terms);
        let (dictionary, places) = terms.sorted();
        let mut ends = vec![0; dictionary.len()];
        for (having, place) in documents.having.iter().zip(&places) {
            if let Some(end) = ends.get_mut(*place) {
                *end = *having;
            }
        }
        let rarities = ends.iter().map(|having| rarity(tools.len(), *having)).collect();
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        let (names, named) = name_index(tools);
        Self {
            tools: tools.len(),
            grams: Grams::of(&dictionary),
            synonyms: synonyms::terms().map(|term| dictionary.position(term)).collect(),
            dictionary,
            postings: documents.postings(&ends, &places),
            ends,
            rarities,
            names,
            named,
            groups: groups(tools),
            ..Self::default()
        }
    }
}

/// The terms of all tools, in the order they stand in.
#[derive(Default)]
struct Documents {
    terms: Vec<u32>,
    /// How many of them each field of each tool has.
    lengths: Vec<[u32; FIELDS.len()]>,
    /// How many tools have each term.
    having: Vec<usize>,
}

impl Documents {
    fn read(tools: &[Tool], numbers: &mut Terms) -> Self {
        let mut documents = Self {
            lengths: Vec::with_capacity(tools.len()),
            ..Self::default()
        };
        let mut fields: [Vec<u32>; FIELDS.len()] = Default::default();
        let mut last_with: Vec<usize> = Vec::new();
        let mut reader = Reader::default();
        for (position, tool) in tools.iter().enumerate() {
            fields.iter_mut().for_each(Vec::clear);
            reader.read(tool, &mut |field, word| {
                let known = numbers.of(word);
                if !(known.is_stop_word && field.is_running_text())
                    && let Some(terms) = fields.get_mut(field as usize)
                {
                    terms.push(known.term);
                }
            });
            documents.having.resize(numbers.by_term.len(), 0);
            last_with.resize(numbers.by_term.len(), usize::MAX);
            documents
                .lengths
                .push(fields.each_ref().map(|terms| terms.len() as u32));
            for term in fields.iter().flatten() {
                documents.terms.push(*term);
                let (last, having) = (
                    last_with.get_mut(*term as usize),
                    documents.having.get_mut(*term as usize),
                );
                if let (Some(last), Some(having)) = (last, having)
                    && *last != position
                {
                    *last = position;
                    *having += 1;
                }
            }
        }
        documents
    }

    /// The mean length of each field.
    fn averages(&self) -> [f32; FIELDS.len()] {
        let mut averages = [0.0_f32; FIELDS.len()];
        for lengths in &self.lengths {
            for (sum, length) in averages.iter_mut().zip(lengths) {
                *sum += *length as f32;
            }
        }
        averages.map(|sum| (sum / self.lengths.len().max(1) as f32).max(1.0))
    }

    /// The postings of every term, which end where `ends` says; `places` tells the place of each term there.
    fn postings(&self, ends: &[usize], places: &[usize]) -> Vec<Posting> {
        let averages = self.averages();
        let mut postings = vec![Posting::default(); ends.last().copied().unwrap_or(0)];
        // Where the next posting of each term goes.
        let mut next: Vec<usize> = places
            .iter()
            .map(|place| place.checked_sub(1).and_then(|before| ends.get(before)))
            .map(|start| start.copied().unwrap_or(0))
            .collect();
        // What each term weighs in the tool at hand, and the terms for which that is not nothing.
        let mut weights = vec![0.0_f32; places.len()];
        let mut touched = Vec::new();
        let mut terms = self.terms.iter();
        for (tool, lengths) in self.lengths.iter().enumerate() {
            for ((field, length), average) in FIELDS.into_iter().zip(lengths).zip(averages) {
                let dilution = field.dilution();
                let share = field.weight() / (1.0 - dilution + dilution * *length as f32 / average);
                for term in terms.by_ref().take(*length as usize) {
                    if let Some(weight) = weights.get_mut(*term as usize) {
                        if *weight == 0.0 {
                            touched.push(*term as usize);
                        }
                        *weight += share;
                    }
                }
            }
            for term in touched.drain(..) {
                let (Some(weight), Some(next)) = (weights.get_mut(term), next.get_mut(term)) else {
                    continue;
                };
                let weight = std::mem::take(weight);
                if let Some(posting) = postings.get_mut(*next) {
                    *posting = Posting {
                        tool: tool as u32,
                        weight: saturated(weight),
                    };
                }
                *next += 1;
            }
        }
        postings
    }
}

/// Numbers for terms. Words repeat: most are stemmed once.
#[derive(Default)]
struct Terms {
    words: Words,
    by_word: HashMap<String, Known>,
    by_term: HashMap<Term, u32>,
}

#[derive(Clone, Copy)]
struct Known {
    term: u32,
    is_stop_word: bool,
}

impl Terms {
    fn of(&mut self, word: &str) -> Known {
        if let Some(known) = self.by_word.get(word) {
            return *known;
        }
        let next = self.by_term.len() as u32;
        let known = Known {
            term: *self.by_term.entry(self.words.stem(word)).or_insert(next),
            is_stop_word: is_stop_word(word),
        };
        self.by_word.insert(word.to_owned(), known);
        known
    }

    /// The terms in order, and the place of each number among them.
    fn sorted(self) -> (Texts, Vec<usize>) {
        let mut sorted: Vec<(Term, u32)> = self.by_term.into_iter().collect();
        sorted.sort_unstable();
        let mut places = vec![0; sorted.len()];
        for (place, (_, number)) in sorted.iter().enumerate() {
            if let Some(known) = places.get_mut(*number as usize) {
                *known = place;
            }
        }
        (Texts::new(sorted.iter().map(|(term, _)| term.as_str())), places)
    }
}

/// The letters of all names and ids, and the tools they belong to.
fn name_index(tools: &[Tool]) -> (Texts, Vec<u32>) {
    let mut names: Vec<(String, u32)> = Vec::with_capacity(tools.len() * 2);
    for (position, tool) in tools.iter().enumerate() {
        for name in [tool.id().as_str(), &tool.spec().name] {
            names.push((letters(name), position as u32));
        }
    }
    names.sort_unstable();
    names.dedup();
    let texts = Texts::new(names.iter().map(|(name, _)| name.as_str()));
    (texts, names.into_iter().map(|(_, position)| position).collect())
}

/// The tools of each owner.
fn groups(tools: &[Tool]) -> Vec<Group> {
    let mut start = 0;
    tools
        .chunk_by(|a, b| a.spec().owner == b.spec().owner)
        .map(|group| {
            let tools = start..start + group.len();
            start = tools.end;
            let is_family = group
                .first()
                .is_some_and(|tool| tool.spec().owner.name().is_some());
            Group { tools, is_family }
        })
        .collect()
}

/// What a term counts in a tool: repeating it helps less and less.
pub(super) fn saturated(weight: f32) -> f32 {
    weight * (SATURATION + 1.0) / (weight + SATURATION)
}

/// BM25's inverse document frequency, flattened.
pub(super) fn rarity(tools: usize, having: usize) -> f32 {
    let having = having as f32;
    (1.0 + (tools as f32 - having + 0.5) / (having + 0.5))
        .ln()
        .powf(RARITY_POWER)
}
