use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// One JSON value, kept as the text it arrived in.
///
/// Values cross the wall as text because text is exact: an integer of any size, the order of keys and a lone
/// surrogate escape all survive, which no parsed representation here would guarantee. The text is known to be
/// valid JSON; cloning is a reference count.
#[derive(Clone, PartialEq, Eq)]
pub struct Json(Arc<str>);

impl Json {
    /// The value `null`.
    #[must_use]
    pub fn null() -> Self {
        Self("null".into())
    }

    /// Checks that `text` is one JSON value and keeps it as it is.
    ///
    /// # Errors
    ///
    /// Fails with the parser's message when `text` is anything else.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let raw: &RawValue = serde_json::from_str(text)?;
        Ok(Self(raw.get().into()))
    }

    /// Writes `value` as JSON.
    ///
    /// # Errors
    ///
    /// Fails when `value` has no JSON form, for example a map with keys that are not strings.
    pub fn of(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        Ok(Self(serde_json::to_string(value)?.into()))
    }

    /// The JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The length of the text in bytes of UTF-8.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Always false: no JSON value has an empty text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads the value into a Rust type. Integers beyond 64 bits become floats in a `serde_json::Value`.
    ///
    /// # Errors
    ///
    /// Fails when the value does not have the shape of `T`.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0)
    }
}

impl From<Box<RawValue>> for Json {
    fn from(raw: Box<RawValue>) -> Self {
        Self(String::from(Box::<str>::from(raw)).into())
    }
}

impl From<&serde_json::Value> for Json {
    fn from(value: &serde_json::Value) -> Self {
        Self(value.to_string().into())
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        Self::from(&value)
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Box::<RawValue>::deserialize(deserializer)?.into())
    }
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn an_integer_of_any_size_survives_a_round_trip() {
        let text = r#"{"id":123456789012345678901234567890}"#;
        let json = Json::parse(text).unwrap();
        assert_eq!(serde_json::to_string(&[json]).unwrap(), format!("[{text}]"));
    }

    #[test]
    fn text_that_is_not_one_json_value_is_refused() {
        for text in ["", "1 2", "{", "undefined", "{'a':1}"] {
            assert!(Json::parse(text).is_err(), "{text:?}");
        }
    }
}
