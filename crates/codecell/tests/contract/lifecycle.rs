//! What ends a cell from outside, and what is left of it: nothing.

use std::time::Duration;

use codecell::{Codecell, EngineOptions};
use futures_util::FutureExt;
use serde_json::json;

use crate::world::World;

const PARKED: &str = "const slow = tools.gate({ key: 'a' }); await yield_control(); return await slow";

/// A world with an engine of its own, whose runs and VMs are counted.
fn alone(session: &str) -> World {
    World {
        codecell: Codecell::new(EngineOptions::default()).unwrap(),
        ..World::new(session)
    }
}

async fn nothing_is_left(world: &World) {
    assert_eq!(world.codecell.suspended_runs(), 0);
    while world.codecell.live_vms() > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_aborted_exec_gives_up_its_calls_and_its_vm() {
    let world = alone("life-exec");
    let abort = async {
        world.effects.reached("at gate a", 1).await;
        world.cancel.cancel();
    };
    let (result, ()) = tokio::join!(
        world.exec("text('so far'); return await tools.gate({ key: 'a' })"),
        abort
    );
    assert_eq!(
        (&result["code"], &result["error"]),
        (&json!("aborted"), &json!("code mode execution aborted"))
    );
    assert_eq!(result["output"], json!([{ "type": "text", "text": "so far" }]));
    world.effects.reached("gave up a", 1).await;
    nothing_is_left(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_aborted_wait_ends_its_run() {
    let mut world = alone("life-wait");
    let first = world.exec(PARKED).await;
    world.effects.reached("at gate a", 1).await;
    assert_eq!(
        (world.codecell.suspended_runs(), world.codecell.live_vms()),
        (1, 0),
        "{first:#}"
    );
    // The yield is answered; the call goes on.
    world.settings.timeout = Duration::from_secs(60);
    world.cancel.cancel();
    let result = world.wait(&first["runId"]).await;
    assert_eq!(result["code"], "aborted", "{result:#}");
    world.effects.reached("gave up a", 1).await;
    nothing_is_left(&world).await;
    assert_eq!(world.wait(&first["runId"]).await["code"], "invalid_input");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_that_is_dropped_in_the_middle_ends_its_run() {
    let world = alone("life-dropped");
    let first = world.exec(PARKED).await;
    world.effects.reached("at gate a", 1).await;
    {
        let mut waiting = Box::pin(world.wait(&first["runId"]));
        assert!((&mut waiting).now_or_never().is_none());
    }
    world.effects.reached("gave up a", 1).await;
    nothing_is_left(&world).await;
    assert_eq!(world.wait(&first["runId"]).await["code"], "invalid_input");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_session_ends_its_cells_and_no_others() {
    let mut world = alone("life-session");
    let mine = world.exec(PARKED).await;
    world.effects.reached("at gate a", 1).await;
    world.caller.session = "life-other".into();
    let other = world.exec("await yield_control(); return 'untouched'").await;
    world.codecell.abort_session("life-session");
    world.effects.reached("gave up a", 1).await;
    assert_eq!(world.codecell.suspended_runs(), 1);
    assert_eq!(world.wait(&other["runId"]).await["value"], "untouched");
    world.caller.session = "life-session".into();
    assert_eq!(world.wait(&mine["runId"]).await["code"], "invalid_input");
    nothing_is_left(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_ends_suspended_and_running_cells_and_refuses_new_ones() {
    let world = alone("life-shutdown");
    let parked = world.exec(PARKED).await;
    world.effects.reached("at gate a", 1).await;
    let stop = async {
        world.effects.reached("at gate b", 1).await;
        world.codecell.shutdown();
    };
    let (running, ()) = tokio::join!(world.exec("return await tools.gate({ key: 'b' })"), stop);
    assert_eq!(running["code"], "aborted", "{running:#}");
    world.effects.reached("gave up a", 1).await;
    world.effects.reached("gave up b", 1).await;
    nothing_is_left(&world).await;
    assert_eq!(world.wait(&parked["runId"]).await["status"], "failed");
    let late = world
        .exec("return await tools.callValue('openclaw:core:bump', { key: 'late' })")
        .await;
    assert_eq!(
        (&late["code"], world.effects.count("late")),
        (&json!("aborted"), 0),
        "{late:#}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_fails_gives_up_its_calls_and_its_vm() {
    for (ending, code) in [
        ("while (true) {}", "timeout"),
        (
            "const a = []; for (;;) a.push('x'.repeat(1e5) + a.length)",
            "internal_error",
        ),
        ("for (;;) text('x'.repeat(1000))", "output_limit_exceeded"),
        ("throw new Error('mine')", "internal_error"),
        (
            "globalThis.keep = new Float64Array(1e5).map(Math.random); await yield_control()",
            "snapshot_limit_exceeded",
        ),
    ] {
        let mut world = alone("life-failed");
        let seconds = if code == "timeout" { 1 } else { 60 };
        world.settings.timeout = Duration::from_secs(seconds);
        world.settings.memory_limit_bytes = 16 << 20;
        world.settings.max_snapshot_bytes = 1 << 10;
        let result = world
            .exec(&format!(
                "tools.gate({{ key: 'a' }}); for (let i = 0; i < 1e5; i++); {ending}"
            ))
            .await;
        assert_eq!(
            (&result["status"], &result["code"]),
            (&json!("failed"), &json!(code)),
            "{ending}: {result:#}"
        );
        nothing_is_left(&world).await;
        // A call that had reached its tool is given up there, any other one never reaches it.
        while world.effects.count("at gate a") > world.effects.count("gave up a") {
            tokio::task::yield_now().await;
        }
    }
}

const ENDS: [fn(&World); 2] = [
    |world| world.codecell.abort_session("life-parking"),
    |world| world.codecell.shutdown(),
];

/// Ends the session or the process once the program is at its gate, at several moments from then on: while its image
/// is written, which takes a while, and around that.
async fn end(world: &World, end: fn(&World), moment: usize) {
    world.effects.reached("at gate a", 1).await;
    for _ in 0..moment * 200 {
        tokio::task::yield_now().await;
    }
    end(world);
}

const KEEPS_MUCH: &str = "const keep = new Float64Array(500000).map(Math.random); tools.gate({ key: 'a' });
                          await yield_control(); return keep.length";

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_is_being_parked_when_its_session_or_the_process_ends_is_not_left_behind() {
    for ending in ENDS {
        for moment in 0..6 {
            let world = alone("life-parking");
            let (result, ()) = tokio::join!(world.exec(KEEPS_MUCH), end(&world, ending, moment));
            assert_eq!(world.codecell.suspended_runs(), 0, "{result:#}");
            world.effects.reached("gave up a", 1).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_is_being_parked_again_when_its_session_or_the_process_ends_is_not_left_behind() {
    for ending in ENDS {
        for moment in 0..6 {
            let world = alone("life-parking");
            let first = world.exec(&format!("await yield_control(); {KEEPS_MUCH}")).await;
            let (result, ()) = tokio::join!(world.wait(&first["runId"]), end(&world, ending, moment));
            assert_eq!(world.codecell.suspended_runs(), 0, "{result:#}");
            world.effects.reached("gave up a", 1).await;
        }
    }
}
