use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use codecell_catalog::{Catalog, Exposure, ToolSpec};

use crate::descriptor::{EXEC, WAIT};

/// Whether configuration switches code mode on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CodeMode {
    /// Tools are shown as they are.
    Off,
    /// Tools hide behind `exec` and `wait`.
    On,
}

/// What a run is allowed to do with tools, by its own request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolUse {
    /// The effective tools of the run count; with none there is nothing to hide.
    Effective,
    /// Code mode is all the run offers, so it is there even before the first tool is: a stand-alone server or command.
    Standalone,
    /// A raw model call.
    RawCall,
    /// The request says `disableTools: true`.
    Disabled,
    /// The request allows an empty list of tools.
    EmptyAllowList,
}

/// What the model is going to see.
#[derive(Debug)]
#[must_use]
pub enum Activation {
    /// Code mode stays out of it: exactly the tools that came in, in their order.
    Inactive(Vec<ToolSpec>),
    /// The model sees `exec`, `wait` and `direct`.
    Active {
        /// Every tool the cells of this run can reach, ready to be shared by them.
        catalog: Arc<Catalog>,
        /// Direct-only tools, in catalog order, each under a name of its own.
        direct: Vec<ToolSpec>,
    },
}

/// Decides what the model sees of a run's effective tools. Policy has been applied, no request has been built.
///
/// A direct-only tool whose name is taken, by `exec` or `wait` or by an earlier direct-only tool, is catalogued
/// instead: two tools of one name in a request are an error with most providers, and a missing tool is worse than one
/// whose images have to stay behind.
///
/// ```
/// use codecell_catalog::{Owner, ToolSpec};
/// use codecell_model_surface::{Activation, CodeMode, ToolUse, activate};
/// use serde_json::json;
///
/// let tools = vec![ToolSpec::new(Owner::Core, "read", "Read a file", json!({ "type": "object" }))];
/// assert!(matches!(activate(tools.clone(), CodeMode::Off, ToolUse::Effective), Activation::Inactive(same) if same == tools));
/// assert!(matches!(activate(tools, CodeMode::On, ToolUse::Effective), Activation::Active { catalog, .. } if catalog.len() == 1));
/// ```
pub fn activate(tools: Vec<ToolSpec>, mode: CodeMode, wanted: ToolUse) -> Activation {
    let active = match (mode, wanted) {
        (CodeMode::Off, _) | (_, ToolUse::RawCall | ToolUse::Disabled | ToolUse::EmptyAllowList) => false,
        (CodeMode::On, ToolUse::Effective) => !tools.is_empty(),
        (CodeMode::On, ToolUse::Standalone) => true,
    };
    if !active {
        return Activation::Inactive(tools);
    }
    let catalog = Catalog::build(give_way(tools));
    let direct = catalog.direct_only().to_vec();
    Activation::Active {
        catalog: Arc::new(catalog),
        direct,
    }
}

/// Catalogues the direct-only tools that cannot be shown under their own name.
///
/// Of two with one owner and name the last one counts, as in the catalog.
fn give_way(tools: Vec<ToolSpec>) -> Vec<ToolSpec> {
    let mut direct = BTreeMap::new();
    let mut all = Vec::with_capacity(tools.len());
    for tool in tools {
        if tool.is_tool_search_control() {
            // Never shown, so it takes no name from anybody.
        } else if tool.exposure == Exposure::DirectOnly {
            direct.insert((tool.owner.clone(), tool.name.clone()), tool);
        } else {
            all.push(tool);
        }
    }
    let mut taken: HashSet<String> = HashSet::from([EXEC.to_owned(), WAIT.to_owned()]);
    for (_, mut tool) in direct {
        if !taken.insert(tool.name.clone()) {
            tool.exposure = Exposure::Catalog;
        }
        all.push(tool);
    }
    all
}
