//! One call to one connection, with the round trips of the stateless era.
use std::{collections::BTreeMap, time::Duration};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::config::Elicitation;

use super::{
    error::CallError,
    headers::{self, Mirror},
    listing::content,
    message::{Fields, raw},
    peer::{Call, Peer},
    question,
    upstreams::CallOptions,
};

/// Rounds of questions that are answered: a server that goes on asking gets an error instead.
const MAX_ROUNDS: usize = 3;

/// Makes the request and answers what the server asks on the way.
///
/// Every round is a new request with a new id, and the server's state goes back exactly as it came.
pub(super) async fn make(
    peer: &Peer,
    method: &str,
    params: Fields,
    mirrors: &[Mirror],
    limit: Duration,
    options: &CallOptions,
) -> Result<Box<RawValue>, CallError> {
    let mut params = params;
    for _ in 0..=MAX_ROUNDS {
        let mut call = Call::new(method, params.clone(), limit);
        call.cancel = Some(&options.cancel);
        call.progress = options.progress.clone();
        if peer.is_http() && peer.is_modern() {
            call.headers = headers::of_request(method, &params, mirrors);
        }
        let result = peer.request(call).await?;
        if !peer.is_modern() {
            return Ok(result);
        }
        let Some(question) = Question::read(&result) else {
            return Ok(content(peer, result));
        };
        match question.answers(peer.0.elicitation) {
            Ok(answers) => {
                params.set("inputResponses", answers);
                params.0.retain(|(key, _)| key != "requestState");
                if let Some(state) = question.request_state {
                    params.set("requestState", state);
                }
            }
            Err(asked) => return Err(unanswerable(peer, method, asked)),
        }
    }
    Err(unanswerable(
        peer,
        method,
        "again and again, although it was answered".to_owned(),
    ))
}

fn unanswerable(peer: &Peer, method: &str, asked: String) -> CallError {
    CallError::InputRequired {
        server: peer.0.server.clone(),
        method: method.to_owned(),
        asked,
    }
}

/// A result that asks instead of answering.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Question {
    result_type: String,
    #[serde(default)]
    input_requests: BTreeMap<String, Value>,
    request_state: Option<Box<RawValue>>,
}

impl Question {
    fn read(result: &RawValue) -> Option<Self> {
        serde_json::from_str::<Self>(result.get())
            .ok()
            .filter(|question| question.result_type == "input_required")
    }

    /// An answer in the form each kind of question takes; there is none for a model to be asked.
    fn answers(&self, elicitation: Elicitation) -> Result<Box<RawValue>, String> {
        let mut answers = BTreeMap::new();
        for (key, request) in &self.input_requests {
            let answer = match request.get("method").and_then(Value::as_str) {
                Some(question::ELICIT) => question::answer(elicitation, request.get("params")),
                Some("roots/list") => json!({ "roots": [] }),
                Some(other) => return Err(format!("`{other}`")),
                None => return Err("a question without a method".to_owned()),
            };
            answers.insert(key.clone(), answer);
        }
        Ok(raw(&answers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(text: &str) -> Option<Question> {
        Question::read(&RawValue::from_string(text.to_owned()).unwrap())
    }

    #[test]
    fn questions_are_declined_in_their_own_form() {
        let asked = question(
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create"},"b":{"method":"roots/list"}},"requestState":"x\u0041"}"#,
        )
        .unwrap();
        assert_eq!(
            asked.answers(Elicitation::Decline).unwrap().get(),
            r#"{"a":{"action":"decline"},"b":{"roots":[]}}"#
        );
        assert_eq!(
            asked.request_state.unwrap().get(),
            r#""x\u0041""#,
            "echoed byte for byte"
        );
    }

    #[test]
    fn a_model_cannot_be_asked() {
        let asked = question(
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"sampling/createMessage"}}}"#,
        );
        let refused = asked.unwrap().answers(Elicitation::Defaults).unwrap_err();
        assert_eq!(refused, "`sampling/createMessage`");
    }

    #[test]
    fn an_answer_is_no_question() {
        assert!(question(r#"{"resultType":"complete","content":[]}"#).is_none());
        assert!(question(r#"{"content":[]}"#).is_none());
    }
}
