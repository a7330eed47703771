//! From the text of `tools/list` to tools, one at a time: a bad one costs itself.
use std::{collections::HashSet, sync::Arc};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{
    headers,
    message::{self, Fields},
    state::{Quarantined, ToolDump},
};
use crate::config::ServerConfig;

/// Longest tool name: the specification recommends 128 characters, some servers will go beyond.
const MAX_NAME_CHARS: usize = 512;

/// Tools taken from one server. The largest real catalogs have some hundreds, aggregators thousands.
pub(super) const MAX_TOOLS: usize = 20_000;

/// Bytes of tools taken from one server: five times the largest real catalog. What is made of them takes a multiple.
const MAX_LIST_BYTES: usize = 16 << 20;

/// What an entry weighs besides its text.
const ENTRY_BYTES: usize = 64;

/// Notes and quarantined tools kept of one server, so that a hostile list cannot fill memory with reasons.
const MAX_REMARKS: usize = 200;

/// What `tools/list` said so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Collected {
    pub(super) tools: Vec<Arc<ToolDump>>,
    pub(super) quarantined: Vec<Quarantined>,
    pub(super) notes: Vec<String>,
    /// The entries as sent, for the cache.
    pub(super) entries: Vec<Box<RawValue>>,
    names: HashSet<String>,
    seen: usize,
    bytes: usize,
}

/// Where a list comes from decides what makes a tool invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rules {
    /// Header annotations mean nothing.
    Plain,
    /// Header annotations must be sound.
    MirroredHeaders,
}

/// One page, read no further than needed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageText<'a> {
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    next_cursor: Option<&'a RawValue>,
    #[serde(borrow)]
    ttl_ms: Option<&'a RawValue>,
}

/// One page.
pub(super) struct Page {
    pub(super) entries: Vec<Box<RawValue>>,
    pub(super) next: Option<String>,
    pub(super) ttl_ms: Option<u64>,
}

/// Reads a page, or says why it is none.
pub(super) fn page(text: &RawValue) -> Result<Page, String> {
    let page: PageText<'_> = serde_json::from_str(text.get()).map_err(|error| error.to_string())?;
    let Some(tools) = page.tools else {
        return Err("it has no `tools`".to_owned());
    };
    // One more than is taken says that there are more.
    let entries = message::elements(tools.get(), MAX_TOOLS + 1).ok_or("`tools` is not an array")?;
    let ttl: Option<f64> = page.ttl_ms.and_then(|ttl| serde_json::from_str(ttl.get()).ok());
    Ok(Page {
        entries: entries.into_iter().map(ToOwned::to_owned).collect(),
        next: page
            .next_cursor
            .and_then(|next| serde_json::from_str(next.get()).ok()),
        ttl_ms: ttl.filter(|ttl| *ttl > 0.0).map(|ttl| ttl as u64),
    })
}

