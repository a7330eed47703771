//! What is refused before anything runs, and with which words.

use codecell::{Languages, Settings};
use serde_json::json;

use crate::tools::{Bench, bare};

#[tokio::test(flavor = "multi_thread")]
async fn every_refusal_is_a_failed_result_with_a_code() {
    let bench = Bench::new();
    let cases = [
        (json!({}), "code or command must be a non-empty string"),
        (
            json!({ "code": "a", "command": "b" }),
            "code and command must match",
        ),
        (
            json!({ "code": "return 1", "language": "ruby" }),
            "language must be javascript or typescript",
        ),
        (
            json!({ "code": "import fs from 'fs'" }),
            "module access is disabled",
        ),
        (
            json!({ "code": "const fs = require('fs')" }),
            "module access is disabled",
        ),
        (
            json!({ "code": "await import('fs')" }),
            "module access is disabled",
        ),
        (json!({ "code": "ls -la && pwd" }), "tools.search"),
        (
            json!({ "code": "const x: number = ;", "language": "typescript" }),
            "cell:1:",
        ),
        (json!({ "code": "return 1 })(); (async () => {" }), "cell:1:"),
    ];
    for (arguments, says) in cases {
        let result = bench.exec_with(arguments.clone()).await;
        assert_eq!(
            (&result["status"], &result["code"]),
            (&json!("failed"), &json!("invalid_input")),
            "{arguments}"
        );
        assert!(
            result["error"].as_str().unwrap().contains(says),
            "{arguments}: {}",
            result["error"]
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn words_in_strings_and_comments_and_bound_names_are_innocent() {
    let bench = Bench::new();
    let code = "// import x from 'y'\nconst require = () => 'mine';\n\
                return [`require('fs')`, /import(x)/.source, require('fs')]";
    assert_eq!(
        bench.value(code).await,
        json!(["require('fs')", "import(x)", "mine"])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disabled_language_is_named() {
    let bench = Bench::with(Settings {
        languages: Languages::JavaScriptOnly,
        ..Settings::default()
    });
    let result = bench
        .exec_with(json!({ "code": "return 1", "language": "typescript" }))
        .await;
    let expected = json!({
        "status": "failed", "code": "invalid_input", "output": [],
        "error": "code mode typescript input is disabled. Write the program in javascript.",
    });
    assert_eq!(bare(result), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_safe_cell_refuses_side_effects_before_they_happen() {
    let bench = Bench::new();
    let bump = "await tools.callValue('openclaw:core:bump', {key: 'a'})";
    let result = bench
        .exec_with(json!({ "code": bump, "restartSafe": true }))
        .await;
    assert_eq!(
        (&result["code"], &result["replaySafe"]),
        (&json!("invalid_input"), &json!(true)),
        "{result:#}"
    );
    let error = result["error"].as_str().unwrap();
    assert!(
        error.starts_with("restart-safe code mode cannot call side-effecting tools."),
        "{error}"
    );
    assert_eq!(bench.counters.get("a"), 0);
    let pure = bench
        .exec_with(json!({ "code": "return 2", "restartSafe": true }))
        .await;
    assert_eq!((&pure["value"], &pure["replaySafe"]), (&json!(2), &json!(true)));
}
