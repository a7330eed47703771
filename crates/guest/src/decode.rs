//! JSON text into values of the engine.
//!
//! Differs from `JSON.parse` where that would lose or bend something: integers beyond 2^53 become BigInts, a
//! `__proto__` key is an ordinary own property, and depth costs heap instead of stack.

use rquickjs::{Ctx, Object, Result, Value};

use crate::{errors, js, number};

enum Open<'js> {
    Array { into: Object<'js>, next: u32 },
    Object { into: Object<'js>, key: String },
}

/// The value that `text` describes.
pub(crate) fn parse<'js>(ctx: &Ctx<'js>, text: &str) -> Result<Value<'js>> {
    let mut reader = Reader { text, at: 0 };
    let mut open: Vec<Open<'js>> = Vec::new();
    loop {
        // One value: a scalar, or the beginning of a container.
        reader.skip_space();
        let mut value = match reader.peek() {
            Some(b'{') => {
                reader.at += 1;
                reader.skip_space();
                let into = js::object(ctx)?;
                if reader.eat(b'}') {
                    into.into_value()
                } else {
                    let key = reader.key(ctx)?;
                    open.push(Open::Object { into, key });
                    continue;
                }
            }
            Some(b'[') => {
                reader.at += 1;
                reader.skip_space();
                let into = js::array(ctx)?;
                if reader.eat(b']') {
                    into.into_value()
                } else {
                    open.push(Open::Array { into, next: 0 });
                    continue;
                }
            }
            Some(b'"') => js::string(ctx, &reader.string(ctx)?)?,
            _ => reader.scalar(ctx)?,
        };
        // Put it where it belongs, and close what ends here.
        loop {
            let Some(top) = open.last_mut() else {
                reader.skip_space();
                return if reader.at == text.len() {
                    Ok(value)
                } else {
                    Err(reader.refuse(ctx))
                };
            };
            match top {
                Open::Array { into, next } => {
                    js::define_at(into, *next, &value)?;
                    *next += 1;
                }
                Open::Object { into, key } => js::define(into, key, &value, js::PLAIN)?,
            }
            reader.skip_space();
            let more = reader.eat(b',');
            match top {
                Open::Array { .. } if more => break,
                Open::Object { key, .. } if more => {
                    reader.skip_space();
                    *key = reader.key(ctx)?;
                    break;
                }
                Open::Array { into, .. } if reader.eat(b']') => value = into.clone().into_value(),
                Open::Object { into, .. } if reader.eat(b'}') => value = into.clone().into_value(),
                Open::Array { .. } | Open::Object { .. } => return Err(reader.refuse(ctx)),
            }
            open.pop();
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn refuse(&self, ctx: &Ctx<'_>) -> rquickjs::Error {
        errors::throw(
            ctx,
            "SyntaxError",
            &format!("malformed JSON from the host at byte {}", self.at),
        )
    }

    fn key(&mut self, ctx: &Ctx<'_>) -> Result<String> {
        if self.peek() != Some(b'"') {
            return Err(self.refuse(ctx));
        }
        let key = self.string(ctx)?;
        self.skip_space();
        if self.eat(b':') {
            Ok(key)
        } else {
            Err(self.refuse(ctx))
        }
    }

    fn scalar<'js>(&mut self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
            .unwrap_or(rest.len());
        let token = rest.get(..end).unwrap_or_default();
        let value = match token {
            "null" => Value::new_null(ctx.clone()),
            "true" => Value::new_bool(ctx.clone(), true),
            "false" => Value::new_bool(ctx.clone(), false),
            _ if token.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
                number::parse(ctx, token).map_err(|_| self.refuse(ctx))?
            }
            _ => return Err(self.refuse(ctx)),
        };
        self.at += end;
        Ok(value)
    }

    /// The string whose opening quote is next.
    fn string(&mut self, ctx: &Ctx<'_>) -> Result<String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let Some(stop) = rest.find(['"', '\\']) else {
                return Err(self.refuse(ctx));
            };
            out.push_str(rest.get(..stop).unwrap_or_default());
            self.at += stop + 1;
            if rest.as_bytes().get(stop) == Some(&b'"') {
                return Ok(out);
            }
            let escape = self.peek();
            self.at += 1;
            out.push(match escape {
                Some(b'n') => '\n',
                Some(b'r') => '\r',
                Some(b't') => '\t',
                Some(b'b') => '\u{8}',
                Some(b'f') => '\u{c}',
                Some(b'u') => self.escaped(ctx)?,
                Some(plain @ (b'"' | b'\\' | b'/')) => plain as char,
                _ => return Err(self.refuse(ctx)),
            });
        }
    }

    /// The character of a `\u` escape, or of the pair it begins.
    fn escaped(&mut self, ctx: &Ctx<'_>) -> Result<char> {
        let first = self.hex(ctx)?;
        let rest = self.text.get(self.at..).unwrap_or_default();
        if (0xD800..0xDC00).contains(&first) && rest.starts_with("\\u") {
            let before = self.at;
            self.at += 2;
            let second = self.hex(ctx)?;
            if (0xDC00..0xE000).contains(&second) {
                let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = before;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self, ctx: &Ctx<'_>) -> Result<u32> {
        let digits = self
            .text
            .get(self.at..self.at + 4)
            .filter(|digits| !digits.starts_with('+'));
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.at += 4;
        code.ok_or_else(|| self.refuse(ctx))
    }
}
