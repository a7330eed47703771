//! Bounds the text that constant enum members may grow to: each may be the one before it, twice.

use std::collections::HashMap;

use oxc_ast::ast::{Expression, Program, TSEnumMember, TSEnumMemberName};
use oxc_ast_visit::{Visit, walk};

use crate::position::Lines;
use crate::refusal::Refusal;

/// Longest constant a member may have, in bytes. The transformer computes it and writes it out.
const MAX_CONSTANT_BYTES: u64 = 64 * 1024;
/// Most bytes of all constants together.
const MAX_CONSTANTS_BYTES: u64 = 4 * 1024 * 1024;
/// More than any number has when it becomes text.
const NUMBER_BYTES: u64 = 32;

/// Refuses programs whose enums would compute more text than a person could mean.
pub(crate) fn check(program: &Program<'_>) -> Result<(), Refusal> {
    let mut bounds = Bounds {
        longest: HashMap::new(),
        total: 0,
        too_long_at: None,
    };
    if program.source_text.contains("enum") {
        bounds.visit_program(program);
    }
    match bounds.too_long_at {
        None => Ok(()),
        Some(offset) => Err(Refusal::TooDeep {
            what: "bytes of text in constant enum members",
            limit: u32::try_from(MAX_CONSTANT_BYTES).unwrap_or(u32::MAX),
            position: Lines::new(program.source_text).position(offset as usize),
        }),
    }
}

struct Bounds<'a> {
    /// The longest text any member of that name may have. Which enum a reference means does not matter then.
    longest: HashMap<&'a str, u64>,
    total: u64,
    too_long_at: Option<u32>,
}

impl Bounds<'_> {
    fn of(&self, expression: &Expression<'_>) -> u64 {
        let known = |name: &str| self.longest.get(name).copied().unwrap_or(NUMBER_BYTES);
        match expression {
            Expression::StringLiteral(text) => text.value.len() as u64,
            Expression::TemplateLiteral(template) => {
                let fixed: u64 = template
                    .quasis
                    .iter()
                    .map(|part| part.value.raw.len() as u64)
                    .sum();
                template
                    .expressions
                    .iter()
                    .fold(fixed, |sum, part| sum.saturating_add(self.of(part)))
            }
            Expression::Identifier(name) => known(name.name.as_str()),
            Expression::StaticMemberExpression(member) => known(member.property.name.as_str()),
            Expression::ComputedMemberExpression(member) => match &member.expression {
                Expression::StringLiteral(name) => known(name.value.as_str()),
                _ => NUMBER_BYTES,
            },
            Expression::BinaryExpression(sum) => self.of(&sum.left).saturating_add(self.of(&sum.right)),
            Expression::ParenthesizedExpression(inner) => self.of(&inner.expression),
            _ => NUMBER_BYTES,
        }
    }
}

impl<'a> Visit<'a> for Bounds<'a> {
    fn visit_ts_enum_member(&mut self, member: &TSEnumMember<'a>) {
        let length = member
            .initializer
            .as_ref()
            .map_or(NUMBER_BYTES, |value| self.of(value));
        self.total = self.total.saturating_add(length);
        if length > MAX_CONSTANT_BYTES || self.total > MAX_CONSTANTS_BYTES {
            self.too_long_at.get_or_insert(member.span.start);
        }
        let name = match &member.id {
            TSEnumMemberName::Identifier(name) => name.name.as_str(),
            TSEnumMemberName::String(name) | TSEnumMemberName::ComputedString(name) => name.value.as_str(),
            TSEnumMemberName::ComputedTemplateString(_) => "",
        };
        let longest = self.longest.entry(name).or_default();
        *longest = (*longest).max(length);
        walk::walk_ts_enum_member(self, member);
    }
}
