//! One stretch of a run, on the threads that guests run on.

use codecell_bridge::{Cell, Leg, Parking, Stop, Wall};
use codecell_guest_runtime::{Engine, Image, RestoreError, StartError, SuspendError, Vm, VmLimits};

/// What one stretch needs beside the run's own state.
pub(crate) struct Terms {
    pub(crate) engine: Engine,
    pub(crate) limits: VmLimits,
    /// Largest image, compressed.
    pub(crate) snapshot_bytes: usize,
    pub(crate) stop: Stop,
}

/// How a stretch left the run. There is no VM any more.
pub(crate) enum Rest {
    /// The program is over.
    Ended(Leg),
    /// It goes on from this image.
    Parked(Parking, Result<Image, SuspendError>),
}

/// Runs a program from its beginning.
pub(crate) async fn start(mut wall: Wall, cell: Cell, terms: Terms) -> Result<(Wall, Rest), StartError> {
    let Terms {
        engine, limits, stop, ..
    } = &terms;
    let mut vm = engine.start(*limits, wall.port(), stop).await?;
    let leg = wall.start(&mut vm, &cell, stop).await;
    Ok((wall, rest(vm, leg, terms.snapshot_bytes).await))
}

/// Goes on with a suspended program. If that is not possible, its image and its wall come back.
pub(crate) async fn resume(
    mut wall: Wall,
    image: Vec<u8>,
    terms: Terms,
) -> Result<(Wall, Rest), (Wall, Vec<u8>, RestoreError)> {
    let Terms {
        engine, limits, stop, ..
    } = &terms;
    let mut vm = match engine.restore(&image, *limits, wall.port(), stop).await {
        Ok(vm) => vm,
        Err(error) => return Err((wall, image, error)),
    };
    drop(image);
    let leg = wall.resume(&mut vm, stop).await;
    Ok((wall, rest(vm, leg, terms.snapshot_bytes).await))
}

async fn rest(vm: Vm, leg: Leg, snapshot_bytes: usize) -> Rest {
    match leg {
        Leg::Parked(parking) => Rest::Parked(parking, vm.suspend(snapshot_bytes).await),
        leg => Rest::Ended(leg),
    }
}
