//! The turns that are going on: those that run, and those that wait for their application.
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use codecell::tools::{AnswerError, ClientTools, RefusedTool, ToolDefinition};
use codecell::{Caller, Json};
use codecell_agent::{ClientCall, Journal, JournalError, Kept, Limits, Turn, TurnEnd};
use codecell_llm::{Message, Request, ToolCall};
use codecell_sessions::{Entry, Outcome, SessionError, Sessions};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::agents::{Agents, Target};
use super::context::{History, Past};
use super::counted::Counted;
use super::counters::Counters;
use super::running::{Ear, Running};
use super::scribe::Scribe;
use super::surface::{Parts, TurnTools};
use super::trajectory;
use super::watch::NestedNews;
use crate::wiring::{View, VisibleKind};

/// Turns that may be going on at once, waiting ones included.
const MAX_TURNS: usize = 1_024;

/// Events that may wait for a listener before the turn is slowed down.
const EVENT_BUFFER: usize = 64;

/// News of nested calls that may wait for a listener before some are dropped.
const NEWS_BUFFER: usize = 256;

/// Answered calls that are remembered, so that a second answer hears that it is one.
const MAX_ANSWERED: usize = 4_096;

/// How long a turn that was replaced or aborted is given to write its end.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// The application's name in the ids of its tools.
const CLIENT_OWNER: &str = "app";

/// Begins turns and keeps track of them. Clones share everything.
#[derive(Clone)]
pub(crate) struct Turns {
    inner: Arc<Inner>,
}

struct Inner {
    agents: Agents,
    sessions: Sessions,
    counters: Arc<Counters>,
    trajectory: Option<PathBuf>,
    live: Mutex<Live>,
}

#[derive(Default)]
struct Live {
    turns: BTreeMap<String, LiveTurn>,
    /// The turn of each session.
    lanes: HashMap<String, String>,
    /// Sessions in which no turn may begin for now.
    held: HashSet<String>,
    /// The turn that waits for each call.
    calls: HashMap<String, String>,
    answered: VecDeque<String>,
    closed: bool,
}

struct LiveTurn {
    agent: String,
    session: String,
    model: String,
    started_at: SystemTime,
    /// How often its model was asked.
    rounds: Arc<AtomicU32>,
    cancel: CancellationToken,
    over: CancellationToken,
    clients: Option<ClientTools>,
    /// How long it may wait for its application.
    patience: Duration,
    state: State,
}

enum State {
    Running,
    Waiting { calls: Vec<ClientCall>, ear: Ear },
}

/// What somebody wants a turn for.
pub(crate) struct Ask {
    pub(crate) target: Target,
    pub(crate) session: String,
    /// Instructions of this request, after those of the agent.
    pub(crate) instructions: Option<String>,
    /// What the model is told of what was said before.
    pub(crate) history: History,
    /// What the request says was said, the new message last.
    pub(crate) messages: Vec<Message>,
    /// The application's own tools.
    pub(crate) client_tools: Vec<ToolDefinition>,
    pub(crate) max_output_tokens: Option<u64>,
    pub(crate) temperature: Option<f64>,
    /// Whether somebody looks at nested calls as they happen.
    pub(crate) watched: bool,
}

/// Why a turn did not begin.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BeginProblem {
    #[error("session `{0}` is busy with another turn: wait for its end, or use another session")]
    Busy(String),
    #[error("{MAX_TURNS} turns are going on: try again later")]
    TooMany,
    #[error("the server is shutting down")]
    Closed,
    #[error("tool `{}` cannot be used: {}", .0.name, .0.problem)]
    Tool(RefusedTool),
    /// Somebody else has gone on from the turn that was named, while this one began.
    #[error("session `{0}` has gone on meanwhile: try again")]
    GoneOn(String),
    #[error("{0}")]
    Transcript(#[from] JournalError),
    #[error("the transcript cannot be read: {0}")]
    History(#[from] SessionError),
}

/// Why an answer was not taken. Nothing has changed then.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AnswerProblem {
    #[error("no turn waits for the output of tool call `{0}`: it was never made, or its turn is over")]
    Unknown(String),
    #[error("the output of tool call `{0}` was already given")]
    Answered(String),
    #[error("no output was given for tool call {}", .0.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", "))]
    Missing(Vec<String>),
}

