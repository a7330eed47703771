//! Declarations of recorded servers and of made-up ones.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod fixture;
mod parses;
mod tools;
mod whole_files;
