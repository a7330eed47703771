use std::fmt;

use crate::spec::{Owner, Source};

/// A tool's identity in one run: `<source>:<owner>:<tool>`.
///
/// The tool part is the last one and stays exactly as its owner wrote it. In the owner part `:` and `%` are
/// percent-encoded, so that no two pairs of owner and tool share an id, and a plugin called `core` is written
/// `%63ore`, so that it can never take a core tool's id.
///
/// ```
/// use codecell_catalog::{Owner, ToolId};
///
/// let id = ToolId::new(&Owner::Mcp("github".into()), "create_issue");
/// assert_eq!(id.as_str(), "mcp:github:create_issue");
/// assert_eq!(ToolId::parse("mcp:github:create_issue"), Some(id));
/// assert_eq!(ToolId::parse("create_issue"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct ToolId(String);

/// The owner part of core tools.
const CORE: &str = "core";

impl ToolId {
    /// The id of `tool` at `owner`.
    #[must_use]
    pub fn new(owner: &Owner, tool: &str) -> Self {
        let part = match owner.name() {
            None => CORE.to_owned(),
            Some(CORE) if owner.source() == Source::OpenClaw => "%63ore".to_owned(),
            Some(name) => name.replace('%', "%25").replace(':', "%3A"),
        };
        Self(format!("{}:{part}:{tool}", owner.source().as_str()))
    }

    /// Reads an id; `None` if `text` has not the three parts, or names no known source.
    ///
    /// Parsing says that the text *is* an id, not that a catalog has it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, ':');
        let source = parts.next()?;
        parts.next()?;
        let tool = parts.next()?;
        let known = [Source::OpenClaw, Source::Mcp, Source::Client]
            .iter()
            .any(|s| s.as_str() == source);
        (known && !tool.is_empty()).then(|| Self(text.to_owned()))
    }

    /// The whole id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for ToolId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl<'de> serde::Deserialize<'de> for ToolId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("`{text}` is no tool id")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_owners_share_an_id() {
        let pairs = [
            (Owner::Mcp("a:b".into()), "c"),
            (Owner::Mcp("a".into()), "b:c"),
            (Owner::Mcp("a%3Ab".into()), "c"),
            (Owner::Core, "c"),
            (Owner::ExternalPlugin("core".into()), "c"),
            (Owner::Client("core".into()), "c"),
        ];
        let ids: Vec<String> = pairs
            .iter()
            .map(|(owner, tool)| ToolId::new(owner, tool).to_string())
            .collect();
        assert_eq!(
            ids,
            [
                "mcp:a%3Ab:c",
                "mcp:a:b:c",
                "mcp:a%253Ab:c",
                "openclaw:core:c",
                "openclaw:%63ore:c",
                "client:core:c"
            ]
        );
    }

    #[test]
    fn an_id_is_parsed_also_when_deserialised() {
        assert!(serde_json::from_str::<ToolId>("\"openclaw:core:read\"").is_ok());
        for text in ["\"read\"", "\"other:core:read\"", "\"mcp:github:\"", "\"\""] {
            assert!(serde_json::from_str::<ToolId>(text).is_err(), "{text}");
        }
    }
}
