//! The long load: everything that clients do, with faults on every side, and a look at what is held now and then.

use std::{net::SocketAddr, path::Path, sync::Arc, thread, time::Duration};

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};

use super::{
    cells,
    dice::Dice,
    fault::{self, SHAKY_PIPE, SHAKY_WEB, STEADY},
    front::{AMPLE, Front},
    kinds,
    look::Looking,
    model::Memory,
    road::Road,
    rude,
    servers::Servers,
    turns::{CURT, HASTY, PATIENT, agent},
    world::World,
};
use crate::{
    e2e::{agent::Serve, room::Room, warm_room},
    model::{Api, Model},
    process,
};

/// How long a suspended cell is kept. Whoever means to come back does so at once.
const KEPT: Duration = Duration::from_secs(30);

/// The allocator keeps one heap and gives back what is free: what is measured is what the gateway keeps, and not how
/// many threads have spread it over how many heaps.
const ALLOCATOR: [(&str, &str); 2] = [("MALLOC_ARENA_MAX", "1"), ("MALLOC_TRIM_THRESHOLD_", "131072")];

/// A model and the road to it.
pub(super) struct Provider {
    pub(super) api: Api,
    pub(super) model: Model,
    pub(super) road: Road,
}

/// Plays the load for so many minutes.
pub(super) fn run(binary: &Path, minutes: u64, clients: usize, seed: u64) -> Result<()> {
    println!("soak: {minutes} min, {clients} clients at once, seed {seed}");
    let warm = warm_room(binary)?;
    let room = Room::new(binary, Some(&warm))?;
    let servers = Servers::new()?;
    let providers: Vec<Provider> = Api::ALL
        .into_iter()
        .map(|api| provider(api, seed))
        .collect::<Result<_>>()?;
    let document = document(&room, &servers, &providers)?;
    let serve = Serve::start(&room, &room.configuration(&document)?, &ALLOCATOR)?;
    let address = serve.base_url();
    let world = World::new(
        Front {
            address: host(&address)?,
        },
        servers,
    );
    let stage = Looking {
        world: &world,
        providers: &providers,
        id: serve.id()?,
    };
    let outcome = thread::scope(|scope| {
        for client in 0..clients {
            let dice = Dice::new(seed, client as u64);
            let world = &world;
            scope.spawn(move || live(world, dice));
        }
        scope.spawn(|| {
            let played = fault::play(&world, Dice::new(seed, u64::MAX));
            world
                .ledger
                .count("faults can be made", &played.map(|()| cells::Verdict::Right));
        });
        scope.spawn(|| {
            // What a model remembers is not the product's memory, but it is this machine's.
            while let Some(_pass) = world.gate.enter() {
                world.gate.pause(Duration::from_millis(500));
                providers.iter().for_each(|provider| provider.model.forget_seen());
            }
        });
        let outcome = stage.watch(Duration::from_secs(minutes * 60));
        world.gate.end();
        outcome
    });
    println!("{}", world.ledger.table());
    let verdict = outcome.and_then(|()| verdict(&world, &providers));
    if verdict.is_err() {
        println!(
            "{:#?}\nstandard error of the gateway:\n{}",
            world.ledger.wrong(),
            serve.stderr()
        );
    }
    verdict?;
    // It ends in peace with whatever is left, and nobody has to let go first.
    let listening = stage.leave_behind(&mut Dice::new(seed, u64::MAX - 1))?;
    serve.stop()?;
    drop(listening);
    process::until(AMPLE, "the end of every child", || {
        process::marked(room.marker()).is_empty().then_some(())
    })
    .with_context(|| format!("left: {:?}", process::marked(room.marker())))?;
    println!("soak: nothing wrong, nothing grew, nothing is left");
    Ok(())
}

/// Whether everything was as it must be.
fn verdict(world: &World, providers: &[Provider]) -> Result<()> {
    let wrong = world.ledger.wrong().len();
    ensure!(wrong == 0, "{wrong} outcomes were wrong");
    let faults: Vec<String> = providers
        .iter()
        .flat_map(|provider| provider.model.faults())
        .collect();
    ensure!(
        faults.is_empty(),
        "the models were asked for what nobody planned: {faults:?}"
    );
    let never = world.ledger.never_right();
    ensure!(
        never.is_empty(),
        "nothing of this ever went as it must: {never:?}"
    );
    Ok(())
}