/// A turn as people see it.
#[derive(Clone, Debug)]
pub(crate) struct RunInfo {
    pub(crate) id: String,
    pub(crate) agent: String,
    pub(crate) session: String,
    pub(crate) model: String,
    pub(crate) started_at: SystemTime,
    /// How often its model was asked.
    pub(crate) rounds: u32,
    pub(crate) state: RunState,
}

/// What a turn does right now.
#[derive(Clone, Debug)]
pub(crate) enum RunState {
    Running,
    /// It waits for its application to answer these calls.
    Waiting(Vec<ClientCall>),
}

impl Turns {
    /// Turns of these agents, kept in these sessions and, if there is one, added to a trajectory.
    pub(crate) fn new(agents: Agents, sessions: Sessions, trajectory: Option<&Path>) -> Self {
        Self {
            inner: Arc::new(Inner {
                agents,
                sessions,
                counters: Arc::default(),
                trajectory: trajectory.map(Path::to_owned),
                live: Mutex::default(),
            }),
        }
    }

    pub(crate) fn agents(&self) -> &Agents {
        &self.inner.agents
    }

    pub(crate) fn sessions(&self) -> &Sessions {
        &self.inner.sessions
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.inner.counters
    }

    /// Begins a turn. A turn of the same session that waits for its application is given up for it.
    ///
    /// # Errors
    ///
    /// Fails when the session has a turn that runs, when a tool of the application cannot be used, or when the
    /// transcript cannot be written.
    pub(crate) async fn begin(&self, mut ask: Ask) -> Result<Running, BeginProblem> {
        let (clients, refused) = ClientTools::new(CLIENT_OWNER, ask.client_tools.clone());
        if let Some(refused) = refused.into_iter().next() {
            return Err(BeginProblem::Tool(refused));
        }
        let clients = (!ask.client_tools.is_empty()).then_some(clients);
        let seat = self.take_seat(&ask, clients.clone()).await?;
        let app = Arc::clone(&ask.target.app);
        app.shared.await_unknown_servers().await;
        let view = match &clients {
            Some(clients) => Arc::new(app.view_with(clients)),
            None => app.view(),
        };
        let (events, ear_events) = mpsc::channel(EVENT_BUFFER);
        let (news, nested) = mpsc::channel(NEWS_BUFFER);
        let scribe = Scribe::start(self.inner.sessions.clone(), ask.session.clone(), seat.id.clone());
        let past = Past::read(&self.inner.sessions, &ask.session, &ask.history).await?;
        let (messages, new) = past.with(std::mem::take(&mut ask.messages), &view);
        ask.messages = messages;
        scribe.keep(new).await?;
        let ear = Ear {
            events: ear_events,
            nested,
            scribe: scribe.clone(),
            cancel: seat.cancel.clone(),
            over: seat.over.clone(),
        };
        let watched = ask.watched.then_some(news);
        let (id, session) = (seat.id.clone(), ask.session.clone());
        let turn = self.turn(ask, &seat, view, clients, scribe.clone(), watched);
        let began = Instant::now();
        let (turns, run, session_of_run) = (self.clone(), id.clone(), session.clone());
        tokio::spawn(async move {
            // On the heap: it is large, and lives long.
            let end: TurnEnd = Box::pin(turn.run(events)).await;
            turns.inner.counters.turn(&end.stop, began.elapsed());
            if let Some(codecell) = app.shared.loaded_engine() {
                // Nobody can resume what it left behind.
                codecell.abort_run(&session_of_run, &run);
            }
            // The next turn of the session reads the transcript. A disk that fails has failed this turn by now.
            let _ = scribe.flush().await;
            if let Some(file) = &turns.inner.trajectory {
                trajectory::add(&turns.inner.sessions, &run, file).await;
            }
            drop(seat);
        });
        Ok(Running {
            turns: self.clone(),
            id,
            session,
            ear: Some(ear),
        })
    }

