//! The host's side of the guest's imports, and what a VM may use.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use codecell_bridge::{CallId, Fault, Json, Output, Stop, WallHost};
use wasmtime::{Caller, Linker, Memory, ResourceLimiter, Result, UpdateDeadline};

use crate::wire;

/// Room for the guest's functions that are called through pointers: it has some 600 and makes no new ones.
pub(crate) const MAX_TABLE_ELEMENTS: usize = 4096;

/// What belongs to one VM beside its memory.
pub(crate) struct Wall {
    host: Box<dyn WallHost>,
    /// The guest's memory; absent while it is being made.
    pub(crate) memory: Option<Memory>,
    /// Text the guest is about to fetch.
    ready: Vec<u8>,
    /// When the running entry has to end; absent between entries.
    stop: Option<Stop>,
    /// Why the VM ended, if it was we who ended it.
    fault: Option<Fault>,
    limit: usize,
}

impl Wall {
    pub(crate) fn new(host: Box<dyn WallHost>, limit: usize) -> Self {
        Self {
            host,
            memory: None,
            ready: Vec::new(),
            stop: None,
            fault: None,
            limit,
        }
    }

    /// Prepares an entry.
    pub(crate) fn begin(&mut self, input: Vec<u8>, stop: &Stop) {
        self.ready = input;
        self.stop = Some(stop.clone());
    }

    /// Forgets the entry's limits.
    pub(crate) fn end(&mut self) {
        self.stop = None;
        self.ready = Vec::new();
    }

    /// Why the VM ended.
    pub(crate) fn take_fault(&mut self) -> Option<Fault> {
        self.fault.take()
    }

    /// Called at every tick while guest code runs: gives the thread back, or ends the VM.
    pub(crate) fn tick(&mut self) -> Result<UpdateDeadline> {
        match self.stop.as_ref().and_then(passed) {
            Some(fault) => Err(self.fail(fault)),
            None => Ok(UpdateDeadline::Yield(1)),
        }
    }

    fn fail(&mut self, fault: Fault) -> wasmtime::Error {
        let error = wasmtime::Error::msg(fault.to_string());
        self.fault = Some(fault);
        error
    }
}

/// Whether it is time to stop.
pub(crate) fn passed(stop: &Stop) -> Option<Fault> {
    if stop.cancel.is_cancelled() {
        Some(Fault::Cancelled)
    } else if Instant::now() >= stop.deadline {
        Some(Fault::Deadline)
    } else {
        None
    }
}

impl ResourceLimiter for Wall {
    fn memory_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        if desired <= self.limit {
            return Ok(true);
        }
        // An error, not a refusal: the guest must not go on in a heap that is full.
        Err(self.fail(Fault::Memory { limit: self.limit }))
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> Result<()> {
        Err(self.fail(Fault::Engine(format!(
            "the system has no memory for the guest: {error}"
        ))))
    }

    fn table_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        Ok(desired <= MAX_TABLE_ELEMENTS)
    }
}

/// Defines everything a guest may import. There is nothing else.
pub(crate) fn link(linker: &mut Linker<Wall>) -> Result<()> {
    linker.func_wrap("env", "__rquickjs_host_now_us", || -> f64 {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0.0, |passed| passed.as_micros() as f64)
    })?;
    linker.func_wrap(
        "codecell",
        "query",
        |mut caller: Caller<'_, Wall>, at: u32, len: u32| -> Result<i64> {
            let question = text(&caller, at, len)?;
            let wall = caller.data_mut();
            match wall.host.query(&question) {
                Ok(answer) => {
                    wall.ready = answer.into_bytes();
                    Ok(wall.ready.len() as i64)
                }
                Err(thrown) => {
                    wall.ready = wire::thrown(&thrown).map_err(wasmtime::Error::msg)?.into_bytes();
                    Ok(-1 - wall.ready.len() as i64)
                }
            }
        },
    )?;
    linker.func_wrap(
        "codecell",
        "call",
        |mut caller: Caller<'_, Wall>, at: u32, len: u32| -> Result<u32> {
            let call = wire::call(&text(&caller, at, len)?).map_err(wasmtime::Error::msg)?;
            let wall = caller.data_mut();
            match wall.host.call(call) {
                Ok(()) => Ok(0),
                Err(thrown) => {
                    wall.ready = wire::thrown(&thrown).map_err(wasmtime::Error::msg)?.into_bytes();
                    Ok(u32::try_from(wall.ready.len())?)
                }
            }
        },
    )?;
    linker.func_wrap(
        "codecell",
        "take",
        |mut caller: Caller<'_, Wall>, at: u32| -> Result<()> {
            let ready = std::mem::take(&mut caller.data_mut().ready);
            memory(&caller)?.write(&mut caller, at as usize, &ready)?;
            Ok(())
        },
    )?;
    linker.func_wrap("codecell", "withdraw", |mut caller: Caller<'_, Wall>, id: u32| {
        caller.data_mut().host.withdraw(CallId(id));
    })?;
    linker.func_wrap(
        "codecell",
        "output",
        |mut caller: Caller<'_, Wall>, kind: u32, at: u32, len: u32| -> Result<()> {
            let text = text(&caller, at, len)?;
            let output = match kind {
                0 => Output::Text { text },
                _ => Output::Json {
                    value: Json::parse(&text)?,
                },
            };
            let wall = caller.data_mut();
            wall.host.output(output).map_err(|_| wall.fail(Fault::Output))
        },
    )?;
    linker.func_wrap(
        "codecell",
        "overflow",
        |mut caller: Caller<'_, Wall>, at: u32, len: u32, more: u32| -> Result<()> {
            let head = text(&caller, at, len)?;
            let wall = caller.data_mut();
            wall.host.overflow(head, more as usize);
            Err(wall.fail(Fault::Output))
        },
    )?;
    Ok(())
}

fn memory(caller: &Caller<'_, Wall>) -> Result<Memory> {
    caller
        .data()
        .memory
        .ok_or_else(|| wasmtime::Error::msg("the guest has no memory yet"))
}

/// Text out of the guest's memory.
fn text(caller: &Caller<'_, Wall>, at: u32, len: u32) -> Result<String> {
    let memory = memory(caller)?;
    let bytes = memory.data(caller).get(at as usize..at as usize + len as usize);
    let bytes = bytes.ok_or_else(|| wasmtime::Error::msg("the guest points outside its memory"))?;
    Ok(std::str::from_utf8(bytes)?.to_owned())
}
