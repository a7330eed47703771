//! Reads the body of a request field by field. Each value knows where it stands, so that an error can say so.
use serde_json::Value;

use super::super::error::ApiError;

/// A value of a body, and its path, such as `messages[1].content`.
#[derive(Clone, Debug)]
pub(super) struct Part<'v> {
    value: &'v Value,
    path: String,
}

impl<'v> Part<'v> {
    /// The whole body, which must be an object.
    pub(super) fn body(value: &'v Value) -> Result<Self, ApiError> {
        if value.is_object() {
            let path = String::new();
            return Ok(Self { value, path });
        }
        let message = "the body must be a JSON object";
        Err(ApiError::bad_request("invalid_json", message))
    }

    pub(super) fn value(&self) -> &'v Value {
        self.value
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// A field. One that is `null` is not there.
    pub(super) fn get(&self, name: &str) -> Option<Self> {
        let value = self.value.get(name).filter(|value| !value.is_null())?;
        let path = self.path_of(name);
        Some(Self { value, path })
    }

    /// A field that must be there.
    pub(super) fn need(&self, name: &str) -> Result<Self, ApiError> {
        self.get(name).ok_or_else(|| {
            let path = self.path_of(name);
            ApiError::bad_request("missing_required_parameter", format!("`{path}` is missing")).at(path)
        })
    }

    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.path)
        }
    }

    pub(super) fn text(&self) -> Result<&'v str, ApiError> {
        self.value.as_str().ok_or_else(|| self.wrong_type("a string"))
    }

    pub(super) fn flag(&self) -> Result<bool, ApiError> {
        self.value
            .as_bool()
            .ok_or_else(|| self.wrong_type("true or false"))
    }

    /// A whole number above nought.
    pub(super) fn count(&self) -> Result<u64, ApiError> {
        let count = self.value.as_u64().filter(|count| *count > 0);
        count.ok_or_else(|| self.wrong_type("a whole number above 0"))
    }

    /// A number from `least` to `most`.
    pub(super) fn number(&self, least: f64, most: f64) -> Result<f64, ApiError> {
        let number = self
            .value
            .as_f64()
            .filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| self.wrong_type(&format!("a number from {least} to {most}")))
    }

    pub(super) fn object(self) -> Result<Self, ApiError> {
        if self.value.is_object() {
            Ok(self)
        } else {
            Err(self.wrong_type("an object"))
        }
    }

    pub(super) fn items(&self) -> Result<Vec<Self>, ApiError> {
        let items = self.value.as_array().ok_or_else(|| self.wrong_type("an array"))?;
        let part = |(at, value)| Self {
            value,
            path: format!("{}[{at}]", self.path),
        };
        Ok(items.iter().enumerate().map(part).collect())
    }

    fn wrong_type(&self, wanted: &str) -> ApiError {
        let path = &self.path;
        ApiError::bad_request("invalid_type", format!("`{path}` must be {wanted}")).at(path)
    }

    /// The value is of the right type, and wrong. The message goes on after the path.
    pub(super) fn invalid(&self, problem: &str) -> ApiError {
        ApiError::bad_request("invalid_value", format!("`{}` {problem}", self.path)).at(&self.path)
    }

    /// The value means something that this server does not do. The message goes on after the path.
    pub(super) fn unsupported(&self, problem: &str) -> ApiError {
        ApiError::bad_request("unsupported_value", format!("`{}` {problem}", self.path)).at(&self.path)
    }
}

/// A field that this server cannot honour, and without which the answer would be another.
pub(super) struct Refused {
    pub(super) field: &'static str,
    /// Whether this value asks for what is not there.
    pub(super) when: fn(&Value) -> bool,
    pub(super) why: &'static str,
}

/// Fails when one of these fields asks for what is not there.
pub(super) fn refuse(body: &Part<'_>, fields: &[Refused]) -> Result<(), ApiError> {
    for Refused { field, when, why } in fields {
        if let Some(part) = body.get(field)
            && when(part.value())
        {
            return Err(part.unsupported(why));
        }
    }
    Ok(())
}

/// Whether a value is more than an empty one or `false`.
pub(super) fn is_given(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::Bool(true) | Value::Object(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_names_the_place_and_what_belongs_there() {
        let body = json!({ "a": [{ "b": 1, "n": null }], "t": 3 });
        let part = || Part::body(&body).unwrap();
        let item = || part().get("a").unwrap().items().unwrap().remove(0);
        for (error, message, param) in [
            (
                item().get("b").unwrap().text().unwrap_err(),
                "`a[0].b` must be a string",
                "a[0].b",
            ),
            (item().need("n").unwrap_err(), "`a[0].n` is missing", "a[0].n"),
            (part().need("x").unwrap_err(), "`x` is missing", "x"),
            (
                part().get("t").unwrap().number(0.0, 2.0).unwrap_err(),
                "`t` must be a number from 0 to 2",
                "t",
            ),
        ] {
            assert_eq!(
                (error.body.message.as_str(), error.body.param.as_deref()),
                (message, Some(param))
            );
        }
        let error = Part::body(&json!([])).unwrap_err();
        assert_eq!(
            (error.body.message.as_str(), error.body.code),
            ("the body must be a JSON object", Some("invalid_json"))
        );
    }
}
