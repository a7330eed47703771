use std::fmt::Write as _;

use jsonschema::{
    ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind as Kind},
    paths::{Location, LocationSegment},
};
use serde_json::{Map, Value};

use crate::lookup::nearest_name;

/// Problems told at once: enough to correct a call in one go.
const MAX_PROBLEMS: usize = 10;

/// Errors looked at to find them; a large value can have one per item.
const MAX_ERRORS: usize = 64;

/// Characters shown of a value, a pattern or a list of choices.
const MAX_SHOWN_CHARS: usize = 80;

/// How far a union is followed to the branch that was meant.
const MAX_BRANCH_DEPTH: usize = 6;

/// Whether a problem may repeat what was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Showing {
    /// The reader wrote the value: show it, shortened.
    Values,
    /// The value came from a tool: only what kind of thing it is, and only names the schema has itself.
    KindsOnly,
}

/// The line for something that should have been an argument object.
pub(super) fn not_an_object(value: &Value) -> String {
    format!("(root): expected object, got {}", got(value, Showing::Values))
}

/// One line per problem, in the order of the schema.
pub(super) fn problems(
    validator: &Validator,
    schema: &Value,
    value: &Value,
    showing: Showing,
) -> Vec<String> {
    let teller = Teller { schema, showing };
    let mut lines = Vec::new();
    let mut errors = validator.iter_errors(value);
    for error in errors.by_ref().take(MAX_ERRORS) {
        teller.tell(&error, 0, &mut lines);
    }
    let mut seen = std::collections::HashSet::new();
    lines.retain(|line| seen.insert(line.clone()));
    let more = lines.len().saturating_sub(MAX_PROBLEMS) + errors.count();
    lines.truncate(MAX_PROBLEMS);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    if lines.is_empty() {
        lines.push("(root): expected a value that fits the schema".to_owned());
    }
    lines
}

struct Teller<'s> {
    schema: &'s Value,
    showing: Showing,
}

impl Teller<'_> {
    fn tell(&self, error: &ValidationError<'_>, depth: usize, lines: &mut Vec<String>) {
        let at = error.instance_path();
        match error.kind() {
            Kind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let expected = self.declared(error, name);
                lines.push(format!(
                    "{}: expected {expected}, got nothing",
                    self.member(at, name)
                ));
            }
            Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
                self.tell_unexpected(error, unexpected, lines);
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } if depth < MAX_BRANCH_DEPTH => {
                match meant(context, at) {
                    Some(branch) => branch.iter().for_each(|error| self.tell(error, depth + 1, lines)),
                    None => lines.push(self.line(error, &self.hint_at(error.schema_path()))),
                }
            }
            Kind::PropertyNames { error: inner } => {
                let name = inner.instance();
                lines.push(format!(
                    "{}: expected another property name, got {}",
                    self.path(at),
                    self.got(name)
                ));
            }
            kind => lines.push(self.line(error, &expectation(kind))),
        }
    }

    fn line(&self, error: &ValidationError<'_>, expected: &str) -> String {
        let value = error.instance();
        let advice = match error.kind() {
            Kind::Type { kind } => self.unquoted(value, &type_names(kind)),
            _ => "",
        };
        format!(
            "{}: expected {expected}, got {}{advice}",
            self.path(error.instance_path()),
            self.got(value)
        )
    }

    /// Models often send `"5"` for 5 and `"[1]"` for a list. It is refused, and said.
    fn unquoted(&self, value: &Value, expected: &[&str]) -> &'static str {
        let (Value::String(text), Showing::Values) = (value, self.showing) else {
            return "";
        };
        let inside: Option<Value> = serde_json::from_str(text).ok();
        let fits = |kind: &&str| match &inside {
            Some(Value::Array(_)) => *kind == "array",
            Some(Value::Object(_)) => *kind == "object",
            Some(Value::Bool(_)) => *kind == "boolean",
            Some(Value::Number(number)) => *kind == "number" || (*kind == "integer" && !number.is_f64()),
            _ => false,
        };
        if expected.iter().any(fits) {
            "; pass the value itself, not JSON text of it"
        } else {
            ""
        }
    }

    fn tell_unexpected(&self, error: &ValidationError<'_>, unexpected: &[String], lines: &mut Vec<String>) {
        let at = error.instance_path();
        if self.showing == Showing::KindsOnly {
            lines.push(format!(
                "{}: expected no undeclared properties, got {}",
                self.path(at),
                unexpected.len()
            ));
            return;
        }
        let declared = self.properties(error);
        let value = error.instance();
        for name in unexpected.iter().take(MAX_PROBLEMS) {
            let given = value
                .get(name)
                .map_or_else(|| "one".to_owned(), |member| self.got(member));
            let mut line = format!(
                "{}: expected no such property, got {given}",
                self.member(at, name)
            );
            let free = declared
                .iter()
                .flat_map(|names| names.keys())
                .map(String::as_str)
                .filter(|name| value.get(name).is_none());
            if let Some(near) = nearest_name(name, free) {
                let _ = write!(line, "; did you mean `{near}`?");
            }
            lines.push(line);
        }
    }

    /// The `properties` beside the keyword that failed.
    fn properties(&self, error: &ValidationError<'_>) -> Option<&Map<String, Value>> {
        let keyword = error.schema_path().as_str();
        let holder = keyword.rsplit_once('/').map_or("", |(holder, _)| holder);
        self.schema.pointer(holder)?.get("properties")?.as_object()
    }

    fn declared(&self, error: &ValidationError<'_>, name: &str) -> String {
        let property = self.properties(error).and_then(|properties| properties.get(name));
        property.map_or_else(|| "a value".to_owned(), hint)
    }

    fn hint_at(&self, keyword: &Location) -> String {
        let holder = keyword.as_str().rsplit_once('/').map_or("", |(holder, _)| holder);
        self.schema
            .pointer(holder)
            .map_or_else(|| "a value".to_owned(), hint)
    }

    fn got(&self, value: &Value) -> String {
        got(value, self.showing)
    }

    fn path(&self, location: &Location) -> String {
        let mut path = String::new();
        for segment in location.segments() {
            match segment {
                LocationSegment::Index(index) => {
                    let _ = write!(path, "[{index}]");
                }
                LocationSegment::Property(name) => self.push_member(&mut path, &name),
            }
        }
        if path.is_empty() {
            "(root)".to_owned()
        } else {
            path
        }
    }

    fn member(&self, location: &Location, name: &str) -> String {
        let mut path = if location.is_empty() {
            String::new()
        } else {
            self.path(location)
        };
        self.push_member(&mut path, name);
        path
    }

    fn push_member(&self, path: &mut String, name: &str) {
        // Keys of a dictionary are data of the tool, unlike names its schema declares.
        if self.showing == Showing::KindsOnly && !declares(self.schema, name) {
            path.push_str("[*]");
        } else if crate::schema::is_identifier(name) {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&cut(name));
        } else {
            let _ = write!(path, "[{}]", quoted(name));
        }
    }
}

