//! Taking secrets out.

mod keys;
mod paths;
mod scan;

use serde_json::{Map, Value};

use crate::limits::Limits;

/// What stands where a secret was.
pub const REDACTED: &str = "<redacted>";

/// What stands where the bytes of an image or a file were.
pub const OPAQUE: &str = "<opaque data omitted>";

/// Takes secrets, bytes and the paths of a person's machine out of JSON and of text.
///
/// A secret is found by the name it stands under (`password`, `githubToken`, `X-API-Key`, …, in objects, lists of
/// headers, command lines, headers and assignments inside text) or by its own form (`Bearer …`, `sk-…`, `ghp_…`,
/// `xoxb-…`, `AKIA…`, JSON Web Tokens, PEM blocks, user info in addresses). It rather takes too much than too little,
/// but a secret with neither name nor form is not found: what must not be written should not be given.
///
/// ```
/// use codecell_trajectory::Redactor;
/// use serde_json::json;
///
/// let redactor = Redactor::default().with_workspace("/home/ann/shop").with_home("/home/ann");
/// assert_eq!(
///     redactor.value(&json!({ "apiKey": "k-1", "file": "/home/ann/shop/a.rs", "url": "https://u:p@example.com/" })),
///     json!({ "apiKey": "<redacted>", "file": "$WORKSPACE_DIR/a.rs", "url": "https://<redacted>@example.com/" }),
/// );
/// assert_eq!(redactor.text("curl -H 'Authorization: Bearer abc.def'"), "curl -H 'Authorization: <redacted>'");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    paths: paths::Paths,
}

impl Redactor {
    /// Writes `$HOME` for this folder.
    #[must_use]
    pub fn with_home(self, folder: &str) -> Self {
        self.with_path(folder, "$HOME")
    }

    /// Writes `$WORKSPACE_DIR` for this folder.
    #[must_use]
    pub fn with_workspace(self, folder: &str) -> Self {
        self.with_path(folder, "$WORKSPACE_DIR")
    }

    /// Writes `shown` for this folder. Of folders inside each other the innermost counts; `/` and nothing are ignored.
    #[must_use]
    pub fn with_path(mut self, folder: &str, shown: &str) -> Self {
        self.paths.add(folder, shown);
        self
    }

    /// `text` without secrets.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        self.paths.replaced(&scan::scanned(text))
    }

    /// `value` without secrets, keys included. What is nested deeper than a JSON parser reads is left out.
    #[must_use]
    pub fn value(&self, value: &Value) -> Value {
        const ALL: Limits = Limits {
            line_bytes: usize::MAX,
            string_chars: usize::MAX,
            items: usize::MAX,
            depth: 128,
            session_bytes: u64::MAX,
            session_events: u64::MAX,
        };
        ALL.applied(value, self)
    }

    pub(crate) fn hidden() -> Value {
        Value::from(REDACTED)
    }

    /// What `value` is replaced with as a whole, because of what it stands under or beside.
    pub(crate) fn hides(map: &Map<String, Value>, key: &str, value: &Value) -> Option<Value> {
        let empty = match value {
            Value::Null | Value::Bool(_) => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(map) => map.is_empty(),
            Value::Number(_) => false,
        };
        if empty {
            return None;
        }
        let named = |name: &str| map.get(name).and_then(Value::as_str);
        let header = || {
            ["name", "key", "header", "field"]
                .iter()
                .filter_map(|name| named(name))
                .any(keys::is_secret)
        };
        match key {
            "value" | "values" if header() => return Some(Self::hidden()),
            "$bytes" | "blob" | "b64_json" if value.is_string() => return Some(Value::from(OPAQUE)),
            "data" if value.is_string() && holds_bytes(map) => return Some(Value::from(OPAQUE)),
            _ => {}
        }
        // `maxTokens: 4096` and the like are counts.
        let secret = keys::is_secret(key) || (keys::is_secrets(key) && !value.is_number());
        secret.then(Self::hidden)
    }

    /// Whether `item` of a list is a flag such as `--password`, whose value follows it.
    pub(crate) fn is_secret_flag(item: &Value) -> bool {
        item.as_str()
            .and_then(|text| text.strip_prefix('-'))
            .is_some_and(|flag| !flag.contains('=') && keys::is_secret(flag))
    }
}

/// Whether `data` of this object is what its type says: a picture, a sound, a file.
fn holds_bytes(map: &Map<String, Value>) -> bool {
    let typed = matches!(
        map.get("type").and_then(Value::as_str),
        Some("image" | "audio" | "video" | "file" | "base64")
    );
    typed
        || ["mimeType", "mime_type", "mediaType", "media_type"]
            .iter()
            .any(|key| map.contains_key(*key))
}
