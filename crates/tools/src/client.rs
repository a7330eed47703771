use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use codecell_bridge::{BoxFuture, Json, OutsideGuard};
use codecell_catalog::{Owner, ToolSpec};
use serde::{Deserialize, Serialize};
use tokio::sync::{broadcast, oneshot};
use uuid::Uuid;

use crate::executor::{ToolCall, ToolError, ToolResult};
use crate::recent::Recent;
use crate::tool::ToolDefinition;

/// Tools that one application may bring.
const MAX_TOOLS: usize = 512;

/// Longest name of a client's tool, in characters.
const MAX_NAME_CHARS: usize = 128;

/// Longest description of a client's tool, in characters.
const MAX_DESCRIPTION_CHARS: usize = 16_384;

/// Calls that may wait for the application at once.
const MAX_WAITING: usize = 1_024;

/// Answered calls that are remembered, so that a second answer hears that it is one.
const MAX_ANSWERED: usize = 1_024;

/// News that a slow listener may lag behind by before it misses some.
const MAX_NEWS: usize = 256;

/// The tools of the application on the other side, for one run. It runs them itself: a call waits here until the
/// application answers it. Nothing it says is trusted. Clones share the calls.
///
/// The application may be one that answers only after it was answered itself, so a cell that waits for nothing but
/// such calls is suspended at once. All of them are among the [`pending`](Self::pending) ones by then.
#[derive(Clone)]
pub struct ClientTools {
    shared: Arc<Shared>,
}

struct Shared {
    owner: Owner,
    tools: Vec<ToolDefinition>,
    calls: Mutex<Calls>,
    news: broadcast::Sender<ClientNews>,
}

struct Calls {
    closed: bool,
    next: u64,
    /// By number, so in the order they were made.
    waiting: BTreeMap<u64, Waiting>,
    answered: Recent<()>,
}

struct Waiting {
    call: ClientCall,
    answer: oneshot::Sender<Result<Json, String>>,
    /// Dropped with the answer, not when the call gets to see it: a cell is not suspended for an answer that is here.
    _outside: OutsideGuard,
}

/// A call that the application has to answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientCall {
    /// Names the call: `call_` and 32 hexadecimal digits that nobody can guess.
    pub id: String,
    /// The tool's name, as the application gave it.
    pub tool: String,
    /// The argument, an object that fits the schema the application gave.
    pub arguments: Json,
    /// The id of the cell that calls; none for a direct call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<String>,
    /// Number of the call within its cell, as in `pendingToolCalls`; of a direct call, what its maker gave it.
    #[serde(default)]
    pub number: u32,
}

/// What happens to calls, for whoever carries them to the application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum ClientNews {
    /// A call waits for its answer.
    Called {
        /// The call.
        call: ClientCall,
    },
    /// A call waits no more: answered, or not wanted any longer.
    Closed {
        /// Which.
        id: String,
    },
}

/// A definition that was left out, and why; the others are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedTool {
    /// The name, as it was given, shortened.
    pub name: String,
    /// What is wrong.
    pub problem: ClientToolProblem,
}

/// What is wrong with a client's tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientToolProblem {
    /// There is no name, or one that cannot be written down.
    #[error("the name is empty, has blanks around it, or has control characters")]
    Name,
    /// A name nobody would type.
    #[error("the name is longer than {MAX_NAME_CHARS} characters")]
    LongName,
    /// A description no model would read.
    #[error("the description is longer than {MAX_DESCRIPTION_CHARS} characters")]
    LongDescription,
    /// An earlier tool has the name.
    #[error("an earlier tool has the same name")]
    Duplicate,
    /// Arguments are objects.
    #[error("`parameters` is no JSON Schema of an object")]
    Parameters,
    /// A schema is an object or a boolean.
    #[error("`outputSchema` is no JSON Schema")]
    OutputSchema,
    /// Hints are an object.
    #[error("`annotations` is no object")]
    Annotations,
    /// More than anybody needs.
    #[error("there are more than {MAX_TOOLS} tools")]
    TooMany,
}

/// Why an answer did not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// Never made, not wanted any more, or answered long ago.
    #[error("no call `{id}` waits for an answer")]
    Unknown {
        /// As it was given.
        id: String,
    },
    /// The first answer counts. The last thousand or so answers are remembered.
    #[error("call `{id}` is already answered")]
    Answered {
        /// Which.
        id: String,
    },
}

