//! A cell's program is any text at all: it gets a verdict, and what is accepted keeps its promises.

#![no_main]

use codecell_ts_transform::{
    Language::{self, JavaScript, TypeScript},
    Position, Prepared, Refusal, prepare,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: contain_panics(), |data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for language in [JavaScript, TypeScript] {
        match prepare(text, language) {
            Ok(prepared) => accepted(text, &prepared, language),
            Err(refusal) => refused(text, &refusal),
        }
    }
});

fn accepted(text: &str, prepared: &Prepared, language: Language) {
    match language {
        JavaScript => assert_eq!(prepared.code(), text, "JavaScript runs as it was submitted"),
        TypeScript => {
            // Behind a statement, because only submitted text can look like a shell command: `type` alone does.
            let again = prepare(&format!("let before = 0;\n{}", prepared.code()), JavaScript);
            assert!(again.is_ok(), "no JavaScript: {again:?}\n{}", prepared.code());
        }
    }
    // An engine names any place of the code, and sometimes one beside it: each is shown inside the submitted text.
    for (index, line) in (1..).zip(prepared.code().split('\n')).take(64) {
        for column in (1..).take(line.len() + 2).step_by(1 + line.len() / 32) {
            if let Some(place) = prepared.map().to_submitted(index, column) {
                inside(text, place, prepared.code());
            }
        }
    }
}

fn refused(text: &str, refusal: &Refusal) {
    match refusal {
        Refusal::ModuleAccess { position, .. }
        | Refusal::Syntax { position, .. }
        | Refusal::TooDeep { position, .. }
        | Refusal::TooComplex { position, .. } => inside(text, *position, &refusal.to_string()),
        _ => {}
    }
    // Names in the text are as long as it likes, messages are not.
    let message = refusal.to_string().len();
    assert!(message < 4096, "a message of {message} bytes");
}

/// A place inside the text, its end included. Where the code has lines that the text counts differently (a `\r` alone,
/// say), a column may lie behind its line's end, so only the line is certain.
fn inside(text: &str, place: Position, about: &str) {
    let lines = text
        .chars()
        .filter(|c| matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}'))
        .count()
        + 1;
    let fits = place.line >= 1 && place.line as usize <= lines && place.column >= 1;
    assert!(fits, "{place} of {lines} lines: {about}");
}

/// A panic of the parser is contained by the crate: the program is refused. Anyone else's ends the process, as ever.
fn contain_panics() {
    let abort = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let parser = info.location().is_some_and(|at| at.file().contains("/oxc"));
        if !parser {
            abort(info);
        }
    }));
}
