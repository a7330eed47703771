//! What can be seen of a cell from outside: telemetry, spans, observers.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use codecell::tools::{Tool, ToolDefinition};
use codecell::{
    BoxFuture, CallEnd, CellLeg, CellResult, NestedCall, Observer, ToolCall, ToolError, ToolResult,
};
use serde_json::{Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, Registry};

use crate::shop::load_shop;
use crate::world::{World, completed};

/// A tool whose result cannot cross a JSON wall.
struct ViewImage;

impl Tool for ViewImage {
    fn definition(&self) -> ToolDefinition {
        let mut definition = ToolDefinition::new("view_image", "Shows an image", json!({ "type": "object" }));
        definition.direct_only = true;
        definition
    }

    fn call(&self, call: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>> {
        Box::pin(async move { Ok(ToolResult::of_value(call.arguments)) })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn telemetry_counts_the_run_from_its_start_over_every_wait_and_holds_no_input() {
    let mut world = World::new("watch-telemetry");
    load_shop(&world);
    world.more = vec![Arc::new(ViewImage)];
    let code = "
        await tools.search('top secret'); await tools.describe('openclaw:core:bump');
        await tools.echo({ x: 'top secret' });
        await yield_control();
        await MCP.$search('top secret'); await Shop.list(); await MCP.files.readFile({ path: 'top secret' });
        await yield_control();
        await tools.describe('client:app:select_file');
        return ALL_TOOLS.some(tool => tool.name === 'view_image')";
    let counts = |search: u32, describe: u32, call: u32| {
        json!({
            "catalogSize": 20, "sources": { "openclaw": 13, "mcp": 4, "client": 3 },
            "searchCount": search, "describeCount": describe, "callCount": call,
            "visibleTools": ["exec", "wait", "view_image"],
        })
    };
    let first = world.exec(code).await;
    assert_eq!(first["telemetry"], counts(1, 1, 1));
    let second = world.wait(&first["runId"]).await;
    assert_eq!(second["telemetry"], counts(2, 1, 3));
    let third = world.wait(&first["runId"]).await;
    assert_eq!(third["telemetry"], counts(2, 2, 3));
    assert_eq!(completed(third), false);
    let refused = world.wait(&first["runId"]).await;
    assert_eq!(
        refused["telemetry"],
        counts(0, 0, 0),
        "a refusal has nothing to count"
    );
}

/// A span as it was opened.
#[derive(Clone, Debug, Default, PartialEq)]
struct Seen {
    name: &'static str,
    tool: String,
    session: String,
}

impl Visit for Seen {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let text = format!("{value:?}").trim_matches('"').to_owned();
        match field.name() {
            "tool" => self.tool = text,
            "session" => self.session = text,
            _ => {}
        }
    }
}

/// A span and its parent.
type Opened = (Seen, Option<Seen>);

/// The spans of the whole test binary.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<Opened>>>);

impl<S: tracing::Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let span = context.span(id).unwrap();
        let mut seen = Seen {
            name: span.name(),
            ..Seen::default()
        };
        attributes.record(&mut seen);
        let parent = span
            .parent()
            .and_then(|parent| parent.extensions().get::<Seen>().cloned());
        span.extensions_mut().insert(seen.clone());
        self.0.lock().unwrap().push((seen, parent));
    }
}

