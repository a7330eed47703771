//! Many turns at once, for as long as is asked: nothing fails, and nothing grows.

use std::{
    fs,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;

use super::{
    agent::{ClientTool, LOG, Stage, Surface, Talk},
    room::Room,
    warm_room,
};
use crate::{
    model::{Api, Reply, Seen},
    process, workspace,
};

/// How much load, and on what.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Uses this binary instead of building a release.
    #[arg(long, value_name = "PATH")]
    pub(crate) binary: Option<PathBuf>,
    /// Turns at once.
    #[arg(long, default_value_t = 200)]
    pub(crate) turns: usize,
    /// Goes on for so many minutes; without it, for a few waves.
    #[arg(long)]
    pub(crate) minutes: Option<u64>,
}

impl Options {
    /// A few waves of 200 turns against a release.
    pub(crate) fn bounded() -> Options {
        Options {
            binary: None,
            turns: 200,
            minutes: None,
        }
    }
}

/// Waves before anything is measured: caches, pools and the allocator fill in them.
const WARM_UP: usize = 3;

/// Waves that are measured when no time is given.
const WAVES: usize = 5;

/// Of so many turns one calls a tool of its client: fewer than the suspended cells that a process may hold.
const WITH_CLIENT: usize = 4;

/// What resident memory may grow by: a share, and what one more page of everything comes to.
const GROWTH: (f64, u64) = (1.10, 16 << 20);

/// Waves between two looks at what the gateway holds.
const SAMPLED: usize = 10;

/// Connections to its model that a gateway may keep.
const IDLE_CONNECTIONS: usize = 36;

/// Longest that the gateway may take to be as small as before: connections to its model are kept for 90 seconds.
const SETTLING: Duration = Duration::from_secs(120);

/// Runs the load and prints what it found.
pub(crate) fn run(options: &Options) -> Result<()> {
    let binary = match &options.binary {
        Some(path) => path
            .canonicalize()
            .with_context(|| format!("there is no `{}`", path.display()))?,
        None => release()?,
    };
    let warm = warm_room(&binary)?;
    let room = Room::new(&binary, Some(&warm))?;
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
        play(&stage, options.turns, wave)?;
    }
    let before = settled(&stage, None)?;
    let began = Instant::now();
    let limit = options.minutes.map(|minutes| Duration::from_secs(minutes * 60));
    let mut waves = 0;
    while limit.map_or(waves < WAVES, |limit| began.elapsed() < limit) {
        play(&stage, options.turns, WARM_UP + waves)?;
        // What the model remembers is not the product's memory, but it is this machine's.
        stage.model.forget_seen();
        waves += 1;
        if waves % SAMPLED == 0 {
            let now = Holds::of(stage.serve.id()?, stage.room)?;
            println!("soak: {} turns: {now}", waves * options.turns);
        }
    }
    let took = began.elapsed();
    let after = settled(&stage, Some(&before))?;
    let turns = waves * options.turns;
    println!(
        "soak: {turns} turns, {} at once, in {:.1} s ({:.0} a second), no error",
        options.turns,
        took.as_secs_f64(),
        turns as f64 / took.as_secs_f64()
    );
    println!("soak: before {before}");
    println!("soak: after  {after}");
    after.compare(&before)?;
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

/// What a process holds.
#[derive(Debug, Clone, Copy)]
struct Holds {
    resident: u64,
    handles: usize,
    threads: usize,
    children: usize,
}

impl Holds {
    fn of(id: u32, room: &Room) -> Result<Holds> {
        let folder = PathBuf::from(format!("/proc/{id}"));
        let status = fs::read_to_string(folder.join("status")).context("the gateway is gone")?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok())
                .with_context(|| format!("no `{name}` in its status"))
        };
        Ok(Holds {
            resident: field("VmRSS:")? * 1024,
            handles: fs::read_dir(folder.join("fd"))?.count(),
            threads: usize::try_from(field("Threads:")?)?,
            children: process::marked(room.marker()).len(),
        })
    }

    /// Fails if anything has grown.
    fn compare(&self, before: &Holds) -> Result<()> {
        let (share, slack) = GROWTH;
        let allowed = (before.resident as f64 * share) as u64 + slack;
        ensure!(
            self.resident <= allowed,
            "memory has grown: {self}, after {before}"
        );
        // The pool of threads for blocking work breathes, and so do the connections that are kept for later.
        ensure!(
            self.handles <= before.handles + IDLE_CONNECTIONS
                && self.children <= before.children
                && self.threads <= before.threads + 8,
            "something is left over: {self}, after {before}"
        );
        Ok(())
    }
}

impl std::fmt::Display for Holds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:.1} MiB resident, {} handles, {} threads, {} processes",
            self.resident as f64 / f64::from(1 << 20),
            self.handles,
            self.threads,
            self.children
        )
    }
}

/// What the gateway holds once nothing runs. Connections that it keeps for later go by themselves, so it has time to
/// become as small as it was `before`.
fn settled(stage: &Stage<'_>, before: Option<&Holds>) -> Result<Holds> {
    stage.serve.quiet()?;
    let id = stage.serve.id()?;
    let until = Instant::now() + SETTLING;
    loop {
        thread::sleep(Duration::from_secs(2));
        let now = Holds::of(id, stage.room)?;
        let is_small = before.is_none_or(|before| now.compare(before).is_ok());
        if is_small || Instant::now() > until {
            return Ok(now);
        }
    }
}

fn release() -> Result<PathBuf> {
    let status = workspace::cargo()
        .args([
            "build",
            "--release",
            "--quiet",
            "--package",
            "codecell-gateway",
            "--bins",
        ])
        .status()?;
    ensure!(status.success(), "building the gateway failed ({status})");
    Ok(workspace::target_dir()?.join("release/codecell"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(resident: u64, handles: usize) -> Holds {
        Holds {
            resident,
            handles,
            threads: 10,
            children: 2,
        }
    }

    #[test]
    fn what_has_grown_is_named() {
        let before = holds(100 << 20, 20);
        assert!(holds(120 << 20, 22).compare(&before).is_ok());
        let grown = holds(200 << 20, 20).compare(&before).unwrap_err();
        assert!(grown.to_string().starts_with("memory has grown"), "{grown}");
        let left = holds(100 << 20, 60).compare(&before).unwrap_err();
        assert!(left.to_string().starts_with("something is left over"), "{left}");
    }
}
