//! Objects that are put together.
use serde_json::Value;

/// The fields of `first`, and then those of `more`. Of two with one name the later counts.
pub(super) fn with(mut first: Value, more: Value) -> Value {
    if let (Value::Object(fields), Value::Object(more)) = (&mut first, more) {
        fields.extend(more);
    }
    first
}
