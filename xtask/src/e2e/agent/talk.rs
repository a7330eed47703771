//! A client that talks with an agent, over either of the two APIs, in pieces or at once.
//!
//! It is strict: what arrives in pieces must come to what the last piece says.

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::{chat_stream, response_stream, serve::Serve};
use crate::http::{Answer, Incoming, Request};

/// The API that a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::e2e) enum Surface {
    Chat,
    Responses,
}

impl Surface {
    pub(in crate::e2e) fn path(self) -> &'static str {
        match self {
            Surface::Chat => "/v1/chat/completions",
            Surface::Responses => "/v1/responses",
        }
    }
}

/// A tool that the client brings.
pub(in crate::e2e) struct ClientTool {
    pub(in crate::e2e) name: &'static str,
    pub(in crate::e2e) description: &'static str,
    pub(in crate::e2e) parameters: Value,
}

/// How a client talks.
#[derive(Debug, Clone)]
pub(in crate::e2e) struct Talk {
    pub(in crate::e2e) surface: Surface,
    pub(in crate::e2e) streamed: bool,
    pub(in crate::e2e) session: String,
    pub(in crate::e2e) model: String,
}

/// What an agent said.
#[derive(Debug, Clone, Default)]
pub(in crate::e2e) struct Spoken {
    pub(in crate::e2e) id: String,
    pub(in crate::e2e) text: String,
    /// Of tools that the client brought.
    pub(in crate::e2e) calls: Vec<ClientCall>,
    /// Why it ended: `stop`, `tool_calls` or `length`, in the words of Chat Completions.
    pub(in crate::e2e) finish: String,
    /// Tokens that went in and came out.
    pub(in crate::e2e) usage: (u64, u64),
    /// The request that led here.
    pub(in crate::e2e) asked: Value,
}

/// A call that the client is to carry out.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::e2e) struct ClientCall {
    pub(in crate::e2e) id: String,
    pub(in crate::e2e) name: String,
    pub(in crate::e2e) arguments: Value,
}

/// Why an agent said nothing, or no more.
#[derive(Debug, Clone)]
pub(in crate::e2e) struct Refusal {
    /// 200 if the stream had begun.
    pub(in crate::e2e) status: u16,
    /// The value of `error`.
    pub(in crate::e2e) error: Value,
    pub(in crate::e2e) retry_after: Option<String>,
    /// The text that had been said.
    pub(in crate::e2e) before: String,
}

/// What came of a request.
pub(in crate::e2e) type Outcome = Result<Spoken, Refusal>;

impl Talk {
    /// The body of a first request.
    pub(in crate::e2e) fn body(&self, prompt: &str, tools: &[ClientTool]) -> Value {
        let mut body = match self.surface {
            Surface::Chat => json!({ "messages": [{ "role": "user", "content": prompt }] }),
            Surface::Responses => json!({ "input": prompt }),
        };
        if !tools.is_empty() {
            let tools = tools.iter().map(|tool| {
                let function = json!({
                    "name": tool.name, "description": tool.description, "parameters": tool.parameters
                });
                match self.surface {
                    Surface::Chat => json!({ "type": "function", "function": function }),
                    Surface::Responses => {
                        let mut flat = json!({ "type": "function" });
                        for (key, value) in function.as_object().into_iter().flatten() {
                            flat[key] = value.clone();
                        }
                        flat
                    }
                }
            });
            body["tools"] = tools.collect();
        }
        self.dressed(body)
    }

    /// The body of the request that answers the calls of `before`; ids and outputs.
    pub(in crate::e2e) fn answer_body(&self, before: &Spoken, outputs: &[(&str, &str)]) -> Value {
        let mut body = before.asked.clone();
        match self.surface {
            Surface::Chat => {
                let calls: Value = before
                    .calls
                    .iter()
                    .map(|call| {
                        let function = json!({ "name": call.name, "arguments": call.arguments.to_string() });
                        json!({ "id": call.id, "type": "function", "function": function })
                    })
                    .collect();
                if let Some(messages) = body["messages"].as_array_mut() {
                    messages.push(json!({ "role": "assistant", "content": null, "tool_calls": calls }));
                    messages.extend(outputs.iter().map(
                        |(id, output)| json!({ "role": "tool", "tool_call_id": id, "content": output }),
                    ));
                }
            }
            Surface::Responses => {
                body["previous_response_id"] = json!(before.id);
                body["input"] = outputs
                    .iter()
                    .map(|(id, output)| json!({ "type": "function_call_output", "call_id": id, "output": output }))
                    .collect();
            }
        }
        body
    }

