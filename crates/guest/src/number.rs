//! Numbers as JSON text and back, without losing a digit.

use rquickjs::{Ctx, Error, Result, Value, qjs};

use crate::{intrinsics, js};

/// The largest integer up to which every integer has its own `Number`.
const MAX_SAFE: u64 = (1 << 53) - 1;

/// Appends a `Number`. What JSON cannot say, NaN and the infinities, becomes `null`.
pub(crate) fn push(out: &mut String, value: &Value<'_>, number: f64) -> Result<()> {
    if !number.is_finite() {
        out.push_str("null");
    } else if number == 0.0 {
        out.push('0');
    } else {
        // The engine's own conversion of a number runs no guest code.
        out.push_str(&js::text(value)?);
    }
    Ok(())
}

/// The value of a number token of JSON text. An integer beyond 2^53 becomes a BigInt.
pub(crate) fn parse<'js>(ctx: &Ctx<'js>, token: &str) -> Result<Value<'js>> {
    let digits = token.strip_prefix('-').unwrap_or(token);
    let is_integer = digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_integer && token != "-0" {
        if let Ok(number) = token.parse::<i64>() {
            if let Ok(small) = i32::try_from(number) {
                return Ok(Value::new_int(ctx.clone(), small));
            }
            if number.unsigned_abs() > MAX_SAFE {
                // SAFETY: the result is owned.
                return unsafe { js::own(ctx, qjs::JS_NewBigInt64(ctx.as_raw().as_ptr(), number)) };
            }
            return Ok(Value::new_float(ctx.clone(), number as f64));
        }
        let make = intrinsics::get(ctx, "BigInt")?;
        return js::call(ctx, &make, &js::undefined(ctx), &[js::string(ctx, token)?]);
    }
    token
        .parse::<f64>()
        .map(|number| Value::new_number(ctx.clone(), number))
        .map_err(|_| Error::Unknown)
}
