//! Writes the trajectory of a session: its cells, their nested calls, and the questions to people.
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use codecell::tools::{ApprovalNews, Approvals, PendingApproval};
use codecell::{Answer, CallEnd, CellLeg, CellResult, NestedCall, Observer};
use codecell_trajectory::{
    ApprovalRequested, ApprovalResolved, Happening, JsonLines, Outcome, Recorder, Redactor, ToolCall,
    TrajectoryEvent,
};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::sync::broadcast::error::RecvError;

/// The trajectory of one session, written as it happens.
pub(crate) struct Record {
    recorder: Recorder,
    /// Calls and questions whose end has not been written.
    open: AtomicUsize,
    /// Told when there are none.
    settled: Notify,
}

/// How long the end of a session waits for the ends of its calls.
const LAST_WORDS: Duration = Duration::from_secs(1);

impl Record {
    /// Appends to `file`, which only this user can read: programs and arguments are in it, though redacted.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be opened.
    pub(crate) fn open(file: &Path, session: &str, approvals: &Approvals) -> io::Result<Arc<Self>> {
        let lines = JsonLines::new(open(file)?);
        let record = Arc::new(Self {
            recorder: Recorder::new(session, lines).with_redactor(redactor()),
            open: AtomicUsize::new(0),
            settled: Notify::new(),
        });
        record.recorder.record(None, Happening::SessionStarted);
        tokio::spawn(questions(
            Arc::downgrade(&record),
            approvals.clone(),
            session.to_owned(),
        ));
        Ok(record)
    }

    /// A call that the model makes itself.
    pub(crate) fn direct_call(&self, id: String, name: &str, arguments: &Value) -> ToolCall {
        let call = ToolCall::direct(id, name, arguments.clone());
        self.recorder.record(None, call.clone());
        call
    }

    /// Its end. `answer` is the result in MCP's shape, or the text of an error.
    pub(crate) fn direct_result(&self, call: &ToolCall, answer: &Result<String, String>, took: Duration) {
        let (outcome, value) = match answer {
            Ok(result) => (Outcome::Ok, serde_json::from_str(result).unwrap_or_default()),
            Err(message) => (Outcome::Error(None), json!({ "message": message })),
        };
        self.recorder
            .record(None, call.result(outcome, value, millis(took)));
    }

    fn opened(&self) {
        self.open.fetch_add(1, Ordering::SeqCst);
    }

    fn closed(&self) {
        if self.open.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.settled.notify_waiters();
        }
    }

    /// Ends the trajectory, after the ends of the calls that were cancelled just now.
    pub(crate) async fn close(&self) {
        let all_told = async {
            loop {
                let settled = self.settled.notified();
                if self.open.load(Ordering::SeqCst) == 0 {
                    return;
                }
                settled.await;
            }
        };
        let _late = tokio::time::timeout(LAST_WORDS, all_told).await;
        self.recorder.record(None, Happening::SessionEnded);
        if let Some(error) = self.recorder.take_error() {
            tracing::warn!(%error, "the trajectory is incomplete");
        }
    }
}

/// Opens a file to append to it.
fn open(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(file)?;
    if file.metadata()?.is_file() {
        // It may have been there before, and readable by others.
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    }
    Ok(file)
}

/// Appends events of which everything is known already, in one piece. Secrets have to be out of them.
///
/// # Errors
///
/// Fails when the file cannot be opened or written.
pub(crate) fn append_events(file: &Path, events: &[TrajectoryEvent]) -> io::Result<()> {
    let mut text = Vec::new();
    for event in events {
        serde_json::to_writer(&mut text, event)?;
        text.push(b'\n');
    }
    open(file)?.write_all(&text)
}

impl Observer for Record {
    fn leg_started(&self, leg: &CellLeg<'_>) {
        self.recorder.record(None, leg_call(leg));
    }

