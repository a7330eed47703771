//! Byte arrays and base64.

use rquickjs::{Ctx, Object, Result, Value, qjs};

use crate::{intrinsics, js};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends `bytes` in base64 with padding.
pub(crate) fn push_base64(out: &mut String, bytes: &[u8]) {
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for position in 0..4 {
            if position > chunk.len() {
                out.push('=');
            } else {
                let index = (bits >> (18 - 6 * position)) & 63;
                out.push(ALPHABET.get(index as usize).copied().unwrap_or(b'=') as char);
            }
        }
    }
}

/// The content of an `ArrayBuffer`, a `DataView` or an array of unsigned bytes; nothing for other values.
pub(crate) fn of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Option<Vec<u8>>> {
    if is_numbers(value) {
        return Ok(None);
    }
    storage(ctx, value)
}

/// How long the content is that [`of`] would copy.
pub(crate) fn size<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Option<usize>> {
    if is_numbers(value) {
        return Ok(None);
    }
    storage_size(ctx, value)
}

/// Whether a value is an array of other numbers than unsigned bytes.
fn is_numbers(value: &Value<'_>) -> bool {
    let unsigned = [
        qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT8,
        qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT8C,
    ];
    typed(value).is_some_and(|kind| !unsigned.contains(&kind))
}

/// The bytes behind any buffer or view; nothing for other values.
pub(crate) fn storage<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Option<Vec<u8>>> {
    let Some((buffer, offset, length)) = place(ctx, value)? else {
        return Ok(None);
    };
    let copy = |bytes: &[u8]| {
        let part = bytes.get(offset..offset.saturating_add(length));
        part.unwrap_or_default().to_vec()
    };
    Ok(Some(with_bytes(ctx, &buffer, copy)))
}

/// How many bytes are behind a buffer or view; nothing for other values.
pub(crate) fn storage_size<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Option<usize>> {
    Ok(place(ctx, value)?.map(|(_, _, length)| length))
}

/// The buffer that holds the bytes of any buffer or view, with the part of it; nothing for other values.
fn place<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Option<(Value<'js>, usize, usize)>> {
    let raw = value.as_raw();
    // SAFETY: these only look at the object's class.
    let (is_buffer, is_view) = unsafe { (qjs::JS_IsArrayBuffer(raw), qjs::JS_IsDataView(raw)) };
    if is_buffer {
        let size = with_bytes(ctx, value, <[u8]>::len);
        return Ok(Some((value.clone(), 0, size)));
    }
    if is_view {
        let number = |name: &str| -> Result<usize> {
            Ok(intrinsics::method(ctx, name, value)?.as_number().unwrap_or(0.0) as usize)
        };
        let (offset, length) = (number("viewOffset")?, number("viewLength")?);
        let buffer = intrinsics::method(ctx, "viewBuffer", value)?;
        return Ok(Some((buffer, offset, length)));
    }
    if typed(value).is_none() {
        return Ok(None);
    }
    view(ctx, value).map(Some)
}

/// The element kind of a typed array.
pub(crate) fn typed(value: &Value<'_>) -> Option<u32> {
    // SAFETY: only the object's class is looked at.
    u32::try_from(unsafe { qjs::JS_GetTypedArrayType(value.as_raw()) }).ok()
}

/// Whether a value is a typed array of integers.
pub(crate) fn is_integers(value: &Value<'_>) -> bool {
    typed(value).is_some_and(|kind| kind < qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_FLOAT16)
}

/// The buffer of a typed array with the part of it that the array shows.
fn view<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<(Value<'js>, usize, usize)> {
    let (mut offset, mut length) = (0, 0);
    // SAFETY: the numbers are written before the call returns; the result is owned.
    let buffer = unsafe {
        js::own(
            ctx,
            qjs::JS_GetTypedArrayBuffer(
                ctx.as_raw().as_ptr(),
                value.as_raw(),
                &raw mut offset,
                &raw mut length,
                core::ptr::null_mut(),
            ),
        )?
    };
    Ok((buffer, offset as usize, length as usize))
}

/// Reads the bytes of an `ArrayBuffer`; there are none when it is detached. Nothing of the engine may run in `read`.
fn with_bytes<R>(ctx: &Ctx<'_>, buffer: &Value<'_>, read: impl FnOnce(&[u8]) -> R) -> R {
    let mut length = 0;
    // SAFETY: the bytes are the engine's, which does not run before they were read.
    let bytes = unsafe {
        let at = qjs::JS_GetArrayBuffer(ctx.as_raw().as_ptr(), &raw mut length, buffer.as_raw());
        if at.is_null() {
            &[]
        } else {
            core::slice::from_raw_parts(at, length as usize)
        }
    };
    let result = read(bytes);
    if ctx.has_exception() {
        drop(ctx.catch());
    }
    result
}

/// A `Uint8Array` with a copy of `bytes`.
pub(crate) fn array<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<Value<'js>> {
    // SAFETY: the bytes are copied; the result is owned.
    unsafe {
        js::own(
            ctx,
            qjs::JS_NewUint8ArrayCopy(ctx.as_raw().as_ptr(), bytes.as_ptr(), bytes.len() as _),
        )
    }
}

/// Overwrites the beginning of a typed array's storage.
pub(crate) fn fill<'js>(ctx: &Ctx<'js>, target: &Object<'js>, content: &[u8]) -> Result<()> {
    let (buffer, offset, length) = view(ctx, target.as_value())?;
    let mut size = 0;
    // SAFETY: the copy stays inside the array's part of its buffer, which nothing moves meanwhile.
    unsafe {
        let at = qjs::JS_GetArrayBuffer(ctx.as_raw().as_ptr(), &raw mut size, buffer.as_raw());
        if !at.is_null() && content.len() <= length && offset.saturating_add(length) <= size as usize {
            core::ptr::copy_nonoverlapping(content.as_ptr(), at.add(offset), content.len());
        }
    }
    Ok(())
}