/// A client that does one thing after the other.
fn live(world: &World, mut dice: Dice) {
    while let Some(pass) = world.gate.enter() {
        if world.ledger.is_enough() {
            return;
        }
        let kind = kinds::next(&mut dice);
        let outcome = (kind.play)(world, &mut dice);
        let is_first_wrong = world.ledger.count(kind.name, &outcome);
        if let Err(error) = &outcome {
            world.note(&format!("a wrong outcome: {}", kind.name));
            if is_first_wrong {
                let recent = world.recent();
                println!(
                    "soak: the first wrong outcome: {}: {error:#}\nbefore it:\n{recent}",
                    kind.name
                );
            }
        }
        drop(pass);
    }
}

fn provider(api: Api, seed: u64) -> Result<Provider> {
    let model = Model::start(api)?;
    let memory = Arc::new(Memory::default());
    model.otherwise(move |seen| memory.reply(seen));
    let road = Road::to(host(&model.base_url())?, seed)?;
    Ok(Provider { api, model, road })
}

/// The address in a URL.
fn host(url: &str) -> Result<SocketAddr> {
    let host = url.trim_start_matches("http://").split('/').next();
    host.unwrap_or_default()
        .parse()
        .with_context(|| format!("no address: `{url}`"))
}

fn document(room: &Room, servers: &Servers, providers: &[Provider]) -> Result<Value> {
    let xtask = std::env::current_exe().context("where is this program?")?;
    let xtask = xtask.to_str().context("a path that is no text")?;
    let pipe = |name: &str| {
        let arguments = servers.arguments(name);
        room.server(xtask, &arguments.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let web = |name: &str| -> Result<Value> {
        Ok(json!({ "url": format!("http://127.0.0.1:{}/mcp", servers.start_web(name)?) }))
    };
    let steady = |mut entry: Value| {
        entry["requestTimeoutMs"] = json!(600_000);
        entry["startupTimeoutMs"] = json!(300_000);
        entry
    };
    let shaky = |mut entry: Value| {
        entry["requestTimeoutMs"] = json!(fault::PATIENCE.as_millis());
        entry["startupTimeoutMs"] = json!(5_000);
        entry
    };
    let mcp = json!({
        STEADY[0]: steady(pipe(STEADY[0])), STEADY[1]: steady(web(STEADY[1])?),
        SHAKY_PIPE: shaky(pipe(SHAKY_PIPE)), SHAKY_WEB: shaky(web(SHAKY_WEB)?),
        "probe": steady(room.server(xtask, &["mcp-server", "--era", "modern"])),
    });
    let (mut models, mut agents, mut modes) = (Map::new(), Map::new(), Map::new());
    for provider in providers {
        let url = provider.model.base_url();
        let end = host(&url)?.to_string();
        let url = url.replace(&end, &provider.road.address().to_string());
        for kind in [PATIENT, HASTY, CURT] {
            let name = agent(kind, provider.api);
            let patience = if kind == CURT { 1 } else { 600 };
            models.insert(
                name.clone(),
                json!({
                    "api": provider.api.name(), "baseUrl": url, "apiKey": "${MODEL_KEY}", "models": ["scripted"],
                    "timeoutSeconds": patience
                }),
            );
            agents.insert(name.clone(), json!({ "model": format!("{name}/scripted") }));
            if kind == HASTY {
                modes.insert(format!("{name}/*"), json!({ "codeMode": { "timeoutMs": 300 } }));
            }
        }
    }
    let main = format!("{}/scripted", agent(PATIENT, Api::Chat));
    Ok(json!({
        "tools": { "codeMode": {
            "enabled": true, "timeoutMs": 60_000, "memoryLimitBytes": 32 << 20, "snapshotTtlSeconds": KEPT.as_secs()
        } },
        "mcp": { "servers": mcp },
        "models": { "providers": models },
        "agents": { "defaults": { "model": main, "models": modes }, "entries": agents },
        "serve": { "maxBodyBytes": rude::MAX_BODY },
    }))
}
