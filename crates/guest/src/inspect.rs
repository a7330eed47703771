//! How `console` shows values: for a reader, bounded, and never failing.

use rquickjs::{Ctx, Result, Value};

use crate::encode::{self, Entries};
use crate::{bytes, errors, intrinsics, js, text};

/// Longest line of one `console` call.
const MAX_LINE_BYTES: usize = 16 * 1024;
/// How deep objects are shown before `…`.
const MAX_DEPTH: usize = 6;
/// How many parts of one object are shown before `…`.
const MAX_PARTS: usize = 100;

/// The arguments of a `console` call as one line of text.
pub(crate) fn line<'js>(ctx: &Ctx<'js>, args: &[Value<'js>]) -> String {
    let mut out = String::new();
    for (index, value) in args.iter().enumerate() {
        if index > 0 {
            out.push(' ');
        }
        if value.is_string() {
            out.push_str(&errors::quiet(ctx, text::begin(value, MAX_LINE_BYTES)).unwrap_or_default());
        } else {
            let mut view = View {
                ctx,
                out: core::mem::take(&mut out),
                open: Vec::new(),
            };
            if errors::quiet(ctx, view.push(value)).is_none() {
                view.out.push_str("(unreadable)");
            }
            out = view.out;
        }
        if out.len() > MAX_LINE_BYTES {
            break;
        }
    }
    text::bounded(out, MAX_LINE_BYTES)
}

struct View<'c, 'js> {
    ctx: &'c Ctx<'js>,
    out: String,
    /// Identities of the objects that are being shown.
    open: Vec<u64>,
}

impl<'js> View<'_, 'js> {
    /// Recursion is bounded by [`MAX_DEPTH`].
    fn push(&mut self, value: &Value<'js>) -> Result<()> {
        if self.out.len() > MAX_LINE_BYTES {
            return Ok(());
        }
        let Some(object) = value.as_object() else {
            if value.is_string() {
                text::push_json(&mut self.out, &text::begin(value, MAX_LINE_BYTES)?);
            } else if value.is_symbol() {
                self.out.push_str("Symbol()");
            } else {
                self.out.push_str(&js::text(value)?);
                self.out.push_str(if value.is_big_int() { "n" } else { "" });
            }
            return Ok(());
        };
        if value.is_function() {
            let name: Value<'js> = object.get("name")?;
            let name = if name.is_string() {
                text::begin(&name, errors::MAX_NAME_BYTES)?
            } else {
                String::new()
            };
            self.out.push_str(&format!(
                "[Function: {}]",
                if name.is_empty() { "(anonymous)" } else { &name }
            ));
            return Ok(());
        }
        if value.is_error() {
            let (name, message) = errors::name_and_message(object)?;
            self.out.push_str(&format!("{name}: {message}"));
            let stack = errors::shown_stack(self.ctx, value);
            if !stack.is_empty() {
                self.out.push('\n');
                self.out.push_str(stack.trim_end());
            }
            return Ok(());
        }
        if self.open.contains(&value.as_raw()) {
            self.out.push_str("[Circular]");
        } else if self.open.len() >= MAX_DEPTH {
            self.out.push('…');
        } else {
            self.open.push(value.as_raw());
            self.container(value)?;
            self.open.pop();
        }
        Ok(())
    }

    fn container(&mut self, value: &Value<'js>) -> Result<()> {
        let Some(object) = value.as_object() else {
            return Ok(());
        };
        // SAFETY: these only look at the object's class.
        let (is_map, is_set, is_date, is_regexp) = unsafe {
            use rquickjs::qjs::{JS_IsDate, JS_IsMap, JS_IsRegExp, JS_IsSet};
            let raw = value.as_raw();
            (JS_IsMap(raw), JS_IsSet(raw), JS_IsDate(raw), JS_IsRegExp(raw))
        };
        if value.is_array() {
            let length = js::length(object)?;
            let shown = length.min(MAX_PARTS as u32);
            self.out.push('[');
            for index in 0..shown {
                self.out.push_str(if index > 0 { ", " } else { "" });
                self.push(&js::at(object, index)?)?;
            }
            self.close(length as usize, "]");
        } else if is_map {
            let size = self.size(value, "mapSize")?;
            self.out.push_str(&format!("Map({size}) {{"));
            let mut entries = Entries::of_map(self.ctx, value)?;
            for index in 0..MAX_PARTS {
                let Some(entry) = entries.next(self.ctx)? else {
                    break;
                };
                let Some(entry) = entry.as_object() else { continue };
                self.out.push_str(if index > 0 { ", " } else { "" });
                self.push(&js::at(entry, 0)?)?;
                self.out.push_str(" => ");
                self.push(&js::at(entry, 1)?)?;
            }
            self.close(size, "}");
        } else if is_set {
            let size = self.size(value, "setSize")?;
            self.out.push_str(&format!("Set({size}) {{"));
            let mut items = Entries::of_set(self.ctx, value)?;
            for index in 0..MAX_PARTS {
                let Some(item) = items.next(self.ctx)? else { break };
                self.out.push_str(if index > 0 { ", " } else { "" });
                self.push(&item)?;
            }
            self.close(size, "}");
        } else if is_date {
            let time = intrinsics::method(self.ctx, "dateTime", value)?
                .as_number()
                .unwrap_or(f64::NAN);
            let iso = if time.is_finite() {
                js::text(&intrinsics::method(self.ctx, "dateIso", value)?)?
            } else {
                "Invalid Date".into()
            };
            self.out.push_str(&iso);
        } else if is_regexp {
            self.out.push_str(&encode::regexp(self.ctx, value)?);
        } else if value.is_promise() {
            self.out.push_str("[Promise]");
        } else if let Some(size) = bytes::storage_size(self.ctx, value)? {
            self.out.push_str(&format!("[{size} bytes]"));
        } else {
            let keys = js::keys(object)?;
            self.out.push('{');
            for (index, key) in keys.iter().take(MAX_PARTS).enumerate() {
                self.out.push_str(if index > 0 { ", " } else { " " });
                let name = text::begin(&key.to_value()?, MAX_LINE_BYTES)?;
                if is_identifier(&name) {
                    self.out.push_str(&name);
                } else {
                    text::push_json(&mut self.out, &name);
                }
                self.out.push_str(": ");
                self.push(&object.get(key.clone())?)?;
            }
            self.close(keys.len(), if keys.is_empty() { "}" } else { " }" });
        }
        Ok(())
    }

    fn size(&self, value: &Value<'js>, getter: &str) -> Result<usize> {
        let size = intrinsics::method(self.ctx, getter, value)?;
        Ok(size.as_number().unwrap_or(0.0) as usize)
    }

    fn close(&mut self, parts: usize, bracket: &str) {
        if parts > MAX_PARTS {
            self.out.push_str(&format!(", … {} more", parts - MAX_PARTS));
        }
        self.out.push_str(bracket);
    }
}

fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    let starts = characters
        .next()
        .is_some_and(|first| first.is_alphabetic() || "_$".contains(first));
    starts && characters.all(|next| next.is_alphanumeric() || "_$".contains(next))
}
