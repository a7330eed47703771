//! Checks a cell's program before it runs, and turns TypeScript into JavaScript.
//!
//! It decides from the text alone: it runs nothing, knows no tools and no engine, and never resolves a module. The
//! security boundary is the guest, which has no loader; what is refused here is refused so that the model learns
//! at once what to write instead, before any nested call has happened.
//!
//! ```
//! use codecell_ts_transform::{Language, Refusal, prepare};
//!
//! let prepared = prepare("const n: number = 1\nreturn n + 1", Language::TypeScript)?;
//! assert_eq!(prepared.code(), "const n = 1;\nreturn n + 1;\n");
//! // `return` in the code is the `return` on line 2 of the submitted text.
//! assert_eq!(prepared.map().to_submitted(2, 1).map(|at| at.line), Some(2));
//!
//! let refused = prepare("retur 1 +", Language::JavaScript);
//! assert!(matches!(refused, Err(Refusal::Syntax { .. })));
//! # Ok::<(), Refusal>(())
//! ```

mod enums;
mod limits;
mod modules;
mod position;
mod refusal;
mod scan;
mod script;
mod shell;
mod stack;
mod typescript;
mod unsupported;

pub use crate::{
    limits::{MAX_NESTING, MAX_REGEX_BRACKETS, MAX_SOURCE_BYTES, MAX_STATEMENT_TOKENS, MAX_TOKENS_READ},
    position::{Position, PositionMap},
    refusal::Refusal,
};

/// The language a cell is written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Language {
    /// JavaScript, run as it was submitted.
    JavaScript,
    /// TypeScript: types are removed and not checked.
    TypeScript,
}

impl Language {
    /// The name that `exec` takes: `javascript` or `typescript`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::JavaScript => "javascript",
            Self::TypeScript => "typescript",
        }
    }
}

impl std::fmt::Display for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A checked program: the *body* of a sloppy-mode async function, ready for the guest.
///
/// It cannot close the function it is put into: `(async function () {` + newline + code + newline + `})`.
#[derive(Clone, Debug)]
pub struct Prepared {
    code: String,
    map: PositionMap,
}

impl Prepared {
    /// The JavaScript to put into the guest's function.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }

    /// The way back from positions in [`code`](Self::code) to the submitted text.
    #[must_use]
    pub fn map(&self) -> &PositionMap {
        &self.map
    }

    /// Both parts.
    #[must_use]
    pub fn into_parts(self) -> (String, PositionMap) {
        (self.code, self.map)
    }
}

/// Checks `source` and makes it ready for the guest.
///
/// # Errors
///
/// Refuses module access, text that does not parse, shell commands, and text that is too large, too deep or too
/// ambiguous to be read in bounded time. See [`Refusal`].
pub fn prepare(source: &str, language: Language) -> Result<Prepared, Refusal> {
    if source.len() > MAX_SOURCE_BYTES {
        return Err(Refusal::TooLarge {
            actual: source.len(),
            limit: MAX_SOURCE_BYTES,
        });
    }
    if let Some(command) = shell::hashbang(source) {
        return Err(Refusal::Shell { command });
    }
    let shape = scan::scan(source, language)?;
    let prepared = stack::with_room_for(shape.depth, || match language {
        Language::JavaScript => script::prepare(source, shape.stray),
        Language::TypeScript => typescript::prepare(source),
    });
    match prepared {
        Err(Refusal::Syntax {
            language: Language::JavaScript,
            message,
            position,
            more,
        }) if is_typescript(source) => {
            let message = format!("{message}; this is TypeScript, so set `language` to \"typescript\"");
            Err(Refusal::Syntax {
                language,
                message,
                position,
                more,
            })
        }
        prepared => prepared,
    }
}

/// Whether what is no JavaScript would parse as TypeScript.
fn is_typescript(source: &str) -> bool {
    let Ok(shape) = scan::scan(source, Language::TypeScript) else {
        return false;
    };
    stack::with_room_for(shape.depth, || Ok(typescript::parses(source))).unwrap_or(false)
}
