//! Runs one program to its end, alive throughout or frozen at every pause.

use std::time::Duration;

use codecell_bridge::{Cell, Fault, Guest, Report, Thrown};
use codecell_guest_runtime::VmLimits;

use crate::world::{ENGINE, World, soon, stop_after};

/// Whether the VM lives through its pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pauses {
    Alive,
    Frozen,
}

/// How a program ended.
#[derive(Debug)]
pub(crate) enum Ended {
    Value(String),
    Error(Thrown),
    /// Nothing can wake it.
    Stuck,
    Fault(Fault),
}

pub(crate) struct Outcome {
    pub(crate) ended: Ended,
    pub(crate) unhandled: Vec<Thrown>,
}

/// Plays `code` in `world`: answers what it asks, one reply at a time, until it has ended and nothing is left.
pub(crate) async fn play(
    code: &str,
    world: &World,
    limits: VmLimits,
    pauses: Pauses,
    budget: Duration,
) -> Outcome {
    match try_play(code, world, limits, pauses, budget).await {
        Ok(outcome) => outcome,
        Err(fault) => Outcome {
            ended: Ended::Fault(fault),
            unhandled: Vec::new(),
        },
    }
}

async fn try_play(
    code: &str,
    world: &World,
    limits: VmLimits,
    pauses: Pauses,
    budget: Duration,
) -> Result<Outcome, Fault> {
    let mut vm = ENGINE.start(limits, world.host(), &soon()).await.unwrap();
    // Waiting for a free VM is not the program's time.
    let stop = stop_after(budget);
    let mut ended = Ended::Stuck;
    let mut report = vm
        .eval(
            &Cell {
                code: code.into(),
                seed: [7, 9],
                output_bytes: 65_536,
            },
            &stop,
        )
        .await?;
    loop {
        match report {
            Report::Completed { value } => ended = Ended::Value(value.to_string()),
            Report::Failed { error } => ended = Ended::Error(error),
            Report::Pending | Report::Idle => {}
        }
        let Some(reply) = world.next_reply() else { break };
        if pauses == Pauses::Frozen {
            let image = vm.suspend(usize::MAX).await.unwrap();
            vm = ENGINE
                .restore(image.as_bytes(), limits, world.host(), &soon())
                .await
                .unwrap();
        }
        report = vm.settle(&[reply], &stop).await?;
    }
    Ok(Outcome {
        ended,
        unhandled: vm.unhandled(&stop).await?,
    })
}