/// The branch of a union that was meant: the only one that has no objection to the kind of value, nor to a constant
/// that tells the branches apart.
fn meant<'e>(
    context: &'e [Vec<ValidationError<'static>>],
    at: &Location,
) -> Option<&'e Vec<ValidationError<'static>>> {
    let depth = at.segments().count();
    let is_other = |error: &ValidationError<'static>| match error.kind() {
        Kind::Type { .. } => error.instance_path().segments().count() <= depth,
        Kind::Constant { .. } | Kind::Enum { .. } => error.instance_path().segments().count() <= depth + 1,
        _ => false,
    };
    let mut fitting = context
        .iter()
        .filter(|branch| !branch.is_empty() && !branch.iter().any(is_other));
    let first = fitting.next()?;
    fitting.next().is_none().then_some(first)
}

/// What the simple keywords ask for.
fn expectation(kind: &Kind) -> String {
    match kind {
        Kind::Type { kind } => type_names(kind).join(" or "),
        Kind::Enum { options } => choices(options),
        Kind::Constant { expected_value } => shown(expected_value),
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => "one of the alternatives of the schema".to_owned(),
        Kind::OneOfMultipleValid { .. } => "a value that fits exactly one alternative".to_owned(),
        Kind::FalseSchema => "no value here".to_owned(),
        Kind::Not { .. } => "a value that the schema does not exclude".to_owned(),
        Kind::Minimum { limit } => format!("at least {limit}"),
        Kind::Maximum { limit } => format!("at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("at least {limit} characters"),
        Kind::MaxLength { limit } => format!("at most {limit} characters"),
        Kind::MinItems { limit } => format!("at least {limit} items"),
        Kind::MaxItems { limit } => format!("at most {limit} items"),
        Kind::AdditionalItems { limit } => format!("at most {limit} items"),
        Kind::UnevaluatedItems { .. } => "no further items".to_owned(),
        Kind::MinProperties { limit } => format!("at least {limit} properties"),
        Kind::MaxProperties { limit } => format!("at most {limit} properties"),
        Kind::UniqueItems => "items that all differ".to_owned(),
        Kind::Contains => "an item of the kind the schema asks for".to_owned(),
        Kind::Pattern { pattern } => format!("text matching `{}`", cut(pattern)),
        _ => format!("what `{}` allows", cut(kind.keyword())),
    }
}

fn type_names(kind: &TypeKind) -> Vec<&'static str> {
    match kind {
        TypeKind::Single(name) => vec![name.as_str()],
        TypeKind::Multiple(names) => names.iter().map(|name| name.as_str()).collect(),
    }
}

fn choices(options: &Value) -> String {
    let all = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut text = String::new();
    for (position, option) in all.iter().enumerate() {
        let option = shown(option);
        if position > 0 && text.chars().count() + option.chars().count() > MAX_SHOWN_CHARS * 2 {
            let _ = write!(text, " or {} more", all.len() - position);
            break;
        }
        if position > 0 {
            text.push_str(" | ");
        }
        text.push_str(&option);
    }
    text
}

fn hint(schema: &Value) -> String {
    match crate::schema::input_hint(schema) {
        hint if hint == "unknown" => "a value".to_owned(),
        hint => hint,
    }
}

/// What was given, never all of a long value.
fn got(value: &Value, showing: Showing) -> String {
    let kind = match value {
        Value::Null => return "null".to_owned(),
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(items) => return format!("array of {}", items.len()),
        Value::Object(_) => return "object".to_owned(),
    };
    match showing {
        Showing::Values => format!("{kind} ({})", shown(value)),
        Showing::KindsOnly => kind.to_owned(),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        other => cut(&other.to_string()),
    }
}

fn quoted(text: &str) -> String {
    Value::from(cut(text)).to_string()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Whether any part of the schema has a property of this name. The schema is known to be shallow.
fn declares(schema: &Value, name: &str) -> bool {
    match schema {
        Value::Object(members) => {
            members
                .get("properties")
                .is_some_and(|properties| properties.get(name).is_some())
                || members.values().any(|member| declares(member, name))
        }
        Value::Array(items) => items.iter().any(|item| declares(item, name)),
        _ => false,
    }
}
