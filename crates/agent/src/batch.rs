use std::collections::{BTreeMap, HashMap, VecDeque};
use std::mem;
use std::sync::Arc;

use codecell_llm::{ToolCall, ToolResult};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, timeout_at};
use tracing::Instrument;

use crate::event::Event;
use crate::halt::GRACE;
use crate::run::Run;
use crate::surface::{Answer, Step, SurfaceCall, Suspended, ToolSurface};

/// Most tools that are named to a model that called one that is not there.
const MAX_NAMES: usize = 50;

/// The calls of one answer, each named by its place in it.
#[derive(Default)]
struct Batch {
    /// Without a result yet.
    open: BTreeMap<usize, Open>,
    /// To be started, in order.
    queue: VecDeque<(usize, SurfaceCall)>,
    /// Whether a call must be done before the next one starts.
    sequential: bool,
    /// Tasks of their own: they go on while the listener or the journal is slow, and one that panics is one call.
    running: JoinSet<Step>,
    places: HashMap<Id, usize>,
    /// Wait for the application.
    waiting: BTreeMap<usize, Suspended>,
    results: BTreeMap<usize, ToolResult>,
}

struct Open {
    call: ToolCall,
    started: Option<Instant>,
}

impl Run<'_> {
    /// Carries out the calls of one answer. Gives a result for each, in the same order, whatever happens.
    pub(crate) async fn carry_out(&mut self, calls: Vec<ToolCall>) -> Vec<ToolResult> {
        let halted = self.halt.token().clone();
        let mut batch = self.prepare(calls).await;
        while !halted.is_cancelled() {
            batch.start(&self.surface, self.limits.parallel_calls);
            if let Some(joined) = halted
                .run_until_cancelled(batch.running.join_next_with_id())
                .await
            {
                match joined {
                    Some(joined) => self.take(&mut batch, joined).await,
                    None if batch.waiting.is_empty() => break,
                    None => self.wait_for_application(&mut batch).await,
                }
            }
        }
        self.close(&mut batch).await;
        batch.results.into_values().collect()
    }

    /// Looks at each call in order. What cannot be called has its result already.
    async fn prepare(&mut self, calls: Vec<ToolCall>) -> Batch {
        let mut batch = Batch::default();
        for (at, call) in calls.into_iter().enumerate() {
            let wanted = !self.halt.token().is_cancelled();
            let prepared = wanted.then(|| self.look_at(&call));
            batch.open.insert(at, Open { call, started: None });
            match prepared {
                None => {}
                Some(Ok(call)) => {
                    batch.sequential |= self.surface.is_sequential(&call.name);
                    batch.queue.push_back((at, call));
                }
                Some(Err(answer)) => self.settle_at(&mut batch, at, answer).await,
            }
        }
        batch
    }

    fn look_at(&self, call: &ToolCall) -> Result<SurfaceCall, Answer> {
        if self.request.tools.iter().all(|tool| tool.name != call.name) {
            return Err(Answer::error(self.not_found(&call.name)));
        }
        let arguments = call
            .parse_arguments()
            .map_err(|error| Answer::error(error.to_string()))?;
        Ok(SurfaceCall {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments,
            cancel: self.halt.token().child_token(),
        })
    }

    fn not_found(&self, name: &str) -> String {
        let tools = &self.request.tools;
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let more = names.len().saturating_sub(MAX_NAMES);
        let first = names.get(..MAX_NAMES).unwrap_or(&names).join(", ");
        match (names.len(), more) {
            (0, _) => format!("Tool {name} not found: there are no tools"),
            (_, 0) => format!("Tool {name} not found: there are {first}"),
            (_, more) => format!("Tool {name} not found: there are {first} and {more} more"),
        }
    }

    /// Nothing runs: hands over to the application, until the first call that waited moves.
    async fn wait_for_application(&mut self, batch: &mut Batch) {
        self.halt.wait(true);
        let waiting = mem::take(&mut batch.waiting);
        let calls = waiting.values().flat_map(|suspended| suspended.calls.clone());
        let calls = calls.collect();
        self.teller.tell(Event::Suspended { calls }).await;
        for (at, suspended) in waiting {
            batch.spawn(at, suspended.resume);
        }
        let moving = batch.running.join_next_with_id();
        let moved = self.halt.token().run_until_cancelled(moving).await.flatten();
        self.halt.wait(false);
        match moved {
            Some(joined) => {
                self.teller.tell(Event::Resumed).await;
                self.take(batch, joined).await;
            }
            // Who waits for the application does nothing that should be finished first.
            None => batch.running.shutdown().await,
        }
    }

    async fn take(&mut self, batch: &mut Batch, joined: Result<(Id, Step), JoinError>) {
        let (id, step) = match joined {
            Ok((id, step)) => (id, Ok(step)),
            Err(error) => (error.id(), Err(error)),
        };
        let Some(at) = batch.places.remove(&id) else {
            return;
        };
        match step {
            Ok(Step::Done(answer)) => self.settle_at(batch, at, answer).await,
            Ok(Step::Suspended(suspended)) => {
                batch.waiting.insert(at, suspended);
            }
            Err(error) => {
                tracing::error!("a tool crashed: {error}");
                let answer =
                    Answer::error("the tool crashed: that is a mistake in the tool, not in the call");
                self.settle_at(batch, at, answer).await;
            }
        }
    }

    /// Gives what still runs a moment to stop, and each call that is open by then its result.
    async fn close(&mut self, batch: &mut Batch) {
        let deadline = Instant::now() + GRACE;
        while let Ok(Some(joined)) = timeout_at(deadline, batch.running.join_next_with_id()).await {
            self.take(batch, joined).await;
        }
        batch.running.shutdown().await;
        let open: Vec<usize> = batch.open.keys().copied().collect();
        for at in open {
            self.settle_at(batch, at, Answer::error("Operation aborted"))
                .await;
        }
    }

    async fn settle_at(&mut self, batch: &mut Batch, at: usize, answer: Answer) {
        let Some(Open { call, started }) = batch.open.remove(&at) else {
            return;
        };
        let took = started.map(|started| started.elapsed()).unwrap_or_default();
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let result = self.settle(call, answer, took_ms).await;
        batch.results.insert(at, result);
    }
}

impl Batch {
    /// Starts what may be started.
    fn start(&mut self, surface: &Arc<dyn ToolSurface>, parallel: usize) {
        while self.has_room(parallel) {
            let Some((at, call)) = self.queue.pop_front() else {
                return;
            };
            if let Some(open) = self.open.get_mut(&at) {
                open.started = Some(Instant::now());
            }
            let surface = surface.clone();
            self.spawn(at, async move { surface.call(call).await });
        }
    }

    /// A call that waits for the application takes no room, but it is not done either.
    fn has_room(&self, parallel: usize) -> bool {
        if self.sequential {
            self.running.is_empty() && self.waiting.is_empty()
        } else {
            self.running.len() < parallel.max(1)
        }
    }

    fn spawn(&mut self, at: usize, work: impl Future<Output = Step> + Send + 'static) {
        let task = self.running.spawn(work.in_current_span());
        self.places.insert(task.id(), at);
    }
}
