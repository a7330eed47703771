//! TypeScript: read as a module that may `return`, written back as JavaScript without its types.

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_codegen::{Codegen, CodegenOptions, CommentOptions};
use oxc_parser::{ParseOptions, Parser, ParserReturn};
use oxc_span::SourceType;
use oxc_transformer::{TransformOptions, Transformer};

use crate::position::PositionMap;
use crate::refusal::Refusal;
use crate::script::{self, Problem};
use crate::{Language, Prepared, enums, modules, shell};

/// The name in the source map, which nobody sees.
const NAME: &str = "cell.ts";

pub(crate) fn prepare(source: &str) -> Result<Prepared, Refusal> {
    let allocator = Allocator::default();
    // A module and not a function body: namespaces may stand only at the top, and `await` may there too.
    let source_type = SourceType::ts().with_module(true);
    let options = ParseOptions {
        allow_return_outside_function: true,
        ..script::options()
    };
    let parsed = Parser::new(&allocator, source, source_type)
        .with_options(options)
        .parse();
    let mut program = parsed.program;
    if parsed.panicked || parsed.diagnostics.has_errors() {
        if let Some(found) = modules::first_use(&program, None) {
            return Err(script::module_access(source, found, 0));
        }
        if let Some(command) = shell::command(source, None) {
            return Err(Refusal::Shell { command });
        }
        return Err(refusal(source, Problem::first(&parsed.diagnostics)));
    }
    enums::check(&program)?;
    let checked = script::check(&program);
    if let Some(found) = modules::first_use(&program, Some(&checked.scoping)) {
        return Err(script::module_access(source, found, 0));
    }
    if let Some(command) = shell::command(source, Some(&checked.scoping)) {
        return Err(Refusal::Shell { command });
    }
    if checked.problem.is_some() {
        return Err(refusal(source, checked.problem));
    }
    // No target is set, so nothing but the types goes: the guest runs everything else as it stands.
    let transformed = Transformer::new(&allocator, Path::new(NAME), &TransformOptions::default())
        .build_with_scoping(checked.scoping, &mut program);
    if let Some(problem) = Problem::first(&transformed.diagnostics) {
        return Err(refusal(source, Some(problem)));
    }
    let written = Codegen::new()
        .with_options(CodegenOptions {
            comments: CommentOptions::disabled(),
            source_map_path: Some(NAME.into()),
            // Indentation would make deeply nested code grow with the square of its depth.
            indent_width: 0,
            ..CodegenOptions::default()
        })
        .with_source_text(source)
        .build(&program);
    let map = match &written.map {
        Some(map) => PositionMap::generated(
            &written.code,
            source,
            map.get_tokens().map(|token| {
                (
                    token.get_dst_line(),
                    token.get_dst_col(),
                    token.get_src_line(),
                    token.get_src_col(),
                )
            }),
        ),
        None => PositionMap::identity(),
    };
    Ok(Prepared {
        code: written.code,
        map,
    })
}

/// Whether `source` is TypeScript as far as the grammar goes, and so could have been meant to be.
pub(crate) fn parses(source: &str) -> bool {
    let allocator = Allocator::default();
    let parsed = parse(&allocator, source);
    !parsed.panicked
        && !parsed.diagnostics.has_errors()
        // The checks compute enum constants.
        && enums::check(&parsed.program).is_ok()
        && script::check(&parsed.program).problem.is_none()
}

/// Parses as a module and not as a function body: namespaces may stand only at the top, and `await` may there too.
fn parse<'a>(allocator: &'a Allocator, source: &'a str) -> ParserReturn<'a> {
    let source_type = SourceType::ts().with_module(true);
    let options = ParseOptions {
        allow_return_outside_function: true,
        ..script::options()
    };
    Parser::new(allocator, source, source_type)
        .with_options(options)
        .parse()
}

fn refusal(source: &str, problem: Option<Problem>) -> Refusal {
    problem
        .unwrap_or_default()
        .refusal(source, 0, Language::TypeScript)
}