    fn leg_finished(&self, leg: &CellLeg<'_>, took: Duration, result: &CellResult) {
        let value = serde_json::to_value(result).unwrap_or_default();
        let outcome = match value.get("code").and_then(Value::as_str) {
            Some(code) if result.is_failed() => Outcome::Error(Some(code.to_owned())),
            _ => Outcome::Ok,
        };
        let answer = leg_call(leg).result(outcome, value, millis(took));
        self.recorder.record(None, answer);
    }

    fn call_started(&self, call: &NestedCall) {
        self.opened();
        self.recorder.record(None, nested_call(call));
    }

    fn call_finished(&self, call: &NestedCall, end: &CallEnd<'_>) {
        let (outcome, value) = match end.answer {
            Answer::Ok(value) => (Outcome::Ok, value.read().unwrap_or_default()),
            Answer::Error(thrown) => (
                Outcome::Error(thrown.code.clone()),
                serde_json::to_value(thrown).unwrap_or_default(),
            ),
        };
        let answer = nested_call(call).result(outcome, value, millis(end.took));
        self.recorder.record(None, answer);
        self.closed();
    }
}

fn leg_call(leg: &CellLeg<'_>) -> ToolCall {
    match leg.tool {
        "wait" => ToolCall::wait(leg.id, leg.arguments.clone()),
        _ => {
            let language = leg.arguments.get("language").and_then(Value::as_str);
            let known = language.filter(|language| matches!(*language, "javascript" | "typescript"));
            ToolCall::cell(leg.id, known, leg.arguments.clone())
        }
    }
}

fn nested_call(call: &NestedCall) -> ToolCall {
    let arguments = call
        .arguments
        .as_ref()
        .map_or(Value::Null, |json| json.read().unwrap_or_default());
    ToolCall {
        catalog_id: call.id.as_ref().map(ToString::to_string),
        parent_tool_call_id: Some(call.cell.clone()),
        ..ToolCall::direct(call_id(&call.cell, call.number), &call.tool, arguments)
    }
}

/// Names a nested call in the session: its cell and its number there.
fn call_id(cell: &str, number: u32) -> String {
    format!("{cell}.{number}")
}

/// Notes the questions of one session until its record is dropped.
async fn questions(record: std::sync::Weak<Record>, approvals: Approvals, session: String) {
    let mut news = approvals.subscribe();
    let mut open: Vec<PendingApproval> = Vec::new();
    loop {
        let heard = match news.recv().await {
            Ok(heard) => heard,
            Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        let Some(record) = record.upgrade() else {
            return;
        };
        match heard {
            ApprovalNews::Opened { approval } if approval.session == session => {
                record.opened();
                record.recorder.record(
                    None,
                    ApprovalRequested {
                        approval_id: approval.id.clone(),
                        tool_call_id: waiting_call(&approval),
                        title: approval.title.clone(),
                        description: Some(approval.description.clone()).filter(|text| !text.is_empty()),
                    },
                );
                open.push(*approval);
            }
            ApprovalNews::Closed { id, resolution } => {
                let Some(position) = open.iter().position(|approval| approval.id == id) else {
                    continue;
                };
                let approval = open.swap_remove(position);
                record.recorder.record(
                    None,
                    ApprovalResolved {
                        approval_id: id,
                        tool_call_id: waiting_call(&approval),
                        decision: resolution.code().to_owned(),
                        resolved_by: None,
                    },
                );
                record.closed();
            }
            ApprovalNews::Opened { .. } => {}
        }
    }
}

fn waiting_call(approval: &PendingApproval) -> String {
    match &approval.cell {
        Some(cell) => call_id(&cell.id, cell.call),
        None => approval.tool.clone(),
    }
}

/// Hides secrets, and where on this machine things are.
pub(crate) fn redactor() -> Redactor {
    let mut redactor = Redactor::default();
    if let Ok(folder) = std::env::current_dir() {
        redactor = redactor.with_workspace(&folder.to_string_lossy());
    }
    if let Some(home) = std::env::var_os("HOME") {
        redactor = redactor.with_home(&home.to_string_lossy());
    }
    redactor
}

fn millis(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}
