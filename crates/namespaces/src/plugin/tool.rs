//! The mark that makes a member of a scope callable.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use serde_json::{Value, value::RawValue};

use super::write::ScopeError;

type MapInput = Arc<dyn Fn(Vec<Value>) -> Result<Value, String> + Send + Sync>;

/// A member of a [`Scope`](super::Scope) that guest code can call: the name of a tool of the same plugin, and how
/// the arguments of the guest become its one argument object.
///
/// It holds a name, no function that would do the work: every call goes through the catalog and all that stands in
/// front of a tool.
///
/// ```
/// # use codecell_namespaces::NamespaceTool;
/// # use serde_json::json;
/// // list({ state: "open" })
/// let list = NamespaceTool::new("github_list_issues");
/// // update(7, { title: "…" }) calls with { number: 7, patch: { title: "…" } }
/// let update = NamespaceTool::new("github_update_issue").positional(["number", "patch"]);
/// // close(7) calls with { number: 7, patch: { state: "closed" } }
/// let close = NamespaceTool::new("github_update_issue").map_input(|args| {
///     let number = args.first().ok_or("close(number) needs the number of an issue")?;
///     Ok(json!({ "number": number, "patch": { "state": "closed" } }))
/// });
/// ```
#[derive(Clone)]
pub struct NamespaceTool {
    name: String,
    input: Input,
}

#[derive(Clone)]
enum Input {
    First,
    Positional(Vec<String>),
    Mapped(MapInput),
}

impl NamespaceTool {
    /// A call of `tool_name` with the guest's first argument, an object; none, or `null`, is `{}`.
    ///
    /// The name is trimmed. A blank one is refused when the scope is opened, and one that the registration does not
    /// require when it is called.
    #[must_use]
    pub fn new(tool_name: impl AsRef<str>) -> Self {
        Self {
            name: tool_name.as_ref().trim().to_owned(),
            input: Input::First,
        }
    }

    /// Names the guest's arguments: the first becomes the property `names[0]`, and so on.
    ///
    /// Absent arguments are left out, more than there are names are refused. Values pass as the exact JSON they
    /// arrived as, integers of any size among them.
    #[must_use]
    pub fn positional<I>(mut self, names: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.input = Input::Positional(names.into_iter().map(Into::into).collect());
        self
    }

    /// Lets `map` turn all arguments into the argument object. What it refuses the guest can catch.
    ///
    /// It sees parsed values, in which an integer beyond 64 bits is a float: use
    /// [`positional`](Self::positional) where such numbers have to arrive whole.
    #[must_use]
    pub fn map_input(
        mut self,
        map: impl Fn(Vec<Value>) -> Result<Value, String> + Send + Sync + 'static,
    ) -> Self {
        self.input = Input::Mapped(Arc::new(map));
        self
    }

    /// The tool it calls.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the mark itself makes sense.
    pub(crate) fn check(&self) -> Result<(), ScopeError> {
        if self.name.is_empty() {
            return Err(ScopeError::BlankTool);
        }
        if let Input::Positional(names) = &self.input {
            for (at, name) in names.iter().enumerate() {
                if name.is_empty() || names.iter().take(at).any(|earlier| earlier == name) {
                    return Err(ScopeError::Positional {
                        tool: self.name.clone(),
                        name: name.clone(),
                    });
                }
            }
        }
        Ok(())
    }

    /// The argument object as JSON text, from the guest's arguments as JSON texts.
    pub(crate) fn argument(&self, args: &[&str]) -> Result<String, String> {
        match &self.input {
            Input::First => match args.first().map(|text| raw(text)).transpose()? {
                None | Some("null") => Ok("{}".to_owned()),
                Some(object) if object.starts_with('{') => Ok(object.to_owned()),
                Some(other) => Err(format!("the argument must be an object, got {}", kind(other))),
            },
            Input::Positional(names) => positional(names, args),
            Input::Mapped(map) => mapped(map, args),
        }
    }
}

impl fmt::Debug for NamespaceTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let input: &dyn fmt::Debug = match &self.input {
            Input::First => &"first argument",
            Input::Positional(names) => names,
            Input::Mapped(_) => &"mapped",
        };
        f.debug_struct("NamespaceTool")
            .field("name", &self.name)
            .field("input", input)
            .finish()
    }
}

fn positional(names: &[String], args: &[&str]) -> Result<String, String> {
    if args.len() > names.len() {
        return Err(format!(
            "there are {} arguments; it takes at most {} ({})",
            args.len(),
            names.len(),
            names.join(", ")
        ));
    }
    let mut object = String::from("{");
    for (name, text) in names.iter().zip(args) {
        if object.len() > 1 {
            object.push(',');
        }
        object.push_str(&Value::from(name.as_str()).to_string());
        object.push(':');
        object.push_str(raw(text)?);
    }
    object.push('}');
    Ok(object)
}

fn mapped(map: &MapInput, args: &[&str]) -> Result<String, String> {
    let values = args
        .iter()
        .map(|text| serde_json::from_str(text).map_err(|error| unreadable(&error)))
        .collect::<Result<Vec<Value>, _>>()?;
    // What a mapper leaves behind when it panics is its plugin's business; the guest gets an error like any other.
    match catch_unwind(AssertUnwindSafe(|| map(values))) {
        Ok(Ok(Value::Object(object))) => Ok(Value::Object(object).to_string()),
        Ok(Ok(other)) => Err(format!(
            "the input mapper must return an object, got {}",
            kind(&other.to_string())
        )),
        Ok(Err(reason)) => Err(reason),
        Err(_) => Err("the input mapper panicked".to_owned()),
    }
}

/// The one JSON value in `text`, so that pasting it into an object cannot add a member.
fn raw(text: &str) -> Result<&str, String> {
    serde_json::from_str::<&RawValue>(text)
        .map(RawValue::get)
        .map_err(|error| unreadable(&error))
}

fn unreadable(error: &serde_json::Error) -> String {
    format!("an argument cannot be read: {error}")
}

/// What kind of value a JSON text is, by its first character.
fn kind(json: &str) -> &'static str {
    match json.as_bytes().first() {
        Some(b'"') => "a string",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}
