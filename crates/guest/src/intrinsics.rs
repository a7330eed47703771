//! The parts of the language that the native side uses, captured at boot.
//!
//! A guest may replace anything it can name; these references were taken before it ran.

use std::cell::RefCell;

use rquickjs::{Ctx, Error, Object, Persistent, Result, Value};

use crate::js;

/// Internal class numbers of kinds that have no test of their own in the C API.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Classes {
    /// `Number`, `String`, `Boolean` and `BigInt` objects, in the order of the intrinsic `unbox`.
    pub(crate) boxes: [u32; 4],
    /// Objects without internal state.
    pub(crate) plain: u32,
    /// Symbol objects.
    pub(crate) symbol: u32,
    /// `DOMException`.
    pub(crate) exception: u32,
    /// The functions that settle a promise.
    pub(crate) resolver: u32,
    /// Our own native functions.
    pub(crate) native: u32,
}

struct Captured {
    table: Persistent<Object<'static>>,
    /// The raw identities of the built-in prototypes, sorted; `table` keeps them alive.
    prototypes: Vec<u64>,
    classes: Classes,
}

thread_local! {
    static CAPTURED: RefCell<Option<Captured>> = const { RefCell::new(None) };
}

/// Captures everything. The context is still untouched by guest code.
pub(crate) fn capture<'js>(ctx: &Ctx<'js>, table: Object<'js>) -> Result<()> {
    let samples: Object<'_> = table.get("samples")?;
    let sample = |name: &str| -> Result<u32> { Ok(js::class(&samples.get::<_, Value<'_>>(name)?)) };
    let boxes: Object<'_> = samples.get("boxes")?;
    let mut classes = Classes {
        plain: sample("plain")?,
        symbol: sample("symbol")?,
        exception: sample("exception")?,
        resolver: sample("resolver")?,
        native: js::class(&js::native(ctx, "", 0, 0, &js::undefined(ctx))?),
        ..Classes::default()
    };
    for (index, class) in classes.boxes.iter_mut().enumerate() {
        *class = js::class(&js::at(&boxes, index as u32)?);
    }
    let list: Object<'_> = table.get("prototypes")?;
    let mut prototypes = Vec::new();
    for index in 0..js::length(&list)? {
        prototypes.push(js::at(&list, index)?.as_raw());
    }
    prototypes.sort_unstable();
    let table = Persistent::save(ctx, table);
    CAPTURED.set(Some(Captured {
        table,
        prototypes,
        classes,
    }));
    Ok(())
}

/// A captured value by its name.
pub(crate) fn get<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Value<'js>> {
    let table = CAPTURED.with_borrow(|captured| captured.as_ref().map(|captured| captured.table.clone()));
    table.ok_or(Error::Unknown)?.restore(ctx)?.get(name)
}

/// Calls a captured method on `this`.
pub(crate) fn method<'js>(ctx: &Ctx<'js>, name: &str, this: &Value<'js>) -> Result<Value<'js>> {
    js::call(ctx, &get(ctx, name)?, this, &[])
}

/// The class numbers.
pub(crate) fn classes() -> Classes {
    CAPTURED.with_borrow(|captured| {
        captured
            .as_ref()
            .map(|captured| captured.classes)
            .unwrap_or_default()
    })
}

/// Whether `object` is a prototype the language came with.
pub(crate) fn is_built_in_prototype(object: &Object<'_>) -> bool {
    let raw = object.as_value().as_raw();
    CAPTURED.with_borrow(|captured| {
        captured
            .as_ref()
            .is_some_and(|captured| captured.prototypes.binary_search(&raw).is_ok())
    })
}
