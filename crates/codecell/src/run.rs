//! One run, from its first leg to its last, and the results it gives.

use std::sync::Arc;

use codecell_bridge::{Fault, Leg, Replay, Wall};
use codecell_guest_runtime::{StartError, VmLimits};
use codecell_snapshot_store::Scope;
use codecell_ts_transform::PositionMap;

use crate::going::CellInfo;
use crate::missing;
use crate::nested::CellHost;
use crate::report::{Failure, MAX_PENDING_SHOWN, pending};
use crate::result::{CellResult, ErrorCode, Sources, Telemetry, WaitReason};
use crate::settings::Settings;
use crate::surface::Surface;

/// What stays the same for a run from its first leg to its last.
#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) scope: Scope,
    pub(crate) about: Arc<CellInfo>,
    pub(crate) surface: Arc<Surface>,
    pub(crate) settings: Settings,
    pub(crate) host: Arc<CellHost>,
    pub(crate) map: Arc<PositionMap>,
    pub(crate) replay: Replay,
}

impl Run {
    pub(crate) fn vm_limits(&self) -> VmLimits {
        VmLimits {
            memory_bytes: self.settings.memory_limit_bytes,
        }
    }

    pub(crate) fn not_started(&self, error: &StartError) -> Failure {
        match error {
            StartError::Stopped(Fault::Cancelled) => Failure::aborted(),
            StartError::Stopped(Fault::Deadline) => Failure::new(
                ErrorCode::Timeout,
                "code mode timeout exceeded: every VM of this process is in use. Try again later.",
            ),
            error => Failure::new(ErrorCode::RuntimeUnavailable, error.to_string()),
        }
    }

    pub(crate) fn telemetry(&self, calls: usize) -> Telemetry {
        Telemetry {
            search_count: self.host.search_count(),
            describe_count: self.host.describe_count(),
            call_count: calls,
            ..telemetry(&self.surface)
        }
    }

    /// A failure before there was anything to run.
    pub(crate) fn refused(&self, failure: Failure) -> CellResult {
        CellResult::Failed {
            error: failure.error,
            code: failure.code,
            output: Vec::new(),
            telemetry: self.telemetry(0),
            replay_safe: self.replay == Replay::SafeOnly,
        }
    }

    pub(crate) fn failed(&self, wall: &Wall, failure: Failure) -> CellResult {
        let error = wall.fit_error(failure.error);
        CellResult::Failed {
            error,
            code: failure.code,
            output: wall.take_output().entries,
            telemetry: self.telemetry(wall.calls_made()),
            replay_safe: self.replay == Replay::SafeOnly,
        }
    }

    pub(crate) fn waiting(&self, wall: &Wall, id: &str, reason: WaitReason) -> CellResult {
        let outstanding = wall.outstanding();
        CellResult::Waiting {
            run_id: id.to_owned(),
            cell: self.host.cell().to_owned(),
            reason,
            pending_tool_calls: pending(&outstanding),
            pending_omitted: outstanding.len().saturating_sub(MAX_PENDING_SHOWN),
            output: wall.take_output().entries,
            telemetry: self.telemetry(wall.calls_made()),
            replay_safe: self.replay == Replay::SafeOnly,
        }
    }

    pub(crate) fn failure(&self, leg: Leg) -> Failure {
        match leg {
            Leg::Failed(error) => {
                let mut failure = Failure::thrown(&error, &self.map);
                if let Some(hint) = missing::hint(&error, &self.map, self.host.source(), &self.surface) {
                    failure.error.push('\n');
                    failure.error.push_str(&hint);
                }
                failure
            }
            Leg::Stuck => Failure::new(
                ErrorCode::InternalError,
                "code mode promise is pending without host work: nothing can wake this program. Await a tool call, a \
                 timer or yield_control, or return.",
            ),
            Leg::OutputLimit => Failure::new(
                ErrorCode::OutputLimitExceeded,
                format!(
                    "code mode output limit exceeded ({} bytes for value, output and error together). Return and \
                     print less: filter or summarise the data in the program.",
                    self.settings.max_output_bytes
                ),
            ),
            Leg::Refused(refusal) => Failure::invalid(refusal),
            Leg::Faulted(fault) => Failure::fault(&fault, self.settings.timeout.as_millis()),
            Leg::Completed { .. } | Leg::Parked(_) => Failure::new(
                ErrorCode::InternalError,
                "the run ended in a state it cannot end in",
            ),
        }
    }
}

/// A refusal before there was a run.
pub(crate) fn refused(surface: &Surface, failure: Failure) -> CellResult {
    CellResult::Failed {
        error: failure.error,
        code: failure.code,
        output: Vec::new(),
        telemetry: telemetry(surface),
        replay_safe: false,
    }
}

fn telemetry(surface: &Surface) -> Telemetry {
    let sources = surface.catalog().sources();
    Telemetry {
        catalog_size: surface.catalog().len(),
        sources: Sources {
            openclaw: sources.openclaw,
            mcp: sources.mcp,
            client: sources.client,
        },
        visible_tools: surface.visible_tools().to_vec(),
        ..Telemetry::default()
    }
}
