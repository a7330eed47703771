//! Clients of `/mcp`.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    cells::{self, Cell, Verdict},
    dice::Dice,
    front::Visitor,
    world::World,
};
use crate::{http::Incoming, mcp::LEGACY};

/// Somebody of either era.
fn somebody(world: &World, dice: &mut Dice) -> Result<Visitor> {
    if dice.percent(50) {
        return Ok(Visitor::modern(world.front));
    }
    visitor_with_session(world, dice)
}

fn visitor_with_session(world: &World, dice: &mut Dice) -> Result<Visitor> {
    Visitor::legacy(world.front, LEGACY[dice.index(LEGACY.len())])
}

fn exec(visitor: &mut Visitor, cell: &Cell) -> Result<Verdict> {
    cell.due.judge(&visitor.call("exec", &cell.program)?)
}

/// A few cells, and a proper end.
pub(super) fn sound(world: &World, dice: &mut Dice) -> Result<Verdict> {
    let mut visitor = somebody(world, dice)?;
    // Some listen meanwhile.
    let ear = if visitor.has_session() && dice.percent(30) {
        Some(visitor.listen()?)
    } else {
        None
    };
    for _ in 0..dice.between(1, 4) {
        exec(&mut visitor, &cells::sound(dice, world.number()))?;
    }
    drop(ear);
    visitor.leave()?;
    Ok(Verdict::Right)
}

pub(super) fn wrong(world: &World, dice: &mut Dice) -> Result<Verdict> {
    let mut visitor = somebody(world, dice)?;
    exec(&mut visitor, &cells::wrong(dice))?;
    let unknown = visitor.call("wait", &json!({ "runId": "run_of_nobody" }))?;
    ensure!(unknown["code"] == "invalid_input", "a run of nobody: {unknown}");
    visitor.leave()?;
    Ok(Verdict::Right)
}

pub(super) fn hog(world: &World, dice: &mut Dice) -> Result<Verdict> {
    let mut visitor = somebody(world, dice)?;
    let verdict = exec(&mut visitor, &cells::hog())?;
    visitor.leave()?;
    Ok(verdict)
}

pub(super) fn shaken(world: &World, dice: &mut Dice) -> Result<Verdict> {
    let mut visitor = somebody(world, dice)?;
    let verdict = exec(&mut visitor, &cells::shaken(dice, world.number()))?;
    visitor.leave()?;
    Ok(verdict)
}

fn waiting(visitor: &mut Visitor, cell: &Cell) -> Result<Value> {
    let mut result = visitor.call("exec", &cell.program)?;
    ensure!(
        result["status"] == "waiting",
        "expected a cell that waits: {result}"
    );
    Ok(result["runId"].take())
}

/// A cell is suspended and resumed, by the one whose it is.
pub(super) fn resumed(world: &World, dice: &mut Dice) -> Result<Verdict> {
    let Some(_berth) = world.berth() else {
        return sound(world, dice);
    };
    let mut visitor = somebody(world, dice)?;
    let cell = cells::suspended(dice, world.number());
    let run = json!({ "runId": waiting(&mut visitor, &cell)? });
    if dice.percent(20) {
        let mut stranger = visitor_with_session(world, dice)?;
        let refused = stranger.call("wait", &run)?;
        ensure!(
            refused["code"] == "invalid_input",
            "a stranger resumed: {refused}"
        );
        stranger.leave()?;
    }
    let mut result = visitor.call("wait", &run)?;
    while result["status"] == "waiting" {
        result = visitor.call("wait", &run)?;
    }
    let verdict = cell.due.judge(&result)?;
    visitor.leave()?;
    Ok(verdict)
}

/// A cell is suspended, and its session ends.
pub(super) fn ended(world: &World, dice: &mut Dice) -> Result<Verdict> {
    let Some(_berth) = world.berth() else {
        return sound(world, dice);
    };
    let mut visitor = visitor_with_session(world, dice)?;
    waiting(&mut visitor, &cells::suspended(dice, world.number()))?;
    visitor.leave()?;
    Ok(Verdict::Right)
}

/// A cell is suspended, and nobody comes back for it.
pub(super) fn abandoned(world: &World, dice: &mut Dice) -> Result<Verdict> {
    if !world.abandon() {
        return sound(world, dice);
    }
    let mut visitor = somebody(world, dice)?;
    let cell = cells::suspended(dice, world.number());
    let run = waiting(&mut visitor, &cell);
    world.forsake(visitor);
    run.map(|_| Verdict::Right)
}

/// Somebody listens who has nothing to ask.
pub(super) fn listening(world: &World, dice: &mut Dice) -> Result<Incoming> {
    visitor_with_session(world, dice)?.listen()
}

/// A client goes in the middle of a call.
pub(super) fn vanished(world: &World, dice: &mut Dice) -> Result<Verdict> {
    let mut visitor = somebody(world, dice)?;
    let cell = cells::sound(dice, world.number());
    let (_, request) = visitor.calling("exec", &cell.program);
    if dice.percent(50) {
        drop(world.front.begin(request)?);
    } else {
        let incoming = world.front.open(request)?;
        ensure!(
            incoming.status == 200,
            "a call was refused with {}",
            incoming.status
        );
    }
    world.forsake(visitor);
    Ok(Verdict::Right)
}

/// The two tools are there, whatever changes.
pub(super) fn listed(world: &World, dice: &mut Dice) -> Result<Verdict> {
    let mut visitor = somebody(world, dice)?;
    let listed = visitor.ask("tools/list", json!({}))?;
    let tools = listed["tools"].as_array().context("no tools")?;
    let mut names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    names.sort_unstable();
    ensure!(names == ["exec", "wait"], "the tools are {names:?}");
    visitor.leave()?;
    Ok(Verdict::Right)
}
