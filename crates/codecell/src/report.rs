//! Turns what happened inside into what a caller reads: codes, messages, positions of the submitted text.

use codecell_bridge::{Call, Fault, Frame, Notice, NoticeKind, Thrown};
use codecell_ts_transform::PositionMap;

use crate::result::{ErrorCode, Pending, Warning, WarningKind};

/// Frames shown of a stack: the innermost say what happened, the rest is repetition.
const MAX_FRAMES: usize = 10;

/// Longest name and message of an uncaught error, in characters.
const MAX_NAME_CHARS: usize = 200;
const MAX_MESSAGE_CHARS: usize = 8_000;

/// Pending calls that a result names, oldest first, and how much of a tool's name: a program may have a thousand of
/// them, and may have invented the names.
pub(crate) const MAX_PENDING_SHOWN: usize = 64;
const MAX_PENDING_TOOL_CHARS: usize = 200;

/// The budget of all warnings of one result, in bytes of JSON.
const MAX_WARNING_BYTES: usize = 4096;

/// The longest message of one warning, in characters.
const MAX_WARNING_CHARS: usize = 1_000;

/// Why a leg failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: ErrorCode,
    pub(crate) error: String,
}

impl Failure {
    pub(crate) fn new(code: ErrorCode, error: impl Into<String>) -> Self {
        Self {
            code,
            error: error.into(),
        }
    }

    pub(crate) fn invalid(error: impl ToString) -> Self {
        Self::new(ErrorCode::InvalidInput, error.to_string())
    }

    pub(crate) fn aborted() -> Self {
        Self::new(ErrorCode::Aborted, "code mode execution aborted")
    }

    /// An uncaught exception, with its stack in positions of the submitted text.
    pub(crate) fn thrown(error: &Thrown, map: &PositionMap) -> Self {
        let name = head(&error.name, MAX_NAME_CHARS);
        let message = head(&error.message, MAX_MESSAGE_CHARS);
        let mut text = match (name.is_empty(), message.is_empty()) {
            (true, _) => message,
            (false, true) => name,
            (false, false) => format!("{name}: {message}"),
        };
        for frame in error.frames.iter().take(MAX_FRAMES) {
            text.push_str(&frame_line(frame, map));
        }
        Self::new(ErrorCode::InternalError, text)
    }

    /// The VM ended without an answer.
    pub(crate) fn fault(fault: &Fault, timeout_ms: u128) -> Self {
        match fault {
            Fault::Deadline => Self::new(
                ErrorCode::Timeout,
                format!(
                    "code mode timeout exceeded: the program was still running after {timeout_ms} ms. Do less in one \
                     cell, or let it wait for tools instead of looping."
                ),
            ),
            Fault::Cancelled => Self::aborted(),
            Fault::Memory { limit } => Self::new(
                ErrorCode::InternalError,
                format!("memory limit exceeded ({limit} bytes)"),
            ),
            Fault::Output => Self::new(ErrorCode::OutputLimitExceeded, "code mode output limit exceeded"),
            fault => Self::new(ErrorCode::RuntimeUnavailable, fault.to_string()),
        }
    }
}

fn frame_line(frame: &Frame, map: &PositionMap) -> String {
    let Some(at) = map.to_submitted(frame.line, frame.column) else {
        return String::new();
    };
    let place = format!("cell:{}:{}", at.line, at.column);
    if frame.function.is_empty() {
        format!("\n    at {place}")
    } else {
        format!("\n    at {} ({place})", head(&frame.function, MAX_NAME_CHARS))
    }
}

/// What a suspended run waits for.
pub(crate) fn pending(calls: &[Call]) -> Vec<Pending> {
    calls
        .iter()
        .take(MAX_PENDING_SHOWN)
        .map(|call| {
            let method = call.request.method();
            Pending {
                id: format!("bridge:{method}:{}", call.id.0),
                method,
                tool: call
                    .request
                    .target()
                    .map(|tool| head(&tool, MAX_PENDING_TOOL_CHARS)),
            }
        })
        .collect()
}

