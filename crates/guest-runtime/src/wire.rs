//! The JSON shapes the guest speaks, and their translation into the wall's messages.
//!
//! Plain shapes on purpose: serde buffers what is tagged or flattened, which would cost the exact text of the values
//! inside.

use codecell_bridge::{Answer, Call, CallId, Json, Reply, Report, Request, Thrown};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A request as the guest writes it.
#[derive(Deserialize)]
struct WireCall {
    id: u32,
    method: String,
    #[serde(default)]
    target: String,
    #[serde(default)]
    path: Vec<String>,
    #[serde(default, deserialize_with = "present")]
    args: Option<Box<RawValue>>,
    #[serde(default)]
    ms: f64,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    line: Option<u32>,
    #[serde(default)]
    column: Option<u32>,
}

/// A report as the guest writes it.
#[derive(Deserialize)]
struct WireReport {
    state: String,
    #[serde(default, deserialize_with = "present")]
    value: Option<Box<RawValue>>,
    #[serde(default)]
    error: Option<Thrown>,
}

/// Tells a `null` that is there from a value that is absent.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

/// Reads a request.
pub(crate) fn call(text: &str) -> Result<Call, String> {
    let wire: WireCall = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let request = match wire.method.as_str() {
        "call" => Request::Call {
            target: wire.target,
            args: wire.args.map(Json::from),
        },
        "callValue" => Request::CallValue {
            target: wire.target,
            args: wire.args.map(Json::from),
        },
        "namespace" => {
            let args: Vec<Box<RawValue>> = match &wire.args {
                Some(args) => serde_json::from_str(args.get()).map_err(|error| error.to_string())?,
                None => Vec::new(),
            };
            Request::Namespace {
                path: wire.path,
                args: args.into_iter().map(Json::from).collect(),
            }
        }
        "timer" => Request::Timer { ms: wire.ms },
        "yield" => Request::Yield { reason: wire.reason },
        other => return Err(format!("the guest asks for `{other}`")),
    };
    Ok(Call {
        id: CallId(wire.id),
        request,
        line: wire.line,
        column: wire.column,
    })
}

/// Reads a report.
pub(crate) fn report(text: &str) -> Result<Report, String> {
    let wire: WireReport = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match (wire.state.as_str(), wire.value, wire.error) {
        ("pending", ..) => Ok(Report::Pending),
        ("idle", ..) => Ok(Report::Idle),
        ("completed", Some(value), _) => Ok(Report::Completed {
            value: Json::from(value),
        }),
        ("failed", _, Some(error)) => Ok(Report::Failed { error }),
        (other, ..) => Err(format!("the guest reports `{other}`")),
    }
}

/// Writes answers.
pub(crate) fn replies(replies: &[Reply]) -> Result<String, String> {
    let mut out = String::from("[");
    for (index, reply) in replies.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(&format!("{{\"id\":{},", reply.id.0));
        match &reply.answer {
            Answer::Ok(value) => {
                out.push_str("\"ok\":");
                out.push_str(value.as_str());
            }
            Answer::Error(error) => {
                out.push_str("\"error\":");
                out.push_str(&thrown(error)?);
            }
        }
        out.push('}');
    }
    out.push(']');
    Ok(out)
}

/// Writes an error.
pub(crate) fn thrown(error: &Thrown) -> Result<String, String> {
    serde_json::to_string(error).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_64_bits_keep_their_digits_in_both_directions() {
        let digits = "123456789012345678901234567890";
        let json = Json::parse(digits).unwrap();
        let text =
            format!(r#"{{"id":1,"method":"callValue","target":"a","args":{digits},"line":2,"column":3}}"#);
        let expected = Call {
            id: CallId(1),
            request: Request::CallValue {
                target: "a".into(),
                args: Some(json.clone()),
            },
            line: Some(2),
            column: Some(3),
        };
        assert_eq!(call(&text), Ok(expected));
        assert_eq!(
            report(&format!(r#"{{"state":"completed","value":{digits}}}"#)),
            Ok(Report::Completed { value: json.clone() })
        );
        assert_eq!(
            replies(&[Reply {
                id: CallId(1),
                answer: Answer::Ok(json)
            }]),
            Ok(format!(r#"[{{"id":1,"ok":{digits}}}]"#))
        );
    }

    #[test]
    fn a_null_argument_is_not_an_absent_one() {
        let read = |text: &str| call(text).map(|call| call.request);
        let request = |args| {
            Ok(Request::Call {
                target: "a".into(),
                args,
            })
        };
        assert_eq!(read(r#"{"id":1,"method":"call","target":"a"}"#), request(None));
        assert_eq!(
            read(r#"{"id":1,"method":"call","target":"a","args":null}"#),
            request(Some(Json::null()))
        );
    }
}
