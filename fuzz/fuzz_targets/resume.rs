//! A forged image that passes every check hurts its own program and nobody else.
//!
//! The input is a list of patches to the memory of a program that was suspended in the middle of a call. What runs
//! then is a guest whose heap lies: it may end in any way a guest can end, and the next program must not notice.

#![no_main]

use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use codecell_bridge::{
    Answer, Call, CallId, Cell, Guest, Json, Output, OutputFull, Reply, Report, Stop, Thrown, WallHost,
};
use codecell_guest_runtime::{Engine, EngineOptions, Image, VmLimits};
use libfuzzer_sys::fuzz_target;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

#[path = "../../crates/guest-runtime/src/checksum.rs"]
mod checksum;

const CHECKSUM_AT: usize = 58;
const HEADER_BYTES: usize = 66;
const LIMITS: VmLimits = VmLimits {
    memory_bytes: 8 << 20,
};

/// Keeps one of everything that a heap can hold while it waits.
const PROGRAM: &str = r#"
    const kept = {
        map: new Map([["a", [1, 2n, "drei"]]]), set: new Set([Symbol.iterator, -0, NaN]), weak: new WeakMap(),
        pattern: /(x+)y/giu, date: new Date(0), bytes: new Uint8Array(64).fill(7), view: new DataView(new ArrayBuffer(8)),
        class: class A { #n = 1; get n() { return this.#n } static s = 2 }, bound: parseInt.bind(null, "7"),
        generator: (function* () { yield 1; yield* [2, 3] })(), proxy: new Proxy({}, { get: (_, key) => key }),
        rope: "ab".repeat(40) + "ü".repeat(40), error: new RangeError("far"),
    };
    kept.weak.set(kept.map, kept); kept.generator.next();
    const got = await tools.callValue("openclaw:core:echo", { n: 1 });
    "xxy".replace(kept.pattern, (m) => m.length); kept.set.add(kept.rope.slice(30, 50));
    return [got, new kept.class().n, [...kept.map.values()].flat().length, kept.generator.next().value, kept.proxy.z,
        kept.bytes.reduce((a, b) => a + b, 0), kept.set.size, kept.error.message, kept.bound()];
"#;
const RESULT: &str = r#"[{"n":1},1,3,2,"z",448,4,"far",7]"#;

struct World {
    runtime: Runtime,
    engine: Engine,
    image: Image,
    /// The image's payload before compression.
    raw: Vec<u8>,
    waiting: CallId,
}

static WORLD: LazyLock<World> = LazyLock::new(World::new);

fuzz_target!(init: LazyLock::force(&WORLD), |data: &[u8]| {
    let world = &*WORLD;
    let forged = world.forged(data);
    world.runtime.block_on(async {
        match world.resume(&forged, Duration::from_millis(150)).await {
            Ok(mut vm) => {
                // Whatever it says, it is an answer or a fault; then it may be parked again, or end.
                let reply = world.reply();
                let settled = vm.settle(&[reply], &stop(Duration::from_millis(150))).await;
                if settled.is_ok() && vm.unhandled(&stop(Duration::from_millis(150))).await.is_ok() {
                    let _ = vm.suspend(1 << 20).await;
                }
            }
            Err(refused) => assert!(!refused.to_string().is_empty()),
        }
        assert_eq!(world.engine.live_instances(), 0, "a VM was left behind");

        // The program next door, from the image as it was.
        let mut vm = world.resume(world.image.as_bytes(), LONG).await.expect("an image of ours");
        let settled = vm.settle(&[world.reply()], &stop(LONG)).await;
        let Ok(Report::Completed { value }) = settled else { panic!("the neighbour: {settled:?}") };
        assert_eq!(value.as_str(), RESULT);
    });
});

/// Enough for an honest program on any machine.
const LONG: Duration = Duration::from_secs(20);

fn stop(budget: Duration) -> Stop {
    Stop {
        deadline: Instant::now() + budget,
        cancel: CancellationToken::new(),
    }
}

impl World {
    fn new() -> Self {
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        let folder = std::env::current_exe()
            .ok()
            .and_then(|exe| Some(exe.parent()?.join("modules")));
        let options = EngineOptions {
            threads: 2,
            max_instances: 2,
            module_cache: folder,
        };
        let engine = Engine::new(options).expect("an engine");
        let host = Host::default();
        let cell = Cell {
            code: PROGRAM.into(),
            seed: [1, 2],
            output_bytes: 65_536,
        };
        let image = runtime.block_on(async {
            let mut vm = engine
                .start(LIMITS, Box::new(host.clone()), &stop(LONG))
                .await
                .expect("a VM");
            let waits = vm.eval(&cell, &stop(LONG)).await;
            assert_eq!(waits, Ok(Report::Pending));
            vm.suspend(1 << 20).await.expect("an image")
        });
        let (header, payload) = image.as_bytes().split_at(HEADER_BYTES);
        let size = u32::from_le_bytes(header[54..58].try_into().expect("four bytes")) as usize;
        let raw = lz4_flex::block::decompress(payload, size).expect("a payload of ours");
        let waiting = host.calls()[0].id;
        Self {
            runtime,
            engine,
            image,
            raw,
            waiting,
        }
    }

    /// The image with patches of two bytes at places of three, and with a checksum that fits.
    fn forged(&self, data: &[u8]) -> Vec<u8> {
        let mut raw = self.raw.clone();
        for &[a, b, c, low, high] in data.as_chunks::<5>().0 {
            let at = u32::from_le_bytes([a, b, c, 0]) as usize % (raw.len() - 1);
            raw[at..at + 2].copy_from_slice(&[low, high]);
        }
        let mut bytes = self.image.as_bytes()[..HEADER_BYTES].to_vec();
        let payload = lz4_flex::block::compress(&raw);
        let sum = checksum::of(&bytes[..CHECKSUM_AT]).rotate_left(1) ^ checksum::of(&payload);
        bytes[CHECKSUM_AT..].copy_from_slice(&sum.to_le_bytes());
        bytes.extend_from_slice(&payload);
        bytes
    }

    async fn resume(
        &self,
        image: &[u8],
        budget: Duration,
    ) -> Result<codecell_guest_runtime::Vm, codecell_guest_runtime::RestoreError> {
        self.engine
            .restore(image, LIMITS, Box::new(Host::default()), &stop(budget))
            .await
    }

    fn reply(&self) -> Reply {
        Reply {
            id: self.waiting,
            answer: Answer::Ok(Json::parse(r#"{"n":1}"#).expect("JSON")),
        }
    }
}

/// Takes calls and answers none; a forged guest may ask for anything.
#[derive(Clone, Default)]
struct Host(Arc<Mutex<Vec<Call>>>);

impl Host {
    fn calls(&self) -> Vec<Call> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl WallHost for Host {
    fn query(&mut self, _question: &str) -> Result<String, Thrown> {
        Ok("[]".into())
    }

    fn call(&mut self, call: Call) -> Result<(), Thrown> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(call);
        Ok(())
    }

    fn withdraw(&mut self, _id: CallId) {}

    fn output(&mut self, _output: Output) -> Result<(), OutputFull> {
        Ok(())
    }

    fn overflow(&mut self, _head: String, _more: usize) {}
}
