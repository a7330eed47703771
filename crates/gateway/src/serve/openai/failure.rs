//! What becomes of a turn, and of one that does not begin, as an error of this API.
use std::time::Duration;

use axum::http::StatusCode;
use codecell_agent::TurnError;
use codecell_llm::Error;
use codecell_sessions::SessionError;

use super::super::error::ApiError;
use super::request::Output;
use crate::turns::{AnswerProblem, BeginProblem, TargetError};

/// The status of a request whose turn was ended by somebody else. There is no standard one.
const ABORTED: u16 = 499;

/// Seconds after which a server that is full may be asked again.
const LATER: u64 = 5;

/// The name of a model means none, or one that cannot be used.
pub(super) fn of_target(error: &TargetError) -> ApiError {
    let (status, code) = match error {
        TargetError::Unknown { .. } => (StatusCode::NOT_FOUND, "model_not_found"),
        TargetError::Unusable(_) => (StatusCode::INTERNAL_SERVER_ERROR, "model_unusable"),
    };
    ApiError::new(status, code, error.to_string()).at("model")
}

/// A turn did not begin.
pub(super) fn of_begin(problem: &BeginProblem) -> ApiError {
    let (status, code) = match problem {
        BeginProblem::Busy(_) | BeginProblem::GoneOn(_) => (StatusCode::CONFLICT, "session_busy"),
        BeginProblem::TooMany => (StatusCode::SERVICE_UNAVAILABLE, "too_many_turns"),
        BeginProblem::Closed => return shutting_down(),
        BeginProblem::Tool(_) => (StatusCode::BAD_REQUEST, "invalid_tool"),
        BeginProblem::Transcript(_) | BeginProblem::History(_) => {
            (StatusCode::INTERNAL_SERVER_ERROR, "transcript_unavailable")
        }
    };
    let mut error = ApiError::new(status, code, problem.to_string());
    match problem {
        BeginProblem::TooMany => error.retry_after = Some(LATER),
        BeginProblem::Tool(_) => error = error.at("tools"),
        _ => {}
    }
    error
}

/// The outputs of an application did not count. `given` are those of the request, `place` the field they are in.
pub(super) fn of_answer(problem: &AnswerProblem, given: &[Output], place: &str) -> ApiError {
    let at = |call: &str| {
        let output = given.iter().find(|output| output.call == call);
        output.map_or(place, |output| &output.path).to_owned()
    };
    let bad = StatusCode::BAD_REQUEST;
    let (status, code, param) = match problem {
        AnswerProblem::Unknown(call) => (bad, "unknown_tool_call", at(call)),
        AnswerProblem::Answered(call) => (StatusCode::CONFLICT, "tool_call_already_answered", at(call)),
        AnswerProblem::Missing(_) => (bad, "missing_tool_output", place.to_owned()),
    };
    ApiError::new(status, code, problem.to_string()).at(param)
}

/// No transcript has the turn of a response.
pub(super) fn no_such_response() -> ApiError {
    let message =
        "there is no such response, or its session was deleted: send the conversation in `input` instead";
    ApiError::bad_request("previous_response_not_found", message).at("previous_response_id")
}

/// The transcript cannot be read or written.
pub(super) fn of_sessions(error: &SessionError) -> ApiError {
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    ApiError::new(
        status,
        "transcript_unavailable",
        format!("the transcript cannot be used: {error}"),
    )
}

/// A turn was ended from outside.
pub(super) fn of_abort(is_shutting_down: bool) -> ApiError {
    if is_shutting_down {
        return shutting_down();
    }
    let status = StatusCode::from_u16(ABORTED).unwrap_or(StatusCode::CONFLICT);
    ApiError::new(status, "turn_aborted", "the turn was aborted")
}

fn shutting_down() -> ApiError {
    let status = StatusCode::SERVICE_UNAVAILABLE;
    ApiError::new(status, "shutting_down", "the server is shutting down")
}

/// A turn failed.
pub(super) fn of_turn(error: &TurnError) -> ApiError {
    let server = StatusCode::INTERNAL_SERVER_ERROR;
    let message = error.to_string();
    match error {
        TurnError::NothingToAnswer => ApiError::bad_request("nothing_to_answer", message),
        TurnError::Model(error) => of_model(error),
        TurnError::Journal(_) => ApiError::new(server, "transcript_unavailable", message),
        _ => ApiError::new(server, "turn_failed", message),
    }
}

