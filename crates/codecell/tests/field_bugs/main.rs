//! Bugs that were reported against systems like this one, replayed here.
#[path = "../it/tools.rs"]
#[allow(dead_code)]
mod tools;
