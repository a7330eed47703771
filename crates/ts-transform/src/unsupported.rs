//! Finds syntax that parses here and that the guest's engine does not have.

use oxc_ast::ast::{AccessorProperty, AccessorPropertyType, Decorator, Program};
use oxc_ast_visit::{Visit, walk};

/// A form the engine would stumble over, and where it stands.
pub(crate) struct Unsupported {
    pub(crate) message: &'static str,
    pub(crate) at: u32,
}

/// The first such form in a program.
pub(crate) fn first(program: &Program<'_>) -> Option<Unsupported> {
    let text = program.source_text;
    if !text.contains('@') && !text.contains("accessor") {
        return None;
    }
    let mut finder = Finder(None);
    finder.visit_program(program);
    finder.0
}

struct Finder(Option<Unsupported>);

impl Finder {
    fn found(&mut self, message: &'static str, at: u32) {
        if self.0.as_ref().is_none_or(|first| at < first.at) {
            self.0 = Some(Unsupported { message, at });
        }
    }
}

impl<'a> Visit<'a> for Finder {
    fn visit_decorator(&mut self, decorator: &Decorator<'a>) {
        self.found(
            "decorators are not supported; call the function on the class or method yourself",
            decorator.span.start,
        );
    }

    fn visit_accessor_property(&mut self, property: &AccessorProperty<'a>) {
        if property.r#type == AccessorPropertyType::AccessorProperty {
            self.found(
                "`accessor` fields are not supported; write a getter and a setter",
                property.span.start,
            );
        }
        walk::walk_accessor_property(self, property);
    }
}
