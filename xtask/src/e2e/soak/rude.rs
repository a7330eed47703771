//! Clients that do what they should not.

use std::{io::Write, net::TcpStream};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::{cells::Verdict, dice::Dice, world::World};
use crate::http::Request;

/// What a body may have: the gateway is told so.
pub(super) const MAX_BODY: usize = 256 * 1024;

const PATHS: [&str; 3] = ["/v1/chat/completions", "/v1/responses", "/mcp"];

fn refused(world: &World, request: Request, status: u16) -> Result<Verdict> {
    let said = format!("{request:?}").chars().take(300).collect::<String>();
    let answer = world.front.ask(request)?;
    ensure!(
        answer.status == status,
        "expected {status} for {said}: {answer:?}"
    );
    // Whatever the status, it is told in the words of the API.
    let body = answer.json()?;
    ensure!(
        body["error"]["message"].is_string(),
        "no reason for {said}: {body}"
    );
    Ok(Verdict::Hit)
}

fn body(model: &str) -> serde_json::Value {
    json!({ "model": model, "messages": [{ "role": "user", "content": "Hi." }] })
}

pub(super) fn stranger(world: &World, dice: &mut Dice) -> Result<Verdict> {
    let token = dice.pick(["Bearer wrong", "Basic ZTJlOmUyZQ==", "Bearer", "none"]);
    let request = Request::post(dice.pick(PATHS), &body("codecell")).header("authorization", token);
    refused(world, request, 401)
}

pub(super) fn glutton(world: &World, dice: &mut Dice) -> Result<Verdict> {
    let size = MAX_BODY + usize::try_from(dice.between(1, 1 << 20))?;
    let request = Request::new("POST", dice.pick(PATHS))
        .text("x".repeat(size))
        .header("accept", "application/json, text/event-stream");
    refused(world, request, 413)
}

pub(super) fn babbler(world: &World, dice: &mut Dice) -> Result<Verdict> {
    let text = dice.pick(["{", "", "[]]", "\u{0}", "{\"model\": 1e999}", "null"]);
    let request = Request::new("POST", dice.pick(PATHS))
        .text(text)
        .header("accept", "application/json, text/event-stream");
    refused(world, request, 400)
}

pub(super) fn lost(world: &World, dice: &mut Dice) -> Result<Verdict> {
    let accept = "application/json, text/event-stream";
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    match dice.below(4) {
        0 => refused(world, Request::get("/nowhere"), 404),
        1 => refused(
            world,
            Request::post("/v1/chat/completions", &body("nobody/none")),
            404,
        ),
        2 => refused(
            world,
            Request::post("/mcp", &ping)
                .header("accept", accept)
                .header("mcp-session-id", "none"),
            404,
        ),
        _ => refused(
            world,
            Request::post("/mcp", &ping)
                .header("accept", accept)
                .header("mcp-protocol-version", "1999-01-01"),
            400,
        ),
    }
}

/// Half a request, and then nothing.
pub(super) fn half(world: &World, dice: &mut Dice) -> Result<Verdict> {
    let path = dice.pick(PATHS);
    let body = body("codecell").to_string();
    let whole = format!(
        "POST {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        world.front.address,
        crate::e2e::agent::TOKEN,
        body.len()
    );
    let sent = dice.index(whole.len());
    let mut stream = TcpStream::connect(world.front.address).context("nobody listens")?;
    stream.write_all(&whole.as_bytes()[..sent])?;
    Ok(Verdict::Right)
}
