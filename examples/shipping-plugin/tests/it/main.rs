//! The example, loaded and used as a product would.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod program;

use std::sync::Arc;

use codecell_catalog::Catalog;
use codecell_namespaces::{OpenNamespaces, PluginNamespaces, ScopeContext};
use codecell_plugins::{Json, Origin, PluginHost};
use codecell_tools::{CallContext, ExecutionPath, Progress, Toolbox};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// A run with the example plugin and nothing else.
struct Run {
    catalog: Catalog,
    namespaces: OpenNamespaces,
    path: ExecutionPath,
}

impl Run {
    fn new() -> Self {
        Self::of(&loaded())
    }

    fn of(host: &PluginHost) -> Self {
        let toolbox = host
            .tools()
            .into_iter()
            .fold(Toolbox::builder(), |builder, loaded| {
                builder.plugin(loaded.plugin_id, loaded.origin == Origin::Bundled, loaded.tool)
            })
            .build()
            .unwrap();
        let catalog = Catalog::build(toolbox.specs());
        let context = ScopeContext {
            agent: "main",
            session: "s1",
            run: "r1",
            config: &Value::Null,
        };
        let visible = PluginNamespaces::visible(&host.namespaces().registrations(), &catalog);
        Self {
            namespaces: visible.open(&context),
            path: ExecutionPath::bare(Arc::new(toolbox)).with_hooks(host.hooks().clone()),
            catalog,
        }
    }

