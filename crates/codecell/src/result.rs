use codecell_bridge::{Json, Output};
use serde::Serialize;

/// What `exec` and `wait` answer; serialises to the result object of the contract.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum CellResult {
    /// The program returned and no work is left.
    #[serde(rename_all = "camelCase")]
    Completed {
        /// What it returned, `null` if nothing.
        value: Json,
        /// What it printed since the last result.
        output: Vec<Output>,
        /// Counts and names, no inputs.
        telemetry: Telemetry,
        /// What went wrong beside the value.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<Warning>,
        /// True for restart-safe cells: running the cell again does no harm.
        #[serde(skip_serializing_if = "is_false")]
        replay_safe: bool,
    },
    /// The program is suspended; `wait` with the run id goes on.
    #[serde(rename_all = "camelCase")]
    Waiting {
        /// What `wait` is given.
        run_id: String,
        /// The cell, as its nested calls name it and those of the application's tools. No part of the JSON.
        #[serde(skip)]
        cell: String,
        /// Why it waits.
        reason: WaitReason,
        /// What it waits for, oldest first; a few dozen at most.
        pending_tool_calls: Vec<Pending>,
        /// How many more it waits for.
        #[serde(skip_serializing_if = "is_zero")]
        pending_omitted: usize,
        /// What it printed since the last result.
        output: Vec<Output>,
        /// Counts and names, no inputs.
        telemetry: Telemetry,
        /// True for restart-safe cells: running the cell again does no harm.
        #[serde(skip_serializing_if = "is_false")]
        replay_safe: bool,
    },
    /// The cell has ended without a value.
    #[serde(rename_all = "camelCase")]
    Failed {
        /// What happened and what to do, with the place in the submitted program as `cell:LINE:COLUMN`.
        error: String,
        /// The kind of failure.
        code: ErrorCode,
        /// What it printed since the last result.
        output: Vec<Output>,
        /// Counts and names, no inputs.
        telemetry: Telemetry,
        /// True for restart-safe cells: running the cell again does no harm.
        #[serde(skip_serializing_if = "is_false")]
        replay_safe: bool,
    },
}

impl CellResult {
    /// The result as one line of JSON.
    #[must_use]
    pub fn to_json_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|error| {
            // Every part is text, a number or JSON that was checked when it came in.
            format!(r#"{{"status":"failed","error":"the result could not be written: {error}","code":"internal_error"}}"#)
        })
    }

    /// Whether the cell failed.
    #[must_use]
    pub fn is_failed(&self) -> bool {
        matches!(self, Self::Failed { .. })
    }

    /// The same result with the name that the store gave the run.
    pub(crate) fn with_run_id(mut self, id: &str) -> Self {
        if let Self::Waiting { run_id, .. } = &mut self {
            id.clone_into(run_id);
        }
        self
    }

    /// The run to continue, while there is one.
    #[must_use]
    pub fn run_id(&self) -> Option<&str> {
        match self {
            Self::Waiting { run_id, .. } => Some(run_id),
            Self::Completed { .. } | Self::Failed { .. } => None,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_false(value: &bool) -> bool {
    !value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(value: &usize) -> bool {
    *value == 0
}

/// Why a run waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    /// For calls or timers that were not done in time, or for calls that only the application can answer.
    PendingTools,
    /// It said so with `yield_control`.
    Yield,
}

/// One thing a suspended run waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pending {
    /// Its name within the run: `bridge:METHOD:N`, with the number of the call.
    pub id: String,
    /// `call`, `callValue`, `namespace`, `timer` or `yield`.
    pub method: &'static str,
    /// The tool, as the program spelled it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
}

/// The kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// Refused before anything ran, or a run that cannot be resumed by this caller.
    InvalidInput,
    /// The guest cannot be loaded, or its worker died.
    RuntimeUnavailable,
    /// The wall-clock budget ended while guest code was running.
    Timeout,
    /// Value, output and error do not fit `maxOutputBytes`.
    OutputLimitExceeded,
    /// The image does not fit `maxSnapshotBytes`.
    SnapshotLimitExceeded,
    /// An uncaught exception, exhausted memory, or a promise nothing can wake.
    InternalError,
    /// Cancelled by the caller, the end of the session, or shutdown.
    Aborted,
}

/// Counts of one run, from its start. No secrets and no inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Telemetry {
    /// Tools in the catalog.
    pub catalog_size: usize,
    /// The same by source.
    pub sources: Sources,
    /// Searches made.
    pub search_count: usize,
    /// Descriptions and declarations asked for.
    pub describe_count: usize,
    /// Calls made.
    pub call_count: usize,
    /// What the model sees instead of the catalog.
    pub visible_tools: Vec<String>,
}

/// Tools of the catalog by source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sources {
    /// Core and plugin tools.
    pub openclaw: usize,
    /// Tools of MCP servers.
    pub mcp: usize,
    /// Tools of the client.
    pub client: usize,
}

/// Something the caller should know although the cell completed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// What kind of thing happened.
    pub kind: WarningKind,
    /// What happened.
    pub message: String,
    /// The tool concerned, as the program spelled it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Line of the submitted program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// The kinds of [`Warning`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// A call failed and the program never looked at its promise.
    UnawaitedFailure,
    /// Some other promise was rejected and the program never looked.
    UnhandledRejection,
    /// A tool reported an error inside its result.
    ToolError,
    /// A result did not fit the schema that its server declares.
    Contract,
    /// A call was still running when the program ended.
    Cancelled,
    /// More warnings than fit.
    Truncated,
}
