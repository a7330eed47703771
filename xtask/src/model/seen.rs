//! What a model was asked, whatever the wire format.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// One request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// With its query.
    pub(crate) path: String,
    /// Without those that carry secrets.
    pub(crate) headers: Vec<(String, String)>,
    /// The key that was sent, without `Bearer`.
    pub(crate) key: Option<String>,
    /// As it came.
    pub(crate) body: Value,
    pub(crate) streamed: bool,
    pub(crate) model: String,
    pub(crate) system: String,
    pub(crate) tools: Vec<Offered>,
    pub(crate) messages: Vec<Said>,
    /// Of all tool calls so far, oldest first.
    pub(crate) results: Vec<Answered>,
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Offered {
    /// `function`, or the type of a tool that the provider runs itself.
    pub(crate) kind: String,
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) schema: Value,
}

impl Offered {
    pub(super) fn function(declaration: &Value, schema: &Value) -> Offered {
        Offered {
            kind: "function".to_owned(),
            namespace: None,
            name: text(&declaration["name"]),
            description: text(&declaration["description"]),
            schema: schema.clone(),
        }
    }

    pub(super) fn hosted(kind: &str, declaration: &Value) -> Offered {
        Offered {
            kind: kind.to_owned(),
            namespace: None,
            name: declaration["name"].as_str().unwrap_or(kind).to_owned(),
            description: String::new(),
            schema: Value::Null,
        }
    }
}

/// A message of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    /// `user`, `assistant`, or what the format has besides.
    pub(crate) role: String,
    pub(crate) text: String,
    /// Names of the tools it called.
    pub(crate) calls: Vec<String>,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answered {
    /// The id of the call, or where the format has none the name of the tool.
    pub(crate) call: String,
    pub(crate) text: String,
}

impl Answered {
    /// The result, which must be JSON.
    pub(crate) fn json(&self) -> Result<Value> {
        serde_json::from_str(&self.text).with_context(|| format!("a result that is no JSON: {}", self.text))
    }
}

impl Seen {
    /// The names of the offered tools, in order.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| tool.name.as_str()).collect()
    }

    /// The offered tool of this name, or of a longer name that ends with it, as hosts make them.
    pub(crate) fn tool(&self, name: &str) -> Result<&Offered> {
        let suffix = format!("__{name}");
        let named = |tool: &&Offered| tool.name == name || tool.name.ends_with(&suffix);
        let found = self.tools.iter().find(named);
        found.with_context(|| format!("`{name}` is not offered, only {:?}", self.names()))
    }

    /// The result of the newest call.
    pub(crate) fn last(&self) -> Result<&Answered> {
        self.results.last().context("the model got no tool result")
    }

    /// The newest result, which must be that of a cell: an object with this status.
    pub(crate) fn cell(&self, status: &str) -> Result<Value> {
        let result = self.last()?.json()?;
        ensure!(
            result["status"] == status,
            "expected a cell that is `{status}`: {result}"
        );
        Ok(result)
    }

    /// The value of the newest result, which must be that of a completed cell.
    pub(crate) fn value(&self) -> Result<Value> {
        Ok(self.cell("completed")?["value"].take())
    }

    /// Everything the model reads but the results of tools: instructions, tools, and messages.
    pub(crate) fn prompt(&self) -> String {
        let tools = self
            .tools
            .iter()
            .map(|tool| format!("{} {} {}", tool.name, tool.description, tool.schema));
        let said = self.messages.iter().map(|said| said.text.clone());
        let all: Vec<String> = std::iter::once(self.system.clone())
            .chain(tools)
            .chain(said)
            .collect();
        all.join("\n")
    }
}

/// A string, or nothing.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The elements of an array, or none.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The text of a content that is a string or a list of parts with texts.
pub(super) fn content(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(|part| text(&part["text"])).collect(),
        _ => String::new(),
    }
}