impl Collected {
    pub(super) fn note(&mut self, note: String) {
        if self.notes.len() < MAX_REMARKS && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn quarantine(&mut self, name: String, reason: String) {
        if self.quarantined.len() < MAX_REMARKS {
            self.quarantined.push(Quarantined { name, reason });
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.tools.len() >= MAX_TOOLS || self.bytes > MAX_LIST_BYTES
    }

    /// Says that there is more than is taken.
    pub(super) fn note_full(&mut self) {
        self.note(if self.bytes > MAX_LIST_BYTES {
            format!("lists more than {MAX_LIST_BYTES} bytes of tools; the rest is left out")
        } else {
            format!("lists more than {MAX_TOOLS} tools; the rest is left out")
        });
    }

    /// Adds the entries of a page.
    pub(super) fn add(&mut self, entries: Vec<Box<RawValue>>, config: &ServerConfig, rules: Rules) {
        for entry in entries {
            if !self.is_full() {
                self.bytes += entry.get().len() + ENTRY_BYTES;
            }
            if self.is_full() {
                self.note_full();
                return;
            }
            self.seen += 1;
            match read(&entry, self.seen, rules) {
                Ok((tool, notes)) => self.admit(tool, notes, entry, config),
                Err(Quarantined { name, reason }) => {
                    // The entry stays in the cache, so that the reason is there at the next start too.
                    self.entries.push(entry);
                    self.quarantine(name, reason);
                }
            }
        }
    }

    fn admit(&mut self, mut tool: ToolDump, notes: Vec<String>, entry: Box<RawValue>, config: &ServerConfig) {
        if !config.permits(&tool.name) {
            // The filters may change before the next start, so the cache keeps what they hide.
            self.entries.push(entry);
            return;
        }
        if !self.names.insert(tool.name.clone()) {
            self.note(format!(
                "lists `{}` more than once; the first entry counts",
                tool.name
            ));
            return;
        }
        for note in notes {
            self.note(note);
        }
        tool.direct_only = config.is_direct_only(&tool.name);
        self.entries.push(entry);
        self.tools.push(Arc::new(tool));
    }
}

fn read(entry: &RawValue, position: usize, rules: Rules) -> Result<(ToolDump, Vec<String>), Quarantined> {
    let unnamed = |reason: &str| Quarantined {
        name: format!("#{position}"),
        reason: reason.to_owned(),
    };
    let raw: Value = match serde_json::from_str(entry.get()) {
        Ok(raw) => raw,
        Err(error) => {
            let name = Fields::parse(entry).and_then(|fields| fields.text("name"));
            return Err(match name {
                Some(name) => Quarantined {
                    name,
                    reason: format!("cannot be read: {error}"),
                },
                None => unnamed("is not an object"),
            });
        }
    };
    let Value::Object(map) = &raw else {
        return Err(unnamed("is not an object"));
    };
    let name = match map.get("name") {
        Some(Value::String(name)) if name.is_empty() => return Err(unnamed("its name is empty")),
        Some(Value::String(name)) if name.chars().count() > MAX_NAME_CHARS => {
            return Err(unnamed(&format!(
                "its name has more than {MAX_NAME_CHARS} characters"
            )));
        }
        Some(Value::String(name)) => name.clone(),
        Some(_) => return Err(unnamed("its name is not a string")),
        None => return Err(unnamed("it has no name")),
    };
    let bad = |reason: String| Quarantined {
        name: name.clone(),
        reason,
    };
    let mut notes = Vec::new();
    let description = match map.get("description") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => return Err(bad(format!("its description is {}, not a string", kind(other)))),
    };
    let input_schema = input_schema(map.get("inputSchema")).map_err(bad)?;
    if rules == Rules::MirroredHeaders {
        headers::mirrors(&input_schema).map_err(bad)?;
    }
    let title = match map.get("title") {
        Some(Value::String(title)) => Some(title.clone()),
        None | Some(Value::Null) => map
            .get("annotations")
            .and_then(|hints| hints.get("title"))
            .and_then(Value::as_str)
            .map(str::to_owned),
        Some(other) => {
            notes.push(format!(
                "`{name}` has {} for a title, which is ignored",
                kind(other)
            ));
            None
        }
    };
    let output_schema = match map.get("outputSchema") {
        None | Some(Value::Null) => None,
        Some(schema @ (Value::Object(_) | Value::Bool(_))) => Some(schema.clone()),
        Some(other) => {
            notes.push(format!(
                "`{name}` has {} for an outputSchema, which is ignored",
                kind(other)
            ));
            None
        }
    };
    let annotations = match map.get("annotations") {
        None | Some(Value::Null) => None,
        Some(hints @ Value::Object(_)) => Some(hints.clone()),
        Some(other) => {
            notes.push(format!(
                "`{name}` has {} for annotations, which are ignored",
                kind(other)
            ));
            None
        }
    };
    let tool = ToolDump {
        name,
        title,
        description,
        input_schema,
        output_schema,
        annotations,
        raw,
        direct_only: false,
    };
    Ok((tool, notes))
}

/// Arguments are always an object, so a schema that cannot mean one makes the tool uncallable.
fn input_schema(schema: Option<&Value>) -> Result<Value, String> {
    match schema {
        None => Err("it has no inputSchema".to_owned()),
        // A boolean is a whole schema: this one allows everything.
        Some(Value::Bool(true)) => Ok(json!({ "type": "object" })),
        Some(Value::Bool(false)) => Err("its inputSchema is `false`, which allows no call".to_owned()),
        Some(schema @ Value::Object(map)) => match map.get("type") {
            Some(Value::String(kind)) if kind != "object" => Err(format!(
                "its inputSchema describes a `{kind}`, but arguments are an object"
            )),
            Some(Value::Array(kinds)) if !kinds.iter().any(|kind| kind == "object") => {
                Err("its inputSchema allows no object, but arguments are one".to_owned())
            }
            _ => Ok(schema.clone()),
        },
        Some(other) => Err(format!("its inputSchema is {}, not an object", kind(other))),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{DirectOnly, Globs, Secret, Transport};

    fn config() -> ServerConfig {
        let transport = Transport::Http {
            url: Secret::new("http://127.0.0.1/"),
            headers: Default::default(),
        };
        ServerConfig::new("s", transport)
    }

    fn collect(entries: &[Value], config: &ServerConfig, rules: Rules) -> Collected {
        let raw = |entry: &Value| RawValue::from_string(entry.to_string()).unwrap();
        let mut collected = Collected::default();
        collected.add(entries.iter().map(raw).collect(), config, rules);
        collected
    }

    fn names(collected: &Collected) -> Vec<&str> {
        collected.tools.iter().map(|tool| tool.name.as_str()).collect()
    }

    fn reason(entry: Value) -> String {
        let collected = collect(
            &[entry, json!({ "name": "good", "inputSchema": {} })],
            &config(),
            Rules::Plain,
        );
        assert_eq!(names(&collected), ["good"]);
        let [quarantined] = &collected.quarantined[..] else {
            panic!("{collected:?}")
        };
        format!("{}: {}", quarantined.name, quarantined.reason)
    }

    #[test]
    fn a_bad_tool_costs_itself_and_is_named() {
        let object = json!({ "type": "object" });
        for (entry, expected) in [
            (json!(7), "#1: is not an object"),
            (json!({}), "#1: it has no name"),
            (json!({ "name": "" }), "#1: its name is empty"),
            (
                json!({ "name": 3, "inputSchema": object }),
                "#1: its name is not a string",
            ),
            (json!({ "name": "x" }), "x: it has no inputSchema"),
            (
                json!({ "name": "x", "inputSchema": null }),
                "x: its inputSchema is null, not an object",
            ),
            (
                json!({ "name": "x", "inputSchema": [] }),
                "x: its inputSchema is an array, not an object",
            ),
            (
                json!({ "name": "x", "inputSchema": false }),
                "x: its inputSchema is `false`, which allows no call",
            ),
            (
                json!({ "name": "x", "inputSchema": { "type": "string" } }),
                "x: its inputSchema describes a `string`, but arguments are an object",
            ),
            (
                json!({ "name": "x", "inputSchema": object, "description": 5 }),
                "x: its description is a number, not a string",
            ),
        ] {
            assert_eq!(reason(entry), expected);
        }
    }

    #[test]
    fn nesting_beyond_the_parser_is_named_too() {
        let deep = format!(
            r#"{{"name":"deep","inputSchema":{}1{}}}"#,
            r#"{"a":"#.repeat(500),
            "}".repeat(500)
        );
        let mut collected = Collected::default();
        collected.add(
            vec![RawValue::from_string(deep).unwrap()],
            &config(),
            Rules::Plain,
        );
        assert_eq!(collected.quarantined[0].name, "deep");
        assert!(
            collected.quarantined[0].reason.contains("recursion limit"),
            "{collected:?}"
        );
    }

    #[test]
    fn odd_side_fields_are_dropped_with_a_note() {
        let entry = json!({ "name": "x", "inputSchema": true, "annotations": "read", "outputSchema": [], "title": 1 });
        let collected = collect(&[entry], &config(), Rules::Plain);
        assert_eq!(names(&collected), ["x"]);
        assert_eq!(collected.tools[0].input_schema, json!({ "type": "object" }));
        assert_eq!(
            collected.notes,
            [
                "`x` has a number for a title, which is ignored",
                "`x` has an array for an outputSchema, which is ignored",
                "`x` has a string for annotations, which are ignored",
            ]
        );
    }

    #[test]
    fn a_list_is_taken_up_to_its_bound_whatever_it_is_made_of() {
        let note = "lists more than 16777216 bytes of tools; the rest is left out";
        let long = "x".repeat(1 << 20);
        for (entry, page, kept) in [
            // Every one of them is bad, and none is kept for its reason alone.
            (json!(1), 10_000, 258_111),
            (
                json!({ "name": "x", "inputSchema": {}, "description": long }),
                1,
                1,
            ),
        ] {
            let mut collected = Collected::default();
            let text = RawValue::from_string(entry.to_string()).unwrap();
            for _ in 0..30 {
                collected.add(vec![text.clone(); page], &config(), Rules::Plain);
            }
            assert!(collected.is_full());
            assert_eq!(collected.entries.len(), kept);
            assert!(
                collected.notes.iter().any(|seen| seen == note),
                "{:?}",
                collected.notes
            );
        }
    }

    #[test]
    fn a_page_is_read_no_further_than_is_taken() {
        let read = |text: String| page(&RawValue::from_string(text).unwrap());
        let found = read(format!(
            r#"{{"tools":[{}1],"nextCursor":"c","ttlMs":1.5e3}}"#,
            "1,".repeat(50_000)
        ));
        let found = found.unwrap();
        assert_eq!(
            (found.entries.len(), found.next.as_deref(), found.ttl_ms),
            (MAX_TOOLS + 1, Some("c"), Some(1_500))
        );
        let odd = read(r#"{"tools":[],"nextCursor":[[]],"ttlMs":"soon"}"#.to_owned()).unwrap();
        assert_eq!((odd.next, odd.ttl_ms), (None, None));
        for (text, expected) in [
            ("{}", "it has no `tools`"),
            (r#"{"tools":null}"#, "it has no `tools`"),
            (r#"{"tools":5}"#, "`tools` is not an array"),
        ] {
            assert_eq!(read(text.to_owned()).err().as_deref(), Some(expected));
        }
    }

    #[test]
    fn the_first_of_equal_names_counts() {
        let entry = |text: &str| json!({ "name": "x", "description": text, "inputSchema": {} });
        let collected = collect(&[entry("one"), entry("two")], &config(), Rules::Plain);
        assert_eq!(names(&collected), ["x"]);
        assert_eq!(collected.tools[0].description, "one");
        assert_eq!(
            collected.notes,
            ["lists `x` more than once; the first entry counts"]
        );
    }

    #[test]
    fn filters_hide_tools_and_mark_direct_ones() {
        let mut config = config();
        config.allow = Some(Globs::new(vec!["get_*".into(), "shot".into()]));
        config.deny = Globs::new(vec!["*_secret".into()]);
        config.direct_only = DirectOnly::Matching(Globs::new(vec!["shot".into()]));
        let entry = |name: &str| json!({ "name": name, "inputSchema": {} });
        let entries = [entry("get_a"), entry("get_secret"), entry("put"), entry("shot")];
        let collected = collect(&entries, &config, Rules::Plain);
        let seen: Vec<(&str, bool)> = collected
            .tools
            .iter()
            .map(|tool| (tool.name.as_str(), tool.direct_only))
            .collect();
        assert_eq!(seen, [("get_a", false), ("shot", true)]);
        assert_eq!(
            collected.entries.len(),
            4,
            "the cache keeps what the filters hide"
        );
    }

    #[test]
    fn unsound_header_annotations_matter_only_over_modern_http() {
        let entry = json!({ "name": "x", "inputSchema": { "properties": { "p": { "x-mcp-header": "" } } } });
        assert_eq!(
            names(&collect(std::slice::from_ref(&entry), &config(), Rules::Plain)),
            ["x"]
        );
        assert!(names(&collect(&[entry], &config(), Rules::MirroredHeaders)).is_empty());
    }

    #[test]
    fn property_order_and_unknown_fields_are_kept() {
        let text = r#"{"name":"x","zeta":1,"inputSchema":{"properties":{"b":{},"a":{}}},"execution":{"taskSupport":"forbidden"}}"#;
        let mut collected = Collected::default();
        collected.add(
            vec![RawValue::from_string(text.to_owned()).unwrap()],
            &config(),
            Rules::Plain,
        );
        assert_eq!(collected.tools[0].raw.to_string(), text);
    }
}
