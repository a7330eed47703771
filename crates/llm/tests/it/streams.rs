use codecell_llm::{
    Api, Block, Decoder, Error, Event, Reply, Signature, SseParser, StopReason, Usage, decode,
};
use serde_json::json;

use crate::{APIS, call};

pub(crate) fn recorded(api: Api) -> &'static str {
    match api {
        Api::OpenAiResponses => include_str!("streams/openai-responses.sse"),
        Api::OpenAiCompletions => include_str!("streams/openai-completions.sse"),
        Api::AnthropicMessages => include_str!("streams/anthropic-messages.sse"),
        Api::GoogleGenerateContent => include_str!("streams/google-generative-ai.sse"),
    }
}

/// What every recorded stream says.
pub(crate) fn expected(api: Api) -> Reply {
    // Chat Completions has no signatures.
    let signature = (api != Api::OpenAiCompletions).then(|| Signature {
        api,
        model: "m-1".into(),
        value: "c2ln".into(),
    });
    Reply {
        id: Some("resp_1".into()),
        model: Some("m-1-2026".into()),
        blocks: vec![
            Block::Thinking {
                text: "Hm".into(),
                signature,
            },
            Block::Text("Grüß".into()),
            Block::ToolCall(call("a", "{\"n\": 12345678901234567890}", None)),
        ],
        stop: StopReason::ToolUse,
        usage: Usage {
            input: 6,
            output: 5,
            cache_read: 4,
            cache_write: 0,
        },
    }
}

fn read(api: Api, stream: &[u8], portion: usize) -> Result<Vec<Event>, Error> {
    let mut parser = SseParser::new(10_000);
    let mut decoder = Decoder::new(api, "m-1");
    let mut events = Vec::new();
    for portion in stream.chunks(portion) {
        for frame in parser.feed(portion).unwrap() {
            events.extend(decoder.frame(&frame)?);
        }
    }
    if let Some(frame) = parser.end() {
        events.extend(decoder.frame(&frame)?);
    }
    events.extend(decoder.end()?);
    Ok(events)
}

#[test]
fn a_recorded_stream_becomes_the_reply_wherever_it_is_cut() {
    for api in APIS {
        let stream = recorded(api).as_bytes();
        for portion in [1, 7, stream.len()] {
            let events = read(api, stream, portion).unwrap();
            let texts: String = events
                .iter()
                .filter_map(|event| match event {
                    Event::Text(text) => Some(text.as_str()),
                    _ => None,
                })
                .collect();
            assert_eq!(texts, "Grüß");
            let arguments: String = events
                .iter()
                .filter_map(|event| match event {
                    Event::ToolCallArguments { fragment, .. } => Some(fragment.as_str()),
                    _ => None,
                })
                .collect();
            assert_eq!(arguments, "{\"n\": 12345678901234567890}");
            assert_eq!(events.last(), Some(&Event::Done(expected(api))), "{api}");
        }
    }
}

#[test]
fn a_stream_without_its_end_keeps_what_arrived() {
    for api in APIS {
        let cut = recorded(api).find("üß").unwrap() + "üß\"".len();
        let stream = &recorded(api).as_bytes()[..recorded(api)[..cut].rfind("data:").unwrap()];
        let Err(Error::Interrupted { partial, .. }) = read(api, stream, 5) else {
            panic!("{api} was not interrupted");
        };
        assert_eq!(partial.blocks[1], Block::Text("Gr".into()), "{api}");
    }
}

#[test]
fn what_cannot_be_read_keeps_what_arrived() {
    for api in APIS {
        let cut = recorded(api).find("üß").unwrap();
        let begun = &recorded(api)[..recorded(api)[..cut].rfind("data:").unwrap()];
        let Err(Error::Malformed { partial, .. }) =
            read(api, format!("{begun}data: {{nope\n\n").as_bytes(), 9)
        else {
            panic!("{api} could read it");
        };
        assert_eq!(partial.blocks[1], Block::Text("Gr".into()), "{api}");
    }
}

#[test]
fn every_stop_reason_is_told() {
    let refused = |why: &str| StopReason::Refused(why.into());
    let chat =
        |reason: &str| json!({ "choices": [{ "message": { "content": "x" }, "finish_reason": reason }] });
    let messages =
        |reason: &str| json!({ "content": [{ "type": "text", "text": "x" }], "stop_reason": reason });
    let google = |reason: &str| json!({ "candidates": [{ "content": { "parts": [{ "text": "x" }] }, "finishReason": reason }] });
    let responses = |status: &str, why: Option<&str>| {
        json!({
            "status": status,
            "incomplete_details": why.map(|why| json!({ "reason": why })),
            "output": [{ "type": "message", "content": [{ "type": "output_text", "text": "x" }] }],
        })
    };
    for (api, body, stop) in [
        (APIS[0], responses("completed", None), StopReason::Stop),
        (
            APIS[0],
            responses("incomplete", Some("max_output_tokens")),
            StopReason::Length,
        ),
        (
            APIS[0],
            responses("incomplete", Some("content_filter")),
            refused("content_filter"),
        ),
        (APIS[1], chat("stop"), StopReason::Stop),
        (APIS[1], chat("length"), StopReason::Length),
        (APIS[1], chat("content_filter"), refused("content_filter")),
        (APIS[2], messages("end_turn"), StopReason::Stop),
        (APIS[2], messages("pause_turn"), StopReason::Stop),
        (APIS[2], messages("max_tokens"), StopReason::Length),
        (APIS[2], messages("refusal"), refused("refusal")),
        (APIS[3], google("STOP"), StopReason::Stop),
        (APIS[3], google("MAX_TOKENS"), StopReason::Length),
        (APIS[3], google("SAFETY"), refused("SAFETY")),
        (
            APIS[3],
            json!({ "promptFeedback": { "blockReason": "OTHER" } }),
            refused("OTHER"),
        ),
    ] {
        assert_eq!(
            decode(api, "m-1", &body.to_string()).unwrap().stop,
            stop,
            "{api}: {body}"
        );
    }
}

#[test]
fn a_provider_that_gives_up_is_quoted() {
    let error = json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Busy" } });
    for api in APIS {
        let error = read(api, format!("data: {error}\n\n").as_bytes(), 100).unwrap_err();
        assert_eq!(error.to_string(), "the provider gave up: overloaded_error: Busy");
    }
}

#[test]
fn arguments_that_are_no_object_are_the_models_mistake() {
    assert!(call("a", " ", None).parse_arguments().unwrap().is_empty());
    for text in ["[1]", "{\"a\":", "{} {}"] {
        let message = call("a", text, None).parse_arguments().unwrap_err().to_string();
        assert!(
            message.starts_with("the arguments of `exec` are not a JSON object ("),
            "{message}"
        );
    }
}

#[test]
fn ids_that_were_made_up_are_different_in_every_reply() {
    let body = r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"exec","args":{}}}]},"finishReason":"STOP"}]}"#;
    let id = || {
        let reply = decode(Api::GoogleGenerateContent, "m-1", body).unwrap();
        reply.tool_calls().next().unwrap().id.clone()
    };
    assert_ne!(id(), id());
}
