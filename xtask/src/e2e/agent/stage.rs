//! What a turn needs: a model, a gateway in front of it, and a client that talks.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    serve::Serve,
    talk::{ClientTool, Spoken, Surface, Talk},
};
use crate::{
    e2e::room::{LIMIT, Room},
    http::Request,
    model::{Api, Model, Reply, Seen, Turn},
    process,
};

/// Where the probe logs.
pub(in crate::e2e) const LOG: &str = "probe.log";

/// Seconds that the gateway waits for its model.
const PATIENCE: u64 = 5;

/// What the agent is told to be.
pub(in crate::e2e) const SYSTEM: &str = "Answer in one line.";

/// A room with all three, whose gateway can be started again with another configuration.
pub(in crate::e2e) struct Stage<'a> {
    pub(in crate::e2e) room: &'a Room,
    pub(in crate::e2e) api: Api,
    pub(in crate::e2e) model: Model,
    pub(in crate::e2e) serve: Serve,
    pub(in crate::e2e) talk: Talk,
}

/// What a turn in which the model ran one cell came to.
pub(in crate::e2e) struct Told {
    pub(in crate::e2e) spoken: Spoken,
    pub(in crate::e2e) seen: Vec<Seen>,
    /// The result of the cell, as the model got it.
    pub(in crate::e2e) result: Value,
}

impl Told {
    /// The value of the cell.
    pub(in crate::e2e) fn value(&self) -> &Value {
        &self.result["value"]
    }

    /// The first request of the turn.
    pub(in crate::e2e) fn first(&self) -> Result<&Seen> {
        self.seen.first().context("the model was not asked")
    }
}

impl<'a> Stage<'a> {
    /// Starts a gateway whose configuration is `document` and a model besides.
    pub(in crate::e2e) fn open(room: &'a Room, api: Api, talk: Talk, document: &Value) -> Result<Stage<'a>> {
        Stage::open_with(room, api, talk, document, &[])
    }

    /// As [`open`](Self::open), with further variables in the gateway's environment.
    pub(in crate::e2e) fn open_with(
        room: &'a Room,
        api: Api,
        talk: Talk,
        document: &Value,
        environment: &[(&str, &str)],
    ) -> Result<Stage<'a>> {
        let model = Model::start(api)?;
        let serve = start(room, &model, api, document, environment)?;
        Ok(Stage {
            room,
            api,
            model,
            serve,
            talk,
        })
    }

    /// Ends the gateway as a service manager does, and starts it again with another configuration.
    pub(in crate::e2e) fn restart(self, document: &Value) -> Result<Stage<'a>> {
        self.serve.stop()?;
        let serve = start(self.room, &self.model, self.api, document, &[])?;
        Ok(Stage { serve, ..self })
    }

    /// Asks for a turn that must end well.
    pub(in crate::e2e) fn ask(&self, tools: &[ClientTool]) -> Result<Spoken> {
        self.blaming(self.talk.ask(&self.serve, "What is there?", tools))
    }

    /// Answers the calls of `before`; ids and outputs.
    pub(in crate::e2e) fn answer(&self, before: &Spoken, outputs: &[(&str, &str)]) -> Result<Spoken> {
        self.blaming(self.talk.answer(&self.serve, before, outputs))
    }

    /// Has the model run `code`, to completion, and say so.
    pub(in crate::e2e) fn cell(&self, code: &str, tools: &[ClientTool]) -> Result<Told> {
        self.model.reset();
        self.model.say(Reply::call("exec", json!({ "code": code })));
        self.model.then(|seen| {
            seen.cell("completed")?;
            Ok(Reply::text("It is done."))
        });
        let spoken = self.ask(tools)?;
        ensure!(
            spoken.text == "It is done." && spoken.finish == "stop",
            "the turn ended otherwise: {spoken:?}"
        );
        let seen = self.model.finish()?;
        let result = seen.last().context("no request")?.cell("completed")?;
        Ok(Told { spoken, seen, result })
    }

    /// A turn in which the model only says something: does the gateway still work?
    pub(in crate::e2e) fn plain(&self) -> Result<()> {
        self.model.reset();
        self.model
            .say(Reply::Turn(Turn::text("Still here, naïve as ever 🦀.")));
        let talk = Talk {
            session: format!("{}:after", self.talk.session),
            ..self.talk.clone()
        };
        let spoken = self.blaming(talk.ask(&self.serve, "Are you there?", &[]))?;
        ensure!(
            spoken.text == "Still here, naïve as ever 🦀.",
            "it said `{}`",
            spoken.text
        );
        self.model.finish()?;
        let health = self.serve.ask(Request::get("/healthz"))?;
        ensure!(health.expect(200)?["status"] == "ok", "unhealthy: {health:?}");
        Ok(())
    }

    /// Adds what the model's script has against the requests it got: that is where most failures begin.
    pub(in crate::e2e) fn blaming<T>(&self, outcome: Result<T>) -> Result<T> {
        outcome.with_context(|| {
            format!(
                "the model's script: {:?}; standard error of the gateway:\n{}",
                self.model.faults(),
                self.serve.stderr()
            )
        })
    }
}

fn start(
    room: &Room,
    model: &Model,
    api: Api,
    document: &Value,
    environment: &[(&str, &str)],
) -> Result<Serve> {
    let mut document = document.clone();
    document["models"] = json!({ "providers": { "house": {
        "api": api.name(), "baseUrl": model.base_url(), "apiKey": "${MODEL_KEY}", "models": ["scripted"],
        "timeoutSeconds": PATIENCE
    } } });
    document["agents"] = json!({ "defaults": { "model": "house/scripted", "systemPrompt": SYSTEM } });
    let serve = Serve::start(room, &room.configuration(&document)?, environment)?;
    process::until(LIMIT, "readiness", || {
        let answer = serve
            .ask(Request::get("/readyz").header("authorization", "none"))
            .ok()?;
        (answer.status == 200).then_some(())
    })?;
    Ok(serve)
}

/// How the client of a model of this format talks: each API and each delivery has its turn.
pub(in crate::e2e) fn talk(api: Api) -> Talk {
    let (surface, streamed) = match api {
        Api::Responses => (Surface::Responses, true),
        Api::Chat => (Surface::Chat, false),
        Api::Messages => (Surface::Chat, true),
        Api::Google => (Surface::Responses, false),
    };
    Talk {
        surface,
        streamed,
        session: "e2e:seed".to_owned(),
        model: "codecell".to_owned(),
    }
}
