//! Counts tokens as current OpenAI models do (`o200k_base`).
//!
//! Only `doctor` and `demo` come here: reading the vocabulary costs a few hundred milliseconds, which no cell
//! should pay.
use std::collections::HashSet;

use serde::Serialize;
use serde_json::{Value, json};
use tiktoken_rs::o200k_base_singleton;

/// Text is tokenised in pieces of at most this many bytes.
///
/// The pattern that cuts text into words backtracks; a schema from a hostile server could hold a megabyte of
/// spaces. A cut can cost one token more than the exact count.
const PIECE_BYTES: usize = 64 * 1024;

/// The number of tokens in `text`.
pub(crate) fn count(text: &str) -> usize {
    let tokenizer = o200k_base_singleton();
    let no_special_tokens = HashSet::new();
    let mut rest = text;
    let mut total = 0;
    while !rest.is_empty() {
        let (piece, tail) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
        rest = tail;
        total += match tokenizer.encode(piece, &no_special_tokens) {
            Ok((tokens, _)) => tokens.len(),
            // The word pattern gave up on this piece: four bytes a token is the usual ratio.
            Err(_) => piece.len().div_ceil(4),
        };
    }
    total
}

/// The number of tokens of `value` written as compact JSON, which is how tool lists and results travel.
pub(crate) fn count_json(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(0, |text| count(&text))
}

/// What one entry of a tool list costs a model. Hosts send name, description and input schema and nothing else.
pub(crate) fn count_listing(listing: &Value) -> usize {
    let field = |name: &str| listing.get(name).cloned().unwrap_or_default();
    count_json(&json!({
        "name": field("name"),
        "description": field("description"),
        "inputSchema": field("inputSchema"),
    }))
}

#[cfg(test)]
mod tests {
    use super::{PIECE_BYTES, count, count_json};

    #[test]
    fn known_texts_have_their_known_counts() {
        for (text, tokens) in [
            ("", 0),
            ("hello world", 2),
            ("<|endoftext|>", 7),
            ("antidisestablishmentarianism", 6),
            ("2 + 2 = 4", 7),
            ("お誕生日おめでとう", 8),
        ] {
            assert_eq!(count(text), tokens, "{text:?}");
        }
    }

    #[test]
    fn a_json_value_is_counted_in_its_compact_form() {
        assert_eq!(
            count_json(&serde_json::json!({ "a": [1, 2] })),
            count(r#"{"a":[1,2]}"#)
        );
    }

    #[test]
    fn long_runs_of_spaces_and_letters_are_counted_in_bounded_pieces() {
        for unit in [" ", "a", "é"] {
            let text = unit.repeat(2 * PIECE_BYTES + 1);
            assert!((1..=text.len()).contains(&count(&text)));
        }
    }
}