/// Warnings within their budget; the last one counts those that did not fit.
pub(crate) fn warnings(notices: Vec<Notice>, map: &PositionMap) -> Vec<Warning> {
    let total = notices.len();
    let mut warnings = Vec::new();
    let mut used = 0;
    for notice in notices {
        let warning = warning(notice, map);
        let size = serde_json::to_string(&warning).map_or(0, |text| text.len());
        if used + size > MAX_WARNING_BYTES {
            let left_out = total - warnings.len();
            warnings.push(Warning {
                kind: WarningKind::Truncated,
                message: format!("{left_out} further warnings left out"),
                tool: None,
                line: None,
            });
            break;
        }
        used += size;
        warnings.push(warning);
    }
    warnings
}

fn warning(notice: Notice, map: &PositionMap) -> Warning {
    let kind = match notice.kind {
        NoticeKind::UnawaitedFailure => WarningKind::UnawaitedFailure,
        NoticeKind::UnhandledRejection => WarningKind::UnhandledRejection,
        NoticeKind::ToolError => WarningKind::ToolError,
        NoticeKind::Contract => WarningKind::Contract,
        NoticeKind::Cancelled => WarningKind::Cancelled,
    };
    let line = notice
        .position
        .and_then(|(line, column)| map.to_submitted(line, column))
        .map(|at| at.line);
    Warning {
        kind,
        message: head(&notice.message, MAX_WARNING_CHARS),
        tool: notice.tool.map(|tool| head(&tool, MAX_NAME_CHARS)),
        line,
    }
}

/// The first `chars` characters, with a sign that there was more.
fn head(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use codecell_bridge::{Fault, Frame, Notice, NoticeKind, Thrown};
    use codecell_ts_transform::PositionMap;

    use super::{Failure, MAX_WARNING_BYTES, warnings};
    use crate::result::{ErrorCode, WarningKind};

    #[test]
    fn an_uncaught_error_carries_name_message_and_places() {
        let frames = vec![
            Frame {
                function: "inner".into(),
                line: 3,
                column: 7,
            },
            Frame {
                function: String::new(),
                line: 5,
                column: 1,
            },
        ];
        let error = Thrown {
            name: "RangeError".into(),
            message: "too far".into(),
            frames,
            ..Thrown::default()
        };
        assert_eq!(
            Failure::thrown(&error, &PositionMap::identity()),
            Failure::new(
                ErrorCode::InternalError,
                "RangeError: too far\n    at inner (cell:3:7)\n    at cell:5:1"
            )
        );
    }

    #[test]
    fn every_fault_has_its_code() {
        let cases = [
            (Fault::Deadline, ErrorCode::Timeout),
            (Fault::Cancelled, ErrorCode::Aborted),
            (Fault::Memory { limit: 1 }, ErrorCode::InternalError),
            (Fault::Output, ErrorCode::OutputLimitExceeded),
            (Fault::Engine("gone".into()), ErrorCode::RuntimeUnavailable),
        ];
        for (fault, code) in cases {
            assert_eq!(Failure::fault(&fault, 100).code, code, "{fault}");
        }
        assert_eq!(
            Failure::fault(&Fault::Memory { limit: 5 }, 1).error,
            "memory limit exceeded (5 bytes)"
        );
    }

    #[test]
    fn warnings_have_a_budget_of_their_own_and_say_how_many_did_not_fit() {
        let notice = |n: usize| Notice {
            kind: NoticeKind::ToolError,
            tool: Some(format!("tool{n}")),
            message: "m".repeat(900),
            position: Some((n as u32 + 1, 1)),
        };
        let shown = warnings((0..20).map(notice).collect(), &PositionMap::identity());
        let kinds: Vec<_> = shown.iter().map(|warning| warning.kind).collect();
        let mut expected = vec![WarningKind::ToolError; 4];
        expected.push(WarningKind::Truncated);
        assert_eq!(kinds, expected);
        assert_eq!(shown.last().unwrap().message, "16 further warnings left out");
        assert!(serde_json::to_string(&shown).unwrap().len() <= MAX_WARNING_BYTES + 200);
    }
}
