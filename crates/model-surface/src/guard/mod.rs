//! The last check before a provider body leaves.

mod choice;
mod tools;

use std::{collections::BTreeSet, fmt};

use codecell_catalog::schema::comment;
use serde_json::{Map, Value};

use crate::descriptor::{EXEC, WAIT};

/// How a provider's request spells its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WireShape {
    /// `OpenAI` Responses: `{ type: "function", name, parameters }`.
    OpenAiResponses,
    /// `OpenAI` Chat Completions and what is compatible with it: `{ type: "function", function: { name } }`.
    OpenAiCompletions,
    /// Anthropic Messages: `{ name, input_schema }`.
    AnthropicMessages,
    /// Google `generateContent`: `{ functionDeclarations: [{ name }] }`, in camel or snake case.
    GoogleGenerateContent,
}

/// The names a request of one run may offer: `exec`, `wait` and the run's direct-only tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovedTools(BTreeSet<String>);

impl ApprovedTools {
    /// `exec`, `wait` and `direct`, the names of the direct-only tools as the model sees them.
    #[must_use]
    pub fn new<N: Into<String>>(direct: impl IntoIterator<Item = N>) -> Self {
        let controls = [EXEC, WAIT].map(str::to_owned);
        Self(direct.into_iter().map(Into::into).chain(controls).collect())
    }

    /// Whether exactly this name may be offered; case and blanks count.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

/// Why something was taken out of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The provider would run it, or reach something through it.
    Hosted,
    /// A function of a name that is not approved.
    Unapproved,
    /// Not readable as a function of this wire shape: no name, two names, or no object at all.
    Malformed,
}

/// One thing that was taken out of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stripped {
    /// Why.
    pub reason: Reason,
    /// Its type, key or name as the body had it, made fit for a log line: one line of at most 64 characters.
    pub label: String,
}

impl Stripped {
    fn new(reason: Reason, label: &str) -> Self {
        Self {
            reason,
            label: comment(label, 64),
        }
    }
}

/// What a body offers now, and what it no longer does. Its `Display` is a line for the debug log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct GuardReport {
    /// The tools that are left, in the body's order.
    pub visible: Vec<String>,
    /// What was taken out, in the body's order.
    pub stripped: Vec<Stripped>,
}

impl fmt::Display for GuardReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "count={} names={}", self.visible.len(), self.visible.join(","))?;
        for Stripped { reason, label } in &self.stripped {
            let reason = match reason {
                Reason::Hosted => "hosted",
                Reason::Unapproved => "unapproved",
                Reason::Malformed => "malformed",
            };
            write!(f, " removed={reason}:{label}")?;
        }
        Ok(())
    }
}

/// Why a body must not be sent. There is no way on with it: the turn fails.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GuardViolation {
    /// The body has no list of tools.
    #[error("Code mode payload tool surface violation: expected exec,wait; got no tools")]
    NoTools,
    /// Without hosted and unapproved tools the list is not one `exec`, one `wait` and direct-only tools, each once.
    #[error(
        "Code mode payload tool surface violation: expected exec,wait plus direct-only tools; got {}",
        listed(names)
    )]
    Surface {
        /// What was left, repeats included.
        names: Vec<String>,
    },
    /// The model would be forced or limited to something that is not offered.
    #[error("Code mode payload tool surface violation: the tool choice names `{name}`, which is not offered")]
    Choice {
        /// What it names, made fit for a log line.
        name: String,
    },
    /// A key brings tools that are kept at the provider, where nobody can check them.
    #[error(
        "Code mode payload tool surface violation: `{key}` brings tools that cannot be checked; remove it"
    )]
    Unverifiable {
        /// The key of the body.
        key: &'static str,
    },
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(",")
    }
}