/// The provider did not give an answer. What the client got wrong it is told as such; what the operator got wrong,
/// such as the provider's key, is no mistake of the client's.
fn of_model(error: &Error) -> ApiError {
    let (status, code) = match error {
        Error::Guard(_) => (StatusCode::INTERNAL_SERVER_ERROR, "payload_guard"),
        Error::Status { status: 429, .. } => (StatusCode::TOO_MANY_REQUESTS, "rate_limit_exceeded"),
        Error::Status {
            status: 400 | 413 | 422,
            ..
        } => (StatusCode::BAD_REQUEST, "provider_refused_request"),
        Error::Status {
            status: 401 | 403 | 404,
            ..
        }
        | Error::Settings(_) => (StatusCode::BAD_GATEWAY, "provider_misconfigured"),
        Error::Unreachable { .. } => (StatusCode::BAD_GATEWAY, "provider_unreachable"),
        Error::TimedOut { .. } => (StatusCode::GATEWAY_TIMEOUT, "provider_timeout"),
        _ => (StatusCode::BAD_GATEWAY, "provider_error"),
    };
    let mut answer = ApiError::new(status, code, error.to_string());
    if let Error::Status {
        status: 429,
        retry_after: Some(wait),
        ..
    } = error
    {
        answer.retry_after = Some(whole_seconds(*wait));
    }
    answer
}

/// Rounded up: one who comes too early is refused again.
fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use codecell_agent::JournalError;

    use super::*;

    #[test]
    fn failures_of_the_provider_become_statuses() {
        let status = |status, wait| Error::Status {
            status,
            message: "no".into(),
            retry_after: wait,
            attempts: 1,
        };
        let partial = Box::default;
        for (error, expected, code, wait) in [
            (
                status(429, Some(Duration::from_millis(1500))),
                429,
                "rate_limit_exceeded",
                Some(2),
            ),
            (status(429, None), 429, "rate_limit_exceeded", None),
            (status(400, None), 400, "provider_refused_request", None),
            (status(413, None), 400, "provider_refused_request", None),
            (status(422, None), 400, "provider_refused_request", None),
            (status(401, None), 502, "provider_misconfigured", None),
            (status(403, None), 502, "provider_misconfigured", None),
            (status(404, None), 502, "provider_misconfigured", None),
            (status(409, None), 502, "provider_error", None),
            (
                status(500, Some(Duration::from_secs(1))),
                502,
                "provider_error",
                None,
            ),
            (Error::Settings("no".into()), 502, "provider_misconfigured", None),
            (Error::Guard("no".into()), 500, "payload_guard", None),
            (
                Error::Unreachable {
                    detail: "no".into(),
                    attempts: 3,
                },
                502,
                "provider_unreachable",
                None,
            ),
            (
                Error::TimedOut {
                    waited: Duration::ZERO,
                    partial: partial(),
                },
                504,
                "provider_timeout",
                None,
            ),
            (
                Error::Interrupted {
                    detail: "cut".into(),
                    partial: partial(),
                },
                502,
                "provider_error",
                None,
            ),
            (
                Error::Malformed {
                    detail: "no".into(),
                    partial: partial(),
                },
                502,
                "provider_error",
                None,
            ),
            (
                Error::Provider {
                    message: "overloaded".into(),
                    partial: partial(),
                },
                502,
                "provider_error",
                None,
            ),
        ] {
            let message = error.to_string();
            let told = of_turn(&TurnError::Model(error));
            assert_eq!(
                (told.status.as_u16(), told.body.code, told.retry_after),
                (expected, Some(code), wait),
                "{message}"
            );
            assert_eq!(told.body.message, message);
        }
    }

    #[test]
    fn other_ends_have_statuses_of_their_own() {
        let journal = || JournalError("disk full".into());
        for (error, status, code) in [
            (
                of_turn(&TurnError::Journal(journal())),
                500,
                "transcript_unavailable",
            ),
            (of_turn(&TurnError::NothingToAnswer), 400, "nothing_to_answer"),
            (of_abort(false), 499, "turn_aborted"),
            (of_abort(true), 503, "shutting_down"),
            (of_begin(&BeginProblem::Busy("s".into())), 409, "session_busy"),
            (of_begin(&BeginProblem::GoneOn("s".into())), 409, "session_busy"),
            (of_begin(&BeginProblem::TooMany), 503, "too_many_turns"),
            (of_begin(&BeginProblem::Closed), 503, "shutting_down"),
            (
                of_begin(&BeginProblem::Transcript(journal())),
                500,
                "transcript_unavailable",
            ),
            (
                of_target(&TargetError::Unusable("no".into())),
                500,
                "model_unusable",
            ),
        ] {
            assert_eq!((error.status.as_u16(), error.body.code), (status, Some(code)));
        }
    }
}
