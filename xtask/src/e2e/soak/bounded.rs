//! A few waves of turns: nothing fails, and nothing grows.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;

use super::holds::Holds;
use crate::{
    e2e::{
        agent::{ClientTool, LOG, Stage, Surface, Talk},
        room::Room,
        warm_room,
    },
    model::{Api, Reply, Seen},
};

/// Waves before anything is measured: caches, pools and the allocator fill in them.
const WARM_UP: usize = 3;

/// Waves that are measured when no time is given.
const WAVES: usize = 5;

/// Of so many turns one calls a tool of its client: fewer than the suspended cells that a process may hold.
const WITH_CLIENT: usize = 4;

/// What resident memory may grow by: a share, and what one more page of everything comes to.
const GROWTH: (f64, u64) = (1.10, 16 << 20);

/// Connections to its model that a gateway may keep.
const IDLE_CONNECTIONS: usize = 36;

/// Threads for blocking work that it may keep.
const IDLE_THREADS: usize = 8;

/// Longest that the gateway may take to be as small as before: connections to its model are kept for 90 seconds.
const SETTLING: Duration = Duration::from_secs(120);

/// Runs the waves and prints what they found.
pub(super) fn run(binary: &Path, turns: usize) -> Result<()> {
    let warm = warm_room(binary)?;
    let room = Room::new(binary, Some(&warm))?;
    let document = json!({
        "tools": { "codeMode": { "enabled": true, "timeoutMs": 30_000 } },
        "mcp": { "servers": { "probe": room.probe(LOG, &[])? } },
        "serve": {},
    });
    let talk = Talk {
        surface: Surface::Chat,
        streamed: true,
        session: "soak".to_owned(),
        model: "codecell".to_owned(),
    };
    let stage = Stage::open(&room, Api::Chat, talk, &document)?;
    stage.model.otherwise(answer);
    for wave in 0..WARM_UP {
        play(&stage, turns, wave)?;
    }
    let before = settled(&stage, None)?;
    let began = Instant::now();
    for wave in WARM_UP..WARM_UP + WAVES {
        play(&stage, turns, wave)?;
        // What the model remembers is not the product's memory, but it is this machine's.
        stage.model.forget_seen();
    }
    let took = began.elapsed();
    let after = settled(&stage, Some(&before))?;
    println!(
        "soak: {} turns, {turns} at once, in {:.1} s ({:.0} a second), no error",
        WAVES * turns,
        took.as_secs_f64(),
        (WAVES * turns) as f64 / took.as_secs_f64()
    );
    println!("soak: before {before}");
    println!("soak: after  {after}");
    compare(&after, &before)?;
    stage.serve.stop()
}

/// One wave: all turns at once, each in a session of its own.
fn play(stage: &Stage<'_>, turns: usize, wave: usize) -> Result<()> {
    let outcomes: Vec<Result<()>> = thread::scope(|scope| {
        let turn = |number| scope.spawn(move || turn(stage, wave, number));
        let running: Vec<_> = (0..turns).map(turn).collect();
        let join = |turn: thread::ScopedJoinHandle<'_, Result<()>>| {
            turn.join().map_err(|_| anyhow::anyhow!("it panicked"))?
        };
        running.into_iter().map(join).collect()
    });
    let failed: Vec<String> = outcomes
        .into_iter()
        .filter_map(|outcome| outcome.err().map(|error| format!("{error:#}")))
        .collect();
    match failed.first() {
        None => Ok(()),
        Some(first) => bail!(
            "{} of {turns} turns of wave {wave} failed; the first: {first}; the model's script: {:?}; standard \
             error:\n{}",
            failed.len(),
            stage.model.faults(),
            stage.serve.stderr()
        ),
    }
}

