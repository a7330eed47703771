use codecell_model_surface::{ApprovedTools, GuardViolation, Reason, Stripped, WireShape, guard_payload};
use serde_json::{Value, json};

const SHAPES: [WireShape; 4] = [
    WireShape::OpenAiResponses,
    WireShape::OpenAiCompletions,
    WireShape::AnthropicMessages,
    WireShape::GoogleGenerateContent,
];

fn function(shape: WireShape, name: &str) -> Value {
    match shape {
        WireShape::OpenAiResponses => json!({ "type": "function", "name": name, "parameters": {} }),
        WireShape::OpenAiCompletions => {
            json!({ "type": "function", "function": { "name": name, "parameters": {} } })
        }
        WireShape::AnthropicMessages => json!({ "name": name, "input_schema": { "type": "object" } }),
        WireShape::GoogleGenerateContent => {
            json!({ "functionDeclarations": [{ "name": name, "parameters": {} }] })
        }
    }
}

fn body_of(shape: WireShape, names: &[&str]) -> Value {
    let tools: Vec<Value> = names.iter().map(|name| function(shape, name)).collect();
    json!({ "model": "m", "tools": tools, "temperature": 0 })
}

fn approved() -> ApprovedTools {
    ApprovedTools::new(["image", "screen"])
}

fn gone(reason: Reason, label: &str) -> Stripped {
    Stripped {
        reason,
        label: label.to_owned(),
    }
}

/// What is removed beside a sound pair, which stays as it was.
fn check_stripped(shape: WireShape, extra: Value, expected: &[(Reason, &str)]) {
    for first in [true, false] {
        let sound = body_of(shape, &["exec", "wait"]);
        let mut body = sound.clone();
        let at = if first { 0 } else { 2 };
        body["tools"].as_array_mut().unwrap().insert(at, extra.clone());
        let report = guard_payload(&mut body, shape, &approved()).unwrap();
        let expected: Vec<Stripped> = expected
            .iter()
            .map(|(reason, label)| gone(*reason, label))
            .collect();
        assert_eq!(
            (report.visible, report.stripped),
            (vec!["exec".into(), "wait".into()], expected),
            "{extra}"
        );
        assert_eq!(body.to_string(), sound.to_string(), "{shape:?} {extra}");
    }
}

