use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use super::{
    synonyms,
    words::{Term, Words},
};
use crate::tool::Tool;

/// Characters of a description that are indexed; what comes later is examples.
const MAX_INDEXED_CHARS: usize = 4_096;

/// Parameter names indexed per tool, and how deep they are looked for.
const MAX_PARAMETERS: usize = 128;
const MAX_PARAMETER_DEPTH: usize = 4;

/// Characters and terms of a query that count; a longer one is a text, not a question.
const MAX_QUERY_CHARS: usize = 2_048;
const MAX_QUERY_TERMS: usize = 48;

/// Dictionary words compared per query word when looking inside words.
const MAX_SUBWORD_CANDIDATES: usize = 512;

/// Shortest query word that is looked for inside other words.
const MIN_SUBWORD_CHARS: usize = 4;

/// Where a word stands, with its weight and how much a long field dilutes it.
#[derive(Clone, Copy)]
enum Field {
    Name,
    Label,
    Description,
    Parameter,
    Owner,
}

const FIELDS: [Field; 5] = [
    Field::Name,
    Field::Label,
    Field::Description,
    Field::Parameter,
    Field::Owner,
];

impl Field {
    /// How much a word counts here. A tool is named after what it does, descriptions ramble.
    fn weight(self) -> f32 {
        match self {
            Self::Name => 4.0,
            Self::Label | Self::Owner => 1.5,
            Self::Description => 1.0,
            Self::Parameter => 0.6,
        }
    }

    /// BM25's `b`: how much a field's length above the average takes away.
    fn dilution(self) -> f32 {
        match self {
            Self::Name | Self::Label => 0.5,
            Self::Description => 0.6,
            Self::Parameter => 0.75,
            // Servers name themselves as they please.
            Self::Owner => 0.0,
        }
    }
}

/// BM25's `k1`: how soon repeating a word stops helping.
const SATURATION: f32 = 1.2;

/// What a synonym and a part of a word count beside the word itself, and where no tool has the word at all.
const SYNONYM: f32 = 0.4;
const PART: f32 = 0.25;
const STANDING_IN: f32 = 0.8;

#[derive(Debug)]
struct Posting {
    tool: u32,
    weight: f32,
}

/// The inverted index of one catalog.
#[derive(Debug)]
pub(crate) struct Index {
    tools: usize,
    terms: HashMap<Term, usize>,
    dictionary: Vec<Term>,
    postings: Vec<Vec<Posting>>,
    trigrams: HashMap<[char; 3], Vec<u32>>,
    exact: HashMap<String, Vec<usize>>,
}

/// Positions of the found tools, and the words nothing matched.
pub(crate) struct Hits {
    pub(crate) positions: Vec<usize>,
    pub(crate) unmatched: Vec<String>,
}

impl Index {
    pub(crate) fn build(tools: &[Tool]) -> Self {
        let words = Words::new();
        let fields: Vec<[Vec<Term>; 5]> = tools.iter().map(|tool| terms_of(tool, &words)).collect();
        let mut average = [0.0_f32; 5];
        for fields in &fields {
            for (sum, terms) in average.iter_mut().zip(fields) {
                *sum += terms.len() as f32;
            }
        }
        for sum in &mut average {
            *sum = (*sum / tools.len().max(1) as f32).max(1.0);
        }

        let mut collected: BTreeMap<Term, Vec<Posting>> = BTreeMap::new();
        for (position, fields) in fields.into_iter().enumerate() {
            let mut weights: BTreeMap<Term, f32> = BTreeMap::new();
            for ((field, terms), average) in FIELDS.into_iter().zip(fields).zip(average) {
                let dilution = field.dilution();
                let share = field.weight() / (1.0 - dilution + dilution * terms.len() as f32 / average);
                for term in terms {
                    *weights.entry(term).or_default() += share;
                }
            }
            for (term, weight) in weights {
                let weight = weight * (SATURATION + 1.0) / (weight + SATURATION);
                collected.entry(term).or_default().push(Posting {
                    tool: position as u32,
                    weight,
                });
            }
        }

        let mut index = Self {
            tools: tools.len(),
            terms: HashMap::with_capacity(collected.len()),
            dictionary: Vec::with_capacity(collected.len()),
            postings: Vec::with_capacity(collected.len()),
            trigrams: HashMap::new(),
            exact: HashMap::with_capacity(tools.len() * 2),
        };
        for (number, (term, mut postings)) in collected.into_iter().enumerate() {
            postings.shrink_to_fit();
            for gram in trigrams(&term) {
                let numbers = index.trigrams.entry(gram).or_default();
                if numbers.last() != Some(&(number as u32)) {
                    numbers.push(number as u32);
                }
            }
            index.terms.insert(term.clone(), number);
            index.dictionary.push(term);
            index.postings.push(postings);
        }
        for (position, tool) in tools.iter().enumerate() {
            index
                .exact
                .entry(letters(tool.id().as_str()))
                .or_default()
                .push(position);
            index
                .exact
                .entry(letters(&tool.spec().name))
                .or_default()
                .push(position);
        }
        index
    }