    fn turn(
        &self,
        ask: Ask,
        seat: &Seat,
        view: Arc<View>,
        clients: Option<ClientTools>,
        scribe: Scribe,
        news: Option<mpsc::Sender<NestedNews>>,
    ) -> Turn {
        let app = ask.target.app;
        let settings = &app.agent().turn;
        let caller = Caller {
            run: seat.id.clone(),
            session: ask.session.clone(),
            ..app.caller()
        };
        let instructions = [settings.system_prompt.clone(), ask.instructions];
        let system: Vec<String> = instructions.into_iter().flatten().collect();
        let request = Request {
            model: ask.target.model,
            system: (!system.is_empty()).then(|| system.join("\n\n")),
            messages: ask.messages,
            max_output_tokens: ask
                .max_output_tokens
                .or(settings.max_tokens)
                .or(ask.target.max_tokens),
            temperature: ask.temperature.or(settings.temperature),
            session: Some(ask.session),
            ..Request::default()
        };
        let limits = Limits {
            rounds: u32::try_from(settings.max_rounds).unwrap_or(u32::MAX),
            tokens: settings.max_turn_tokens,
            time: settings.timeout,
            ..Limits::default()
        };
        let journal = TurnJournal {
            scribe: scribe.clone(),
            view: Arc::clone(&view),
        };
        let surface = TurnTools::new(Parts {
            app,
            view,
            clients,
            caller,
            scribe,
            news,
        });
        Turn {
            model: Arc::new(Counted {
                client: ask.target.client,
                counters: Arc::clone(&self.inner.counters),
                rounds: Arc::clone(&seat.rounds),
            }),
            surface: Arc::new(surface),
            journal: Arc::new(journal),
            request,
            limits,
            cancel: seat.cancel.clone(),
        }
    }

    /// Reserves the session for a turn.
    async fn take_seat(&self, ask: &Ask, clients: Option<ClientTools>) -> Result<Seat, BeginProblem> {
        let seat = Seat {
            turns: self.clone(),
            id: format!("turn_{}", Uuid::new_v4().simple()),
            rounds: Arc::default(),
            cancel: CancellationToken::new(),
            over: CancellationToken::new(),
        };
        self.when_free(&ask.session, |live| {
            if live.turns.len() >= MAX_TURNS {
                return Err(BeginProblem::TooMany);
            }
            let turn = LiveTurn {
                agent: ask.target.app.agent().id.clone(),
                session: ask.session.clone(),
                model: ask.target.model_ref.clone(),
                started_at: SystemTime::now(),
                rounds: Arc::clone(&seat.rounds),
                cancel: seat.cancel.clone(),
                over: seat.over.clone(),
                clients: clients.clone(),
                patience: ask.target.app.settings.snapshot_ttl,
                state: State::Running,
            };
            live.lanes.insert(ask.session.clone(), seat.id.clone());
            live.turns.insert(seat.id.clone(), turn);
            Ok(())
        })
        .await?;
        Ok(seat)
    }

    /// Keeps turns from beginning in a session as long as the guard lives, so that it can be changed. A turn that
    /// waits for its application is given up for it.
    ///
    /// # Errors
    ///
    /// Fails when the session has a turn that runs.
    pub(crate) async fn hold(&self, session: &str) -> Result<Hold, BeginProblem> {
        self.when_free(session, |live| {
            live.held.insert(session.to_owned());
            Ok(())
        })
        .await?;
        Ok(Hold {
            turns: self.clone(),
            session: session.to_owned(),
        })
    }

    /// Does something while the session has no turn. One that waits for its application is given up for it.
    async fn when_free(
        &self,
        session: &str,
        mut act: impl FnMut(&mut Live) -> Result<(), BeginProblem>,
    ) -> Result<(), BeginProblem> {
        let busy = || BeginProblem::Busy(session.to_owned());
        loop {
            let replaced = {
                let mut live = self.live();
                if live.closed {
                    return Err(BeginProblem::Closed);
                }
                if live.held.contains(session) {
                    return Err(busy());
                }
                let holder = live.lanes.get(session).cloned();
                match holder.and_then(|id| live.give_up(&id)) {
                    Some(GivenUp::Runs) => return Err(busy()),
                    Some(GivenUp::Ends(over)) => over,
                    None => return act(&mut live),
                }
            };
            let ended = tokio::time::timeout(LAST_WORDS, replaced.cancelled()).await;
            ended.map_err(|_| busy())?;
        }
    }

