//! Begins a turn for a request, or takes it on with the outputs that it waits for.
use std::time::SystemTime;

use super::super::Gateway;
use super::super::error::ApiError;
use super::failure;
use super::leg::Leg;
use super::request::{Output, Said, Wanted};
use super::session;
use crate::turns::{Ask, History, Running};

/// What a new turn goes on from.
pub(super) enum Origin {
    /// What the request says itself. The session is a new one unless the request names it.
    Request {
        session: Option<String>,
        history: History,
    },
    /// A turn, in the session that it belongs to.
    Turn(String),
}

/// The turn of a request. `place` is the field with what it says; `session` becomes its session as soon as that is
/// known.
pub(super) async fn of(
    gateway: &Gateway,
    wanted: Wanted,
    place: &str,
    origin: Origin,
    session: &mut Option<String>,
) -> Result<Leg, ApiError> {
    let target = gateway.turns.agents().named(&wanted.model);
    let target = target.map_err(|error| failure::of_target(&error))?;
    let running = match wanted.said {
        Said::Outputs(outputs) => answered(gateway, &outputs, place)?,
        Said::New {
            instructions,
            messages,
        } => {
            let agent = &target.app.agent().id;
            let (key, history) = match origin {
                Origin::Request { session, history } => {
                    (session.unwrap_or_else(|| session::new(agent)), history)
                }
                Origin::Turn(turn) => after(gateway, turn, agent).await?,
            };
            *session = Some(key.clone());
            let ask = Ask {
                target,
                session: key,
                instructions,
                history,
                messages,
                client_tools: wanted.tools,
                max_output_tokens: wanted.max_output_tokens,
                temperature: wanted.temperature,
                watched: false,
            };
            let begun = gateway.turns.begin(ask).await;
            begun.map_err(|problem| failure::of_begin(&problem))?
        }
    };
    *session = Some(running.session().to_owned());
    Ok(Leg::new(running, gateway.stopping.clone()))
}

/// The session in which something that follows `turn` is said. If other things were said after it already, that is a
/// new session with a copy of everything until then: what is in a transcript stays in one line.
async fn after(gateway: &Gateway, turn: String, agent: &str) -> Result<(String, History), ApiError> {
    let sessions = gateway.turns.sessions();
    let branch = sessions.up_to_run(&turn).await;
    let branch = branch.map_err(|error| failure::of_sessions(&error))?;
    let branch = branch.ok_or_else(failure::no_such_response)?;
    if branch.is_newest {
        return Ok((branch.session_key, History::After(turn)));
    }
    let key = session::new(agent);
    let entries = branch.entries.into_iter().map(|stored| stored.entry).collect();
    let copied = sessions.append(&key, None, entries, SystemTime::now()).await;
    copied.map_err(|error| failure::of_sessions(&error))?;
    Ok((key, History::Session))
}

/// The ids of the calls say which turn goes on, so the session that a request names does not matter here; the turn
/// keeps its model and its tools.
fn answered(gateway: &Gateway, outputs: &[Output], place: &str) -> Result<Running, ApiError> {
    let answers = outputs
        .iter()
        .map(|output| (output.call.clone(), Ok(output.value())));
    let answered = gateway.turns.answer(answers.collect());
    answered.map_err(|problem| failure::of_answer(&problem, outputs, place))
}
