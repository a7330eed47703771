//! Clients that have an agent take a turn.

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::{
    cells::{self, Cell, Due, Verdict},
    dice::Dice,
    model::{Plan, Trouble},
    world::World,
};
use crate::{
    e2e::agent::{ClientTool, Outcome, Spoken, Surface, Talk},
    http::Request,
    model::Api,
};

/// How patient the gateway is, by the first part of an agent's name: with cells, and with models.
pub(super) const PATIENT: &str = "patient";
pub(super) const HASTY: &str = "hasty";
pub(super) const CURT: &str = "curt";

/// The agent of a kind whose model speaks this format. Its provider has the same name.
pub(super) fn agent(kind: &str, api: Api) -> String {
    format!("{kind}-{}", api.name())
}

/// Somebody who talks with an agent of this kind, over any API and format, in a session of their own.
fn somebody(dice: &mut Dice, number: u64, kind: &str) -> Talk {
    let agent = agent(kind, dice.pick(Api::ALL));
    Talk {
        surface: dice.pick([Surface::Chat, Surface::Responses]),
        streamed: dice.percent(50),
        session: format!("soak:{number}"),
        model: format!("codecell/{agent}"),
    }
}

fn plan(number: u64, cell: &Cell) -> Plan {
    Plan {
        number,
        program: cell.program.clone(),
        trouble: Trouble::None,
        late: false,
        leaves: false,
    }
}

fn send(world: &World, talk: &Talk, body: &Value) -> Result<Outcome> {
    talk.read(world.front.open(talk.request(body))?, body)
}

fn ask(world: &World, talk: &Talk, plan: &Plan, tools: &[ClientTool]) -> Result<Spoken> {
    spoken(send(world, talk, &talk.body(&plan.prompt(), tools))?, talk)
}

fn spoken(outcome: Outcome, talk: &Talk) -> Result<Spoken> {
    outcome.map_err(|refusal| anyhow::anyhow!("the turn of {talk:?} failed: {refusal:?}"))
}

/// Judges what the agent said by what was due.
fn judge(spoken: &Spoken, due: &Due) -> Result<Verdict> {
    let told: Value = serde_json::from_str(&spoken.text).with_context(|| format!("it said {spoken:?}"))?;
    due.judge(&told)
}

/// Some sessions are deleted when they are of no more use.
fn tidy(world: &World, dice: &mut Dice, talk: &Talk) -> Result<()> {
    if dice.percent(50) {
        let answer = world
            .front
            .ask(Request::new("DELETE", format!("/sessions/{}", talk.session)))?;
        ensure!(
            (200..300).contains(&answer.status),
            "a session was not deleted: {answer:?}"
        );
    }
    Ok(())
}

/// A turn in which a cell runs to its end.
fn whole(world: &World, dice: &mut Dice, kind: &str, number: u64, cell: &Cell) -> Result<Verdict> {
    let talk = somebody(dice, number, kind);
    let verdict = judge(&ask(world, &talk, &plan(number, cell), &[])?, &cell.due)?;
    tidy(world, dice, &talk)?;
    Ok(verdict)
}

pub(super) fn sound(world: &World, dice: &mut Dice) -> Result<Verdict> {
    let number = world.number();
    let cell = cells::sound(dice, number);
    whole(world, dice, PATIENT, number, &cell)
}

pub(super) fn wrong(world: &World, dice: &mut Dice) -> Result<Verdict> {
    let number = world.number();
    let cell = cells::wrong(dice);
    whole(world, dice, PATIENT, number, &cell)
}

pub(super) fn runaway(world: &World, dice: &mut Dice) -> Result<Verdict> {
    whole(world, dice, HASTY, world.number(), &cells::runaway())
}

pub(super) fn hog(world: &World, dice: &mut Dice) -> Result<Verdict> {
    whole(world, dice, PATIENT, world.number(), &cells::hog())
}

pub(super) fn shaken(world: &World, dice: &mut Dice) -> Result<Verdict> {
    let number = world.number();
    let cell = cells::shaken(dice, number);
    whole(world, dice, PATIENT, number, &cell)
}

/// The model waits for a cell that is suspended, or ends the turn without it.
pub(super) fn suspended(world: &World, dice: &mut Dice) -> Result<Verdict> {
    let Some(_berth) = world.berth() else {
        return sound(world, dice);
    };
    let number = world.number();
    let cell = cells::suspended(dice, number);
    let talk = somebody(dice, number, PATIENT);
    let plan = Plan {
        leaves: dice.percent(30),
        ..plan(number, &cell)
    };
    let spoken = ask(world, &talk, &plan, &[])?;
    if plan.leaves {
        let told: Value = serde_json::from_str(&spoken.text).context("no result")?;
        ensure!(told["status"] == "waiting", "expected a cell that waits: {told}");
        return Ok(Verdict::Right);
    }
    judge(&spoken, &cell.due)
}

