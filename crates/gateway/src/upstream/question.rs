//! What a server is told when it asks the user something in the middle of a call.
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::config::Elicitation;

/// Asks the user to fill in a form.
pub(super) const ELICIT: &str = "elicitation/create";

/// What this client says it can be asked.
pub(super) fn capabilities(elicitation: Elicitation) -> Value {
    match elicitation {
        Elicitation::Decline => json!({}),
        Elicitation::Defaults => json!({ "elicitation": { "form": {} } }),
    }
}

/// The answer to a question with these parameters. Nobody is asked: the operator has said what counts as a yes.
pub(super) fn answer(elicitation: Elicitation, params: Option<&Value>) -> Value {
    let filled_in = match elicitation {
        Elicitation::Decline => None,
        Elicitation::Defaults => params.and_then(defaults),
    };
    match filled_in {
        Some(content) => json!({ "action": "accept", "content": content }),
        None => json!({ "action": "decline" }),
    }
}

/// The parts of a question that matter here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Form {
    mode: Option<String>,
    requested_schema: Schema,
}

#[derive(Deserialize)]
struct Schema {
    #[serde(default)]
    properties: Map<String, Value>,
    #[serde(default)]
    required: Vec<String>,
}

/// A form with all its defaults, if there is one for every field that must be filled in.
fn defaults(params: &Value) -> Option<Map<String, Value>> {
    let form = Form::deserialize(params).ok()?;
    if form.mode.is_some_and(|mode| mode != "form") {
        return None;
    }
    let Schema { properties, required } = form.requested_schema;
    let given = properties
        .iter()
        .filter_map(|(name, field)| Some((name.clone(), field.get("default")?.clone())));
    let given: Map<String, Value> = given.collect();
    required
        .iter()
        .all(|name| given.contains_key(name))
        .then_some(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_answered_with_its_defaults_where_the_operator_said_so() {
        let decline = json!({ "action": "decline" });
        let schema = json!({
            "type": "object",
            "properties": { "name": { "type": "string", "default": "Ann" }, "age": { "type": "integer", "default": 3 }, "note": { "type": "string" } },
            "required": ["name"],
        });
        let mut strict = schema.clone();
        strict["required"] = json!(["name", "note"]);
        let filled = json!({ "action": "accept", "content": { "name": "Ann", "age": 3 } });
        for (elicitation, params, expected) in [
            (
                Elicitation::Defaults,
                json!({ "requestedSchema": schema }),
                &filled,
            ),
            (
                Elicitation::Defaults,
                json!({ "mode": "form", "requestedSchema": schema }),
                &filled,
            ),
            (
                Elicitation::Defaults,
                json!({ "requestedSchema": strict }),
                &decline,
            ),
            (
                Elicitation::Defaults,
                json!({ "mode": "url", "url": "https://example.com" }),
                &decline,
            ),
            (
                Elicitation::Defaults,
                json!({ "requestedSchema": { "required": 3 } }),
                &decline,
            ),
            (Elicitation::Defaults, json!([]), &decline),
            (
                Elicitation::Decline,
                json!({ "requestedSchema": schema }),
                &decline,
            ),
        ] {
            assert_eq!(answer(elicitation, Some(&params)), *expected, "{params}");
        }
        assert_eq!(answer(Elicitation::Defaults, None), decline);
    }
}
