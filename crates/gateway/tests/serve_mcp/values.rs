//! What goes through unchanged.
use serde_json::json;

use super::client::{Client, Gateway, called};

#[tokio::test(flavor = "multi_thread")]
async fn results_are_the_exact_text_in_both_eras() {
    let gateway = Gateway::start(&json!({ "directOnly": ["echo"] }), json!({})).await;
    let legacy = Client::legacy(&gateway.server).await;
    let modern = Client::modern(&gateway.server);
    let code = "return { z: 123456789012345678901234567890n, a: 1, m: [9007199254740993n] }";
    for client in [&legacy, &modern] {
        let answer = client
            .request("tools/call", called("exec", json!({ "code": code })))
            .await;
        let value = r#""value":{"z":123456789012345678901234567890,"a":1,"m":[9007199254740993]}"#;
        assert!(answer.text.contains(value), "{}", answer.text);
    }
    // A call of a tool that is shown as it is: as many bits as the protocol's own library reads.
    for client in [&legacy, &modern] {
        let direct = client
            .request(
                "tools/call",
                called("echo", json!({ "z": 1, "b": 18446744073709551615_u64, "a": [] })),
            )
            .await;
        let value = r#""structuredContent":{"z":1,"b":18446744073709551615,"a":[]}"#;
        assert!(direct.text.contains(value), "{}", direct.text);
    }
}