/// Nobody notices what is the matter with the model.
pub(super) fn passing_trouble(world: &World, dice: &mut Dice) -> Result<Verdict> {
    let number = world.number();
    let cell = cells::sound(dice, number);
    let talk = somebody(dice, number, PATIENT);
    let plan = Plan {
        trouble: dice.pick(Trouble::PASSING),
        late: dice.percent(50),
        ..plan(number, &cell)
    };
    let spoken = ask(world, &talk, &plan, &[]);
    judge(&spoken.with_context(|| format!("in {plan:?}"))?, &cell.due)
}

/// The model gives no answer that can be used, and the client hears why.
pub(super) fn fatal_trouble(world: &World, dice: &mut Dice) -> Result<Verdict> {
    let number = world.number();
    let cell = cells::trivial(number);
    let plan = Plan {
        trouble: dice.pick(Trouble::FATAL),
        late: dice.percent(50),
        ..plan(number, &cell)
    };
    let kind = if plan.trouble.is_silence() { CURT } else { PATIENT };
    let talk = somebody(dice, number, kind);
    let refusal = match send(world, &talk, &talk.body(&plan.prompt(), &[]))? {
        Ok(spoken) => bail!("{plan:?} of {talk:?} went well: {spoken:?}"),
        Err(refusal) => refusal,
    };
    let (status, code) = plan.trouble.error().context("a trouble that is none")?;
    let begun = talk.streamed && refusal.status == 200;
    let code = match talk.surface {
        // Its streams have other words for it.
        Surface::Responses if begun && code != "rate_limit_exceeded" => "server_error",
        _ => code,
    };
    ensure!(
        (begun || refusal.status == status) && refusal.error["code"] == code,
        "{plan:?} of {talk:?} ended as {refusal:?}"
    );
    // The session works again afterwards.
    if dice.percent(30) {
        let patient = Talk {
            model: format!("codecell/{}", agent(PATIENT, dice.pick(Api::ALL))),
            ..talk
        };
        let number = world.number();
        let cell = cells::trivial(number);
        let again = Plan {
            number,
            ..self::plan(number, &cell)
        };
        judge(&ask(world, &patient, &again, &[])?, &cell.due)?;
    }
    Ok(Verdict::Hit)
}

fn pick() -> [ClientTool; 1] {
    [ClientTool {
        name: "pick",
        description: "Lets the user pick",
        parameters: json!({ "type": "object", "properties": { "of": { "type": "integer" } } }),
    }]
}

/// A cell calls a tool of its client.
fn call_client(world: &World, dice: &mut Dice) -> Result<(Talk, Spoken, u64)> {
    let number = world.number();
    let cell = Cell {
        program: json!({ "code": format!("const n = await tools.pick({{ of: {number} }}); return n / 2") }),
        due: Due::Value(json!(number)),
    };
    let talk = somebody(dice, number, PATIENT);
    let before = ask(world, &talk, &plan(number, &cell), &pick())?;
    let [call] = before.calls.as_slice() else {
        bail!("expected one call: {before:?}");
    };
    ensure!(
        call.arguments == json!({ "of": number }),
        "of {number}: called with {call:?}"
    );
    Ok((talk, before, number))
}

/// The client answers, or asks for something else.
pub(super) fn client_tool(world: &World, dice: &mut Dice) -> Result<Verdict> {
    let Some(_berth) = world.berth() else {
        return sound(world, dice);
    };
    let (talk, before, number) = call_client(world, dice)?;
    if dice.percent(20) {
        let number = world.number();
        let cell = cells::trivial(number);
        let other = ask(world, &talk, &plan(number, &cell), &[])?;
        return judge(&other, &cell.due);
    }
    let picked = (number * 2).to_string();
    let answers: Vec<(&str, &str)> = before.calls.iter().map(|call| (&*call.id, &*picked)).collect();
    let body = talk.answer_body(&before, &answers);
    judge(
        &spoken(send(world, &talk, &body)?, &talk)?,
        &Due::Value(json!(number)),
    )
}

/// The client never answers.
pub(super) fn forgotten(world: &World, dice: &mut Dice) -> Result<Verdict> {
    if !world.abandon() {
        return sound(world, dice);
    }
    call_client(world, dice)?;
    Ok(Verdict::Right)
}

/// A client that hangs up before, in or after the answer. Nobody hears what comes of its turn.
pub(super) fn hung_up(world: &World, dice: &mut Dice) -> Result<Verdict> {
    let number = world.number();
    let cell = cells::sound(dice, number);
    let talk = Talk {
        streamed: true,
        ..somebody(dice, number, PATIENT)
    };
    let request = talk.request(&talk.body(&plan(number, &cell).prompt(), &[]));
    if dice.percent(30) {
        drop(world.front.begin(request)?);
        return Ok(Verdict::Right);
    }
    let mut incoming = world.front.open(request)?;
    ensure!(
        incoming.status == 200,
        "a turn was refused with {}",
        incoming.status
    );
    for _ in 0..dice.below(4) {
        incoming.event()?;
    }
    Ok(Verdict::Right)
}
