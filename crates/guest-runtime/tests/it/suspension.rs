//! What an image is: not a VM, and good for more than one.

use codecell_bridge::{Answer, CallId, Cell, Guest, Json, Reply, Report};
use codecell_guest_runtime::{Engine, RestoreError, SuspendError, Vm, VmLimits};
use std::sync::Arc;
use tokio::{sync::Barrier, task::JoinSet};

use crate::world::{ENGINE, World, engine_of, soon};

const COUNTING: &str =
    "let n = 40; n++; const got = await tools.callValue('openclaw:core:echo', 1); return n + got;";

async fn paused(engine: &Engine, code: &str) -> Vm {
    let mut vm = engine
        .start(VmLimits::default(), World::default().host(), &soon())
        .await
        .unwrap();
    let report = vm
        .eval(
            &Cell {
                code: code.into(),
                seed: [1, 2],
                output_bytes: 65_536,
            },
            &soon(),
        )
        .await
        .unwrap();
    assert_eq!(report, Report::Pending);
    vm
}

async fn restored(engine: &Engine, image: &[u8]) -> Vm {
    engine
        .restore(image, VmLimits::default(), World::default().host(), &soon())
        .await
        .unwrap()
}

fn one(value: &str) -> Reply {
    Reply {
        id: CallId(1),
        answer: Answer::Ok(Json::parse(value).unwrap()),
    }
}

fn completed(value: &str) -> Report {
    Report::Completed {
        value: Json::parse(value).unwrap(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn in_a_full_engine_many_vms_can_be_the_first_to_be_suspended() {
    // Which of them is first is chance, so a new engine is asked several times.
    for _ in 0..20 {
        let engine = engine_of(4);
        let together = Arc::new(Barrier::new(4));
        let mut suspending = JoinSet::new();
        for _ in 0..4 {
            let vm = paused(&engine, COUNTING).await;
            let together = Arc::clone(&together);
            suspending.spawn(async move {
                together.wait().await;
                vm.suspend(usize::MAX).await.map(|_| ())
            });
        }
        assert_eq!(suspending.join_all().await, [Ok(()), Ok(()), Ok(()), Ok(())]);
    }
}

#[tokio::test]
async fn while_only_an_image_exists_no_vm_does() {
    let engine = engine_of(2);
    let vm = paused(&engine, COUNTING).await;
    assert_eq!(engine.live_instances(), 1);
    let image = vm.suspend(usize::MAX).await.unwrap();
    assert_eq!(engine.live_instances(), 0);
    assert!(
        image.len() <= 128 * 1024,
        "a small cell takes {} bytes",
        image.len()
    );
    let mut vm = restored(&engine, image.as_bytes()).await;
    assert_eq!(engine.live_instances(), 1);
    assert_eq!(vm.settle(&[one("2")], &soon()).await, Ok(completed("43")));
    drop(vm);
    assert_eq!(engine.live_instances(), 0);
}

#[tokio::test]
async fn one_image_makes_independent_vms() {
    let image = paused(&ENGINE, COUNTING).await.suspend(usize::MAX).await.unwrap();
    for (answer, sum) in [("1", "42"), ("100", "141")] {
        let mut vm = restored(&ENGINE, image.as_bytes()).await;
        assert_eq!(vm.settle(&[one(answer)], &soon()).await, Ok(completed(sum)));
    }
}

#[tokio::test]
async fn an_image_that_is_too_large_is_refused_with_both_numbers() {
    let engine = engine_of(2);
    let error = paused(&engine, COUNTING).await.suspend(1024).await.unwrap_err();
    let SuspendError::TooLarge { actual, limit: 1024 } = error else {
        panic!("{error}")
    };
    assert!(actual > 1024);
    assert_eq!(engine.live_instances(), 0, "the VM is gone all the same");
}

#[tokio::test]
async fn damaged_and_foreign_images_are_told_apart() {
    let image = paused(&ENGINE, COUNTING)
        .await
        .suspend(usize::MAX)
        .await
        .unwrap()
        .into_bytes();
    let restore = async |bytes: &[u8], memory_bytes: usize| {
        let limits = VmLimits { memory_bytes };
        ENGINE
            .restore(bytes, limits, World::default().host(), &soon())
            .await
            .map(drop)
    };
    let mut damaged = image.clone();
    damaged[image.len() / 2] ^= 1;
    let mut older = image.clone();
    older[8] ^= 1;
    assert_eq!(restore(&image, 64 << 20).await, Ok(()));
    assert_eq!(
        restore(b"something else", 64 << 20).await,
        Err(RestoreError::NotAnImage)
    );
    assert_eq!(restore(&older, 64 << 20).await, Err(RestoreError::OtherBuild));
    assert!(matches!(
        restore(&damaged, 64 << 20).await,
        Err(RestoreError::Corrupt(_))
    ));

    let large = "const kept = new Uint8Array(8e6).fill(3); await tools.echo(); return kept.length";
    let image = paused(&ENGINE, large).await.suspend(usize::MAX).await.unwrap();
    assert!(matches!(
        restore(image.as_bytes(), 4 << 20).await,
        Err(RestoreError::NoRoom { .. })
    ));
}

#[tokio::test]
async fn answers_to_calls_nobody_made_are_dropped() {
    let mut vm = paused(&ENGINE, COUNTING).await;
    let stray = Reply {
        id: CallId(77),
        answer: Answer::Ok(Json::null()),
    };
    assert_eq!(vm.settle(&[stray], &soon()).await, Ok(Report::Pending));
    assert_eq!(
        vm.settle(&[one("1"), one("5")], &soon()).await,
        Ok(completed("42"))
    );
    assert_eq!(vm.settle(&[], &soon()).await, Ok(Report::Idle));
}

#[tokio::test]
async fn a_program_that_left_code_behind_goes_on_after_its_end() {
    let world = World::default();
    let mut vm = ENGINE
        .start(VmLimits::default(), world.host(), &soon())
        .await
        .unwrap();
    let code = "tools.echo(1).then(() => text('later')); return 'early';";
    let report = vm
        .eval(
            &Cell {
                code: code.into(),
                seed: [1, 2],
                output_bytes: 65_536,
            },
            &soon(),
        )
        .await;
    assert_eq!(report, Ok(completed("\"early\"")));
    assert_eq!(vm.settle(&[one("1")], &soon()).await, Ok(Report::Idle));
    assert_eq!(world.output(), ["later"]);
}