    fn dressed(&self, mut body: Value) -> Value {
        body["model"] = json!(self.model);
        body["stream"] = json!(self.streamed);
        if self.streamed && self.surface == Surface::Chat {
            body["stream_options"] = json!({ "include_usage": true });
        }
        body
    }

    /// A request with this body.
    pub(in crate::e2e) fn request(&self, body: &Value) -> Request {
        Request::post(self.surface.path(), body).header("x-codecell-session", &self.session)
    }

    /// Asks for a turn that must end well.
    pub(in crate::e2e) fn ask(&self, serve: &Serve, prompt: &str, tools: &[ClientTool]) -> Result<Spoken> {
        spoken(self.send(serve, &self.body(prompt, tools))?)
    }

    /// Answers calls, and waits for what the agent says then.
    pub(in crate::e2e) fn answer(
        &self,
        serve: &Serve,
        before: &Spoken,
        outputs: &[(&str, &str)],
    ) -> Result<Spoken> {
        spoken(self.send(serve, &self.answer_body(before, outputs))?)
    }

    /// Sends a body and reads what comes of it.
    pub(in crate::e2e) fn send(&self, serve: &Serve, body: &Value) -> Result<Outcome> {
        self.read(serve.open(self.request(body))?, body)
    }

    /// Reads the rest of an answer to this body.
    pub(in crate::e2e) fn read(&self, mut incoming: Incoming, body: &Value) -> Result<Outcome> {
        if incoming.status != 200 {
            return Ok(Err(refusal(&incoming.whole()?)?));
        }
        let session = incoming.head.header("x-codecell-session");
        let session = session
            .context("no `x-codecell-session` in the answer")?
            .to_owned();
        ensure!(
            session == self.session,
            "asked in the session `{}`, answered in `{session}`",
            self.session
        );
        let outcome = if self.streamed {
            let kind = incoming.head.header("content-type").unwrap_or_default();
            ensure!(
                kind.starts_with("text/event-stream"),
                "a stream of the type `{kind}`"
            );
            let mut events = Vec::new();
            while let Some(event) = incoming.event()? {
                events.push(event);
            }
            let outcome = match self.surface {
                Surface::Chat => chat_stream::read(&events),
                Surface::Responses => response_stream::read(&events),
            };
            outcome.with_context(|| format!("in the stream {events:#?}"))?
        } else {
            let answer = incoming.whole()?.json()?;
            let spoken = match self.surface {
                Surface::Chat => chat_stream::whole(&answer),
                Surface::Responses => response_stream::whole(&answer),
            };
            Ok(spoken.with_context(|| format!("in {answer}"))?)
        };
        Ok(outcome.map(|spoken| Spoken {
            asked: body.clone(),
            ..spoken
        }))
    }
}

fn spoken(outcome: Outcome) -> Result<Spoken> {
    match outcome {
        Ok(spoken) => Ok(spoken),
        Err(refusal) => bail!("the turn failed: {refusal:?}"),
    }
}

/// An error answer, which has the shape of `OpenAI`'s.
pub(in crate::e2e) fn refusal(answer: &Answer) -> Result<Refusal> {
    let mut body = answer.json()?;
    let error = body["error"].take();
    shaped(&error).with_context(|| format!("status {}: {}", answer.status, answer.text))?;
    Ok(Refusal {
        status: answer.status,
        error,
        retry_after: answer.head.header("retry-after").map(str::to_owned),
        before: String::new(),
    })
}

/// Fails unless this is an error as `OpenAI`'s clients read it.
pub(in crate::e2e) fn shaped(error: &Value) -> Result<()> {
    let text_or_null = |key: &str| {
        error
            .get(key)
            .is_some_and(|value| value.is_string() || value.is_null())
    };
    ensure!(
        error["message"].is_string()
            && error["type"].is_string()
            && text_or_null("param")
            && text_or_null("code"),
        "no error of the usual shape: {error}"
    );
    Ok(())
}
