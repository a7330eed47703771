//! Finds what reaches for a module. Strings, comments, methods and local bindings of the same name are innocent.

use oxc_ast::ast::{
    CallExpression, Expression, ImportExpression, ImportMeta, ModuleDeclaration, Program,
    TSExternalModuleReference, TSModuleBlock,
};
use oxc_ast_visit::{Visit, walk};
use oxc_semantic::Scoping;
use oxc_span::{GetSpan, Span};

/// A use of the module system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ModuleUse {
    pub(crate) what: &'static str,
    pub(crate) at: u32,
}

/// The first use of the module system in a program. `scoping` tells a free `require` from a local one; without it
/// only what is syntax counts.
pub(crate) fn first_use(program: &Program<'_>, scoping: Option<&Scoping>) -> Option<ModuleUse> {
    let text = program.source_text;
    // Escapes spell the same names, so they count as a reason to look.
    if !["import", "export", "require", "\\"]
        .iter()
        .any(|word| text.contains(word))
    {
        return None;
    }
    let mut finder = Finder {
        scoping,
        namespaces: 0,
        first: None,
    };
    finder.visit_program(program);
    finder.first
}

struct Finder<'s> {
    scoping: Option<&'s Scoping>,
    /// Namespaces around the node at hand: what they export stays in the program.
    namespaces: u32,
    first: Option<ModuleUse>,
}

impl Finder<'_> {
    fn found(&mut self, what: &'static str, span: Span) {
        if self.first.is_none_or(|first| span.start < first.at) {
            self.first = Some(ModuleUse { what, at: span.start });
        }
    }

    /// Whether calling `callee` calls the global `require`, however it is dressed up.
    fn is_free_require(&self, callee: &Expression<'_>) -> bool {
        let mut callee = callee;
        loop {
            callee = match callee.get_inner_expression() {
                Expression::SequenceExpression(sequence) => match sequence.expressions.last() {
                    Some(last) => last,
                    None => return false,
                },
                Expression::Identifier(name) => {
                    return name.name == "require"
                        && self.scoping.is_some_and(|scoping| {
                            let reference = name.reference_id.get();
                            reference.is_none_or(|id| !scoping.has_binding(id))
                        });
                }
                _ => return false,
            };
        }
    }
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_module_declaration(&mut self, declaration: &ModuleDeclaration<'a>) {
        let what = match declaration {
            ModuleDeclaration::ImportDeclaration(_) => "`import`",
            _ => "`export`",
        };
        if self.namespaces == 0 {
            self.found(what, declaration.span());
        }
        walk::walk_module_declaration(self, declaration);
    }

    fn visit_ts_module_block(&mut self, block: &TSModuleBlock<'a>) {
        self.namespaces += 1;
        walk::walk_ts_module_block(self, block);
        self.namespaces -= 1;
    }

    fn visit_import_expression(&mut self, import: &ImportExpression<'a>) {
        self.found("`import()`", import.span);
        walk::walk_import_expression(self, import);
    }

    fn visit_import_meta(&mut self, meta: &ImportMeta) {
        self.found("`import.meta`", meta.span);
    }

    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        if self.is_free_require(&call.callee) {
            self.found("`require()`", call.span);
        }
        walk::walk_call_expression(self, call);
    }

    fn visit_ts_external_module_reference(&mut self, reference: &TSExternalModuleReference<'a>) {
        self.found("`require()`", reference.span);
    }
}
