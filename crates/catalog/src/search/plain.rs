//! The ranking without an index and without a shortcut, as what the search must equal to the last bit.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{
    board::{FAMILY, FURTHER_FORMS},
    build::{rarity, saturated},
    field::{FIELDS, Reader},
    index::letters,
    score::{MAX_QUERY_TERMS, MAX_RESPELLED, PART, RESPELLED, STANDING_IN, SYNONYM},
    synonyms,
    words::{Asked, Term, Words, is_stop_word},
};
use crate::{catalog::Catalog, lookup::Reach, spec::Owner, tool::Tool};

/// Tools with what each of their terms weighs.
struct Plain<'a> {
    tools: Vec<(&'a Tool, HashMap<Term, f32>)>,
    /// How many tools have each term.
    having: BTreeMap<Term, usize>,
}

impl<'a> Plain<'a> {
    fn new(catalog: &'a Catalog) -> Self {
        let documents: Vec<(&Tool, [Vec<Term>; 6])> =
            catalog.tools().map(|tool| (tool, terms_of(tool))).collect();
        let mut averages = [0.0_f32; 6];
        for (_, fields) in &documents {
            for (sum, terms) in averages.iter_mut().zip(fields) {
                *sum += terms.len() as f32;
            }
        }
        let averages = averages.map(|sum| (sum / documents.len() as f32).max(1.0));
        let mut having: BTreeMap<Term, usize> = BTreeMap::new();
        let mut tools = Vec::new();
        for (tool, fields) in documents {
            let mut weights: HashMap<Term, f32> = HashMap::new();
            for ((field, terms), average) in FIELDS.into_iter().zip(fields).zip(averages) {
                let dilution = field.dilution();
                let share = field.weight() / (1.0 - dilution + dilution * terms.len() as f32 / average);
                for term in terms {
                    *weights.entry(term).or_default() += share;
                }
            }
            for term in weights.keys() {
                *having.entry(term.clone()).or_default() += 1;
            }
            let weights = weights
                .into_iter()
                .map(|(term, weight)| (term, saturated(weight)));
            tools.push((tool, weights.collect()));
        }
        Self { tools, having }
    }

    fn rarity(&self, term: &str) -> f32 {
        rarity(self.tools.len(), self.having[term])
    }

