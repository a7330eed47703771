//! Boots a freshly linked guest and writes it out with its memory as it is then: `preinit IN.wasm OUT.wasm`.
//!
//! A step of `cargo xtask guest`. It lives here because it needs the WebAssembly engine, which `xtask` should not have
//! to compile.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use wasmtime::{Config, Engine, Error, Instance, Linker, Module, Result, Store, Val};
use wasmtime_wizer::{InstanceState, SnapshotVal, ValType, Wizer};

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let (Some(input), Some(output)) = (args.next(), args.next()) else {
        return Err(Error::msg("usage: preinit IN.wasm OUT.wasm"));
    };
    let wasm = std::fs::read(input)?;
    let mut wizer = Wizer::new();
    wizer.init_func("boot");
    let (context, instrumented) = wizer.instrument(&wasm)?;

    let mut config = Config::new();
    config
        .max_wasm_stack(16 * 1024 * 1024)
        .async_stack_size(32 * 1024 * 1024);
    let engine = Engine::new(&config)?;
    let module = Module::new(&engine, &instrumented)?;
    let mut linker = Linker::new(&engine);
    // The image must not depend on when it was made.
    linker.func_wrap("env", "__rquickjs_host_now_us", || 0.0_f64)?;
    linker.define_unknown_imports_as_traps(&module)?;
    let mut store = Store::new(&engine, ());
    let instance = linker.instantiate(&mut store, &module)?;
    instance
        .get_typed_func::<(), ()>(&mut store, "boot")?
        .call(&mut store, ())?;

    let booted = ready(wizer.snapshot(
        &context,
        &mut Booted {
            store: &mut store,
            instance,
        },
    ))?;
    std::fs::write(output, booted)?;
    Ok(())
}

/// The instance after its boot.
struct Booted<'s> {
    store: &'s mut Store<()>,
    instance: Instance,
}

impl InstanceState for Booted<'_> {
    async fn global_get(&mut self, name: &str, _type_hint: ValType) -> SnapshotVal {
        let global = self.instance.get_global(&mut *self.store, name);
        match global.map(|global| global.get(&mut *self.store)) {
            Some(Val::I32(value)) => SnapshotVal::I32(value),
            Some(Val::I64(value)) => SnapshotVal::I64(value),
            Some(Val::F32(bits)) => SnapshotVal::F32(bits),
            Some(Val::F64(bits)) => SnapshotVal::F64(bits),
            other => unreachable!("a guest has only plain globals, `{name}` is {other:?}"),
        }
    }

    async fn memory_contents(&mut self, name: &str, contents: impl FnOnce(&[u8]) + Send) {
        if let Some(memory) = self.instance.get_memory(&mut *self.store, name) {
            contents(memory.data(&self.store));
        }
    }
}

/// The output of a future that never has to wait.
fn ready<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => Err(Error::msg("the snapshot waits for something")),
    }
}
