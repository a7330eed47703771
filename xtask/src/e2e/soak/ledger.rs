//! Who counts what came of everything.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use anyhow::{Error, Result};

use super::cells::Verdict;

/// After so many wrong outcomes nothing new is learnt.
const ENOUGH: usize = 20;

/// The kind in which a fault of the model is met, always.
pub(super) const MODEL_FAILS: &str = "turn: the model fails";

/// Characters of a wrong outcome that are told at the end.
const TOLD: usize = 600;

/// Counts.
#[derive(Default)]
pub(super) struct Ledger(Mutex<Pages>);

#[derive(Default)]
struct Pages {
    kinds: BTreeMap<&'static str, Counts>,
    faults: BTreeMap<&'static str, u64>,
    wrong: Vec<String>,
}

#[derive(Default, Clone, Copy)]
struct Counts {
    right: u64,
    hit: u64,
    wrong: u64,
}

impl Ledger {
    fn lock(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an outcome; true for the first that is wrong.
    pub(super) fn count(&self, kind: &'static str, outcome: &Result<Verdict, Error>) -> bool {
        let mut pages = self.lock();
        let counts = pages.kinds.entry(kind).or_default();
        match outcome {
            Ok(Verdict::Right) => counts.right += 1,
            Ok(Verdict::Hit) => counts.hit += 1,
            Err(error) => {
                counts.wrong += 1;
                let told: String = format!("{kind}: {error:#}").chars().take(TOLD).collect();
                pages.wrong.push(told);
                return pages.wrong.len() == 1;
            }
        }
        false
    }

    /// Counts a fault.
    pub(super) fn fault(&self, kind: &'static str) {
        *self.lock().faults.entry(kind).or_default() += 1;
    }

    /// Everything that was asked.
    pub(super) fn asked(&self) -> u64 {
        let pages = self.lock();
        let counts = pages.kinds.values();
        counts
            .map(|counts| counts.right + counts.hit + counts.wrong)
            .sum()
    }

    /// What was wrong.
    pub(super) fn wrong(&self) -> Vec<String> {
        self.lock().wrong.clone()
    }

    /// Whether there is no point in going on.
    pub(super) fn is_enough(&self) -> bool {
        self.lock().wrong.len() >= ENOUGH
    }

    /// Kinds that only ever met faults: something of theirs never worked. What is a fault itself is left out.
    pub(super) fn never_right(&self) -> Vec<&'static str> {
        let pages = self.lock();
        let never = pages.kinds.iter().filter(|(_, counts)| counts.right == 0);
        let kinds = never.map(|(kind, _)| *kind);
        kinds
            .filter(|kind| !kind.starts_with("rude: ") && *kind != MODEL_FAILS)
            .collect()
    }

    /// All counts, as a table.
    pub(super) fn table(&self) -> String {
        let pages = self.lock();
        let mut table = format!("  {:<44}{:>9}{:>9}{:>9}\n", "asked", "right", "hit", "wrong");
        for (kind, counts) in &pages.kinds {
            let Counts { right, hit, wrong } = counts;
            table += &format!("  {kind:<44}{right:>9}{hit:>9}{wrong:>9}\n");
        }
        table += &format!("  {:<44}{:>9}\n", "faults", "times");
        for (kind, count) in &pages.faults {
            table += &format!("  {kind:<44}{count:>9}\n");
        }
        table
    }
}