    /// Answers the calls that a turn waits for, all of them, and goes on listening to it.
    ///
    /// # Errors
    ///
    /// Fails, and changes nothing, when a call is unknown or answered, or one that the turn waits for is missing.
    pub(crate) fn answer(
        &self,
        answers: Vec<(String, Result<Json, String>)>,
    ) -> Result<Running, AnswerProblem> {
        let mut live = self.live();
        let mut turn_id: Option<String> = None;
        for (call, _) in &answers {
            match (live.calls.get(call), &turn_id) {
                (Some(turn), None) => turn_id = Some(turn.clone()),
                (Some(turn), Some(first)) if turn == first => {}
                (None, _) if live.answered.contains(call) => {
                    return Err(AnswerProblem::Answered(call.clone()));
                }
                _ => return Err(AnswerProblem::Unknown(call.clone())),
            }
        }
        let unknown = || AnswerProblem::Unknown(String::new());
        let turn_id = turn_id.ok_or_else(unknown)?;
        let turn = live.turns.get_mut(&turn_id).ok_or_else(unknown)?;
        let State::Waiting { calls, .. } = &turn.state else {
            return Err(unknown());
        };
        let given = |call: &&ClientCall| answers.iter().any(|(id, _)| *id == call.id);
        let missing: Vec<String> = calls
            .iter()
            .filter(|call| !given(call))
            .map(|call| call.id.clone())
            .collect();
        if !missing.is_empty() {
            return Err(AnswerProblem::Missing(missing));
        }
        if let Some(clients) = &turn.clients {
            clients.answer_all(answers).map_err(|error| match error {
                AnswerError::Answered { id } => AnswerProblem::Answered(id),
                AnswerError::Unknown { id } => AnswerProblem::Unknown(id),
                other => AnswerProblem::Unknown(other.to_string()),
            })?;
        }
        let session = turn.session.clone();
        let State::Waiting { calls, ear } = std::mem::replace(&mut turn.state, State::Running) else {
            return Err(unknown());
        };
        for call in calls {
            live.calls.remove(&call.id);
            if live.answered.len() >= MAX_ANSWERED {
                live.answered.pop_front();
            }
            live.answered.push_back(call.id);
        }
        Ok(Running {
            turns: self.clone(),
            id: turn_id,
            session,
            ear: Some(ear),
        })
    }

    /// Keeps the listening end of a turn until its application answers, or does not for too long.
    pub(super) fn park(&self, id: &str, calls: Vec<ClientCall>, ear: Ear) {
        let mut live = self.live();
        let closed = live.closed;
        let Some(turn) = live.turns.get_mut(id) else {
            return;
        };
        if closed {
            // Nobody could answer it any more.
            turn.cancel.cancel();
        }
        let (patience, over, cancel) = (turn.patience, turn.over.clone(), turn.cancel.clone());
        let first = calls.first().map(|call| call.id.clone()).unwrap_or_default();
        let ids: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
        turn.state = State::Waiting { calls, ear };
        live.calls
            .extend(ids.into_iter().map(|call| (call, id.to_owned())));
        drop(live);
        let turns = self.clone();
        tokio::spawn(async move {
            if over
                .run_until_cancelled(tokio::time::sleep(patience))
                .await
                .is_some()
                && turns.live().calls.contains_key(&first)
            {
                tracing::info!("a turn has waited too long for its application");
                cancel.cancel();
            }
        });
    }

    /// Ends a turn; false if there is none of this id.
    pub(crate) async fn abort(&self, id: &str) -> bool {
        let found = self
            .live()
            .turns
            .get(id)
            .map(|turn| (turn.cancel.clone(), turn.over.clone()));
        let Some((cancel, over)) = found else {
            return false;
        };
        cancel.cancel();
        let _late = tokio::time::timeout(LAST_WORDS, over.cancelled()).await;
        true
    }

    /// The turns that are going on, oldest first.
    pub(crate) fn list(&self) -> Vec<RunInfo> {
        let live = self.live();
        let mut runs: Vec<RunInfo> = live
            .turns
            .iter()
            .map(|(id, turn)| RunInfo {
                id: id.clone(),
                agent: turn.agent.clone(),
                session: turn.session.clone(),
                model: turn.model.clone(),
                started_at: turn.started_at,
                rounds: turn.rounds.load(Ordering::Relaxed),
                state: match &turn.state {
                    State::Running => RunState::Running,
                    State::Waiting { calls, .. } => RunState::Waiting(calls.clone()),
                },
            })
            .collect();
        runs.sort_by_key(|run| run.started_at);
        runs
    }

