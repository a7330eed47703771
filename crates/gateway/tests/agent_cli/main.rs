//! `codecell agent` through the built binary: what it prints, what it asks its provider, how it ends.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

#[allow(dead_code, reason = "these tests need a part of it")]
#[path = "../guarded/place.rs"]
mod place;
#[allow(dead_code, reason = "these tests need a part of it")]
#[path = "../serve_ops/provider.rs"]
mod provider;

mod ends;
mod turns;

const BINARY: &str = env!("CARGO_BIN_EXE_codecell");

/// Text with what differs from run to run replaced: ids of sessions and runs, and times.
fn fixed(text: &str) -> String {
    let mut fixed = String::new();
    for line in text.lines() {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let mut words = words;
        for at in 0..words.len() {
            if words.get(at + 1).is_some_and(|unit| unit == "ms") {
                words[at] = "N".into();
            }
            if let Some((head, id)) = words[at].rsplit_once(':')
                && id.len() == 36
                && id.matches('-').count() == 4
            {
                words[at] = format!("{head}:ID");
            }
        }
        fixed.push_str(&words.join(" "));
        fixed.push('\n');
    }
    fixed
}