fn surface(names: &[&str]) -> GuardViolation {
    GuardViolation::Surface { names: owned(names) }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn a_sound_body_passes_untouched() {
    for shape in SHAPES {
        for names in [
            vec!["exec", "wait"],
            vec!["wait", "exec"],
            vec!["image", "exec", "screen", "wait"],
        ] {
            let mut body = body_of(shape, &names);
            let before = body.to_string();
            let report = guard_payload(&mut body, shape, &approved()).unwrap();
            assert_eq!((report.visible, report.stripped), (owned(&names), vec![]));
            assert_eq!(body.to_string(), before, "{shape:?}");
        }
    }
}

#[test]
fn in_every_shape_both_controls_have_to_be_there_once() {
    let cases: [(&[&str], &[&str]); 12] = [
        (&[], &[]),
        (&["exec"], &["exec"]),
        (&["wait"], &["wait"]),
        (&["image"], &["image"]),
        (&["exec", "exec", "wait"], &["exec", "exec", "wait"]),
        (&["exec", "wait", "wait"], &["exec", "wait", "wait"]),
        (
            &["exec", "image", "wait", "image"],
            &["exec", "image", "wait", "image"],
        ),
        (&["Exec", "wait"], &["wait"]),
        (&["exec ", "wait"], &["wait"]),
        (&["exec", "wait\u{200b}"], &["exec"]),
        (&["", "exec"], &["exec"]),
        (&["read", "bash"], &[]),
    ];
    for shape in SHAPES {
        for (names, left) in cases {
            let mut body = body_of(shape, names);
            let refused = guard_payload(&mut body, shape, &approved()).unwrap_err();
            assert_eq!(refused, surface(left), "{shape:?} {names:?}");
        }
    }
}

#[test]
fn a_body_without_a_list_of_tools_is_refused() {
    for shape in SHAPES {
        for mut body in [
            json!({}),
            json!({ "tools": null }),
            json!({ "tools": "exec,wait" }),
            json!({ "tools": { "0": function(shape, "exec"), "1": function(shape, "wait") } }),
            json!({ "Tools": [function(shape, "exec"), function(shape, "wait")] }),
            json!([function(shape, "exec"), function(shape, "wait")]),
            json!({ "config": body_of(shape, &["exec", "wait"]) }),
            json!({ "tools": { "tools": [function(shape, "exec"), function(shape, "wait")] } }),
        ] {
            let refused = guard_payload(&mut body, shape, &approved()).unwrap_err();
            assert_eq!(refused, GuardViolation::NoTools, "{shape:?} {body}");
        }
        let mut nested = json!({ "tools": [[function(shape, "exec"), function(shape, "wait")]] });
        assert_eq!(
            guard_payload(&mut nested, shape, &approved()).unwrap_err(),
            surface(&[])
        );
    }
}

#[test]
fn violations_read_as_documented() {
    let shape = WireShape::OpenAiResponses;
    let message = |names: &[&str]| {
        let refused = guard_payload(&mut body_of(shape, names), shape, &approved()).unwrap_err();
        refused.to_string()
    };
    assert_eq!(
        message(&["read"]),
        "Code mode payload tool surface violation: expected exec,wait plus direct-only tools; got none"
    );
    assert_eq!(
        message(&["exec", "image", "read"]),
        "Code mode payload tool surface violation: expected exec,wait plus direct-only tools; got exec,image"
    );
    assert_eq!(
        guard_payload(&mut json!({}), shape, &approved())
            .unwrap_err()
            .to_string(),
        "Code mode payload tool surface violation: expected exec,wait; got no tools"
    );
}

#[test]
fn functions_that_are_not_approved_and_entries_that_are_none_are_taken_out() {
    for shape in SHAPES {
        check_stripped(shape, function(shape, "read"), &[(Reason::Unapproved, "read")]);
        check_stripped(shape, function(shape, "EXEC"), &[(Reason::Unapproved, "EXEC")]);
        check_stripped(shape, json!(null), &[(Reason::Malformed, "not an object")]);
        check_stripped(shape, json!("exec"), &[(Reason::Malformed, "not an object")]);
        check_stripped(
            shape,
            json!([function(shape, "read")]),
            &[(Reason::Malformed, "not an object")],
        );
    }
    let long = format!("a\nb{}", "x".repeat(500));
    check_stripped(
        WireShape::AnthropicMessages,
        function(WireShape::AnthropicMessages, &long),
        &[(Reason::Unapproved, &format!("a b{}…", "x".repeat(60)))],
    );
}

#[test]
fn hosted_tools_are_taken_out_of_responses() {
    for (extra, reason, label) in [
        (json!({ "type": "web_search" }), Reason::Hosted, "web_search"),
        (
            json!({ "type": "web_search_preview", "name": "exec" }),
            Reason::Hosted,
            "web_search_preview",
        ),
        (
            json!({ "type": "mcp", "server_label": "s", "server_url": "u" }),
            Reason::Hosted,
            "mcp",
        ),
        (
            json!({ "type": "code_interpreter", "container": {} }),
            Reason::Hosted,
            "code_interpreter",
        ),
        (
            json!({ "type": "custom", "name": "exec" }),
            Reason::Hosted,
            "custom",
        ),
        (
            json!({ "type": "namespace", "name": "exec", "tools": [] }),
            Reason::Hosted,
            "namespace",
        ),
        (
            json!({ "name": "exec", "parameters": {} }),
            Reason::Malformed,
            "no type",
        ),
        (
            json!({ "type": ["function"], "name": "exec" }),
            Reason::Malformed,
            "no type",
        ),
        (json!({ "type": "function" }), Reason::Malformed, "no name"),
        (
            json!({ "type": "function", "name": null }),
            Reason::Malformed,
            "no name",
        ),
        (
            json!({ "type": "function", "function": { "name": "exec" } }),
            Reason::Malformed,
            "no name",
        ),
        (
            json!({ "type": "function", "name": "exec", "function": { "name": "read" } }),
            Reason::Malformed,
            "two names",
        ),
    ] {
        check_stripped(WireShape::OpenAiResponses, extra, &[(reason, label)]);
    }
}

#[test]
fn hosted_tools_are_taken_out_of_chat_completions() {
    for (extra, reason, label) in [
        (
            json!({ "type": "web_search", "web_search": {} }),
            Reason::Hosted,
            "web_search",
        ),
        (
            json!({ "type": "builtin_function", "function": { "name": "exec" } }),
            Reason::Hosted,
            "builtin_function",
        ),
        (
            json!({ "type": "custom", "custom": { "name": "exec" } }),
            Reason::Hosted,
            "custom",
        ),
        (json!({ "googleSearch": {} }), Reason::Malformed, "no type"),
        (
            json!({ "type": "function", "name": "exec" }),
            Reason::Malformed,
            "no name",
        ),
        (
            json!({ "type": "function", "function": "exec" }),
            Reason::Malformed,
            "no name",
        ),
        (
            json!({ "type": "function", "name": "exec", "function": { "name": "exec" } }),
            Reason::Malformed,
            "two names",
        ),
    ] {
        check_stripped(WireShape::OpenAiCompletions, extra, &[(reason, label)]);
    }
}

#[test]
fn hosted_tools_are_taken_out_of_messages() {
    for (extra, reason, label) in [
        (
            json!({ "type": "web_search_20250305", "name": "exec" }),
            Reason::Hosted,
            "web_search_20250305",
        ),
        (
            json!({ "type": "mcp_toolset", "mcp_server_name": "s" }),
            Reason::Hosted,
            "mcp_toolset",
        ),
        (
            json!({ "type": "bash_20250124", "name": "bash" }),
            Reason::Hosted,
            "bash_20250124",
        ),
        (
            json!({ "type": null, "name": "exec" }),
            Reason::Malformed,
            "no type",
        ),
        (
            json!({ "type": "custom", "name": "read" }),
            Reason::Unapproved,
            "read",
        ),
        (
            json!({ "function": { "name": "exec" } }),
            Reason::Malformed,
            "no name",
        ),
    ] {
        check_stripped(WireShape::AnthropicMessages, extra, &[(reason, label)]);
    }
    let mut body =
        json!({ "tools": [{ "type": "custom", "name": "exec" }, { "type": "custom", "name": "wait" }] });
    assert!(guard_payload(&mut body, WireShape::AnthropicMessages, &approved()).is_ok());
}

#[test]
fn google_groups_are_filtered_one_by_one_in_both_spellings() {
    let shape = WireShape::GoogleGenerateContent;
    for key in [
        "googleSearch",
        "google_search",
        "googleSearchRetrieval",
        "codeExecution",
        "code_execution",
        "urlContext",
        "url_context",
        "computerUse",
        "anythingNew",
    ] {
        check_stripped(shape, json!({ key: {} }), &[(Reason::Hosted, key)]);
    }
    for key in ["functionDeclarations", "function_declarations"] {
        check_stripped(shape, json!({ key: "exec" }), &[(Reason::Malformed, key)]);
        check_stripped(
            shape,
            json!({ key: [{ "description": "d" }, 7] }),
            &[(Reason::Malformed, "no name"), (Reason::Malformed, "no name")],
        );
        let mut body = json!({ "tools": [
            { key: [{ "name": "exec" }, { "name": "read" }, { "name": "image" }], "googleSearch": {} },
            { key: [{ "name": "wait" }] },
            { key: [] },
        ] });
        let report = guard_payload(&mut body, shape, &approved()).unwrap();
        assert_eq!(
            report.to_string(),
            "count=3 names=exec,image,wait removed=unapproved:read removed=hosted:googleSearch"
        );
        assert_eq!(
            body,
            json!({ "tools": [{ key: [{ "name": "exec" }, { "name": "image" }] }, { key: [{ "name": "wait" }] }] })
        );
    }
    let mut twice = json!({ "tools": [
        { "functionDeclarations": [{ "name": "exec" }, { "name": "wait" }], "function_declarations": [{ "name": "exec" }] },
    ] });
    assert_eq!(
        guard_payload(&mut twice, shape, &approved()).unwrap_err(),
        surface(&["exec", "wait", "exec"])
    );
}

#[test]
fn keys_that_bring_hosted_tools_are_taken_out() {
    for (shape, key, value) in [
        (WireShape::OpenAiResponses, "mcp_servers", json!([])),
        (WireShape::OpenAiCompletions, "web_search_options", json!({})),
        (
            WireShape::OpenAiCompletions,
            "functions",
            json!([{ "name": "read" }]),
        ),
        (
            WireShape::OpenAiCompletions,
            "function_call",
            json!({ "name": "read" }),
        ),
        (
            WireShape::OpenAiCompletions,
            "search_parameters",
            json!({ "mode": "on" }),
        ),
        (WireShape::OpenAiCompletions, "plugins", json!([{ "id": "web" }])),
        (WireShape::OpenAiCompletions, "enable_search", json!(true)),
        (
            WireShape::AnthropicMessages,
            "mcp_servers",
            json!([{ "url": "u" }]),
        ),
        (WireShape::AnthropicMessages, "container", json!("c")),
    ] {
        let sound = body_of(shape, &["exec", "wait"]);
        let mut body = sound.clone();
        body[key] = value;
        let report = guard_payload(&mut body, shape, &approved()).unwrap();
        assert_eq!(report.stripped, [gone(Reason::Hosted, key)]);
        assert_eq!(body.to_string(), sound.to_string());
    }
}

#[test]
fn a_conversation_hands_the_model_no_further_tools() {
    let mut body = body_of(WireShape::OpenAiResponses, &["exec", "wait"]);
    let message = json!({ "role": "user", "content": "hi" });
    body["input"] = json!([message, { "type": "tool_search_output", "tools": [{ "type": "function", "name": "read" }] },
        { "type": "mcp_list_tools", "tools": [] }]);
    let report = guard_payload(&mut body, WireShape::OpenAiResponses, &approved()).unwrap();
    assert_eq!(body["input"], json!([message]));
    assert_eq!(report.stripped.len(), 2);
}

#[test]
fn tools_stored_at_the_provider_are_refused() {
    for (shape, key) in [
        (WireShape::OpenAiResponses, "prompt"),
        (WireShape::GoogleGenerateContent, "cachedContent"),
        (WireShape::GoogleGenerateContent, "cached_content"),
    ] {
        let mut body = body_of(shape, &["exec", "wait"]);
        body[key] = json!("stored");
        let refused = guard_payload(&mut body, shape, &approved()).unwrap_err();
        assert_eq!(refused, GuardViolation::Unverifiable { key });
        body[key] = Value::Null;
        assert!(guard_payload(&mut body, shape, &approved()).is_ok());
    }
}

#[test]
fn a_choice_may_only_name_what_is_offered() {
    use WireShape::{
        AnthropicMessages as Messages, GoogleGenerateContent as Google, OpenAiCompletions as Chat,
        OpenAiResponses as Responses,
    };
    let google =
        |names: Value| json!({ "functionCallingConfig": { "mode": "ANY", "allowedFunctionNames": names } });
    let cases = [
        (Responses, "tool_choice", json!("auto"), None),
        (Responses, "tool_choice", json!(null), None),
        (Responses, "tool_choice", json!("required"), None),
        (Responses, "tool_choice", json!("read"), Some("read")),
        (
            Responses,
            "tool_choice",
            json!({ "type": "function", "name": "exec" }),
            None,
        ),
        (
            Responses,
            "tool_choice",
            json!({ "type": "function", "name": "read" }),
            Some("read"),
        ),
        (
            Responses,
            "tool_choice",
            json!({ "type": "web_search" }),
            Some("web_search"),
        ),
        (
            Responses,
            "tool_choice",
            json!({ "type": "mcp", "name": "exec" }),
            Some("mcp"),
        ),
        (
            Responses,
            "tool_choice",
            json!({ "type": "allowed_tools", "mode": "auto", "tools": [{ "type": "function", "name": "exec" }] }),
            None,
        ),
        (
            Responses,
            "tool_choice",
            json!({ "type": "allowed_tools", "tools": [{ "type": "function", "name": "exec" }, { "type": "web_search" }] }),
            Some("web_search"),
        ),
        (
            Chat,
            "tool_choice",
            json!({ "type": "function", "function": { "name": "wait" } }),
            None,
        ),
        (
            Chat,
            "tool_choice",
            json!({ "type": "function", "function": { "name": "read" } }),
            Some("read"),
        ),
        (
            Chat,
            "tool_choice",
            json!({ "type": "allowed_tools", "allowed_tools": { "tools": [
                { "type": "function", "function": { "name": "read" } }] } }),
            Some("read"),
        ),
        (Chat, "tool_choice", json!(7), Some("no name")),
        (
            Messages,
            "tool_choice",
            json!({ "type": "any", "disable_parallel_tool_use": true }),
            None,
        ),
        (
            Messages,
            "tool_choice",
            json!({ "type": "tool", "name": "image" }),
            Some("image"),
        ),
        (
            Messages,
            "tool_choice",
            json!({ "type": "tool", "name": "exec" }),
            None,
        ),
        (Messages, "tool_choice", json!({ "type": "tool" }), Some("tool")),
        (Messages, "tool_choice", json!({}), Some("no type")),
        (Google, "toolConfig", google(json!(["exec", "wait"])), None),
        (
            Google,
            "toolConfig",
            google(json!(["exec", "read"])),
            Some("read"),
        ),
        (Google, "toolConfig", google(json!("read")), Some("no list")),
        (
            Google,
            "tool_config",
            json!({ "function_calling_config": { "allowed_function_names": ["read"] } }),
            Some("read"),
        ),
        (
            Google,
            "toolConfig",
            json!({ "functionCallingConfig": { "mode": "AUTO" } }),
            None,
        ),
    ];
    for (shape, key, choice, refused) in cases {
        let mut body = body_of(shape, &["exec", "wait", "read"]);
        body[key] = choice.clone();
        let answer = guard_payload(&mut body, shape, &approved());
        let expected = refused.map(|name| GuardViolation::Choice {
            name: name.to_owned(),
        });
        assert_eq!(answer.err(), expected, "{shape:?} {choice}");
        assert_eq!(body[key], choice, "a choice is never rewritten");
    }
}
