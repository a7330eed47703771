//! How much program is read, and why no more.

/// Longest program accepted, in bytes of UTF-8.
///
/// A model writes a few kilobytes; this leaves room for data pasted into the code. Everything else about a program
/// is bounded only relative to its length, so this comes first.
pub const MAX_SOURCE_BYTES: usize = 1024 * 1024;

/// Deepest nesting of brackets of all kinds, template substitutions included.
///
/// Real programs stay below 30. The parser reads some ambiguous forms once per level, so its time grows with this.
pub const MAX_NESTING: u32 = 256;

/// Most tokens in one statement, counted with those of the statements around it and without finished brackets.
///
/// The parser recurses at most once per such token, so this bounds its stack. A sum of 10,000 terms still fits.
pub const MAX_STATEMENT_TOKENS: u32 = 20_000;

/// Most tokens the parser may have to read, counted as often as it could have to read them again.
///
/// Reading one takes 50 to 200 ns, so this bounds a check at about a second for the worst text and leaves honest
/// programs, which are read about once, far below it: the longest have half a million tokens.
pub const MAX_TOKENS_READ: u64 = 6_000_000;

/// Most groups and classes in one regular expression, whose own parser recurses once for each that is nested.
pub const MAX_REGEX_BRACKETS: u32 = 1_000;

/// Stack set aside for each level of recursion.
///
/// Measured with `opt-level` 1 and 3: no form takes more than 1.8 KB per token (tuple types; parentheses take 1.6).
/// Code without optimisation takes several times that.
pub(crate) const STACK_PER_TOKEN: usize = if cfg!(debug_assertions) {
    16 * 1024
} else {
    4 * 1024
};

/// Recursion that may happen on the caller's stack, whose size is not known here: at most 512 KiB of the 2 MiB that
/// threads usually have.
pub(crate) const DEPTH_ON_CALLERS_STACK: u32 = if cfg!(debug_assertions) { 32 } else { 128 };