    fn search(&self, query: &str, limit: usize, reach: Reach) -> (Vec<String>, Vec<String>) {
        let mut scores = vec![0.0_f32; self.tools.len()];
        let mut unmatched = Vec::new();
        let mut respelled = 0;
        for Asked { term, written } in Words::default().query(query, MAX_QUERY_TERMS) {
            if self.add(&self.forms(&term), reach, &mut scores) {
                continue;
            }
            if respelled < MAX_RESPELLED {
                respelled += 1;
                let neighbours = self.having.keys().filter(|word| is_one_mistake(&term, word));
                let neighbours: Vec<(Term, f32)> = neighbours
                    .map(|word| (word.clone(), RESPELLED * self.rarity(word)))
                    .collect();
                self.add(&neighbours, reach, &mut scores);
            }
            unmatched.extend(written);
        }
        let mut families: HashMap<&Owner, (f32, f32)> = HashMap::new();
        for ((tool, _), score) in self.tools.iter().zip(&scores) {
            let family = families.entry(&tool.spec().owner).or_default();
            family.0 += score;
            family.1 += 1.0;
        }
        let asked = letters(query);
        let mut ranked: Vec<(bool, f32, &Tool)> = Vec::new();
        for ((tool, _), score) in self.tools.iter().zip(scores) {
            let (sum, size) = families[&tool.spec().owner];
            let gain = if tool.spec().owner == Owner::Core || score == 0.0 {
                0.0
            } else {
                FAMILY * (sum - score) / size
            };
            let names = [tool.id().as_str(), &tool.spec().name];
            let is_exact = !asked.is_empty() && names.into_iter().any(|name| letters(name) == asked);
            if reach.sees(tool.entry().source) && (is_exact || score > 0.0) {
                ranked.push((is_exact, score + gain, tool));
            }
        }
        ranked.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)));
        let ids = ranked.iter().take(limit).map(|(.., tool)| tool.id().to_string());
        (ids.collect(), unmatched)
    }

    /// Scores one word by its forms; whether any visible tool has one.
    fn add(&self, forms: &[(Term, f32)], reach: Reach, scores: &mut [f32]) -> bool {
        let mut found = false;
        for ((tool, weights), score) in self.tools.iter().zip(scores) {
            if !reach.sees(tool.entry().source) {
                continue;
            }
            let (mut best, mut all) = (0.0_f32, 0.0_f32);
            for (term, factor) in forms {
                if let Some(weight) = weights.get(term) {
                    found = true;
                    best = best.max(factor * weight);
                    all += factor * weight;
                }
            }
            *score += best + FURTHER_FORMS * (all - best);
        }
        found
    }

    fn forms(&self, term: &str) -> Vec<(Term, f32)> {
        let literal = self.having.contains_key(term);
        let (synonym, part) = if literal {
            (SYNONYM, PART)
        } else {
            (STANDING_IN, STANDING_IN)
        };
        let all: Vec<&str> = synonyms::terms().collect();
        let others = synonyms::of(term).iter().map(|other| all[usize::from(*other)]);
        let related: Vec<&str> = others.filter(|other| self.having.contains_key(*other)).collect();
        let known = related.iter().copied().chain(literal.then_some(term));
        let rarity = known.map(|term| self.rarity(term)).fold(f32::INFINITY, f32::min);
        let mut forms: Vec<(Term, f32)> = Vec::new();
        forms.extend(
            related
                .iter()
                .map(|other| ((*other).to_owned(), synonym * rarity)),
        );
        forms.extend(literal.then(|| (term.to_owned(), self.rarity(term))));
        if term.chars().count() >= 4 {
            let longer = self
                .having
                .keys()
                .filter(|word| *word != term && word.contains(term));
            forms.extend(longer.map(|word| {
                let share = term.len() as f32 / word.len() as f32;
                (word.clone(), part * share * self.rarity(word).min(rarity))
            }));
        }
        forms
    }
}

fn terms_of(tool: &Tool) -> [Vec<Term>; 6] {
    let words = Words::default();
    let mut fields: [Vec<Term>; 6] = Default::default();
    Reader::default().read(tool, &mut |field, word| {
        if !(field.is_running_text() && is_stop_word(word)) {
            fields[field as usize].push(words.stem(word));
        }
    });
    fields
}

/// Whether the words are long enough, begin alike and differ by one letter.
fn is_one_mistake(asked: &str, word: &str) -> bool {
    let (asked, word): (Vec<char>, Vec<char>) = (asked.chars().collect(), word.chars().collect());
    if asked.len() < 5 || asked.first() != word.first() {
        return false;
    }
    let without = |word: &[char], at: usize| [&word[..at], &word[at + 1..]].concat();
    let swapped = |word: &[char], at: usize| {
        let mut word = word.to_vec();
        word.swap(at, at + 1);
        word
    };
    if asked.len() == word.len() {
        let wrong = asked.iter().zip(&word).filter(|(a, b)| a != b).count();
        wrong == 1 || wrong == 2 && (1..word.len() - 1).any(|at| swapped(&asked, at) == word)
    } else if asked.len() == word.len() + 1 {
        (0..asked.len()).any(|at| without(&asked, at) == word)
    } else {
        asked.len() + 1 == word.len() && (0..word.len()).any(|at| without(&word, at) == asked)
    }
}

mod tests {
    use serde_json::json;

    use super::*;
    use crate::spec::ToolSpec;

