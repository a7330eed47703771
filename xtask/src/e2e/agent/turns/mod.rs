//! Turns that go wrong, over both APIs: what a client is told, and that the gateway is none the worse for it.

mod answers;
mod door;
mod ends;
mod model;
mod provider;

use anyhow::Result;
use serde_json::{Value, json};

use super::{
    stage::{LOG, Stage},
    talk::{Surface, Talk},
};
use crate::{
    e2e::{Chain, Steps, room::Room},
    model::Api,
};

/// The largest body that the gateway of these steps takes.
const MAX_BODY: usize = 65_536;

/// What a step does with the gateway it is given.
enum Act {
    /// It works as before afterwards.
    Keeps(fn(&Stage<'_>) -> Result<()>),
    Ends(fn(Stage<'_>) -> Result<()>),
}

const STEPS: [(&str, Act); 16] = [
    (
        "malformed JSON and impossible requests are 400 in the usual shape",
        Act::Keeps(door::malformed),
    ),
    ("an unknown model is 404", Act::Keeps(door::unknown_model)),
    ("a body over the limit is 413", Act::Keeps(door::oversized)),
    (
        "a wrong token is 401, a foreign Host or Origin 403, an unknown route 404, a wrong method 405",
        Act::Keeps(door::refused),
    ),
    (
        "what a provider refuses is 400, 429 with its retry-after, or 502",
        Act::Keeps(provider::statuses),
    ),
    (
        "a stream of the provider that is cut is 502, or an error event after what was said",
        Act::Keeps(provider::cut),
    ),
    (
        "a provider that talks nonsense is 502, one that says nothing 504",
        Act::Keeps(provider::nonsense),
    ),
    (
        "the model is told of unusable arguments and of tools that are not there, and goes on",
        Act::Keeps(model::bad_calls),
    ),
    (
        "the model is told how cells fail, and goes on",
        Act::Keeps(model::failing_cells),
    ),
    (
        "a client that vanishes ends its turn, the cell that runs and the request to the provider",
        Act::Keeps(ends::vanished),
    ),
    (
        "of two clients that answer a call one is right, and the other 409",
        Act::Keeps(answers::twice),
    ),
    (
        "an answer that is unknown or lacks a call is 400 and changes nothing",
        Act::Keeps(answers::incomplete),
    ),
    (
        "a session is busy while a turn runs, and a turn that waits gives way",
        Act::Keeps(answers::sessions),
    ),
    ("a turn that runs may end after SIGTERM", Act::Ends(ends::drained)),
    (
        "a second signal ends a turn at once, and its client is told",
        Act::Ends(ends::hurried),
    ),
    (
        "a conversation goes on after a restart",
        Act::Ends(answers::restarted),
    ),
];

/// Plays them over both APIs, with two formats of the model.
pub(in crate::e2e) fn play(steps: &mut Steps) {
    let binary = steps.binary.clone();
    for (surface, api) in [(Surface::Chat, Api::Chat), (Surface::Responses, Api::Messages)] {
        let name = |what: &str| format!("turns [{}]: {what}", surface.path());
        let names: Vec<String> = STEPS.iter().map(|(what, _)| name(what)).collect();
        steps.chain(&binary, &names, |chain, room| {
            story(chain, room, surface, api, &names)
        });
    }
}

fn story(chain: &mut Chain<'_>, room: &Room, surface: Surface, api: Api, names: &[String]) {
    let talk = Talk {
        surface,
        streamed: false,
        session: "e2e:turns".to_owned(),
        model: "codecell".to_owned(),
    };
    let open = || Stage::open(room, api, talk.clone(), &document(room)?);
    let mut stage = None;
    for (name, (_, act)) in names.iter().zip(STEPS) {
        if !chain.wants(name) {
            continue;
        }
        // A step may end its gateway, and one that fails has left something behind.
        let played = chain.step(name, || {
            let stage = stage.take().map_or_else(open, Ok)?;
            match act {
                Act::Ends(step) => step(stage).map(|()| None),
                Act::Keeps(step) => {
                    step(&stage)?;
                    stage.plain()?;
                    stage.serve.quiet()?;
                    Ok(Some(stage))
                }
            }
        });
        stage = played.flatten();
    }
}

/// The configuration, apart from model and agent.
fn document(room: &Room) -> Result<Value> {
    Ok(json!({
        // Longer than any step waits: what ends a cell here is not its time.
        "tools": { "codeMode": { "enabled": true, "timeoutMs": 60_000 } },
        "mcp": { "servers": { "probe": room.probe(LOG, &[])? } },
        "serve": { "maxBodyBytes": MAX_BODY },
    }))
}
