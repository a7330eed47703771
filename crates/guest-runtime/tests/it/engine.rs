//! The engine under load: limits, cancellation, neighbours.

use std::time::Duration;

use codecell_bridge::{Cell, Fault, Guest, Json, Report};
use codecell_guest_runtime::{StartError, VmLimits};
use tokio::task::JoinSet;

use crate::program::{Ended, Pauses, play};
use crate::world::{ENGINE, World, engine_of, soon, stop_after};

const MINUTE: Duration = Duration::from_secs(60);

fn cell(code: &str) -> Cell {
    Cell {
        code: code.into(),
        seed: [3, 4],
        output_bytes: 65_536,
    }
}

#[tokio::test]
async fn endless_loops_do_not_keep_a_neighbour_from_finishing() {
    let mut loops = JoinSet::new();
    for _ in 0..8 {
        loops.spawn(async {
            let stop = soon();
            let mut vm = ENGINE
                .start(VmLimits::default(), World::default().host(), &stop)
                .await
                .unwrap();
            vm.eval(&cell("for (;;);"), &stop).await
        });
    }
    for _ in 0..20 {
        let outcome = play(
            "return 1",
            &World::default(),
            VmLimits::default(),
            Pauses::Alive,
            MINUTE,
        )
        .await;
        assert!(matches!(outcome.ended, Ended::Value(_)), "{:?}", outcome.ended);
    }
    assert!(loops.try_join_next().is_none(), "the loops are still running");
    loops.abort_all();
}

#[tokio::test]
async fn cancelling_ends_a_running_program() {
    let stop = soon();
    let mut vm = ENGINE
        .start(VmLimits::default(), World::default().host(), &stop)
        .await
        .unwrap();
    let cancel = stop.cancel.clone();
    let program = cell("for (;;);");
    let (report, ()) = tokio::join!(vm.eval(&program, &stop), async { cancel.cancel() });
    assert_eq!(report, Err(Fault::Cancelled));
    assert!(
        matches!(vm.eval(&program, &soon()).await, Err(Fault::Engine(_))),
        "the VM is gone"
    );
}

#[tokio::test]
async fn dropping_a_running_entry_ends_its_vm() {
    let engine = engine_of(1);
    let stop = soon();
    let mut vm = engine
        .start(VmLimits::default(), World::default().host(), &stop)
        .await
        .unwrap();
    let endless = cell("for (;;);");
    let entry = vm.eval(&endless, &stop);
    assert!(
        tokio::time::timeout(Duration::from_millis(20), entry)
            .await
            .is_err()
    );
    drop(vm);
    // The only slot becomes free again.
    engine
        .start(VmLimits::default(), World::default().host(), &soon())
        .await
        .unwrap();
}

#[tokio::test]
async fn starting_waits_for_a_free_vm_until_the_deadline() {
    let engine = engine_of(1);
    let first = engine
        .start(VmLimits::default(), World::default().host(), &soon())
        .await
        .unwrap();
    let stop = stop_after(Duration::from_millis(20));
    let refused = engine
        .start(VmLimits::default(), World::default().host(), &stop)
        .await;
    assert_eq!(refused.unwrap_err(), StartError::Stopped(Fault::Deadline));
    drop(first);
    engine
        .start(VmLimits::default(), World::default().host(), &soon())
        .await
        .unwrap();
}

#[tokio::test]
async fn an_output_that_is_full_ends_the_program_for_good() {
    let world = World::with_output_room(2);
    let code = "for (;;) try { text('x'); } catch {}";
    let outcome = play(code, &world, VmLimits::default(), Pauses::Alive, MINUTE).await;
    assert!(
        matches!(outcome.ended, Ended::Fault(Fault::Output)),
        "{:?}",
        outcome.ended
    );
    assert_eq!(world.output(), ["x", "x"]);
}

#[tokio::test]
async fn the_seed_decides_what_chance_brings() {
    let draw = async |seed: [u64; 2]| {
        let code = "return [Math.random(), crypto.randomUUID()]".to_owned();
        let mut vm = ENGINE
            .start(VmLimits::default(), World::default().host(), &soon())
            .await
            .unwrap();
        vm.eval(
            &Cell {
                code,
                seed,
                output_bytes: 65_536,
            },
            &soon(),
        )
        .await
        .unwrap()
    };
    assert_eq!(draw([1, 2]).await, draw([1, 2]).await);
    assert_ne!(draw([1, 2]).await, draw([1, 5]).await);
}

#[tokio::test]
async fn memory_is_limited_to_what_was_asked_and_the_message_names_it() {
    let limits = VmLimits {
        memory_bytes: 16 << 20,
    };
    let program = "let kept = []; for (;;) try { kept.push(new Uint8Array(1e6).fill(1)); } catch {}";
    let outcome = play(program, &World::default(), limits, Pauses::Alive, MINUTE).await;
    let Ended::Fault(fault) = outcome.ended else {
        panic!("{:?}", outcome.ended)
    };
    assert_eq!(fault.to_string(), "memory limit exceeded (16777216 bytes)");
    let fits = "return new Uint8Array(8e6).fill(1).length";
    let outcome = play(fits, &World::default(), limits, Pauses::Alive, MINUTE).await;
    assert!(
        matches!(&outcome.ended, Ended::Value(value) if value == "8000000"),
        "{:?}",
        outcome.ended
    );
}

#[tokio::test]
async fn an_engine_may_go_away_inside_another_runtime() {
    let engine = engine_of(1);
    let mut vm = engine
        .start(VmLimits::default(), World::default().host(), &soon())
        .await
        .unwrap();
    drop(engine);
    let report = vm.eval(&cell("return 5"), &soon()).await;
    assert_eq!(
        report,
        Ok(Report::Completed {
            value: Json::parse("5").unwrap()
        })
    );
}