    /// The best `limit` tools that `visible` lets through.
    pub(crate) fn search(&self, query: &str, limit: usize, visible: impl Fn(usize) -> bool) -> Hits {
        let query: String = query.chars().take(MAX_QUERY_CHARS).collect();
        let words = Words::new();
        let mut scores = vec![0.0_f32; self.tools];
        let mut unmatched = Vec::new();
        for (word, term) in words.query(&query, MAX_QUERY_TERMS) {
            let mut found = false;
            for form in self.forms(&word, &term, &words) {
                for posting in self.postings.get(form.number).into_iter().flatten() {
                    if visible(posting.tool as usize) {
                        found = true;
                        if let Some(sum) = scores.get_mut(posting.tool as usize) {
                            *sum += form.factor * posting.weight;
                        }
                    }
                }
            }
            if !found {
                unmatched.push(word);
            }
        }
        // A name of punctuation alone has no letters to be asked by.
        let asked = Some(letters(&query)).filter(|asked| !asked.is_empty());
        let exact = asked
            .and_then(|asked| self.exact.get(&asked))
            .into_iter()
            .flatten()
            .copied();
        Hits {
            positions: best(&scores, limit, &exact.filter(|tool| visible(*tool)).collect()),
            unmatched,
        }
    }

    /// Every indexed word that answers a word of the query, and how much it counts.
    fn forms(&self, word: &str, term: &str, words: &Words) -> Vec<Form> {
        let literal = self.terms.get(term).copied();
        let (synonym, part) = if literal.is_some() {
            (SYNONYM, PART)
        } else {
            (STANDING_IN, STANDING_IN)
        };
        let related: Vec<usize> = synonyms::of(word)
            .filter_map(|other| self.terms.get(&words.stem(other)).copied())
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

    /// The words that contain this one, such as `spreadsheet` for `sheet`, and how much of them it is.
    fn containing(&self, term: &str) -> Vec<(usize, f32)> {
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

    /// BM25's inverse document frequency.
    fn rarity(&self, number: usize) -> f32 {
        let having = self.postings.get(number).map_or(0, Vec::len) as f32;
        (1.0 + (self.tools as f32 - having + 0.5) / (having + 0.5)).ln()
    }
}

/// An indexed word with its share in the score.
struct Form {
    number: usize,
    factor: f32,
}

/// A name or a question without case, blanks and punctuation: `createIssue` and `create issue` are one.
fn letters(text: &str) -> String {
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
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

fn terms_of(tool: &Tool, words: &Words) -> [Vec<Term>; 5] {
    let spec = tool.spec();
    let description: String = spec.description.chars().take(MAX_INDEXED_CHARS).collect();
    let mut names = Vec::new();
    parameter_names(&spec.parameters, 0, &mut names);
    [
        words.name_terms(&spec.name),
        spec.label
            .as_deref()
            .map(|label| words.terms(label))
            .unwrap_or_default(),
        words.terms(&description),
        names
            .into_iter()
            .flat_map(|name| words.name_terms(name))
            .collect(),
        spec.owner
            .name()
            .map(|owner| words.name_terms(owner))
            .unwrap_or_default(),
    ]
}

fn parameter_names<'a>(schema: &'a Value, depth: usize, names: &mut Vec<&'a str>) {
    if depth >= MAX_PARAMETER_DEPTH {
        return;
    }
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        for (name, property) in properties {
            if names.len() >= MAX_PARAMETERS {
                return;
            }
            names.push(name);
            parameter_names(property, depth + 1, names);
        }
    }
    if let Some(items) = schema.get("items") {
        parameter_names(items, depth + 1, names);
    }
}