impl ClientTools {
    /// Takes the definitions that can be used, for an application of this name.
    #[must_use]
    pub fn new(owner: impl Into<String>, definitions: Vec<ToolDefinition>) -> (Self, Vec<RefusedTool>) {
        let mut tools = Vec::new();
        let mut refused = Vec::new();
        let mut names = HashSet::new();
        for definition in definitions {
            let problem = if tools.len() >= MAX_TOOLS {
                Some(ClientToolProblem::TooMany)
            } else {
                problem_of(&definition).or_else(|| {
                    let is_new = names.insert(definition.name.clone());
                    (!is_new).then_some(ClientToolProblem::Duplicate)
                })
            };
            match problem {
                None => tools.push(definition),
                Some(problem) => refused.push(RefusedTool {
                    name: definition.name.chars().take(MAX_NAME_CHARS).collect(),
                    problem,
                }),
            }
        }
        let calls = Calls {
            closed: false,
            next: 0,
            waiting: BTreeMap::new(),
            answered: Recent::new(MAX_ANSWERED),
        };
        let shared = Shared {
            owner: Owner::Client(owner.into()),
            tools,
            calls: Mutex::new(calls),
            news: broadcast::Sender::new(MAX_NEWS),
        };
        let shared = Arc::new(shared);
        (Self { shared }, refused)
    }

    /// The tools, as the catalog sees them.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        let tools = self.shared.tools.iter().cloned();
        tools
            .map(|tool| tool.into_spec(self.shared.owner.clone()))
            .collect()
    }

    /// The calls that wait for an answer, oldest first.
    #[must_use]
    pub fn pending(&self) -> Vec<ClientCall> {
        self.shared.calls().pending(|_| true)
    }

    /// Those of them that the program of one cell has made, in the order in which it made them.
    #[must_use]
    pub fn pending_of(&self, cell: &str) -> Vec<ClientCall> {
        let of_cell = |call: &ClientCall| call.cell.as_deref() == Some(cell);
        let mut calls = self.shared.calls().pending(of_cell);
        // They came in the order in which their tasks got here.
        calls.sort_by_key(|call| call.number);
        calls
    }

    /// Answers a call: with its value, or with what went wrong. The first answer counts.
    ///
    /// # Errors
    ///
    /// Fails when the call is unknown or answered.
    pub fn answer(&self, id: &str, answer: Result<Json, String>) -> Result<(), AnswerError> {
        self.answer_all(vec![(id.to_owned(), answer)])
    }

    /// Answers several calls, or none of them.
    ///
    /// # Errors
    ///
    /// Fails when one of them is unknown, answered, or named twice. The first such one is named.
    pub fn answer_all(&self, answers: Vec<(String, Result<Json, String>)>) -> Result<(), AnswerError> {
        let mut calls = self.shared.calls();
        let numbers = calls.numbers_of(answers.iter().map(|(id, _)| id.as_str()))?;
        let mut answered = Vec::new();
        // All come back before the first is told, or its cell would take it and be suspended for the others.
        for (number, (id, answer)) in numbers.into_iter().zip(answers) {
            if let Some(waiting) = self.shared.end(&mut calls, number) {
                calls.answered.remember(id, ());
                answered.push((waiting.answer, answer));
            }
        }
        for (caller, answer) in answered {
            // It may be gone.
            let _ = caller.send(answer);
        }
        Ok(())
    }

    /// Says that the application is gone: calls that wait, and calls made from now on, fail as aborted.
    pub fn close(&self) {
        let mut calls = self.shared.calls();
        calls.closed = true;
        let mut callers = Vec::new();
        while let Some(number) = calls.waiting.keys().next().copied() {
            let waiting = self.shared.end(&mut calls, number);
            callers.extend(waiting.map(|waiting| waiting.answer));
        }
        // To the one who called, an answer that is dropped is an abort.
        drop(callers);
    }

    /// Whether this call was answered, as far as that is remembered.
    #[must_use]
    pub fn was_answered(&self, id: &str) -> bool {
        self.shared.calls().answered.get(id).is_some()
    }

    /// News from now on. A listener that lags misses some and reads [`pending`](Self::pending) again.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<ClientNews> {
        self.shared.news.subscribe()
    }

    /// Makes a call wait until it is answered or cancelled.
    pub(crate) fn call(&self, call: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>> {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            let (answer, answered) = oneshot::channel();
            let seat = Seat::take(shared, &call, answer)?;
            let answer = tokio::select! {
                biased;
                answer = answered => answer,
                () = call.cancel.cancelled() => return Err(aborted()),
            };
            drop(seat);
            match answer {
                Ok(Ok(value)) => Ok(ToolResult::of_value(value)),
                Ok(Err(message)) => Err(ToolError::new("tool_error", message)),
                Err(_) => Err(aborted()),
            }
        })
    }
}

