//! What holds for every text.

use codecell_ts_transform::{
    Language::{JavaScript, TypeScript},
    Position, prepare,
};
use proptest::prelude::*;

/// Pieces of programs, of which most orders are no program.
const PIECES: &[&str] = &[
    "a",
    "b",
    "1",
    "'s'",
    "`t${",
    "}`",
    "/r/",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    ",",
    ";",
    ":",
    "?",
    "?.",
    ".",
    "=",
    "=>",
    "==",
    "+",
    "++",
    "-",
    "--",
    "!",
    "&&",
    "??",
    "...",
    "@",
    "#p",
    "\\u0061",
    "\n",
    "\r",
    "\u{2028}",
    "/*",
    "*/",
    "//",
    "<!--",
    "-->",
    "if",
    "else",
    "for",
    "while",
    "do",
    "of",
    "in",
    "let",
    "const",
    "var",
    "function",
    "async",
    "await",
    "yield",
    "return",
    "class",
    "extends",
    "static",
    "new",
    "this",
    "super",
    "import",
    "export",
    "require",
    "type",
    "interface",
    "enum",
    "namespace",
    "declare",
    "abstract",
    "as",
    "satisfies",
    "keyof",
    "infer",
    "is",
    "any",
    "public",
    "readonly",
    "switch",
    "case",
    "default",
    "try",
    "catch",
    "finally",
    "throw",
    "break",
    "continue",
    "with",
    "ls",
    "-la",
    "|",
    "é",
    "日",
    "\u{1F600}",
];

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..40).prop_map(|pieces| pieces.join(" "))
}

proptest! {
    #[test]
    fn any_text_gets_a_verdict(text in any::<String>()) {
        let _ = (prepare(&text, JavaScript), prepare(&text, TypeScript));
    }

    #[test]
    fn any_ascii_gets_a_verdict(text in "[ -~\n]{0,80}") {
        let _ = (prepare(&text, JavaScript), prepare(&text, TypeScript));
    }

    #[test]
    fn javascript_runs_as_it_was_submitted(text in soup()) {
        if let Ok(prepared) = prepare(&text, JavaScript) {
            prop_assert_eq!(prepared.code(), &text);
            if text.is_ascii() {
                let same = Some(Position { line: 3, column: 7 });
                prop_assert_eq!(prepared.map().to_submitted(3, 7), same);
            }
        }
    }

    #[test]
    fn what_typescript_becomes_is_javascript(text in soup()) {
        if let Ok(prepared) = prepare(&text, TypeScript) {
            // Behind a statement, because only submitted text can look like a shell command: `type` alone does.
            let again = prepare(&format!("let before = 0;\n{}", prepared.code()), JavaScript);
            prop_assert!(again.is_ok(), "{:?}: {}", again, prepared.code());
        }
    }

    #[test]
    fn a_refusal_names_a_place_inside_the_text(text in soup()) {
        for language in [JavaScript, TypeScript] {
            if let Err(refusal) = prepare(&text, language) {
                let message = refusal.to_string();
                if let Some(place) = message.split("cell:").nth(1) {
                    let line: usize = place.split(':').next().unwrap().parse().unwrap();
                    prop_assert!(line >= 1 && line <= text.split(['\n', '\r', '\u{2028}']).count(), "{}", message);
                }
            }
        }
    }
}
