//! Finds tools by what they are called and what they say they do.
//!
//! Fielded BM25 over stemmed words, decided at build time as far as possible: each posting already holds its
//! saturated weight, so a search only adds up the postings of its words.

mod index;
mod synonyms;
mod words;

use crate::tool::Tool;

pub(crate) use self::{index::Index, words::split_words};

/// What a search found.
#[derive(Debug)]
pub struct SearchReport<'a> {
    /// The tools, best first; equal scores in catalog order.
    pub tools: Vec<&'a Tool>,
    /// Words of the query that no visible tool has in any form, as they were written, lower case.
    pub unmatched: Vec<String>,
}
