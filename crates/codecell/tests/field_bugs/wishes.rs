//! What people wished for.

use codecell::{Json, Owner, ToolResult};
use serde_json::json;

use crate::play::{all_twice, completed, to_the_end, twice};
use crate::source::{answering, shaped};
use crate::tools::Bench;

#[tokio::test(flavor = "multi_thread")]
async fn w1_random_ids_and_timers_are_there_and_fetching_is_not() {
    let bench = Bench::new();
    all_twice(
        &bench,
        [
            (
                "const ids = Array.from({length: 100}, () => crypto.randomUUID());\n//park\nids.push(crypto.randomUUID());
                 return [new Set(ids).size, ids.every(id => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id))]",
                completed(json!([101, true])),
            ),
            (
                "const order = []; const after = (ms, name) => new Promise(done => setTimeout(() => { order.push(name); done() }, ms));
                 const all = [after(60, 'late'), after(5, 'early')];\n//park\nawait Promise.all(all); return order",
                completed(json!(["early", "late"])),
            ),
            (
                "let rang = false; const timer = setTimeout(() => { rang = true }, 5); clearTimeout(timer);\n//park\n
                 await new Promise(done => setTimeout(done, 30)); return rang",
                completed(false),
            ),
            (
                "return ['fetch', 'XMLHttpRequest', 'WebSocket', 'process', 'Deno', 'require'].map(name => typeof globalThis[name])",
                completed(json!(["undefined", "undefined", "undefined", "undefined", "undefined", "undefined"])),
            ),
        ],
    )
    .await;
    let id = "return crypto.randomUUID()";
    assert_ne!(
        bench.value(id).await,
        bench.value(id).await,
        "every run has a seed of its own"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn w3_an_external_catalog_is_bridged_by_one_trait() {
    let schema =
        json!({ "type": "object", "properties": { "sku": { "type": "string" } }, "required": ["sku"] });
    let mut lookup = shaped(Owner::ExternalPlugin("erp".into()), "stock.level", schema);
    lookup.output_schema = Some(
        json!({ "type": "object", "properties": { "level": { "type": "integer" } },
        "required": ["level"], "additionalProperties": false }),
    );
    let (bench, source) = answering(vec![lookup], Vec::new(), |call| {
        let given: serde_json::Value = call.arguments.read().unwrap();
        let level = given["sku"].as_str().unwrap().len();
        Box::pin(async move { Ok(ToolResult::of_value(Json::from(json!({ "level": level })))) })
    });
    let code = "const [found] = await tools.search('stock level');
        return [found.id, found.input, found.output, await tools.stock_level({sku: 'MUG'})]";
    let expected =
        json!(["openclaw:erp:stock.level", "{ sku: string }", "{ level: number }", { "level": 3 }]);
    assert_eq!(twice(&bench, code).await, completed(expected));
    assert_eq!(source.calls()[0], r#"openclaw:erp:stock.level {"sku":"MUG"}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn w8_an_image_holds_what_changed_and_not_the_vm() {
    let mut bench = Bench::new();
    bench.context.settings.max_snapshot_bytes = 96 << 10;
    let modest =
        "const rows = Array.from({length: 200}, (_, n) => ({n})); await yield_control(); return rows.length";
    let (result, waits) = to_the_end(&bench, json!({ "code": modest })).await;
    assert_eq!((result, waits), (completed(200), 1));
    // What was thrown away before does not count for much.
    let thrown_away = "let s = 'x'.repeat(4 << 20); s = null; await yield_control(); return 1";
    let (result, _) = to_the_end(&bench, json!({ "code": thrown_away })).await;
    assert_eq!(result, completed(1));
}
