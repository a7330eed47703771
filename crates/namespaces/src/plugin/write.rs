//! A scope as the text from which the guest builds its objects.

use std::collections::HashSet;

use codecell_catalog::schema::comment;
use serde_json::Value;

use super::scope::{Scope, ScopeValue};

/// How deep the values of a scope may nest, data included.
pub const MAX_SCOPE_DEPTH: usize = 64;
/// How many values a scope may hold, each counted as often as the guest sees it.
///
/// A value that is shared is copied, so a few shared references within one another would otherwise fill any memory.
pub const MAX_SCOPE_NODES: usize = 10_000;
/// Largest text of a scope, in bytes of UTF-8: it lies in the memory of every cell that touches the namespace.
pub const MAX_SCOPE_BYTES: usize = 256 * 1024;

/// Longest path that an error repeats.
const MAX_SHOWN_CHARS: usize = 120;

/// Why a scope cannot be given to a guest. The plugin that creates it has to be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScopeError {
    /// A name that no path may hold: empty, with a control character, or one that reaches into the language.
    #[error("Invalid code mode namespace path segment: {segment}{}", within(parent.as_deref()))]
    Segment {
        /// The name, escaped, or `(empty)`.
        segment: String,
        /// The path of the object it is in, shortened; none for the scope itself.
        parent: Option<String>,
    },
    /// Two members of one name: one of them could not be reached.
    #[error("Duplicate code mode namespace member at {path}.")]
    Duplicate {
        /// Its path, shortened.
        path: String,
    },
    /// A tool without a name.
    #[error("Code mode namespace toolName must be non-empty.")]
    BlankTool,
    /// An argument without a name of its own.
    #[error(
        "Code mode namespace tool {tool} must give each positional argument a non-empty name of its own, not \
         \"{name}\"."
    )]
    Positional {
        /// The tool.
        tool: String,
        /// The name that is empty or there twice.
        name: String,
    },
    /// Nested deeper than [`MAX_SCOPE_DEPTH`].
    #[error("Code mode namespace scope at {path} is nested deeper than {MAX_SCOPE_DEPTH} levels.")]
    TooDeep {
        /// Where it is too deep, shortened.
        path: String,
    },
    /// More than [`MAX_SCOPE_NODES`] values.
    #[error(
        "Code mode namespace scope has more than {MAX_SCOPE_NODES} values, shared ones counted each time; the first too many is at {path}."
    )]
    TooMany {
        /// The first value beyond, shortened.
        path: String,
    },
    /// More than [`MAX_SCOPE_BYTES`] of text.
    #[error(
        "Code mode namespace scope is larger than {MAX_SCOPE_BYTES} bytes of JSON; the first too many are at {path}. Give large data through a tool."
    )]
    TooLarge {
        /// The value that did not fit, shortened.
        path: String,
    },
}

fn within(parent: Option<&str>) -> String {
    parent.map(|parent| format!(" (in {parent})")).unwrap_or_default()
}

/// Names that reach a prototype instead of a member.
const UNSAFE: [&str; 3] = ["__proto__", "constructor", "prototype"];

/// The tree of `scope`: nested `{"object":{…}}`, `{"array":[…]}`, `{"value":…}` and `{"call":true}`.
pub(crate) fn write(scope: &Scope) -> Result<String, ScopeError> {
    let mut writer = Writer {
        out: String::new(),
        nodes: 1,
        path: Vec::new(),
    };
    writer.object(scope)?;
    Ok(writer.out)
}

struct Writer {
    out: String,
    nodes: usize,
    path: Vec<String>,
}

impl Writer {
    fn object(&mut self, scope: &Scope) -> Result<(), ScopeError> {
        let mut seen = HashSet::new();
        self.push(r#"{"object":{"#)?;
        for (at, (name, value)) in scope.members().iter().enumerate() {
            self.name(at, name)?;
            self.inside(name, |writer| {
                if seen.insert(name.as_str()) {
                    writer.value(value)
                } else {
                    Err(ScopeError::Duplicate { path: writer.shown() })
                }
            })?;
        }
        self.push("}}")
    }

    fn value(&mut self, value: &ScopeValue) -> Result<(), ScopeError> {
        match value.unshared() {
            ScopeValue::Object(scope) => self.object(scope),
            ScopeValue::Array(values) => {
                self.push(r#"{"array":["#)?;
                for (at, value) in values.iter().enumerate() {
                    self.separator(at)?;
                    self.inside(&at.to_string(), |writer| writer.value(value))?;
                }
                self.push("]}")
            }
            ScopeValue::Tool(tool) => {
                tool.check()?;
                self.push(r#"{"call":true}"#)
            }
            ScopeValue::Data(data) => {
                self.push(r#"{"value":"#)?;
                self.data(data)?;
                self.push("}")
            }
            // `unshared` leaves none.
            ScopeValue::Shared(_) => Ok(()),
        }
    }

    fn data(&mut self, data: &Value) -> Result<(), ScopeError> {
        match data {
            Value::Array(values) => {
                self.push("[")?;
                for (at, value) in values.iter().enumerate() {
                    self.separator(at)?;
                    self.inside(&at.to_string(), |writer| writer.data(value))?;
                }
                self.push("]")
            }
            Value::Object(members) => {
                self.push("{")?;
                for (at, (name, value)) in members.iter().enumerate() {
                    self.name(at, name)?;
                    self.inside(name, |writer| writer.data(value))?;
                }
                self.push("}")
            }
            Value::String(text) => self.string(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => self.push(&data.to_string()),
        }
    }

    /// Runs `write` one level deeper, for one more value.
    fn inside(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut Self) -> Result<(), ScopeError>,
    ) -> Result<(), ScopeError> {
        self.path.push(name.to_owned());
        if self.path.len() > MAX_SCOPE_DEPTH {
            return Err(ScopeError::TooDeep { path: self.shown() });
        }
        self.nodes += 1;
        if self.nodes > MAX_SCOPE_NODES {
            return Err(ScopeError::TooMany { path: self.shown() });
        }
        write(self)?;
        self.path.pop();
        Ok(())
    }

    fn name(&mut self, at: usize, name: &str) -> Result<(), ScopeError> {
        if name.is_empty() || UNSAFE.contains(&name) || name.chars().any(char::is_control) {
            let segment = if name.is_empty() {
                "(empty)".to_owned()
            } else {
                comment(&name.escape_debug().to_string(), MAX_SHOWN_CHARS)
            };
            return Err(ScopeError::Segment {
                segment,
                parent: (!self.path.is_empty()).then(|| self.shown()),
            });
        }
        self.separator(at)?;
        self.string(name)?;
        self.push(":")
    }

    fn separator(&mut self, at: usize) -> Result<(), ScopeError> {
        if at == 0 { Ok(()) } else { self.push(",") }
    }

    fn string(&mut self, text: &str) -> Result<(), ScopeError> {
        // Quoting only adds, so a text that does not fit as it is need not be copied to find that out.
        self.room(text.len())?;
        self.push(&Value::from(text).to_string())
    }

    fn push(&mut self, text: &str) -> Result<(), ScopeError> {
        self.room(text.len())?;
        self.out.push_str(text);
        Ok(())
    }

    fn room(&self, bytes: usize) -> Result<(), ScopeError> {
        if self.out.len().saturating_add(bytes) > MAX_SCOPE_BYTES {
            return Err(ScopeError::TooLarge { path: self.shown() });
        }
        Ok(())
    }

    fn shown(&self) -> String {
        if self.path.is_empty() {
            return "(root)".to_owned();
        }
        comment(&self.path.join("."), MAX_SHOWN_CHARS)
    }
}
