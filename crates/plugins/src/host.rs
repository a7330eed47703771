//! Loads plugins, whole or not at all.

use std::{
    collections::{BTreeMap, HashSet},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use codecell_catalog::Owner;
use codecell_namespaces::{NamespaceRegistry, RegistrationError};
use codecell_tools::{Hooks, Tool};

use crate::plugin::{Plugin, PluginApi};

/// Longest id of a plugin, in bytes: it is part of every one of its tools' ids.
pub const MAX_ID_BYTES: usize = 64;

/// Ids that would pass for the product itself.
const RESERVED: [&str; 2] = ["core", "openclaw"];

/// Where a plugin comes from. Bundled plugins come first in a catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It ships with the product.
    Bundled,
    /// Its user added it.
    External,
}

impl Origin {
    /// Who owns the tools of the plugin `id`.
    #[must_use]
    pub fn owner(self, id: &str) -> Owner {
        match self {
            Self::Bundled => Owner::BundledPlugin(id.to_owned()),
            Self::External => Owner::ExternalPlugin(id.to_owned()),
        }
    }
}

/// The plugins of one process.
///
/// Namespaces and hooks of a plugin are in [`namespaces`](Self::namespaces) and [`hooks`](Self::hooks) exactly while
/// it is loaded. Give clones of the two to whoever builds runs and carries calls.
#[derive(Default)]
pub struct PluginHost {
    loaded: Mutex<BTreeMap<String, Loaded>>,
    namespaces: NamespaceRegistry,
    hooks: Hooks,
}

struct Loaded {
    plugin: Arc<dyn Plugin>,
    origin: Origin,
    tools: Vec<Arc<dyn Tool>>,
}

/// A tool of a loaded plugin.
#[derive(Clone)]
pub struct LoadedTool {
    /// The plugin.
    pub plugin_id: String,
    /// Where the plugin comes from.
    pub origin: Origin,
    /// The tool.
    pub tool: Arc<dyn Tool>,
}

/// Why a plugin was not loaded. Nothing of it is left.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The id is malformed.
    #[error(
        "plugin id `{id}` must be 1 to {MAX_ID_BYTES} lower-case letters, digits, `-` and `_`, beginning with a letter \
         or a digit"
    )]
    InvalidId {
        /// The id.
        id: String,
    },
    /// The id means the product itself.
    #[error("plugin id `{id}` is reserved; choose another one")]
    ReservedId {
        /// The id.
        id: String,
    },
    /// A plugin of this id is loaded, and stays so.
    #[error("plugin `{id}` is already loaded; unload it first")]
    AlreadyLoaded {
        /// The id.
        id: String,
    },
    /// The plugin does not want to.
    #[error("plugin `{id}` did not register: {reason}")]
    Refused {
        /// The plugin.
        id: String,
        /// Its reason.
        reason: String,
    },
    /// The plugin has a defect.
    #[error("plugin `{id}` panicked while it registered")]
    Panicked {
        /// The plugin.
        id: String,
    },
    /// One of its tools has no name.
    #[error("plugin `{id}` has a tool without a name")]
    UnnamedTool {
        /// The plugin.
        id: String,
    },
    /// Two of its tools have the same name.
    #[error("plugin `{id}` has two tools named `{tool}`")]
    DuplicateTool {
        /// The plugin.
        id: String,
        /// The name.
        tool: String,
    },
    /// One of its namespaces was refused.
    #[error("plugin `{id}` has a namespace that cannot be registered: {source}")]
    Namespace {
        /// The plugin.
        id: String,
        /// Why.
        source: RegistrationError,
    },
}

impl PluginHost {
    /// No plugins, no namespaces, no hooks.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Loads a plugin: all it registers, or nothing.
    ///
    /// # Errors
    ///
    /// Fails when its id cannot be used, when it does not register, and when something it registers is refused.
    pub fn load(&self, plugin: Arc<dyn Plugin>, origin: Origin) -> Result<(), LoadError> {
        let id = checked_id(plugin.id())?;
        // Asked again below: a plugin registers without the lock, so that it may look at the host.
        if self.lock().contains_key(&id) {
            return Err(LoadError::AlreadyLoaded { id });
        }
        let registered = contained(|| {
            let mut api = PluginApi::default();
            plugin.register(&mut api).map(|()| api)
        });
        let api = match registered {
            Some(Ok(api)) => api,
            Some(Err(error)) => {
                let reason = error.to_string();
                return Err(LoadError::Refused { id, reason });
            }
            None => return Err(LoadError::Panicked { id }),
        };
        let added = check_tools(&id, &api.tools).and_then(|()| self.add(id.clone(), &plugin, origin, api));
        if added.is_err() {
            release(&id, &*plugin);
        }
        added
    }