/// Makes sure that `body` offers exactly one `exec`, exactly one `wait` and otherwise only direct-only tools.
///
/// Hosted tools of the provider, functions of other names and unreadable entries are taken out, wherever this wire
/// shape has a place for them. Only a plain function counts as `exec`: a hosted tool of that name does not. What is
/// left is then checked. A `tool_choice` (or its like) is never rewritten, since a caller who forces a tool does not
/// expect another: one that names a tool which is not offered is a violation.
///
/// This is for runs in which code mode is active. A run without tools has nothing to guard and must not come here:
/// its body, rightly without `exec`, would be refused.
///
/// ```
/// use codecell_model_surface::{ApprovedTools, GuardViolation, WireShape, guard_payload};
/// use serde_json::json;
///
/// let approved = ApprovedTools::new(["image"]);
/// let mut body = json!({ "tools": [
///     { "name": "exec", "input_schema": { "type": "object" } },
///     { "name": "wait", "input_schema": { "type": "object" } },
///     { "type": "web_search_20250305", "name": "web_search" },
/// ] });
/// let report = guard_payload(&mut body, WireShape::AnthropicMessages, &approved)?;
/// assert_eq!(report.to_string(), "count=2 names=exec,wait removed=hosted:web_search_20250305");
/// assert_eq!(body["tools"].as_array().map(Vec::len), Some(2));
///
/// body["tools"][0]["name"] = "run".into();
/// let refused = guard_payload(&mut body, WireShape::AnthropicMessages, &approved).unwrap_err();
/// assert_eq!(refused, GuardViolation::Surface { names: vec!["wait".into()] });
/// # Ok::<(), GuardViolation>(())
/// ```
///
/// # Errors
///
/// Fails when the body breaks the rule after the removals. It must not be sent then; it is left, with the removals
/// made so far, for diagnosis only.
pub fn guard_payload(
    body: &mut Value,
    shape: WireShape,
    approved: &ApprovedTools,
) -> Result<GuardReport, GuardViolation> {
    let body = body.as_object_mut().ok_or(GuardViolation::NoTools)?;
    if let Some(key) = unverifiable(shape).iter().find(|key| is_set(body, key)) {
        return Err(GuardViolation::Unverifiable { key });
    }
    let mut stripped = Vec::new();
    for key in hosted_keys(shape) {
        if body.shift_remove(*key).is_some() {
            stripped.push(Stripped::new(Reason::Hosted, key));
        }
    }
    if shape == WireShape::OpenAiResponses {
        drop_tool_lists(body, &mut stripped);
    }
    let listed = body
        .get_mut("tools")
        .and_then(Value::as_array_mut)
        .ok_or(GuardViolation::NoTools)?;
    let visible = tools::filter(listed, shape, approved, &mut stripped);

    let unique: BTreeSet<&String> = visible.iter().collect();
    let has = |name: &str| visible.iter().any(|visible| visible == name);
    if unique.len() < visible.len() || !has(EXEC) || !has(WAIT) {
        return Err(GuardViolation::Surface { names: visible });
    }
    if let Some(name) = choice::not_offered(body, shape, &visible) {
        return Err(GuardViolation::Choice {
            name: comment(&name, 64),
        });
    }
    Ok(GuardReport { visible, stripped })
}

fn is_set(body: &Map<String, Value>, key: &str) -> bool {
    body.get(key).is_some_and(|value| !value.is_null())
}

/// Keys that name something stored at the provider, tools included.
fn unverifiable(shape: WireShape) -> &'static [&'static str] {
    match shape {
        WireShape::OpenAiResponses => &["prompt"],
        WireShape::GoogleGenerateContent => &["cachedContent", "cached_content"],
        WireShape::OpenAiCompletions | WireShape::AnthropicMessages => &[],
    }
}

/// Keys beside `tools` that let the provider search, run code or reach servers, or that list functions the old way.
fn hosted_keys(shape: WireShape) -> &'static [&'static str] {
    match shape {
        WireShape::OpenAiResponses => &[
            "web_search_options",
            "search_parameters",
            "plugins",
            "mcp_servers",
        ],
        WireShape::OpenAiCompletions => &[
            "web_search_options",
            "search_parameters",
            "enable_search",
            "plugins",
            "mcp_servers",
            "functions",
            "function_call",
        ],
        WireShape::AnthropicMessages => &["mcp_servers", "container"],
        WireShape::GoogleGenerateContent => &[],
    }
}

/// Takes out the input items through which a conversation hands further tools to the model.
fn drop_tool_lists(body: &mut Map<String, Value>, stripped: &mut Vec<Stripped>) {
    const LISTS: [&str; 2] = ["tool_search_output", "mcp_list_tools"];
    let Some(items) = body.get_mut("input").and_then(Value::as_array_mut) else {
        return;
    };
    items.retain(|item| match item.get("type").and_then(Value::as_str) {
        Some(kind) if LISTS.contains(&kind) => {
            stripped.push(Stripped::new(Reason::Hosted, kind));
            false
        }
        _ => true,
    });
}
