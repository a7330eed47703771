//! JSON Schema as TypeScript: hints of one line, and a type model from which whole declarations are printed.
//!
//! Schemas come from strangers. Whatever one holds, the answer comes in bounded time and size, its text is
//! inert, and the types accept at least what the schema accepts; what a type cannot say stands in a comment.
//! Two choices of ours: an object schema that is silent on `additionalProperties` gets no index signature,
//! and an integer is `number`, with `bigint` beside it only where the schema speaks of 64 bits.

mod docs;
mod graph;
mod hint;
mod kind;
mod literal;
mod print;
mod read;
mod refs;
mod repeated;
mod settle;
mod shapes;
mod text;
mod types;

#[cfg(test)]
mod tests;

pub use hint::{input_hint, output_hint};
pub use print::Printer;
pub use read::{Definition, Detail, Extent, Model};
pub use repeated::Repeated;
pub use text::{brief, comment, is_identifier, is_reserved_word, property_key, quote, sentence};
pub use types::{Literal, Object, Property, Rest, Scalar, Tuple, Type};
