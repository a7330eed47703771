//! JSON values as types: `enum` and `const`.

use serde_json::{Number, Value};

use super::{
    text::quote,
    types::{Literal, Object, Property, Rest, Scalar, Tuple, Type},
};

/// Largest integer up to which a double holds every integer.
pub(super) const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;
/// Most values of one `enum` that are spelled out; longer lists cost a reader more than they tell.
const MAX_VALUES: usize = 200;
/// Most characters those values take together.
const MAX_VALUE_CHARS: usize = 6_000;
/// Deepest constant that is spelled out.
const MAX_CONSTANT_DEPTH: usize = 4;
/// Most elements or properties of a constant that are spelled out.
const MAX_CONSTANT_PARTS: usize = 64;
/// How many values a list that is cut shows in its note.
const SHOWN: usize = 5;

/// The type whose values are exactly `values`, as far as types can.
pub(super) fn one_of(values: &[&Value]) -> Type {
    let chars: usize = values.iter().map(|value| size(value)).sum();
    if values.len() > MAX_VALUES || chars > MAX_VALUE_CHARS {
        let shown: Vec<String> = values
            .iter()
            .filter(|value| size(value) < 40)
            .take(SHOWN)
            .map(|value| spelled(value))
            .collect();
        return Type::union(values.iter().map(|value| widened(value))).noted(format!(
            "one of {} values: {}, …",
            values.len(),
            shown.join(", ")
        ));
    }
    if values.is_empty() {
        return Type::Never.noted("no value is allowed");
    }
    Type::union(values.iter().map(|value| exactly(value, 0)))
}

/// The type with this one value.
fn exactly(value: &Value, depth: usize) -> Type {
    match value {
        Value::Null => Type::Null,
        Value::Bool(value) => literal(Scalar::Boolean, value.to_string()),
        Value::Number(value) => number(value),
        Value::String(text) => literal(Scalar::String, quote(text)),
        Value::Array(items) if depth < MAX_CONSTANT_DEPTH && items.len() <= MAX_CONSTANT_PARTS => {
            Type::Tuple(Tuple {
                items: items.iter().map(|item| exactly(item, depth + 1)).collect(),
                required: items.len(),
                rest: None,
            })
        }
        Value::Object(map) if depth < MAX_CONSTANT_DEPTH && map.len() <= MAX_CONSTANT_PARTS => {
            let properties = map
                .iter()
                .map(|(name, value)| Property {
                    name: name.clone(),
                    docs: String::new(),
                    facts: String::new(),
                    optional: false,
                    ty: exactly(value, depth + 1),
                })
                .collect();
            Type::Object(Object {
                properties,
                rest: Rest::Closed,
            })
        }
        Value::Array(_) | Value::Object(_) => widened(value).noted("a constant too large to spell out"),
    }
}

fn number(value: &Number) -> Type {
    if let Some(value) = value.as_i64() {
        let of = if value.unsigned_abs() > MAX_SAFE_INTEGER {
            Scalar::BigInt
        } else {
            Scalar::Number
        };
        return literal(
            of,
            format!("{value}{}", if of == Scalar::BigInt { "n" } else { "" }),
        );
    }
    if let Some(value) = value.as_u64() {
        return literal(Scalar::BigInt, format!("{value}n"));
    }
    let text = match value.as_f64() {
        Some(double) if double.fract() == 0.0 && double.abs() < 1e15 => {
            // Rounds nothing away, and writes `-0.0` and `0.0` alike, as TypeScript does not tell them apart.
            format!("{:.0}", double.abs() * if double < 0.0 { -1.0 } else { 1.0 })
        }
        _ => value.to_string(),
    };
    literal(Scalar::Number, text)
}

fn literal(of: Scalar, text: String) -> Type {
    Type::Literal(Literal { of, text })
}

fn widened(value: &Value) -> Type {
    match value {
        Value::Null => Type::Null,
        Value::Bool(_) => Type::Boolean,
        Value::Number(_) => match exactly(value, 0) {
            Type::Literal(Literal {
                of: Scalar::BigInt, ..
            }) => Type::BigInt,
            _ => Type::Number,
        },
        Value::String(_) => Type::String,
        Value::Array(_) => Type::Array(Box::new(Type::Unknown)),
        Value::Object(_) => Type::any_object(),
    }
}

fn spelled(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text),
        other => other.to_string(),
    }
}

/// About how many characters a value takes, without walking far into it.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().take(MAX_CONSTANT_PARTS).map(shallow).sum::<usize>(),
        Value::Object(map) => {
            2 + map
                .iter()
                .take(MAX_CONSTANT_PARTS)
                .map(|(k, v)| k.len() + shallow(v))
                .sum::<usize>()
        }
        _ => 8,
    }
}

fn shallow(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 8 * items.len(),
        Value::Object(map) => 16 * map.len(),
        _ => 8,
    }
}
