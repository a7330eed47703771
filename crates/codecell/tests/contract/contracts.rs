//! What tools promise of their values.

use serde_json::json;

use crate::world::{World, bare};

#[tokio::test(flavor = "multi_thread")]
async fn a_trusted_value_that_breaks_its_schema_fails_after_the_effect_and_is_not_shown() {
    let world = World::new("contracts-trusted");
    let expected = json!({
        "error": true, "name": "Error", "code": "output_contract",
        "message": "tool `openclaw:core:lie` was called, and its value does not match its outputSchema:\n\
                    ok: expected boolean, got string",
    });
    for call in [
        "tools.lie()",
        "tools.callValue('openclaw:core:lie')",
        "tools.call('openclaw:core:lie')",
    ] {
        assert_eq!(world.caught(call).await, expected, "{call}");
    }
    let uncaught = world.exec("return await tools.lie()").await;
    assert!(!uncaught.to_string().contains("s3cret"), "{uncaught:#}");
    assert_eq!(
        world.effects.count("lie"),
        4,
        "each of the four calls was made once"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trusted_tool_whose_schema_does_not_compile_is_never_run() {
    let world = World::new("contracts-broken");
    let caught = world.caught("tools.broken()").await;
    assert_eq!(caught["code"], "invalid_contract", "{caught}");
    let message = caught["message"].as_str().unwrap();
    assert!(
        message.starts_with("tool `openclaw:core:broken` has an invalid outputSchema"),
        "{message}"
    );
    assert_eq!(world.effects.count("broken"), 0);
    assert_eq!(
        world.value("return await tools.echo({ x: 1 })").await,
        1,
        "the other tools do not notice"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_untrusted_value_that_breaks_its_schema_is_delivered_with_a_warning() {
    let world = World::new("contracts-untrusted");
    let result = bare(
        world
            .exec("return (await MCP.files.lie()).structuredContent")
            .await,
    );
    assert_eq!(
        (&result["value"], world.effects.count("mcp lie")),
        (&json!({ "ok": "s3cret" }), 1)
    );
    let warnings = result["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1);
    assert_eq!(
        (&warnings[0]["kind"], &warnings[0]["tool"], &warnings[0]["line"]),
        (&json!("contract"), &json!("MCP.files.lie"), &json!(1))
    );
    assert!(
        !warnings[0]["message"].as_str().unwrap().contains("s3cret"),
        "{result:#}"
    );

    let answer = async {
        let mut news = world.client.subscribe();
        let id = match world.client.pending().first() {
            Some(call) => call.id.clone(),
            None => crate::client::called(&mut news).await.id,
        };
        world
            .client
            .answer(&id, Ok(json!({ "ok": "s3cret" }).into()))
            .unwrap();
    };
    let (result, ()) = tokio::join!(world.run("return await tools.lie_too()"), answer);
    assert_eq!(
        (&result["value"], &result["warnings"][0]["kind"]),
        (&json!({ "ok": "s3cret" }), &json!("contract")),
        "{result:#}"
    );
}