    /// Takes no new turns, lets those that run end for at most `grace`, and aborts the rest. Those that wait for
    /// their application are aborted at once: nobody could answer them any more.
    pub(crate) async fn close(&self, grace: impl Future<Output = ()>) {
        let (waiting, running) = {
            let mut live = self.live();
            live.closed = true;
            let ends = |waits: bool| {
                let turns = live.turns.values();
                turns
                    .filter(|turn| matches!(turn.state, State::Waiting { .. }) == waits)
                    .map(|turn| (turn.cancel.clone(), turn.over.clone()))
                    .collect::<Vec<_>>()
            };
            (ends(true), ends(false))
        };
        for (cancel, _) in &waiting {
            cancel.cancel();
        }
        let all_over = async {
            for (_, over) in &running {
                over.cancelled().await;
            }
        };
        tokio::select! {
            () = all_over => {}
            () = grace => {}
        }
        let left: Vec<_> = self
            .live()
            .turns
            .values()
            .map(|turn| (turn.cancel.clone(), turn.over.clone()))
            .collect();
        for (cancel, _) in &left {
            cancel.cancel();
        }
        let all_over = async {
            for (_, over) in &left {
                over.cancelled().await;
            }
        };
        let _late = tokio::time::timeout(LAST_WORDS, all_over).await;
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        // Nothing in there is ever half written.
        self.inner.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum GivenUp {
    Runs,
    Ends(CancellationToken),
}

impl Live {
    /// Aborts a turn that waits for its application.
    fn give_up(&mut self, id: &str) -> Option<GivenUp> {
        let turn = self.turns.get(id)?;
        if matches!(turn.state, State::Running) && !turn.cancel.is_cancelled() {
            return Some(GivenUp::Runs);
        }
        turn.cancel.cancel();
        Some(GivenUp::Ends(turn.over.clone()))
    }

    fn remove(&mut self, id: &str) {
        let Some(turn) = self.turns.remove(id) else {
            return;
        };
        if self.lanes.get(&turn.session).is_some_and(|holder| holder == id) {
            self.lanes.remove(&turn.session);
        }
        self.calls.retain(|_, turn| turn != id);
        if let Some(clients) = turn.clients {
            clients.close();
        }
    }
}

/// The place of a turn among those that are going on, given back however it ends.
struct Seat {
    turns: Turns,
    id: String,
    rounds: Arc<AtomicU32>,
    cancel: CancellationToken,
    over: CancellationToken,
}

/// As long as it lives, no turn begins in its session.
pub(crate) struct Hold {
    turns: Turns,
    session: String,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.turns.live().held.remove(&self.session);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.turns.live().remove(&self.id);
        self.over.cancel();
    }
}

/// Keeps what the turn does in the transcript.
struct TurnJournal {
    scribe: Scribe,
    view: Arc<View>,
}

impl TurnJournal {
    fn call(&self, call: &ToolCall) -> codecell_sessions::ToolCall {
        let arguments = call
            .parse_arguments()
            .map_or_else(|_| Value::from(call.arguments.as_str()), Value::Object);
        let tool = self.view.visible.iter().find(|tool| tool.name == call.name);
        match tool.map(|tool| &tool.kind) {
            Some(VisibleKind::Exec) => {
                let language = arguments.get("language").and_then(Value::as_str);
                let language = language.filter(|language| matches!(*language, "javascript" | "typescript"));
                codecell_sessions::ToolCall::cell(&call.id, language.map(str::to_owned).as_deref(), arguments)
            }
            Some(VisibleKind::Wait) => codecell_sessions::ToolCall::wait(&call.id, arguments),
            Some(VisibleKind::Direct(tool)) => codecell_sessions::ToolCall {
                catalog_id: Some(tool.id().to_string()),
                ..codecell_sessions::ToolCall::direct(&call.id, &call.name, arguments)
            },
            None => codecell_sessions::ToolCall::direct(&call.id, &call.name, arguments),
        }
    }

    fn entries(&self, what: &Kept) -> Vec<Entry> {
        match what {
            Kept::Reply(reply) => {
                let text = reply.text();
                let text = (!text.is_empty()).then_some(Entry::Assistant { text });
                let calls = reply.tool_calls().map(|call| Entry::ToolCall(self.call(call)));
                text.into_iter().chain(calls).collect()
            }
            Kept::Result {
                call,
                answer,
                took_ms,
            } => {
                let outcome = if answer.is_error {
                    Outcome::Error(None)
                } else {
                    Outcome::Ok
                };
                let seen = answer.images.iter().map(|image| format!("[{}]", image.mime_type));
                let text: Vec<String> = std::iter::once(answer.text.clone()).chain(seen).collect();
                let text = text.join("\n");
                let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
                vec![Entry::ToolResult(
                    self.call(call).result(outcome, value, *took_ms),
                )]
            }
        }
    }
}

impl Journal for TurnJournal {
    fn keep(&self, what: Kept) -> codecell_agent::BoxFuture<Result<(), JournalError>> {
        let (scribe, entries) = (self.scribe.clone(), self.entries(&what));
        Box::pin(async move { scribe.keep(entries).await })
    }
}
