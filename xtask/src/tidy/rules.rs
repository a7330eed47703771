//! House rules on the text of single files.

use super::{Finding, source};

/// Longest source file: past this it holds more than one idea.
const MAX_LINES: usize = 700;

/// Suffixes of the files we write ourselves and hold to [`MAX_LINES`].
const SOURCES: &[&str] = &["rs", "js", "mjs", "ts", "py", "sh", "yml", "yaml"];

/// Words that mark unfinished work. Spelled in two halves so that this file passes its own rule.
const UNFINISHED: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// What code outside tests must not say, with the better way.
const NOT_IN_PRODUCT: &[(&str, &str)] = &[
    (".unwrap()", "return an error, or `expect` in a test"),
    (concat!("to", "do!("), "finish it"),
    (concat!("unimpl", "emented!("), "finish it"),
    (concat!("db", "g!("), "use `tracing`"),
];

/// What no Rust file may say, tests included.
const NOWHERE: &[(&str, &str)] = &[
    (concat!("#[ig", "nore"), "a test that does not run proves nothing"),
    (concat!("should", "_panic"), "assert on a returned error"),
    (concat!("assert!(", "true)"), "it cannot fail"),
];

/// Places that exist on one machine only, and hosts that package managers already know.
const MACHINE: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/tmp/ba", "sh_jobs"),
    concat!("registry.npm", "js.org"),
    concat!("files.python", "hosted.org"),
    concat!("py", "pi.org"),
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("deb.debi", "an.org"),
];

/// Files that may hold `unsafe` code, and what for. Each block there still needs a `SAFETY` comment.
const UNSAFE_FILES: &[(&str, &str)] = &[
    ("crates/guest/src/", "imports and exports of a WebAssembly module"),
    (
        "crates/guest-runtime/src/cache.rs",
        "loads the guest that this build compiled earlier",
    ),
    ("fuzz/src/lib.rs", "counts what the allocator hands out"),
];

/// How many sleeps the tests of a file may hold, where no event can be awaited.
const SLEEPS: &[(&str, usize, &str)] = &[
    (
        "crates/bridge/tests/it/main.rs",
        1,
        "tools that take their time, on a clock that stands still unless everybody waits",
    ),
    (
        "crates/codecell/tests/it/tools.rs",
        1,
        "a tool that takes its time is what the cells there call",
    ),
    (
        "crates/gateway/tests/support/mod.rs",
        1,
        "other processes start and end without telling us",
    ),
    (
        "crates/gateway/tests/serve_ops/server.rs",
        1,
        "another process is asked over HTTP until it is as far",
    ),
];

/// How far above an `unsafe` block its `SAFETY` comment may start.
const SAFETY_DISTANCE: usize = 8;

/// Checks one file of the tree; `path` is relative to its root, with forward slashes.
pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut found = |line: usize, message: String| {
        findings.push(Finding {
            path: path.into(),
            line,
            message,
        })
    };
    let suffix = path.rsplit_once('.').map_or("", |(_, suffix)| suffix);
    let lines = text.lines().count();
    if SOURCES.contains(&suffix) && lines > MAX_LINES && !is_generated(path) {
        found(
            0,
            format!("has {lines} lines, the limit is {MAX_LINES}: one idea per file"),
        );
    }
    if !is_foreign(path) {
        for (index, line) in text.lines().enumerate() {
            for place in MACHINE.iter().filter(|place| line.contains(**place)) {
                found(
                    index + 1,
                    format!(
                        "names `{place}`, which exists on one machine or is a package manager's business"
                    ),
                );
            }
        }
    }
    match suffix {
        "rs" => check_rust(path, text, &mut found),
        _ if SOURCES.contains(&suffix) => {
            for (index, line) in text.lines().enumerate() {
                unfinished(line, index + 1, &mut found);
            }
        }
        _ => {}
    }
    findings
}

