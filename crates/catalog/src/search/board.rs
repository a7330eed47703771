use std::{cmp::Ordering, collections::BinaryHeap, iter};

use super::index::{Group, Posting};

/// What further forms of one word add to the best of them: a tool that says `find`, `search` and `query` answers one
/// word of the question, not three.
pub(super) const FURTHER_FORMS: f32 = 0.5;

/// What a tool gains from how well its family answers: among equals, the tool of the server that is about the
/// question's subject.
pub(super) const FAMILY: f32 = 0.2;

/// The postings of one form of a word, and its share in the score.
pub(super) struct Form<'a> {
    pub(super) factor: f32,
    pub(super) postings: &'a [Posting],
}

/// Scores of all tools, one word of the query at a time.
#[derive(Debug)]
pub(super) struct Board {
    scores: Vec<f32>,
    /// The best form of the open word, and all of its forms together.
    word: Vec<(f32, f32)>,
    touched: Vec<u32>,
}

impl Board {
    pub(super) fn new(tools: usize) -> Self {
        Self {
            scores: vec![0.0; tools],
            word: vec![(0.0, 0.0); tools],
            touched: Vec::new(),
        }
    }

    /// Forgets all scores.
    pub(super) fn clear(&mut self) {
        self.scores.fill(0.0);
    }

    /// Scores one word of the query by its forms.
    pub(super) fn add(&mut self, forms: &[Form]) {
        if let [form] = forms {
            for posting in form.postings {
                if let Some(score) = self.scores.get_mut(posting.tool as usize) {
                    *score += form.factor * posting.weight;
                }
            }
            return;
        }
        for form in forms {
            for posting in form.postings {
                if let Some((best, all)) = self.word.get_mut(posting.tool as usize) {
                    let score = form.factor * posting.weight;
                    if *all == 0.0 {
                        self.touched.push(posting.tool);
                    }
                    *best = best.max(score);
                    *all += score;
                }
            }
        }
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
    }

    /// The best `limit` tools: those of `exact` (ascending) first, then all with a score; ties in catalog order.
    ///
    /// Every found tool gains a part of what the rest of its family scored on average.
    pub(super) fn best(&self, limit: usize, groups: &[Group], exact: &[usize]) -> Vec<usize> {
        let mut best = Best::of(limit);
        let mut exact = exact.iter().copied().peekable();
        for group in groups {
            let (start, end) = (group.tools.start, group.tools.end);
            let scores = self.scores.get(start..end).unwrap_or_default();
            let leaned = Leaned::new(scores, group.is_family);
            let named = iter::from_fn(|| exact.next_if(|tool| *tool < end));
            let named: Vec<usize> = named.collect();
            for tool in &named {
                let score = scores.get(tool - start).copied().unwrap_or_default();
                best.put(Ranked {
                    is_exact: true,
                    score: leaned.score(score),
                    tool: *tool,
                });
            }
            // No tool of most groups can be among the best; that is known without a look at each.
            if leaned.most <= best.to_beat() {
                continue;
            }
            for (tool, score) in (start..).zip(scores) {
                let score = leaned.score(*score);
                if score > best.to_beat() && !named.contains(&tool) {
                    best.put(Ranked {
                        is_exact: false,
                        score,
                        tool,
                    });
                }
            }
        }
        best.in_order()
    }
}

/// How the tools of one group gain from each other.
struct Leaned {
    sum: f32,
    size: f32,
    share: f32,
    /// No tool of the group scores more. The sums that lead here are those of [`score`](Self::score) with nothing
    /// smaller in them, so that rounding cannot put one above it.
    most: f32,
}

impl Leaned {
    fn new(scores: &[f32], is_family: bool) -> Self {
        let (sum, most) = scores.iter().fold((0.0, 0.0_f32), |(sum, most), score| {
            (sum + score, most.max(*score))
        });
        let size = scores.len() as f32;
        let share = if is_family { FAMILY } else { 0.0 };
        Self {
            sum,
            size,
            share,
            most: most + share * sum / size,
        }
    }

    /// What a tool of the group has in the end; nothing if it had nothing.
    fn score(&self, score: f32) -> f32 {
        if score > 0.0 {
            score + self.share * (self.sum - score) / self.size
        } else {
            0.0
        }
    }
}

/// A tool among others, of which the better one is less.
struct Ranked {
    is_exact: bool,
    score: f32,
    tool: usize,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let exact_first = other.is_exact.cmp(&self.is_exact);
        exact_first
            .then(other.score.total_cmp(&self.score))
            .then(self.tool.cmp(&other.tool))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

/// The best of the tools that have been put in, in ascending order of position.
struct Best {
    limit: usize,
    /// The worst one on top.
    kept: BinaryHeap<Ranked>,
}

impl Best {
    fn of(limit: usize) -> Self {
        Self {
            limit,
            kept: BinaryHeap::new(),
        }
    }

    /// What a tool that is not exactly named has to score more than; at an equal score the earlier one stays.
    fn to_beat(&self) -> f32 {
        match self.kept.peek() {
            _ if self.kept.len() < self.limit => 0.0,
            Some(worst) if !worst.is_exact => worst.score,
            _ => f32::INFINITY,
        }
    }

    fn put(&mut self, tool: Ranked) {
        self.kept.push(tool);
        if self.kept.len() > self.limit {
            self.kept.pop();
        }
    }

    fn in_order(self) -> Vec<usize> {
        let sorted = self.kept.into_sorted_vec();
        sorted.into_iter().map(|ranked| ranked.tool).collect()
    }
}
