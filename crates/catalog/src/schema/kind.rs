//! The seven types that JSON Schema names.

use serde_json::{Map, Value};

use super::types::Type;

/// The types JSON Schema names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Boolean,
    Number,
    Integer,
    String,
    Array,
    Object,
}

impl Kind {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "number" => Self::Number,
            "integer" => Self::Integer,
            "string" => Self::String,
            "array" => Self::Array,
            "object" => Self::Object,
            _ => return None,
        })
    }

    /// Every value of the kind.
    pub(super) fn any(self) -> Type {
        match self {
            Self::Null => Type::Null,
            Self::Boolean => Type::Boolean,
            Self::Number | Self::Integer => Type::Number,
            Self::String => Type::String,
            Self::Array => Type::Array(Box::new(Type::Unknown)),
            Self::Object => Type::any_object(),
        }
    }

    pub(super) fn has(self, value: &Value) -> bool {
        match self {
            Self::Null => value.is_null(),
            Self::Boolean => value.is_boolean(),
            Self::Number => value.is_number(),
            Self::Integer => {
                value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|value| value.fract() == 0.0)
            }
            Self::String => value.is_string(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
        }
    }
}

/// The kinds that do not overlap.
pub(super) const ALL_KINDS: [Kind; 6] = [
    Kind::String,
    Kind::Number,
    Kind::Boolean,
    Kind::Null,
    Kind::Array,
    Kind::Object,
];

/// The kinds that `not` rules out, if it speaks of nothing but kinds that a type can leave out.
pub(super) fn excluded(not: &Value) -> Option<Vec<Kind>> {
    let keywords = not.as_object().filter(|keywords| keywords.len() == 1)?;
    let names = match keywords.get("type")? {
        Value::Array(names) => names.iter().collect(),
        name => vec![name],
    };
    names
        .into_iter()
        .map(|name| {
            name.as_str()
                .and_then(Kind::named)
                .filter(|kind| *kind != Kind::Integer)
        })
        .collect()
}

/// What a schema without `type` is about, if its keywords agree.
pub(super) fn suggested(keywords: &Map<String, Value>) -> Option<Kind> {
    const CLUES: &[(Kind, &[&str])] = &[
        (
            Kind::Object,
            &[
                "properties",
                "required",
                "additionalProperties",
                "patternProperties",
                "propertyNames",
            ],
        ),
        (
            Kind::Array,
            &["items", "prefixItems", "minItems", "maxItems", "uniqueItems"],
        ),
        (Kind::String, &["minLength", "maxLength", "pattern"]),
        (
            Kind::Number,
            &[
                "minimum",
                "maximum",
                "exclusiveMinimum",
                "exclusiveMaximum",
                "multipleOf",
            ],
        ),
    ];
    let mut kinds = CLUES
        .iter()
        .filter(|(_, clues)| clues.iter().any(|clue| keywords.contains_key(*clue)))
        .map(|(kind, _)| *kind);
    let first = kinds.next()?;
    kinds.next().is_none().then_some(first)
}
