use codecell_catalog::{Owner, ToolId, ToolSpec};

use super::groups;
use super::pattern::matches as fits;

/// Longest selector, in bytes; no tool has a longer id that anyone would spell out.
const MAX_SELECTOR_BYTES: usize = 512;

/// Why a text selects no tools. Whoever wrote the configuration corrects it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectorError {
    /// Nothing but blanks.
    #[error("a tool selector is blank; remove it, or name a tool, a group or `*`")]
    Blank,
    /// Longer than any tool's id.
    #[error("a tool selector is {bytes} bytes; the limit is {MAX_SELECTOR_BYTES}")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Ignoring it would be dangerous in a deny list, so it is an error everywhere.
    #[error("there is no tool group `{text}`; the groups are {}", groups::ALL)]
    UnknownGroup {
        /// As it was written.
        text: String,
    },
    /// A hint that is not known.
    #[error("there is no `{text}`; the hints are hint:destructive, hint:open-world and hint:not-read-only")]
    UnknownHint {
        /// As it was written.
        text: String,
    },
    /// A tool's word about itself may take the tool away, never grant it.
    #[error("`{text}` grants nothing: a tool's own hint can be denied or asked about, not allowed")]
    HintInAllow {
        /// As it was written.
        text: String,
    },
    /// Not a name, and not one of the forms with a colon.
    #[error("`{text}` selects nothing; before a `:` may stand group, hint, openclaw, mcp or client")]
    UnknownForm {
        /// As it was written.
        text: String,
    },
}

/// What a tool's annotations have to say for a hint to catch it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hint {
    Destructive,
    OpenWorld,
    NotReadOnly,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Matcher {
    Name(String),
    Id(String),
    Members(Vec<&'static str>),
    Core,
    Plugins,
    Mcp,
    Hint(Hint),
}

/// One entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Selector {
    text: String,
    matcher: Matcher,
}

/// The ways to spell a tool, in lower case, found once for all lists.
pub(super) struct Spelled<'s> {
    spec: &'s ToolSpec,
    name: String,
    /// `<safe owner>__<name>`, for tools whose names are not ours to trust.
    qualified: Option<String>,
    plugin: Option<String>,
    id: String,
}

impl<'s> Spelled<'s> {
    pub(super) fn of(spec: &'s ToolSpec) -> Self {
        Self::named(spec, &spec.name)
    }

    fn named(spec: &'s ToolSpec, name: &str) -> Self {
        let (qualified, plugin) = match &spec.owner {
            Owner::Core => (None, None),
            Owner::BundledPlugin(plugin) | Owner::ExternalPlugin(plugin) => {
                (None, Some(plugin.to_lowercase()))
            }
            Owner::Mcp(owner) | Owner::Client(owner) => (
                Some(format!("{}__{name}", safe_owner(owner)).to_lowercase()),
                None,
            ),
        };
        Self {
            spec,
            name: name.to_lowercase(),
            qualified,
            plugin,
            id: ToolId::new(&spec.owner, name).as_str().to_lowercase(),
        }
    }

    /// Whether this is the core or plugin tool of that name.
    pub(super) fn is_built_in(&self, name: &str) -> bool {
        self.qualified.is_none() && self.name == name
    }
}

/// The spelling of a server's name in `<server>__<tool>`.
fn safe_owner(name: &str) -> String {
    let safe: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
                c
            } else {
                '-'
            }
        })
        .collect();
    if safe.starts_with(|c: char| c.is_ascii_alphabetic()) {
        safe
    } else {
        format!("mcp-{safe}")
    }
}