fn check_rust(path: &str, text: &str, found: &mut impl FnMut(usize, String)) {
    let lines = source::lines(text);
    let all_tests = is_test_file(path);
    // A file that says why it fails by panicking has said so to clippy as well.
    let may_panic = lines.iter().any(|line| line.code.contains("clippy::unwrap_used"));
    // Time that stands still unless everybody waits is an event, not a delay.
    let paused_clock = lines.iter().any(|line| line.code.contains("start_paused"));
    let mut sleeps = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let (code, number) = (line.code.as_str(), index + 1);
        let in_tests = all_tests || line.test;
        unfinished(code, number, found);
        unfinished(&line.comment, number, found);
        for (needle, advice) in NOWHERE.iter().filter(|(needle, _)| code.contains(needle)) {
            found(number, format!("says `{needle}`: {advice}"));
        }
        if !in_tests {
            for (needle, advice) in NOT_IN_PRODUCT.iter().filter(|(needle, _)| code.contains(needle)) {
                if may_panic && *needle == ".unwrap()" {
                    continue;
                }
                found(number, format!("says `{needle}` outside tests: {advice}"));
            }
            if code.trim_start().starts_with("pub use ") && code.contains("::*") {
                found(number, "re-exports with `*`: name what is public".into());
            }
        }
        if in_tests && !paused_clock && (code.contains("thread::sleep") || code.contains("time::sleep")) {
            sleeps.push(number);
        }
        if source::has_word(code, "unsafe") {
            check_unsafe(path, &lines, index, found);
        }
    }
    let allowed = SLEEPS
        .iter()
        .find(|(file, ..)| *file == path)
        .map_or(0, |(_, count, _)| *count);
    if let Some(number) = sleeps.get(allowed) {
        found(
            *number,
            format!(
                "{} sleeps in tests, {allowed} allowed: await the event instead",
                sleeps.len()
            ),
        );
    }
    if path.ends_with("src/lib.rs") || path.ends_with("src/main.rs") {
        check_crate_docs(path, text, found);
    }
}

fn unfinished(text: &str, number: usize, found: &mut impl FnMut(usize, String)) {
    for word in UNFINISHED.iter().filter(|word| source::has_word(text, word)) {
        found(
            number,
            format!("says `{word}`: finish it, or file an issue and say what does not work"),
        );
    }
}

fn check_unsafe(path: &str, lines: &[source::Line], index: usize, found: &mut impl FnMut(usize, String)) {
    if !UNSAFE_FILES.iter().any(|(prefix, _)| path.starts_with(prefix)) {
        found(
            index + 1,
            "holds `unsafe` code, and is not in the list of `xtask/src/tidy/rules.rs`".into(),
        );
        return;
    }
    let code = lines.get(index).map_or("", |line| line.code.trim_start());
    let is_block = code.contains("unsafe {") || code.starts_with("unsafe impl");
    let above = lines
        .get(index.saturating_sub(SAFETY_DISTANCE)..=index)
        .unwrap_or_default();
    if is_block && !above.iter().any(|line| line.comment.contains("SAFETY:")) {
        found(index + 1, "an `unsafe` block without a `SAFETY:` comment".into());
    }
}

/// A crate opens with its purpose; a library also with an example that the tests compile.
fn check_crate_docs(path: &str, text: &str, found: &mut impl FnMut(usize, String)) {
    let docs: Vec<&str> = text
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(str::trim)
        .collect();
    if docs.first().is_none_or(|first| first.is_empty()) {
        found(1, "does not open with `//!` and its purpose".into());
    }
    let compiled = |line: &&&str| matches!(**line, "```" | "```rust" | "```no_run" | "```rust,no_run");
    if path.ends_with("src/lib.rs") && docs.iter().find(compiled).is_none() {
        found(1, "crate docs without an example that compiles".into());
    }
}

/// Whether every line of the file is test code.
fn is_test_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.split('/').any(|part| matches!(part, "tests" | "benches"))
        || name == "tests.rs"
        || name.ends_with("_tests.rs")
}

/// Text that other people or programs wrote: recorded answers, snapshots, lock files.
fn is_foreign(path: &str) -> bool {
    path.contains("fixtures/")
        || path.ends_with(".snap")
        || path.ends_with(".lock")
        || path.starts_with("LICENSE")
}

