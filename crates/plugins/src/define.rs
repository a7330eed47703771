//! A tool from an async closure.

use std::{marker::PhantomData, sync::Arc};

use codecell_tools::{BoxFuture, Json, Tool, ToolCall, ToolDefinition, ToolError, ToolResult};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// Begins a tool: its name, what it does, and the JSON Schema of its argument object.
///
/// ```
/// # use codecell_plugins::{ToolError, define_tool};
/// # use serde_json::json;
/// #[derive(serde::Deserialize)]
/// struct Divide { a: i64, b: i64 }
///
/// let integer = json!({ "type": "integer" });
/// let tool = define_tool(
///     "divide",
///     "Divides whole numbers",
///     json!({ "type": "object", "properties": { "a": integer, "b": integer }, "required": ["a", "b"] }),
/// )
/// .output(integer)
/// .read_only()
/// .replay_safe()
/// .run(|Divide { a, b }: Divide| async move {
///     a.checked_div(b).ok_or_else(|| ToolError::new("division_by_zero", "give a `b` other than 0"))
/// });
/// assert_eq!(tool.definition().name, "divide");
/// ```
pub fn define_tool(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> DefineTool {
    DefineTool(ToolDefinition::new(name, description, parameters))
}

/// A tool without its code; see [`define_tool`].
#[derive(Clone, Debug)]
#[must_use]
pub struct DefineTool(ToolDefinition);

impl DefineTool {
    /// Gives it a title for people.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.0.label = Some(label.into());
        self
    }

    /// Promises that its value always fits this JSON Schema. A value that does not is an error of the call.
    pub fn output(mut self, schema: Value) -> Self {
        self.0.output_schema = Some(schema);
        self
    }

    /// Promises that repeating a call does no harm.
    pub fn replay_safe(mut self) -> Self {
        self.0.replay_safe = true;
        self
    }

    /// Says that it only reads: a hint for people and policies.
    pub fn read_only(mut self) -> Self {
        self.0.annotations = Some(json!({ "readOnlyHint": true }));
        self
    }

    /// Finishes the tool with the code that runs it.
    ///
    /// The argument has been checked against the schema; one that `I` does not take all the same is refused. The
    /// future is dropped at its next `await` when nobody wants the answer any more.
    #[must_use]
    pub fn run<I, O, F, Fut>(self, run: F) -> Arc<dyn Tool>
    where
        I: DeserializeOwned + Send + 'static,
        O: Serialize + 'static,
        F: Fn(I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
    {
        self.run_with_call(move |input, _: ToolCall| run(input))
    }

    /// As [`run`](Self::run), for code that has to know who calls, or tells how far it is.
    #[must_use]
    pub fn run_with_call<I, O, F, Fut>(self, run: F) -> Arc<dyn Tool>
    where
        I: DeserializeOwned + Send + 'static,
        O: Serialize + 'static,
        F: Fn(I, ToolCall) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
    {
        Arc::new(FnTool {
            definition: self.0,
            run,
            takes: PhantomData,
        })
    }
}

struct FnTool<I, F> {
    definition: ToolDefinition,
    run: F,
    takes: PhantomData<fn(I)>,
}

impl<I, O, F, Fut> Tool for FnTool<I, F>
where
    I: DeserializeOwned + Send + 'static,
    O: Serialize + 'static,
    F: Fn(I, ToolCall) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
{
    fn definition(&self) -> ToolDefinition {
        self.definition.clone()
    }

    fn call(&self, call: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>> {
        let cancel = call.cancel.clone();
        let running = match call.arguments.read::<I>() {
            Ok(input) => (self.run)(input, call),
            Err(error) => {
                let message = format!("the argument does not fit the tool `{}`: {error}", call.name());
                return Box::pin(async move { Err(ToolError::new("invalid_input", message)) });
            }
        };
        Box::pin(async move {
            match cancel.run_until_cancelled(running).await {
                Some(answer) => value(&answer?),
                None => Err(ToolError::new("cancelled", "the call was cancelled")),
            }
        })
    }
}

fn value(answer: &impl Serialize) -> Result<ToolResult, ToolError> {
    match Json::of(answer) {
        Ok(value) => Ok(ToolResult::of_value(value)),
        Err(error) => {
            let message = format!("the tool's value has no JSON form: {error}");
            Err(ToolError::new("internal_error", message))
        }
    }
}
