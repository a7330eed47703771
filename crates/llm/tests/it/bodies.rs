use codecell_llm::{Api, Delivery, Message, Request, ToolChoice, encode};
use codecell_model_surface::{ApprovedTools, WireShape, guard_payload};
use serde_json::json;

use crate::{APIS, conversation};

#[test]
fn a_conversation_is_written_as_each_provider_wants_it() {
    for api in APIS {
        let body = encode(api, &conversation(api), Delivery::Streamed);
        insta::assert_json_snapshot!(api.name(), body);
    }
}

#[test]
fn without_tools_nothing_is_said_of_tools() {
    let request = Request {
        model: "m".into(),
        messages: vec![Message::user("Hi")],
        tool_choice: ToolChoice::Required,
        ..Request::default()
    };
    for api in APIS {
        let text = encode(api, &request, Delivery::Whole).to_string();
        assert!(!text.contains("tool"), "{text}");
    }
}

#[test]
fn signatures_go_back_only_to_where_they_came_from() {
    for api in APIS {
        for other in APIS.into_iter().filter(|other| *other != api) {
            let text = encode(api, &conversation(other), Delivery::Streamed).to_string();
            assert!(
                !text.contains("c2ln") && !text.contains("dHM="),
                "{api} from {other}: {text}"
            );
        }
    }
}

#[test]
fn the_payload_guard_reads_every_shape() {
    for (api, shape) in [
        (Api::OpenAiResponses, WireShape::OpenAiResponses),
        (Api::OpenAiCompletions, WireShape::OpenAiCompletions),
        (Api::AnthropicMessages, WireShape::AnthropicMessages),
        (Api::GoogleGenerateContent, WireShape::GoogleGenerateContent),
    ] {
        let mut body = encode(api, &conversation(api), Delivery::Streamed);
        let before = body.clone();
        let report = guard_payload(&mut body, shape, &ApprovedTools::new([""; 0])).unwrap();
        assert_eq!(report.to_string(), "count=2 names=exec,wait");
        assert_eq!(body, before);
        let mut request = conversation(api);
        request.extra.insert("tools".into(), json!([]));
        let mut body = encode(api, &request, Delivery::Streamed);
        guard_payload(&mut body, shape, &ApprovedTools::new([""; 0])).unwrap_err();
    }
}
