use serde::Deserialize;

use super::groups::{SANDBOX_ALLOW, SANDBOX_DENY};
use super::selector::{Grants, Restrictions, SelectorError, Spelled};

/// The lists of one scope, as a configuration spells them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolLists {
    /// Nothing else passes. Absent: everything does.
    pub allow: Option<Vec<String>>,
    /// Added to a list that the scope has by default. Where there is none, it adds nothing.
    pub also_allow: Vec<String>,
    /// Taken away, whatever allows it. Absent: what the scope denies by default.
    pub deny: Option<Vec<String>>,
}

/// Why lists make no step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// An entry selects nothing.
    #[error("`{config_key}`: {source}")]
    Selector {
        /// The key of the list.
        config_key: String,
        /// What is wrong with the entry.
        source: SelectorError,
    },
    /// Both lists in one scope contradict each other.
    #[error(
        "`{config_key}` has both `allow` and `alsoAllow`; put everything into `allow`, or use `alsoAllow` alone"
    )]
    AllowAndAlsoAllow {
        /// The key of the scope.
        config_key: String,
    },
}

/// One scope's say in what may be used. It only takes tools away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    label: String,
    config_key: String,
    allow: Option<Grants>,
    also_allow: Grants,
    deny: Restrictions,
    sandbox: bool,
    /// The allow list is nobody's: it is the one the scope has without any.
    default_allow: bool,
}

/// How a step sees a tool.
pub(super) enum Say<'s> {
    Pass,
    Denied(&'s str),
    NotAllowed,
}

impl Step {
    /// A step that is known to people as `label` and configured under `config_key`, for example `global` and `tools`.
    ///
    /// # Errors
    ///
    /// Fails when an entry selects nothing, or when both `allow` and `alsoAllow` have entries.
    pub fn new(
        label: impl Into<String>,
        config_key: impl Into<String>,
        lists: &ToolLists,
    ) -> Result<Self, StepError> {
        let config_key = config_key.into();
        if lists.allow.is_some() && !lists.also_allow.is_empty() {
            return Err(StepError::AllowAndAlsoAllow { config_key });
        }
        let at = |list: &str| {
            let config_key = format!("{config_key}.{list}");
            move |source| StepError::Selector { config_key, source }
        };
        let allow = lists.allow.as_deref().map(Grants::parse).transpose();
        let deny = lists.deny.as_deref().unwrap_or_default();
        Ok(Self {
            label: label.into(),
            allow: allow.map_err(at("allow"))?,
            also_allow: Grants::parse(&lists.also_allow).map_err(at("alsoAllow"))?,
            deny: Restrictions::parse(deny).map_err(at("deny"))?,
            config_key,
            sandbox: false,
            default_allow: false,
        })
    }

    /// The second gate of sandboxed agents, configured under `tools.sandbox.tools`.
    ///
    /// Without `allow` a default list holds: running programs, files, sessions, memory and `image`. MCP, plugin and
    /// client tools are not on it and need an entry in `alsoAllow`, such as `bundle-mcp`. An *empty* `allow` lets
    /// everything pass, and `image` passes unless it is denied. Without `deny`, what reaches out of the sandbox is
    /// denied: browser, canvas, nodes, cron, gateway and message.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn sandbox(lists: &ToolLists) -> Result<Self, StepError> {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let deny = lists.deny.clone().unwrap_or_else(|| owned(&SANDBOX_DENY));
        let lists = ToolLists {
            deny: Some(deny),
            ..lists.clone()
        };
        let mut step = Self::new("sandbox", "tools.sandbox.tools", &lists)?;
        step.sandbox = true;
        step.default_allow = step.allow.is_none();
        step.allow = match step.allow {
            Some(allow) if allow.is_empty() => None,
            Some(allow) => Some(allow),
            None => Some(
                Grants::parse(&SANDBOX_ALLOW).map_err(|source| StepError::Selector {
                    config_key: "tools.sandbox.tools.allow".to_owned(),
                    source,
                })?,
            ),
        };
        Ok(step)
    }

    /// What people call the step.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Where the step is configured.
    #[must_use]
    pub fn config_key(&self) -> &str {
        &self.config_key
    }

    /// Whether this is the sandbox's gate, which only sandboxed callers meet.
    #[must_use]
    pub fn is_sandbox(&self) -> bool {
        self.sandbox
    }

    /// Whether the step's allow list is empty: somebody wants a run without tools.
    #[must_use]
    pub fn allows_nothing(&self) -> bool {
        self.allow.as_ref().is_some_and(Grants::is_empty)
    }

    /// Whether somebody wrote an allow list with entries for the step.
    pub(super) fn allows_some(&self) -> bool {
        !self.default_allow && self.allow.as_ref().is_some_and(|allow| !allow.is_empty())
    }

    pub(super) fn say(&self, tool: &Spelled<'_>) -> Say<'_> {
        if let Some(rule) = self.deny.catching(tool) {
            return Say::Denied(rule);
        }
        let allowed = match &self.allow {
            None => true,
            Some(allow) => allow.grant(tool) || self.also_allow.grant(tool) || self.keeps(tool),
        };
        if allowed { Say::Pass } else { Say::NotAllowed }
    }

    fn keeps(&self, tool: &Spelled<'_>) -> bool {
        self.sandbox && tool.is_built_in("image")
    }

    /// The entries of the allow lists that mean none of the tools. The sandbox's default list is not anyone's typing.
    pub(super) fn unknown<'a>(&'a self, tools: &'a [Spelled<'_>]) -> Vec<&'a str> {
        let allow = self.allow.iter().flat_map(|allow| allow.unknown(tools));
        allow
            .chain(self.also_allow.unknown(tools))
            .filter(|text| !(self.sandbox && SANDBOX_ALLOW.contains(text)))
            .collect()
    }
}
