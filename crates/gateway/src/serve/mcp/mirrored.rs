//! Headers that say again what the body says, so that whoever passes a request on need not read it. They must agree:
//! otherwise one party would see another request than the one that is carried out.
use axum::http::HeaderMap;
use rmcp::model::ClientJsonRpcMessage;

use super::refusal::Refusal;
use crate::upstream::Fields;
use crate::upstream::headers::{Mirror, decode, mirrors, of_request};
use crate::wiring::View;

/// Compares the headers with the message they came with.
pub(super) fn check(headers: &HeaderMap, message: &ClientJsonRpcMessage, view: &View) -> Result<(), Refusal> {
    // As it was understood: of a member that is there twice, the one that counts.
    let text = serde_json::to_string(message).unwrap_or_default();
    let message: Fields = serde_json::from_str(&text).unwrap_or_default();
    let Some(method) = message.text("method") else {
        // An answer of the client.
        return Ok(());
    };
    let params = message.get("params").and_then(Fields::parse).unwrap_or_default();
    let mirrors = match params.text("name") {
        Some(tool) if method == "tools/call" => of_tool(view, &tool),
        _ => Vec::new(),
    };
    let mut unnamed: Vec<String> = mirrors.iter().map(Mirror::header).collect();
    for (name, expected) in of_request(&method, &params, &mirrors) {
        let said = only(headers, &name)?
            .ok_or_else(|| Refusal::mismatch(format!("the header {name} is missing")))?;
        let said =
            decode(said).ok_or_else(|| Refusal::mismatch(format!("the header {name} cannot be decoded")))?;
        if decode(&expected).as_ref() != Some(&said) {
            return Err(Refusal::mismatch(format!(
                "the header {name} says `{said}`, which the body does not"
            )));
        }
        unnamed.retain(|header| *header != name);
    }
    for name in unnamed {
        if headers.contains_key(&name) {
            return Err(Refusal::mismatch(format!(
                "the header {name} says something that the body does not"
            )));
        }
    }
    Ok(())
}

/// The arguments of a tool that travel as headers too. Clients drop a tool whose annotations break the rules.
fn of_tool(view: &View, name: &str) -> Vec<Mirror> {
    let tool = view.visible.iter().find(|tool| tool.name == name);
    let schema = tool.and_then(|tool| tool.listing.get("inputSchema"));
    schema.and_then(|schema| mirrors(schema).ok()).unwrap_or_default()
}

/// The value of a header that must not be there twice.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Refusal> {
    let mut values = headers.get_all(name).into_iter();
    let (first, second) = (values.next(), values.next());
    if second.is_some() {
        return Err(Refusal::mismatch(format!("the header {name} is there twice")));
    }
    first
        .map(|value| value.to_str())
        .transpose()
        .map_err(|_| Refusal::mismatch(format!("the header {name} is no text")))
}
