//! Finds tools by what they are called and what they say they do.
//!
//! Fielded BM25 over stemmed words, decided at build time as far as possible: each posting already holds its
//! saturated weight, so a search only adds up the postings of its words. `docs/search.md` says what each part of the
//! ranking is for and how it is measured.

mod alike;
mod board;
mod build;
mod field;
mod index;
mod literal;
#[cfg(test)]
mod plain;
mod score;
mod synonyms;
mod texts;
mod words;

use crate::tool::Tool;

pub(crate) use self::{
    index::{Index, Visible},
    words::split_words,
};

/// What a search found.
#[derive(Debug)]
pub struct SearchReport<'a> {
    /// The tools, best first; equal scores in catalog order.
    pub tools: Vec<&'a Tool>,
    /// Words of the query that no visible tool has in any form, as they were written, lower case, each once.
    ///
    /// A word that is one typing mistake away from a tool's word is in here too, although it may have found tools.
    /// Paths, file names and addresses are arguments, not words about tools, and are left out.
    pub unmatched: Vec<String>,
}
