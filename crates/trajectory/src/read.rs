use std::{collections::HashMap, fmt};

use serde::Serialize;
use serde_json::Value;

use crate::event::{EventKind, SCHEMA_VERSION, TRACE_SCHEMA, TrajectoryEvent};

/// Longest line that is read; the recorder writes none a quarter as long.
const MAX_LINE_BYTES: usize = 1 << 20;

/// Deepest tree that is built. Cells call tools, and tools do not call cells, so honest trees have two levels.
const MAX_DEPTH: usize = 16;

/// What a file holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// The events, in the order of the file.
    pub events: Vec<TrajectoryEvent>,
    /// The lines that were left out.
    pub warnings: Vec<ReadWarning>,
}

/// Why a line was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadWarning {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Problem {
    /// No JSON: torn, not UTF-8, or something else.
    Json,
    /// JSON, but no event.
    Event,
    /// An event of another schema or a later version of it.
    Schema,
    /// Longer than any line of a trajectory.
    TooLong,
}

impl fmt::Display for ReadWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = match self.problem {
            Problem::Json => "invalid-runtime-json",
            Problem::Event => "invalid-runtime-event",
            Problem::Schema => "unknown-trace-schema",
            Problem::TooLong => "line-too-long",
        };
        write!(f, "line {}: {problem}", self.line)
    }
}

/// Reads JSON Lines. A bad line costs that line; empty ones count and are skipped.
#[must_use]
pub fn parse_lines(bytes: &[u8]) -> Trace {
    let mut trace = Trace::default();
    for (position, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        match parse_line(line) {
            Ok(event) => trace.events.push(event),
            Err(problem) => trace.warnings.push(ReadWarning {
                line: position + 1,
                problem,
            }),
        }
    }
    trace
}

fn parse_line(line: &[u8]) -> Result<TrajectoryEvent, Problem> {
    if line.len() > MAX_LINE_BYTES {
        return Err(Problem::TooLong);
    }
    let value: Value = serde_json::from_slice(line).map_err(|_| Problem::Json)?;
    let event: TrajectoryEvent = serde_json::from_value(value).map_err(|_| Problem::Event)?;
    if event.trace_schema != TRACE_SCHEMA || event.schema_version > SCHEMA_VERSION {
        return Err(Problem::Schema);
    }
    Ok(event)
}

/// A call with everything that belongs to it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallNode {
    /// The call's id.
    pub tool_call_id: String,
    /// The tool's name.
    pub name: String,
    /// The exact id in the catalog, for a nested call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalog_id: Option<String>,
    /// The `tool.call`.
    pub call: TrajectoryEvent,
    /// The `tool.result`; a call without one was still running at the end.
    pub result: Option<TrajectoryEvent>,
    /// What people were asked about it and how they answered.
    pub approvals: Vec<TrajectoryEvent>,
    /// The calls its cell made.
    pub children: Vec<CallNode>,
}

/// Groups calls under the cells that made them, in the order they were made.
///
/// A call whose parent is not known is one of its own; a result or approval of an unknown call is left out.
#[must_use]
pub fn tree(events: &[TrajectoryEvent]) -> Vec<CallNode> {
    struct Slot {
        node: CallNode,
        parent: Option<usize>,
        depth: usize,
    }
    let mut slots: Vec<Slot> = Vec::new();
    let mut latest: HashMap<(&str, &str), usize> = HashMap::new();
    for event in events {
        let Some(id) = text(event, "toolCallId") else {
            continue;
        };
        let known = |id| latest.get(&(event.session_id.as_str(), id)).copied();
        match event.kind {
            EventKind::ToolCall => {
                // A parent comes before its children, so there are no circles.
                let parent = text(event, "parentToolCallId").and_then(known);
                let depth = parent
                    .and_then(|at| slots.get(at))
                    .map_or(0, |slot| slot.depth + 1);
                let (parent, depth) = if depth < MAX_DEPTH {
                    (parent, depth)
                } else {
                    (None, 0)
                };
                latest.insert((event.session_id.as_str(), id), slots.len());
                slots.push(Slot {
                    node: CallNode {
                        tool_call_id: id.to_owned(),
                        name: text(event, "name").unwrap_or_default().to_owned(),
                        catalog_id: text(event, "catalogId").map(str::to_owned),
                        call: event.clone(),
                        result: None,
                        approvals: Vec::new(),
                        children: Vec::new(),
                    },
                    parent,
                    depth,
                });
            }
            EventKind::ToolResult => {
                if let Some(slot) = known(id).and_then(|at| slots.get_mut(at)) {
                    slot.node.result = Some(event.clone());
                }
            }
            EventKind::ApprovalRequested | EventKind::ApprovalResolved => {
                if let Some(slot) = known(id).and_then(|at| slots.get_mut(at)) {
                    slot.node.approvals.push(event.clone());
                }
            }
            _ => {}
        }
    }
    let mut roots = Vec::new();
    while let Some(Slot { mut node, parent, .. }) = slots.pop() {
        node.children.reverse();
        match parent.and_then(|at| slots.get_mut(at)) {
            Some(slot) => slot.node.children.push(node),
            None => roots.push(node),
        }
    }
    roots.reverse();
    roots
}

fn text<'e>(event: &'e TrajectoryEvent, key: &str) -> Option<&'e str> {
    event.data.as_ref()?.get(key)?.as_str()
}