fn spans() -> Spans {
    static SPANS: OnceLock<Spans> = OnceLock::new();
    let start = || {
        let spans = Spans::default();
        let wanted = filter_fn(|span| span.is_span() && matches!(span.name(), "cell" | "nested_call"));
        let subscriber = Registry::default().with(spans.clone().with_filter(wanted));
        tracing::subscriber::set_global_default(subscriber).unwrap();
        spans
    };
    SPANS.get_or_init(start).clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_nested_call_is_a_span_under_the_cell_that_made_it_also_in_a_wait() {
    let spans = spans();
    let world = World::new("watch-spans");
    let code = "
        await Promise.all([1, 2, 3, 4].map(x => tools.callValue('openclaw:core:echo', { x })));
        const slow = tools.gate({ key: 'a' }); await yield_control();
        return [await slow, await MCP.files.readFile({ path: 'p' })].length";
    let first = world.exec(code).await;
    world.gates.open("a");
    assert_eq!(completed(world.wait(&first["runId"]).await), 2);
    let all = spans.0.lock().unwrap().clone();
    let cell = |tool: &str| Seen {
        name: "cell",
        tool: tool.into(),
        session: "watch-spans".into(),
    };
    let cells: Vec<&Seen> = all
        .iter()
        .map(|(seen, _)| seen)
        .filter(|seen| seen.session == "watch-spans")
        .collect();
    assert_eq!(cells, [&cell("exec"), &cell("wait")]);
    let mut calls: Vec<(&str, &Seen)> = all
        .iter()
        .filter_map(|(seen, parent)| Some((seen, parent.as_ref()?)))
        .filter(|(seen, parent)| seen.name == "nested_call" && parent.session == "watch-spans")
        .map(|(seen, parent)| (&*seen.tool, parent))
        .collect();
    calls.sort_by_key(|(tool, _)| *tool);
    let exec = cell("exec");
    let echo = ("openclaw:core:echo", &exec);
    assert_eq!(
        calls,
        [
            ("MCP.files.readFile", &exec),
            echo,
            echo,
            echo,
            echo,
            ("openclaw:core:gate", &exec)
        ]
    );
}

#[derive(Default)]
struct Log(Mutex<Vec<Value>>);

impl Log {
    fn note(&self, event: Value) {
        self.0.lock().unwrap().push(event);
    }

    fn events(&self, kind: &str) -> Vec<Value> {
        let events = self.0.lock().unwrap();
        events.iter().filter(|event| event[0] == kind).cloned().collect()
    }
}

impl Observer for Log {
    fn leg_started(&self, leg: &CellLeg<'_>) {
        self.note(json!(["leg started", leg.tool, leg.id]));
    }

    fn leg_finished(&self, leg: &CellLeg<'_>, _: Duration, result: &CellResult) {
        let result = serde_json::to_value(result).unwrap();
        self.note(json!(["leg finished", leg.tool, leg.id, result["status"]]));
    }

    fn call_started(&self, call: &NestedCall) {
        let arguments: Value = call
            .arguments
            .as_ref()
            .map_or(Value::Null, |given| given.read().unwrap());
        self.note(json!([
            "call started",
            call.number,
            call.cell,
            call.tool,
            call.id,
            arguments
        ]));
    }

    fn call_finished(&self, call: &NestedCall, end: &CallEnd<'_>) {
        self.note(json!([
            "call finished",
            call.number,
            call.cell,
            format!("{:?}", end.outcome)
        ]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_observer_is_told_of_every_leg_and_call_and_of_the_exec_behind_each_call() {
    let mut world = World::new("watch-observer");
    load_shop(&world);
    let log = Arc::new(Log::default());
    world.observer = Arc::<Log>::clone(&log);
    let code = "
        await tools.echo({ x: 1 });
        try { await tools.fail() } catch {}
        try { await tools.callValue('no such tool', {}) } catch {}
        await yield_control();
        return (await Shop.orders.cancel(7)).cancelled";
    let first = world.exec(code).await;
    let later = Arc::new(Log::default());
    world.observer = Arc::<Log>::clone(&later);
    assert_eq!(completed(world.wait(&first["runId"]).await), 7);

    let exec = log.events("leg started")[0][2].clone();
    let wait = later.events("leg started")[0][2].clone();
    assert_ne!(exec, wait);
    let expected = [
        json!(["leg started", "exec", exec]),
        json!(["call started", 1, exec, "openclaw:core:echo", "openclaw:core:echo", { "x": 1 }]),
        json!(["call finished", 1, exec, "Ok"]),
        json!([
            "call started",
            2,
            exec,
            "openclaw:core:fail",
            "openclaw:core:fail",
            null
        ]),
        json!(["call finished", 2, exec, "Failed"]),
        json!(["call started", 3, exec, "no such tool", null, {}]),
        json!(["call finished", 3, exec, "Failed"]),
        json!(["leg finished", "exec", exec, "waiting"]),
        json!([
            "call started",
            5,
            exec,
            "Shop.orders.cancel",
            "openclaw:shop:cancel_order",
            7
        ]),
        json!(["call finished", 5, exec, "Ok"]),
    ];
    assert_eq!(
        *log.0.lock().unwrap(),
        expected,
        "the observer of the exec hears of calls in a wait"
    );
    let expected = [
        json!(["leg started", "wait", wait]),
        json!(["leg finished", "wait", wait, "completed"]),
    ];
    assert_eq!(
        *later.0.lock().unwrap(),
        expected,
        "the observer of the wait hears of the wait"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_observer_hears_the_end_of_calls_that_are_cancelled_and_of_legs_that_are_refused() {
    let mut world = World::new("watch-cancelled");
    let log = Arc::new(Log::default());
    world.observer = Arc::<Log>::clone(&log);
    let abort = async {
        world.effects.reached("at gate a", 1).await;
        world.cancel.cancel();
    };
    let (result, ()) = tokio::join!(world.exec("return await tools.gate({ key: 'a' })"), abort);
    assert_eq!(result["code"], "aborted");
    while log.events("call finished").is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        (
            log.events("call started").len(),
            log.events("call finished").len()
        ),
        (1, 1)
    );
    world.wait(&json!("forged")).await;
    world.exec("import 'fs'").await;
    let ends: Vec<Value> = log
        .events("leg finished")
        .into_iter()
        .map(|event| json!([event[1], event[3]]))
        .collect();
    assert_eq!(
        ends,
        [
            json!(["exec", "failed"]),
            json!(["wait", "failed"]),
            json!(["exec", "failed"])
        ]
    );
}
