//! Which tools a run may use: steps that each take tools away.

mod groups;
mod pattern;
mod selector;
mod step;

use std::fmt;
use std::sync::Arc;

use codecell_catalog::{ToolId, ToolSpec};

use self::{selector::Spelled, step::Say};
pub use self::{
    selector::{Grants, Restrictions, SelectorError},
    step::{Step, StepError, ToolLists},
};
use crate::caller::Caller;

/// Steps in order, for example global, agent, sandbox, run. Each only takes away; a later one gives nothing back, and
/// what is denied anywhere is gone. Cheap to clone; the default lets everything pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    steps: Arc<[Step]>,
}

/// What the policy says of one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No step objects.
    Allowed,
    /// The first step that objects, and why.
    Removed(Removed),
}

/// Why a tool may not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The step's label.
    pub step: String,
    /// The list that decided, for example `tools.deny`.
    pub config_key: String,
    /// The entry that denies it, as it was written; none when the tool is missing from an allow list.
    pub rule: Option<String>,
}

impl Removed {
    /// What is told to whoever calls the tool anyway.
    #[must_use]
    pub fn blocks(&self, tool: &str) -> String {
        format!(r#"Tool "{tool}" blocked by {} tool policy ({self})"#, self.step)
    }
}

impl fmt::Display for Removed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rule {
            Some(rule) => write!(f, "`{rule}` in {}", self.config_key),
            None => write!(f, "not in {}", self.config_key),
        }
    }
}

/// The effective tools of a run, and what became of the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Applied {
    /// Those that may be used, in the order they were given.
    pub kept: Vec<ToolSpec>,
    /// The others, in the order they were given.
    pub removed: Vec<(ToolId, Removed)>,
}

/// Entries of an allow list that mean none of the run's tools: a typing error, or a server that is down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownEntries {
    /// The step's label.
    pub label: String,
    /// As they were written.
    pub entries: Vec<String>,
}

impl fmt::Display for UnknownEntries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.entries.join(", ");
        write!(
            f,
            "tools: {} allowlist contains unknown entries ({entries}); no tool of this run matches them",
            self.label
        )
    }
}

/// Allow lists with entries left no tool at all: a mistake, unlike an empty allow list, so stop before the model is
/// asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no tool is left: nothing passes {}; correct the entries, or use an empty list for a run without tools", .lists.join(", "))]
pub struct Emptied {
    /// The keys of the allow lists.
    pub lists: Vec<String>,
}

impl Policy {
    /// A policy of these steps, first to last.
    #[must_use]
    pub fn new(steps: Vec<Step>) -> Self {
        Self { steps: steps.into() }
    }

    /// The steps.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The same policy as this caller meets it: without the sandbox's gate, unless the caller is sandboxed.
    #[must_use]
    pub fn for_caller(&self, caller: &Caller) -> Self {
        if caller.sandboxed || !self.steps.iter().any(Step::is_sandbox) {
            return self.clone();
        }
        let steps = self.steps.iter().filter(|step| !step.is_sandbox());
        Self {
            steps: steps.cloned().collect(),
        }
    }

    /// Whether a tool passes every step.
    #[must_use]
    pub fn decide(&self, spec: &ToolSpec) -> Verdict {
        Self::ask(self.steps.iter(), spec)
    }

    /// As [`decide`](Self::decide), for one call of this caller.
    pub(crate) fn decide_for(&self, spec: &ToolSpec, caller: &Caller) -> Verdict {
        let met = |step: &&Step| caller.sandboxed || !step.is_sandbox();
        Self::ask(self.steps.iter().filter(met), spec)
    }

    fn ask<'s>(steps: impl Iterator<Item = &'s Step>, spec: &ToolSpec) -> Verdict {
        let tool = Spelled::of(spec);
        for step in steps {
            let (list, rule) = match step.say(&tool) {
                Say::Pass => continue,
                Say::Denied(rule) => ("deny", Some(rule.to_owned())),
                Say::NotAllowed => ("allow", None),
            };
            return Verdict::Removed(Removed {
                step: step.label().to_owned(),
                config_key: format!("{}.{list}", step.config_key()),
                rule,
            });
        }
        Verdict::Allowed
    }

    /// Sorts the tools of a run into those that pass and the others, and logs the others per step.
    #[must_use]
    pub fn apply(&self, specs: Vec<ToolSpec>) -> Applied {
        let mut applied = Applied::default();
        for spec in specs {
            match self.decide(&spec) {
                Verdict::Allowed => applied.kept.push(spec),
                Verdict::Removed(removed) => {
                    applied
                        .removed
                        .push((ToolId::new(&spec.owner, &spec.name), removed));
                }
            }
        }
        for step in self.steps.iter() {
            let by_step = applied
                .removed
                .iter()
                .filter(|(_, removed)| removed.step == step.label());
            let tools: Vec<&str> = by_step.map(|(id, _)| id.as_str()).collect();
            if !tools.is_empty() {
                let (rule, config_key) = (step.label(), step.config_key());
                tracing::info!(target: "agents/tool-policy", rule, config_key, ?tools, "tools removed");
            }
        }
        applied
    }

    /// What the allow lists name that is not among `specs`, the tools before any step.
    #[must_use]
    pub fn unknown_entries(&self, specs: &[ToolSpec]) -> Vec<UnknownEntries> {
        let tools: Vec<Spelled<'_>> = specs.iter().map(Spelled::of).collect();
        let unknown = self.steps.iter().map(|step| UnknownEntries {
            label: step.label().to_owned(),
            entries: step.unknown(&tools).into_iter().map(str::to_owned).collect(),
        });
        unknown.filter(|unknown| !unknown.entries.is_empty()).collect()
    }

    /// Whether this is a run without tools on purpose.
    #[must_use]
    pub fn allows_nothing(&self) -> bool {
        self.steps.iter().any(Step::allows_nothing)
    }

    /// Whether allow lists with entries have left nothing of a run's tools.
    #[must_use]
    pub fn emptied(&self, kept: &[ToolSpec]) -> Option<Emptied> {
        if !kept.is_empty() || self.allows_nothing() {
            return None;
        }
        let lists = self.steps.iter().filter(|step| step.allows_some());
        let lists: Vec<String> = lists.map(|step| format!("{}.allow", step.config_key())).collect();
        (!lists.is_empty()).then_some(Emptied { lists })
    }
}
