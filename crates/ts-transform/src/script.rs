//! JavaScript: read as the body of one async function, run as it was submitted.

use oxc_allocator::Allocator;
use oxc_ast::ast::{Expression, Program, Statement};
use oxc_diagnostics::OxcDiagnostic;
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::{Scoping, SemanticBuilder};
use oxc_span::SourceType;

use crate::modules::{self, ModuleUse};
use crate::position::{Lines, PositionMap};
use crate::refusal::Refusal;
use crate::{Language, Prepared, shell, unsupported};

/// As the guest wraps it. The comment keeps one in the program from being the first, where the parser reads pragmas.
const PREFIX: &str = "(async function () {/**/\n";
const SUFFIX: &str = "\n})";
/// Where the function begins in the wrapped text.
const FUNCTION: u32 = 1;

/// Checks `source`; `stray` is where a bracket closes nothing, if one does.
pub(crate) fn prepare(source: &str, stray: Option<usize>) -> Result<Prepared, Refusal> {
    let wrapped = [PREFIX, source, SUFFIX].concat();
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, &wrapped, SourceType::script())
        .with_options(options())
        .parse();
    let whole = is_one_function(&parsed.program, wrapped.len());
    let problem = match stray {
        // The parser would report what our wrapper's own brackets then mean.
        Some(offset) => Some(Problem::stray(source, offset)),
        None if whole => Problem::first(&parsed.diagnostics),
        None => Some(Problem::first(&parsed.diagnostics).unwrap_or_default()),
    };
    if let Some(problem) = problem {
        if let Some(found) = modules::first_use(&parsed.program, None) {
            return Err(module_access(source, found, PREFIX.len()));
        }
        if let Some(command) = shell::command(source, None) {
            return Err(Refusal::Shell { command });
        }
        return Err(problem.refusal(source, PREFIX.len(), Language::JavaScript));
    }
    let checked = check(&parsed.program);
    if let Some(found) = modules::first_use(&parsed.program, Some(&checked.scoping)) {
        return Err(module_access(source, found, PREFIX.len()));
    }
    if let Some(command) = shell::command(source, Some(&checked.scoping)) {
        return Err(Refusal::Shell { command });
    }
    if let Some(problem) = checked.problem {
        return Err(problem.refusal(source, PREFIX.len(), Language::JavaScript));
    }
    Ok(Prepared {
        code: source.to_owned(),
        map: PositionMap::same_text(source),
    })
}

pub(crate) fn options() -> ParseOptions {
    ParseOptions {
        parse_regular_expression: true,
        ..ParseOptions::default()
    }
}

/// What the checks behind the parser found.
pub(crate) struct Checked {
    pub(crate) scoping: Scoping,
    pub(crate) problem: Option<Problem>,
}

/// Runs the checks that need scopes: redeclarations, misplaced `break`, private names, … and those for the engine.
pub(crate) fn check<'a>(program: &'a Program<'a>) -> Checked {
    let unsupported = unsupported::first(program).map(|form| Problem {
        message: form.message.to_owned(),
        offset: form.at as usize,
        more: 0,
    });
    let built = SemanticBuilder::new_compiler()
        .with_class_table(true)
        .with_enum_eval(true)
        .build(program);
    let problem = Problem::first(&built.diagnostics).or(unsupported);
    Checked {
        problem,
        scoping: built.semantic.into_scoping(),
    }
}

pub(crate) fn module_access(source: &str, found: ModuleUse, before: usize) -> Refusal {
    let offset = (found.at as usize).saturating_sub(before);
    let position = Lines::new(source).position(offset);
    Refusal::ModuleAccess {
        what: found.what,
        position,
    }
}

/// An error of the parser or of the checks behind it.
#[derive(Debug)]
pub(crate) struct Problem {
    message: String,
    offset: usize,
    more: usize,
}

impl Default for Problem {
    /// What is said of a text that is no program although nobody knows why.
    fn default() -> Self {
        Self {
            message: "this is not a program".to_owned(),
            offset: 0,
            more: 0,
        }
    }
}

impl Problem {
    /// A bracket at `offset` of the submitted text that closes nothing.
    fn stray(source: &str, offset: usize) -> Self {
        let bracket = source.get(offset..=offset).unwrap_or("}");
        Self {
            message: format!("unmatched `{bracket}`"),
            offset: PREFIX.len() + offset,
            more: 0,
        }
    }

    /// The first error, where there is one.
    pub(crate) fn first(diagnostics: &[OxcDiagnostic]) -> Option<Self> {
        use oxc_diagnostics::Severity::Error;
        let errors = || {
            diagnostics
                .iter()
                .filter(|diagnostic| diagnostic.severity == Error)
        };
        let offset = |error: &OxcDiagnostic| {
            // A redeclaration is labelled where the name was first declared, too.
            let repeated = error.message.ends_with("already been declared");
            let label = if repeated {
                error.labels.last()
            } else {
                error.labels.first()
            };
            label.map_or(0, |label| label.offset() as usize)
        };
        // Errors of one text are reported in no useful order.
        let first = errors().min_by_key(|error| offset(error))?;
        let mut message = lower_first(&first.message);
        if let Some(help) = first.help.as_deref().and_then(|help| help.lines().next()) {
            message = format!("{message} ({})", lower_first(help));
        }
        Some(Self {
            message: shorten(message),
            offset: offset(first),
            more: errors().count() - 1,
        })
    }

    /// The refusal, for an error in a text that has `before` bytes before the submitted one.
    pub(crate) fn refusal(self, source: &str, before: usize, language: Language) -> Refusal {
        let offset = self.offset.saturating_sub(before);
        let message = if offset > source.len()
            || (before > 0 && offset == source.len() && self.message == UNEXPECTED)
        {
            "unexpected end of the program".to_owned()
        } else {
            self.message
        };
        let position = Lines::new(source).position(offset);
        Refusal::Syntax {
            language,
            message,
            position,
            more: self.more,
        }
    }
}

const UNEXPECTED: &str = "unexpected token";

/// Longest message of the parser that is passed on, in characters: names in it are as long as the program likes.
const MAX_MESSAGE: usize = 300;

fn shorten(message: String) -> String {
    match message.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}…", message.get(..end).unwrap_or_default()),
        None => message,
    }
}

/// Parser messages begin with a capital and end with a full stop; ours stand inside a sentence.
fn lower_first(text: &str) -> String {
    let text = text.trim_end_matches('.');
    let mut chars = text.chars();
    match (chars.next(), text.chars().nth(1)) {
        (Some(first), Some(second)) if first.is_ascii_uppercase() && !second.is_ascii_uppercase() => {
            std::iter::once(first.to_ascii_lowercase()).chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

/// Whether the wrapped text is one function: otherwise a `}` of the program has closed it.
fn is_one_function(program: &Program<'_>, len: usize) -> bool {
    let [Statement::ExpressionStatement(statement)] = program.body.as_slice() else {
        return false;
    };
    let Expression::ParenthesizedExpression(parentheses) = &statement.expression else {
        return false;
    };
    let Expression::FunctionExpression(function) = &parentheses.expression else {
        return false;
    };
    let Some(body) = &function.body else { return false };
    program.directives.is_empty()
        && function.r#async
        && function.span.start == FUNCTION
        && body.span.end as usize == len - 1
        && parentheses.span.end as usize == len
}
