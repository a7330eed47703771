//! Program files with their expectations. A case is
//!
//! ```text
//! === what it shows (ts)
//! the program
//! --- accepted | refused | code | LINE:COLUMN -> LINE:COLUMN
//! the message, or the code
//! ```

use codecell_ts_transform::{Language, prepare};

struct Case<'a> {
    name: &'a str,
    language: Language,
    program: String,
    /// Each with the line behind `---` and the text below it.
    expected: Vec<(&'a str, String)>,
}

fn parse(text: &str) -> Vec<Case<'_>> {
    let mut cases: Vec<Case<'_>> = Vec::new();
    for line in text.split_inclusive('\n') {
        if let Some(name) = line.strip_prefix("=== ") {
            let name = name.trim_end();
            let language = if name.ends_with("(ts)") {
                Language::TypeScript
            } else {
                Language::JavaScript
            };
            cases.push(Case {
                name,
                language,
                program: String::new(),
                expected: Vec::new(),
            });
            continue;
        }
        let case = cases
            .last_mut()
            .unwrap_or_else(|| panic!("text before the first case"));
        if let Some(verdict) = line.strip_prefix("---") {
            case.expected.push((verdict.trim(), String::new()));
        } else if let Some((_, text)) = case.expected.last_mut() {
            text.push_str(line);
        } else {
            case.program.push_str(line);
        }
    }
    cases
}

fn verdict(case: &Case<'_>, program: &str, asked: &str) -> (String, String) {
    let prepared = match prepare(program, case.language) {
        Ok(prepared) => prepared,
        Err(refusal) => return ("refused".to_owned(), format!("{refusal}\n")),
    };
    if let Some((place, _)) = asked.split_once(" -> ") {
        let (line, column) = place.split_once(':').unwrap();
        let found = prepared
            .map()
            .to_submitted(line.parse().unwrap(), column.parse().unwrap());
        let found = found.map_or("none".to_owned(), |at| format!("{}:{}", at.line, at.column));
        return (format!("{place} -> {found}"), String::new());
    }
    if case.language == Language::TypeScript {
        return ("code".to_owned(), prepared.code().to_owned());
    }
    assert_eq!(prepared.code(), program, "JavaScript runs as it was submitted");
    ("accepted".to_owned(), String::new())
}

fn check(text: &str) {
    for case in parse(text) {
        let program = case.program.strip_suffix('\n').unwrap_or(&case.program);
        for (asked, expected) in &case.expected {
            let (verdict, text) = verdict(&case, program, asked);
            assert_eq!(
                (verdict.as_str(), text.as_str()),
                (*asked, expected.as_str()),
                "{}",
                case.name
            );
        }
    }
}

#[test]
fn module_access_is_refused_and_look_alikes_are_innocent() {
    check(include_str!("../cases/modules.txt"));
}

#[test]
fn shell_commands_are_refused_and_programs_that_look_like_them_run() {
    check(include_str!("../cases/shell.txt"));
}

#[test]
fn syntax_errors_are_found_before_anything_runs() {
    check(include_str!("../cases/syntax.txt"));
}

#[test]
fn typescript_becomes_javascript() {
    check(include_str!("../cases/typescript.txt"));
}

#[test]
fn positions_lead_back_to_the_submitted_text() {
    check(include_str!("../cases/positions.txt"));
}