fn turn(stage: &Stage<'_>, wave: usize, number: usize) -> Result<()> {
    let talk = Talk {
        session: format!("soak:{wave}:{number}"),
        streamed: number.is_multiple_of(2),
        ..stage.talk.clone()
    };
    let tools = [ClientTool {
        name: "pick",
        description: "Lets the user pick",
        parameters: json!({ "type": "object", "properties": { "of": { "type": "integer" } } }),
    }];
    let with_client = number.is_multiple_of(WITH_CLIENT);
    let expected = format!("turn {number}: done");
    let (prompt, tools) = if with_client {
        (format!("client {number}"), tools.as_slice())
    } else {
        (format!("server {number}"), &[] as &[ClientTool])
    };
    let mut spoken = talk.ask(&stage.serve, &prompt, tools)?;
    if with_client {
        let [call] = spoken.calls.as_slice() else {
            bail!("expected one call: {spoken:?}");
        };
        let id = call.id.clone();
        let picked = (number * 2).to_string();
        spoken = talk.answer(&stage.serve, &spoken, &[(&id, &picked)])?;
    }
    ensure!(spoken.text == expected, "it said {spoken:?}");
    Ok(())
}

/// The model: has a cell run that does what the prompt asks for, and says what came of it.
fn answer(seen: &Seen) -> Result<Reply> {
    let prompt = seen.messages.iter().rfind(|said| said.role == "user");
    let prompt = prompt.context("no prompt")?.text.clone();
    let (kind, number) = prompt.split_once(' ').context("an odd prompt")?;
    let number: u64 = number.trim().parse().context("an odd prompt")?;
    if seen.results.is_empty() {
        let code = match kind {
            "client" => format!("const n = await tools.pick({{ of: {number} }}); return n / 2"),
            _ => format!(
                "const [a, b] = await Promise.all([{number}, 1].map(value => MCP.probe.echoValue({{ value }}))); \
                 return a.structuredContent.value + b.structuredContent.value - 1"
            ),
        };
        return Ok(Reply::call("exec", json!({ "code": code })));
    }
    let value = seen.value()?;
    ensure!(value == json!(number), "the cell gave {value}, not {number}");
    Ok(Reply::text(format!("turn {number}: done")))
}

/// Fails if anything has grown.
fn compare(after: &Holds, before: &Holds) -> Result<()> {
    let (share, slack) = GROWTH;
    let allowed = (before.resident as f64 * share) as u64 + slack;
    ensure!(
        after.resident <= allowed,
        "memory has grown: {after}, after {before}"
    );
    // The pool of threads for blocking work breathes, and so do the connections that are kept for later.
    after.compare(&Holds {
        handles: before.handles + IDLE_CONNECTIONS,
        threads: before.threads + IDLE_THREADS,
        ..*before
    })
}

/// What the gateway holds once nothing runs. Connections that it keeps for later go by themselves, so it has time to
/// become as small as it was `before`.
fn settled(stage: &Stage<'_>, before: Option<&Holds>) -> Result<Holds> {
    stage.serve.quiet()?;
    let id = stage.serve.id()?;
    let until = Instant::now() + SETTLING;
    loop {
        thread::sleep(Duration::from_secs(2));
        let now = Holds::of(id)?;
        let is_small = before.is_none_or(|before| compare(&now, before).is_ok());
        if is_small || Instant::now() > until {
            return Ok(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(resident: u64, handles: usize) -> Holds {
        Holds {
            private: resident,
            resident,
            handles,
            threads: 10,
            children: 2,
        }
    }

    #[test]
    fn what_has_grown_is_named() {
        let before = holds(100 << 20, 20);
        assert!(compare(&holds(120 << 20, 22), &before).is_ok());
        let grown = compare(&holds(200 << 20, 20), &before).unwrap_err();
        assert!(grown.to_string().starts_with("memory has grown"), "{grown}");
        let left = compare(&holds(100 << 20, 60), &before).unwrap_err();
        assert!(left.to_string().starts_with("something is left over"), "{left}");
    }
}
