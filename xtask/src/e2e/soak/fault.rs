//! What happens to the servers, meanwhile.

use std::{thread, time::Duration};

use anyhow::Result;
use rustix::process::Signal;

use super::{dice::Dice, world::World};

/// Servers that nothing happens to but a pause.
pub(super) const STEADY: [&str; 2] = ["steadyPipe", "steadyWeb"];

/// Servers that anything happens to.
pub(super) const SHAKY_PIPE: &str = "shakyPipe";
pub(super) const SHAKY_WEB: &str = "shakyWeb";

/// How long the gateway waits for an answer of a shaky server.
pub(super) const PATIENCE: Duration = Duration::from_millis(1_500);

/// Does one thing after the other until all is over.
pub(super) fn play(world: &World, mut dice: Dice) -> Result<()> {
    while let Some(pass) = world.gate.enter() {
        world.gate.pause(Duration::from_millis(dice.between(200, 1_200)));
        one(world, &mut dice)?;
        drop(pass);
    }
    Ok(())
}

fn one(world: &World, dice: &mut Dice) -> Result<()> {
    let shaky = dice.pick([SHAKY_PIPE, SHAKY_WEB]);
    let any = dice.pick([SHAKY_PIPE, SHAKY_WEB, STEADY[0], STEADY[1]]);
    let did = |what: &'static str, server: &str| {
        world.ledger.fault(what);
        world.note(&format!("{what}: {server}"));
    };
    match dice.below(9) {
        0 => {
            did("a server is killed", SHAKY_PIPE);
            world.servers.signal(SHAKY_PIPE, Signal::KILL);
        }
        1 => {
            did("a server is killed", SHAKY_WEB);
            world.servers.signal(SHAKY_WEB, Signal::KILL);
            world.gate.pause(Duration::from_millis(dice.below(2_000)));
            world.servers.start_web(SHAKY_WEB)?;
        }
        2 => {
            did("a server hangs", shaky);
            pause(world, shaky, PATIENCE * 2);
        }
        3 | 4 => {
            did("a server stops for a second", any);
            pause(world, any, Duration::from_secs(1));
        }
        5 => {
            did("a server answers garbage", shaky);
            world
                .servers
                .tell(shaky, &format!("garbage {}", dice.between(1, 4)));
        }
        6 => {
            did("a server does not answer", shaky);
            world
                .servers
                .tell(shaky, &format!("silent {}", dice.between(1, 4)));
        }
        7 => {
            did("a server breaks off its answer", shaky);
            world.servers.tell(shaky, "torn 1");
        }
        _ => {
            did("a server announces changes", any);
            world
                .servers
                .tell(any, &format!("storm {}", dice.pick([1, 20, 500])));
            did("a server prints what is no message", "steadyPipe");
            world.servers.tell("steadyPipe", "noise 20");
        }
    }
    Ok(())
}

/// Whatever comes between, the server goes on.
fn pause(world: &World, server: &str, time: Duration) {
    if world.servers.signal(server, Signal::STOP) {
        // Not cut short: what it is about is that others wait.
        thread::sleep(time);
        world.servers.signal(server, Signal::CONT);
    }
}