    const VOCABULARY: [&str; 40] = [
        "create",
        "make",
        "issue",
        "ticket",
        "tickets",
        "search",
        "find",
        "sheet",
        "sheets",
        "spreadsheet",
        "calendar",
        "calculator",
        "calculate",
        "browse",
        "browser",
        "weather",
        "the",
        "of",
        "mp3",
        "file",
        "files",
        "document",
        "image",
        "图片",
        "搜索关键词",
        "файл",
        "café",
        "list",
        "listing",
        "table",
        "timetable",
        "message",
        "mail",
        "website",
        "web",
        "stock",
        "getUser",
        "user2",
        "id",
        "update",
    ];

    /// xorshift: the same numbers on every machine.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, end: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) as usize % end
        }

        fn words(&mut self, most: usize) -> Vec<&'static str> {
            (0..self.below(most + 1))
                .map(|_| VOCABULARY[self.below(VOCABULARY.len())])
                .collect()
        }

        /// A few owners have most of the tools, as it is in life.
        fn owner(&mut self) -> Owner {
            let name = ["browser", "office", "find2"][self.below(3)].to_owned();
            match self.below(8) {
                0 => Owner::Core,
                1 => Owner::BundledPlugin(name),
                2 => Owner::ExternalPlugin(name),
                3 => Owner::Client(name),
                _ => Owner::Mcp(name),
            }
        }

        fn tool(&mut self) -> ToolSpec {
            let name = format!("{}_{}", VOCABULARY[self.below(40)], self.words(2).join("_"));
            let mut parameters = serde_json::Map::new();
            for name in self.words(3) {
                let property = json!({ "description": self.words(4).join(" "), "enum": self.words(2) });
                parameters.insert(name.to_owned(), property);
            }
            let description = self.words(10).join(" ");
            let mut spec = ToolSpec::new(
                self.owner(),
                name,
                description,
                json!({ "properties": parameters }),
            );
            spec.label = (self.below(3) == 0).then(|| self.words(3).join(" "));
            spec
        }

        fn query(&mut self, catalog: &Catalog) -> String {
            let mut query: Vec<char> = match self.below(6) {
                0 => {
                    let tool = self.below(catalog.len());
                    let tool = catalog.tools().nth(tool).expect("below the count");
                    let names = [tool.id().as_str(), &tool.spec().name];
                    names[self.below(2)].chars().collect()
                }
                _ => self.words(9).join(" ").chars().collect(),
            };
            for _ in 0..self.below(4).min(query.len()) {
                let at = self.below(query.len());
                match self.below(3) {
                    0 => query[at] = 'e',
                    1 => query.insert(at, 'e'),
                    _ => drop(query.remove(at)),
                }
                if query.is_empty() {
                    break;
                }
            }
            query.into_iter().collect()
        }
    }

    #[test]
    fn the_search_finds_what_scoring_and_sorting_every_tool_finds() {
        let mut dice = Dice(0x2545_F491_4F6C_DD1D);
        let (mut found, mut named_dead) = (HashSet::new(), 0);
        for _ in 0..30 {
            let count = 1 + dice.below(120);
            let catalog = Catalog::build((0..count).map(|_| dice.tool()).collect());
            let plain = Plain::new(&catalog);
            for _ in 0..30 {
                let query = dice.query(&catalog);
                let limit = [0, 1, 3, 8, 50, 1_000][dice.below(6)];
                let reach = [Reach::All, Reach::Guest, Reach::Mcp][dice.below(3)];
                let report = catalog.search_report(&query, limit, reach);
                let ids: Vec<String> = report.tools.iter().map(|tool| tool.id().to_string()).collect();
                found.insert(ids.len());
                named_dead += report.unmatched.len();
                assert_eq!(
                    (ids, report.unmatched),
                    plain.search(&query, limit, reach),
                    "{query:?} {limit} {reach:?}"
                );
            }
        }
        assert!(
            found.len() > 20 && named_dead > 50,
            "the questions are varied: {found:?}, {named_dead}"
        );
    }
}