fn aborted() -> ToolError {
    ToolError::new(
        "aborted",
        "the call was cancelled before the application answered",
    )
}

fn problem_of(tool: &ToolDefinition) -> Option<ClientToolProblem> {
    let longer = |text: &str, limit: usize| text.chars().nth(limit).is_some();
    let name = &tool.name;
    if name.is_empty() || name.trim() != name || name.chars().any(char::is_control) {
        return Some(ClientToolProblem::Name);
    }
    if longer(name, MAX_NAME_CHARS) {
        return Some(ClientToolProblem::LongName);
    }
    if longer(&tool.description, MAX_DESCRIPTION_CHARS) {
        return Some(ClientToolProblem::LongDescription);
    }
    let kind = tool.parameters.get("type");
    if !tool.parameters.is_object() || kind.is_some_and(|kind| kind != "object") {
        return Some(ClientToolProblem::Parameters);
    }
    if tool
        .output_schema
        .as_ref()
        .is_some_and(|schema| !schema.is_object() && !schema.is_boolean())
    {
        return Some(ClientToolProblem::OutputSchema);
    }
    let odd_hints = tool.annotations.as_ref().is_some_and(|hints| !hints.is_object());
    odd_hints.then_some(ClientToolProblem::Annotations)
}

impl Shared {
    fn calls(&self) -> MutexGuard<'_, Calls> {
        // Nothing in there is ever half written.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, calls: &mut Calls, number: u64) -> Option<Waiting> {
        let waiting = calls.waiting.remove(&number)?;
        let id = waiting.call.id.clone();
        // Nobody may be listening.
        let _ = self.news.send(ClientNews::Closed { id });
        Some(waiting)
    }
}

impl Calls {
    fn pending(&self, wanted: impl Fn(&ClientCall) -> bool) -> Vec<ClientCall> {
        let calls = self.waiting.values().map(|waiting| &waiting.call);
        calls.filter(|call| wanted(call)).cloned().collect()
    }

    /// The calls of these ids, each of them once.
    fn numbers_of<'a>(&self, ids: impl Iterator<Item = &'a str>) -> Result<Vec<u64>, AnswerError> {
        let waiting = self.waiting.iter();
        let mut open: HashMap<&str, u64> = waiting
            .map(|(number, waiting)| (waiting.call.id.as_str(), *number))
            .collect();
        let mut taken = HashSet::new();
        ids.map(|id| match open.remove(id) {
            Some(number) => {
                taken.insert(id);
                Ok(number)
            }
            None if taken.contains(id) || self.answered.get(id).is_some() => {
                Err(AnswerError::Answered { id: id.to_owned() })
            }
            None => Err(AnswerError::Unknown { id: id.to_owned() }),
        })
        .collect()
    }
}

/// A call's place among those that wait; left when dropped.
struct Seat {
    shared: Arc<Shared>,
    number: u64,
}

impl Seat {
    fn take(
        shared: Arc<Shared>,
        call: &ToolCall,
        answer: oneshot::Sender<Result<Json, String>>,
    ) -> Result<Self, ToolError> {
        let mut calls = shared.calls();
        if calls.closed {
            return Err(aborted());
        }
        if calls.waiting.len() >= MAX_WAITING {
            let message =
                format!("{MAX_WAITING} calls already wait for the application; let it answer some first");
            return Err(ToolError::new("too_many_calls", message));
        }
        let number = calls.next;
        calls.next += 1;
        // Under the lock: whoever finds the cell suspended finds the call among those that wait.
        let outside = call.wait_outside();
        let call = ClientCall {
            id: format!("call_{}", Uuid::new_v4().simple()),
            tool: call.name().to_owned(),
            arguments: call.arguments.clone(),
            cell: call.cell.clone(),
            number: call.number,
        };
        let news = ClientNews::Called { call: call.clone() };
        let waiting = Waiting {
            call,
            answer,
            _outside: outside,
        };
        calls.waiting.insert(number, waiting);
        // Told under the lock, so that a call is told before it is closed. Nobody may be listening.
        let _ = shared.news.send(news);
        drop(calls);
        Ok(Self { shared, number })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.shared.end(&mut self.shared.calls(), self.number);
    }
}
