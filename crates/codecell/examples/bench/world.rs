//! What the cells of the benchmark can reach.

use std::sync::Arc;
use std::time::{Duration, Instant};

use codecell::{
    BoxFuture, Caller, CellResult, Codecell, EngineOptions, Owner, RunContext, Settings, Surface, ToolCall,
    ToolError, ToolExecutor, ToolResult, ToolSpec, Unobserved,
};
use serde_json::{Value, json};

pub(crate) type Failure = Box<dyn std::error::Error>;

/// Answers every call with its argument: at once, or, for `later`, when the scheduler comes round to it.
struct Echo;

impl ToolExecutor for Echo {
    fn execute(&self, call: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>> {
        Box::pin(async move {
            if call.tool.spec().name == "later" {
                tokio::task::yield_now().await;
            }
            Ok(ToolResult::of_value(call.arguments))
        })
    }
}

/// One engine, as a process has it.
pub(crate) struct World {
    pub(crate) codecell: Codecell,
}

impl World {
    pub(crate) fn new() -> Result<Self, Failure> {
        let codecell = Codecell::new(EngineOptions::default())?;
        Ok(Self { codecell })
    }

    /// Runs a cell that must not fail.
    pub(crate) async fn exec(&self, cell: &Value, context: &RunContext) -> Result<CellResult, Failure> {
        let result = self.codecell.exec(cell, context.clone()).await;
        if result.is_failed() {
            return Err(result.to_json_text().into());
        }
        Ok(result)
    }

    /// The times of a cell, after some that do not count.
    pub(crate) async fn time(
        &self,
        cell: &Value,
        context: &RunContext,
        runs: usize,
    ) -> Result<Vec<Duration>, Failure> {
        let warm_up = runs / 8 + 1;
        let mut times = Vec::with_capacity(runs);
        for run in 0..warm_up + runs {
            let start = Instant::now();
            self.exec(cell, context).await?;
            let took = start.elapsed();
            if run >= warm_up {
                times.push(took);
            }
        }
        Ok(times)
    }
}

/// What tools do, to what, and whose: a word of each in every description.
const WORDS: [[&str; 8]; 4] = [
    [
        "Finds", "Creates", "Updates", "Deletes", "Exports", "Archives", "Compares", "Counts",
    ],
    [
        "open", "overdue", "monthly", "draft", "shared", "deleted", "recent", "private",
    ],
    [
        "invoices",
        "tickets",
        "documents",
        "branches",
        "contacts",
        "meetings",
        "orders",
        "photos",
    ],
    [
        "customer",
        "team",
        "project",
        "repository",
        "calendar",
        "warehouse",
        "account",
        "folder",
    ],
];

/// A question of which every word is in an eighth of all descriptions.
pub(crate) const QUESTION: &str = "which overdue invoices of a customer can be exported";

/// So many tools, one of which is called `later`.
pub(crate) fn tools(number: usize) -> Vec<ToolSpec> {
    let schema = json!({ "type": "object", "properties": { "i": { "type": "integer" } } });
    let named = |(n, name): (usize, String)| {
        // Each place turns eight times as slowly as the one before it.
        let word = |place: usize| {
            WORDS
                .get(place)
                .and_then(|words| words.get((n >> (3 * place)) % words.len()))
        };
        let [verb, kind, what, whose] = [0, 1, 2, 3].map(|place| word(place).copied().unwrap_or_default());
        let description = format!("{verb} the {kind} {what} of a {whose}, as {name}");
        ToolSpec::new(Owner::Core, name, description, schema.clone())
    };
    (1..number)
        .map(|n| (n, format!("tool_{n}")))
        .chain([(0, "later".to_owned())])
        .map(named)
        .collect()
}

pub(crate) fn context(tools: Vec<ToolSpec>) -> RunContext {
    RunContext {
        caller: Caller::new("a", "s", "r"),
        surface: Arc::new(Surface::new(tools, Vec::new(), Arc::new(Echo))),
        settings: Settings::default(),
        cancel: Default::default(),
        observer: Arc::new(Unobserved),
    }
}