    /// Makes visible what a plugin has registered. Namespaces alone can be refused, so they come first.
    fn add(
        &self,
        id: String,
        plugin: &Arc<dyn Plugin>,
        origin: Origin,
        api: PluginApi,
    ) -> Result<(), LoadError> {
        let mut loaded = self.lock();
        if loaded.contains_key(&id) {
            return Err(LoadError::AlreadyLoaded { id });
        }
        if let Err(source) = self.namespaces.register_all(&id, api.namespaces) {
            return Err(LoadError::Namespace { id, source });
        }
        for hook in api.before {
            self.hooks.before(&id, hook.priority, hook.time_limit, hook.run);
        }
        for hook in api.after {
            self.hooks.after(&id, hook.priority, hook.time_limit, hook.run);
        }
        let entry = Loaded {
            plugin: Arc::clone(plugin),
            origin,
            tools: api.tools,
        };
        loaded.insert(id, entry);
        Ok(())
    }

    /// Unloads a plugin and says whether it was loaded. Runs that have begun keep the tools they have.
    pub fn unload(&self, id: &str) -> bool {
        let removed = {
            let mut loaded = self.lock();
            let removed = loaded.remove(id);
            if removed.is_some() {
                self.namespaces.clear_plugin(id);
                self.hooks.remove_owner(id);
            }
            removed
        };
        match removed {
            Some(Loaded { plugin, .. }) => {
                release(id, &*plugin);
                true
            }
            None => false,
        }
    }

    /// The ids of the loaded plugins and where they come from, sorted.
    #[must_use]
    pub fn plugins(&self) -> Vec<(String, Origin)> {
        let loaded = self.lock();
        loaded
            .iter()
            .map(|(id, entry)| (id.clone(), entry.origin))
            .collect()
    }

    /// The tools of the loaded plugins: by plugin id, and within a plugin as it registered them.
    #[must_use]
    pub fn tools(&self) -> Vec<LoadedTool> {
        let loaded = self.lock();
        let tools = loaded.iter().flat_map(|(id, entry)| {
            entry.tools.iter().map(|tool| LoadedTool {
                plugin_id: id.clone(),
                origin: entry.origin,
                tool: Arc::clone(tool),
            })
        });
        tools.collect()
    }

    /// The namespaces of the loaded plugins.
    #[must_use]
    pub fn namespaces(&self) -> &NamespaceRegistry {
        &self.namespaces
    }

    /// The hooks of the loaded plugins.
    #[must_use]
    pub fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Loaded>> {
        // No code of a plugin runs under this lock, so nothing half done is behind a poisoned one.
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn checked_id(id: &str) -> Result<String, LoadError> {
    let id = id.to_owned();
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let well_formed = id.bytes().next().is_some_and(plain)
        && id.bytes().all(|byte| plain(byte) || matches!(byte, b'-' | b'_'))
        && id.len() <= MAX_ID_BYTES;
    if !well_formed {
        return Err(LoadError::InvalidId { id });
    }
    if RESERVED.contains(&id.as_str()) {
        return Err(LoadError::ReservedId { id });
    }
    Ok(id)
}

fn check_tools(id: &str, tools: &[Arc<dyn Tool>]) -> Result<(), LoadError> {
    let mut names = HashSet::new();
    for tool in tools {
        let Some(definition) = contained(|| tool.definition()) else {
            return Err(LoadError::Panicked { id: id.to_owned() });
        };
        if definition.name.trim().is_empty() {
            return Err(LoadError::UnnamedTool { id: id.to_owned() });
        }
        if !names.insert(definition.name.clone()) {
            return Err(LoadError::DuplicateTool {
                id: id.to_owned(),
                tool: definition.name,
            });
        }
    }
    Ok(())
}

/// Tells a plugin that it is out.
fn release(id: &str, plugin: &dyn Plugin) {
    if contained(|| plugin.unload()).is_none() {
        tracing::warn!(plugin = id, "the plugin panicked while it was unloaded");
    }
}

/// What `run` gives, or none if it panics: a plugin's defect is not the process's.
fn contained<T>(run: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(run)).ok()
}