    /// What a tool gives, or what it says.
    async fn call(&self, id: &str, argument: &str) -> Result<Value, String> {
        let context = CallContext {
            caller: Arc::default(),
            cell: None,
            number: 0,
            cancel: CancellationToken::new(),
            progress: Progress::default(),
        };
        let tool = self.catalog.shared(id).unwrap();
        let argument = Json::parse(argument).unwrap();
        match self.path.call(&tool, Some(&argument), context).await {
            Ok(delivered) => Ok(delivered.result.value.unwrap().read().unwrap()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// What `Shipping.<member>(…args)` gives.
    async fn shipping(&self, member: &str, args: &[&str]) -> Result<Value, String> {
        let resolved = self.namespaces.resolve(&["Shipping", member], args);
        let (tool, argument) = resolved.map_err(|error| error.to_string())?;
        self.call(tool.as_str(), &argument).await
    }
}

fn loaded() -> PluginHost {
    let host = PluginHost::new();
    host.load(codecell_shipping_plugin::plugin(), Origin::Bundled)
        .unwrap();
    host
}

#[test]
fn a_model_learns_from_the_catalog_how_to_call_and_what_comes_back() {
    let run = Run::new();
    let hints: Vec<_> = run
        .catalog
        .tools()
        .map(|tool| {
            let entry = tool.entry();
            let output = entry.output.as_deref().unwrap_or("?");
            format!("{} {} -> {output}", entry.id, entry.input)
        })
        .collect();
    assert_eq!(
        hints,
        [
            "openclaw:shipping:shipping_list { overTons?: number; paid?: boolean } -> Array<{ id: number; paid: boolean; tons: number }>",
            "openclaw:shipping:shipping_log {} -> Array<{ event: \"passed\" | \"refused\" | \"promoted\" | \"failed\"; fromCell: boolean; shipment: number }>",
            "openclaw:shipping:shipping_promote { id: number; status: \"booked\" | \"loaded\" | \"shipped\" } -> { id: number; previous: \"booked\" | \"loaded\" | \"shipped\"; status: \"booked\" | \"loaded\" | \"shipped\" }",
            "openclaw:shipping:shipping_quote { tons: number; express?: boolean } -> { cents: number; currency: \"EUR\" }",
        ]
    );
}

#[tokio::test]
async fn tools_keep_their_contracts() {
    let run = Run::new();
    let all = run.call("openclaw:shipping:shipping_list", "{}").await.unwrap();
    assert_eq!(
        all,
        json!([
            { "id": 1, "paid": true, "tons": 12.5 },
            { "id": 2, "paid": false, "tons": 30.0 },
            { "id": 3, "paid": false, "tons": 4.0 },
            { "id": 4, "paid": true, "tons": 21.0 },
        ])
    );
    for (argument, expected) in [
        (r#"{"tons":1}"#, Ok(json!({ "cents": 9_000, "currency": "EUR" }))),
        (
            r#"{"tons":0.001,"express":true}"#,
            Ok(json!({ "cents": 18, "currency": "EUR" })),
        ),
        (
            r#"{"tons":40}"#,
            Ok(json!({ "cents": 360_000, "currency": "EUR" })),
        ),
        (
            r#"{"tons":41}"#,
            Err("41 tons are too many; one shipment takes 40".to_owned()),
        ),
    ] {
        let quoted = run.call("openclaw:shipping:shipping_quote", argument).await;
        assert_eq!(quoted, expected, "{argument}");
    }
}

#[tokio::test]
async fn the_namespace_calls_the_same_tools() {
    let run = Run::new();
    assert_eq!(
        run.namespaces.tree("Shipping").unwrap(),
        r#"{"object":{"list":{"call":true},"unpaidOver":{"call":true},"quote":{"call":true},"promote":{"call":true},"log":{"call":true},"limits":{"value":{"maxTons":40.0,"statuses":["booked","loaded","shipped"]}}}}"#
    );
    for (member, args, expected) in [
        (
            "list",
            &[r#"{"paid":true,"overTons":20}"#][..],
            Ok(json!([{ "id": 4, "paid": true, "tons": 21.0 }])),
        ),
        (
            "unpaidOver",
            &["10"],
            Ok(json!([{ "id": 2, "paid": false, "tons": 30.0 }])),
        ),
        (
            "unpaidOver",
            &[],
            Err(
                "Code mode namespace call Shipping.unpaidOver was refused: unpaidOver(tons) takes one number"
                    .to_owned(),
            ),
        ),
        (
            "quote",
            &["2", "true"],
            Ok(json!({ "cents": 36_000, "currency": "EUR" })),
        ),
        (
            "promote",
            &["1", "\"loaded\""],
            Ok(json!({ "id": 1, "status": "loaded", "previous": "booked" })),
        ),
    ] {
        assert_eq!(run.shipping(member, args).await, expected, "{member} {args:?}");
    }
}

#[tokio::test]
async fn a_promotion_stays_and_belongs_to_one_plugin() {
    let (run, other) = (Run::new(), Run::new());
    let loaded = run.shipping("promote", &["4", "\"loaded\""]).await.unwrap();
    let shipped = run.shipping("promote", &["4", "\"shipped\""]).await.unwrap();
    let elsewhere = other.shipping("promote", &["4", "\"shipped\""]).await.unwrap();
    let previous = [loaded, shipped, elsewhere].map(|promoted| promoted["previous"].clone());
    assert_eq!(previous, ["booked", "loaded", "booked"]);
}

#[tokio::test]
async fn a_shipment_that_is_not_paid_is_not_promoted_by_any_way() {
    let run = Run::new();
    let blocked = Err(
        "Tool \"openclaw:shipping:shipping_promote\" was blocked before execution: shipment 2 is not paid"
            .to_owned(),
    );
    let direct = run
        .call(
            "openclaw:shipping:shipping_promote",
            r#"{"id":2,"status":"loaded"}"#,
        )
        .await;
    assert_eq!(direct, blocked);
    assert_eq!(run.shipping("promote", &["2", "\"loaded\""]).await, blocked);
    assert_eq!(
        run.shipping("promote", &["9", "\"loaded\""]).await,
        Err("there is no shipment 9; Shipping.list() shows all".to_owned())
    );
}

#[tokio::test]
async fn the_hooks_note_each_promotion_once() {
    let (run, other) = (Run::new(), Run::new());
    for (id, promoted) in [("1", true), ("2", false), ("9", false)] {
        let outcome = run.shipping("promote", &[id, "\"loaded\""]).await;
        assert_eq!(outcome.is_ok(), promoted, "{id}: {outcome:?}");
    }
    run.shipping("list", &[]).await.unwrap();
    let note =
        |shipment: u64, event: &str| json!({ "shipment": shipment, "event": event, "fromCell": false });
    assert_eq!(
        run.shipping("log", &[]).await.unwrap(),
        json!([
            note(1, "passed"),
            note(1, "promoted"),
            note(2, "refused"),
            note(9, "passed"),
            note(9, "failed"),
        ])
    );
    assert_eq!(other.shipping("log", &[]).await.unwrap(), json!([]));
}

#[test]
fn unloading_leaves_nothing() {
    let host = loaded();
    assert!(host.unload("shipping"));
    let run = Run::of(&host);
    assert!(run.catalog.is_empty());
    assert_eq!(host.namespaces().registrations().iter().count(), 0);
    assert_eq!(
        run.namespaces.tree("Shipping").unwrap_err().to_string(),
        "Unknown code mode namespace: Shipping"
    );
}