fn is_generated(path: &str) -> bool {
    is_foreign(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCS: &str = "//! Does one thing.\n//!\n//! ```\n//! let _ = 1;\n//! ```\n";

    fn check_text(path: &str, text: &str, expected: &[&str]) {
        let messages: Vec<String> = check(path, text)
            .into_iter()
            .map(|f| format!("{}: {}", f.line, f.message))
            .collect();
        assert_eq!(messages, expected, "{path}");
    }

    #[test]
    fn clean_files_pass() {
        check_text("crates/a/src/lib.rs", DOCS, &[]);
        check_text(
            "crates/a/src/x.rs",
            "let a = b.unwrap_or(1); // no unwrap() here\nlet c = \".unwrap()\";\n",
            &[],
        );
        check_text(
            "crates/a/src/x.rs",
            "#[cfg(test)]\nmod tests {\n    fn a() { b.unwrap(); }\n}\n",
            &[],
        );
        check_text("crates/a/tests/it.rs", "fn a() { b.unwrap(); }\n", &[]);
        let tool = "#![expect(clippy::unwrap_used, reason = \"a test tool\")]\nfn a() { b.unwrap(); }\n";
        check_text("crates/a/examples/tool.rs", tool, &[]);
        let paused = "#[tokio::test(start_paused = true)]\nasync fn a() { tokio::time::sleep(x).await }\n";
        check_text("crates/a/tests/it.rs", paused, &[]);
        check_text("fixtures/mcp/a.json", concat!("\"/wo", "rk/x\"\n"), &[]);
        check_text(
            "crates/guest/src/a.rs",
            "// SAFETY: the host gave the length.\nunsafe { f() }\n",
            &[],
        );
    }

    #[test]
    fn unfinished_work_is_named() {
        let todo = concat!("TO", "DO");
        check_text(
            "crates/a/src/x.rs",
            &format!("// {todo}: later\nto{}();\nc.unwrap();\n", "do!"),
            &[
                &format!("1: says `{todo}`: finish it, or file an issue and say what does not work"),
                concat!("2: says `to", "do!(` outside tests: finish it"),
                "3: says `.unwrap()` outside tests: return an error, or `expect` in a test",
            ],
        );
        check_text(
            "crates/guest/prelude/a.js",
            &format!("// {todo}\n"),
            &[&format!(
                "1: says `{todo}`: finish it, or file an issue and say what does not work"
            )],
        );
    }

    #[test]
    fn tests_that_prove_nothing_are_named() {
        check_text(
            "crates/a/tests/it.rs",
            concat!(
                "#[ig",
                "nore]\n#[should",
                "_panic]\nassert!(",
                "true);\nthread::sleep(x);\n"
            ),
            &[
                concat!("1: says `#[ig", "nore`: a test that does not run proves nothing"),
                concat!("2: says `should", "_panic`: assert on a returned error"),
                concat!("3: says `assert!(", "true)`: it cannot fail"),
                "4: 1 sleeps in tests, 0 allowed: await the event instead",
            ],
        );
    }

    #[test]
    fn unsafe_code_stays_in_its_files_and_is_explained() {
        check_text(
            "crates/a/src/x.rs",
            "unsafe { f() }\n",
            &["1: holds `unsafe` code, and is not in the list of `xtask/src/tidy/rules.rs`"],
        );
        check_text(
            "crates/guest/src/x.rs",
            "unsafe { f() }\n",
            &["1: an `unsafe` block without a `SAFETY:` comment"],
        );
    }

    #[test]
    fn crates_open_with_purpose_and_example() {
        check_text(
            "crates/a/src/lib.rs",
            "mod a;\n",
            &[
                "1: does not open with `//!` and its purpose",
                "1: crate docs without an example that compiles",
            ],
        );
        check_text(
            "crates/a/src/lib.rs",
            "//! Purpose.\n//! ```text\n//! x\n//! ```\n",
            &[],
        );
        check_text("crates/a/src/main.rs", "//! Purpose.\n", &[]);
        check_text(
            "crates/a/src/lib.rs",
            &format!("{DOCS}pub use a::*;\n"),
            &["6: re-exports with `*`: name what is public"],
        );
    }

    #[test]
    fn long_files_and_machine_paths_are_named() {
        check_text(
            "e2e/a.py",
            &"x\n".repeat(701),
            &["0: has 701 lines, the limit is 700: one idea per file"],
        );
        let place = concat!("/ro", "ot/");
        check_text(
            "README.md",
            &format!("see {place}x\n"),
            &[&format!(
                "1: names `{place}`, which exists on one machine or is a package manager's business"
            )],
        );
    }
}