impl Selector {
    fn parse(text: &str) -> Result<Self, SelectorError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(SelectorError::Blank);
        }
        if text.len() > MAX_SELECTOR_BYTES {
            return Err(SelectorError::TooLong { bytes: text.len() });
        }
        let lower = text.to_lowercase();
        let matcher = match lower.split_once(':') {
            None => match lower.as_str() {
                "bundle-mcp" => Matcher::Mcp,
                "bash" => Matcher::Name("exec".to_owned()),
                "apply-patch" => Matcher::Name("apply_patch".to_owned()),
                name => Matcher::Name(name.to_owned()),
            },
            Some(("group", "core")) => Matcher::Core,
            Some(("group", "plugins")) => Matcher::Plugins,
            Some(("group", group)) => match groups::members(group) {
                Some(members) => Matcher::Members(members),
                None => {
                    return Err(SelectorError::UnknownGroup {
                        text: text.to_owned(),
                    });
                }
            },
            Some(("hint", "destructive")) => Matcher::Hint(Hint::Destructive),
            Some(("hint", "open-world")) => Matcher::Hint(Hint::OpenWorld),
            Some(("hint", "not-read-only")) => Matcher::Hint(Hint::NotReadOnly),
            Some(("hint", _)) => {
                return Err(SelectorError::UnknownHint {
                    text: text.to_owned(),
                });
            }
            Some(("openclaw" | "mcp" | "client", _)) => Matcher::Id(lower),
            Some(_) => {
                return Err(SelectorError::UnknownForm {
                    text: text.to_owned(),
                });
            }
        };
        Ok(Self {
            text: text.to_owned(),
            matcher,
        })
    }

    /// Whether the selector means the tool without trusting a name that the tool gave itself.
    fn names(&self, tool: &Spelled<'_>) -> bool {
        match &self.matcher {
            Matcher::Name(pattern) => match &tool.qualified {
                Some(qualified) => fits(pattern, qualified),
                None => {
                    fits(pattern, &tool.name) || tool.plugin.as_deref().is_some_and(|id| fits(pattern, id))
                }
            },
            Matcher::Id(pattern) => fits(pattern, &tool.id),
            Matcher::Members(members) => tool.qualified.is_none() && members.contains(&tool.name.as_str()),
            Matcher::Core => tool.spec.owner == Owner::Core,
            Matcher::Plugins => !matches!(tool.spec.owner, Owner::Core | Owner::Client(_)),
            Matcher::Mcp => matches!(tool.spec.owner, Owner::Mcp(_)),
            Matcher::Hint(_) => false,
        }
    }

    /// Whether the selector may mean the tool: to restrict it, its own name and its own hints are reason enough.
    fn catches(&self, tool: &Spelled<'_>) -> bool {
        match &self.matcher {
            Matcher::Name(pattern) => self.names(tool) || fits(pattern, &tool.name),
            Matcher::Members(members) => members.contains(&tool.name.as_str()),
            Matcher::Hint(hint) => hint.holds(tool.spec),
            _ => self.names(tool),
        }
    }

    /// Whether the entry names tools, so that it is odd when there are none. Groups may be empty.
    fn expects_tools(&self) -> bool {
        match &self.matcher {
            Matcher::Name(pattern) | Matcher::Id(pattern) => pattern != "*",
            _ => false,
        }
    }
}

impl Hint {
    fn holds(self, spec: &ToolSpec) -> bool {
        let says = |annotation: &str| {
            let hints = spec.annotations.as_ref();
            hints.and_then(|hints| hints.get(annotation)?.as_bool()) == Some(true)
        };
        match self {
            Self::Destructive => says("destructiveHint"),
            Self::OpenWorld => says("openWorldHint"),
            Self::NotReadOnly => !says("readOnlyHint"),
        }
    }
}

fn parse_all<S: AsRef<str>>(texts: &[S]) -> Result<Vec<Selector>, SelectorError> {
    texts.iter().map(|text| Selector::parse(text.as_ref())).collect()
}

/// The entries of an allow list.
///
/// A bare name means core and plugin tools. Tools of MCP servers and clients go by `<server>__<tool>` or by their
/// id, so that a server cannot walk through a gate by naming its tool `read`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants(Vec<Selector>);

impl Grants {
    /// Reads the entries.
    ///
    /// # Errors
    ///
    /// Fails with the first entry that selects nothing, or that is a hint.
    pub fn parse<S: AsRef<str>>(texts: &[S]) -> Result<Self, SelectorError> {
        let selectors = parse_all(texts)?;
        match selectors
            .iter()
            .find(|selector| matches!(selector.matcher, Matcher::Hint(_)))
        {
            Some(hint) => Err(SelectorError::HintInAllow {
                text: hint.text.clone(),
            }),
            None => Ok(Self(selectors)),
        }
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an entry grants the tool. Who may `write` may also `apply_patch`.
    pub(super) fn grant(&self, tool: &Spelled<'_>) -> bool {
        let named = |tool: &Spelled<'_>| self.0.iter().any(|selector| selector.names(tool));
        named(tool) || (tool.is_built_in("apply_patch") && named(&Spelled::named(tool.spec, "write")))
    }

    /// The entries that mean none of the tools.
    pub(super) fn unknown<'a>(&'a self, tools: &'a [Spelled<'_>]) -> impl Iterator<Item = &'a str> {
        let strange =
            |selector: &&Selector| selector.expects_tools() && !tools.iter().any(|tool| selector.names(tool));
        self.0
            .iter()
            .filter(strange)
            .map(|selector| selector.text.as_str())
    }
}

/// The entries of a deny list, or of a rule that asks.
///
/// Here a bare name catches every tool of that name, whoever owns it, and hints count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restrictions(Vec<Selector>);

impl Restrictions {
    /// Reads the entries.
    ///
    /// # Errors
    ///
    /// Fails with the first entry that selects nothing.
    pub fn parse<S: AsRef<str>>(texts: &[S]) -> Result<Self, SelectorError> {
        parse_all(texts).map(Self)
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first entry that catches the tool, as it was written.
    #[must_use]
    pub fn first_for(&self, spec: &ToolSpec) -> Option<&str> {
        self.catching(&Spelled::of(spec))
    }

    pub(super) fn catching(&self, tool: &Spelled<'_>) -> Option<&str> {
        let caught = self.0.iter().find(|selector| selector.catches(tool));
        caught.map(|selector| selector.text.as_str())
    }
}
