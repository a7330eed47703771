//! All namespaces of this process, and whose they are.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
};

use super::registration::{Registration, RegistrationError};

/// The namespaces that plugins have registered in this process, by id. Clones are the same registry.
///
/// A registry says what exists. What one run may see is decided against its catalog, by
/// [`PluginNamespaces::visible`](super::PluginNamespaces::visible).
#[derive(Clone, Debug, Default)]
pub struct NamespaceRegistry {
    state: Arc<RwLock<Registrations>>,
}

/// A namespace and the plugin it belongs to.
#[derive(Debug)]
pub struct Registered {
    plugin_id: String,
    registration: Registration,
}

impl Registered {
    /// The plugin.
    #[must_use]
    pub fn plugin_id(&self) -> &str {
        &self.plugin_id
    }

    /// The registration, with all its texts trimmed and its tool names sorted and unique.
    #[must_use]
    pub fn registration(&self) -> &Registration {
        &self.registration
    }
}

/// The registrations at one moment, in the order of their ids.
#[derive(Clone, Debug, Default)]
pub struct Registrations {
    generation: u64,
    by_id: BTreeMap<String, Arc<Registered>>,
}

impl Registrations {
    /// Counts the changes of the registry: equal numbers from one registry mean equal registrations.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// All of them, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Registered>> {
        self.by_id.values()
    }

    fn add(&mut self, plugin_id: &str, registration: Registration) -> Result<(), RegistrationError> {
        let registration = registration.checked()?;
        if self.by_id.contains_key(&registration.id) {
            return Err(RegistrationError::DuplicateId { id: registration.id });
        }
        let same_global =
            |other: &&Arc<Registered>| other.registration.global_name == registration.global_name;
        if let Some(other) = self.by_id.values().find(same_global) {
            return Err(RegistrationError::DuplicateGlobal {
                global_name: registration.global_name,
                by: other.registration.id.clone(),
            });
        }
        let registered = Registered {
            plugin_id: plugin_id.to_owned(),
            registration,
        };
        self.by_id
            .insert(registered.registration.id.clone(), Arc::new(registered));
        Ok(())
    }
}

impl NamespaceRegistry {
    /// An empty registry.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a namespace of a plugin.
    ///
    /// # Errors
    ///
    /// Fails when a name is missing, malformed or taken, or a text too long. The registry is then as before.
    pub fn register(&self, plugin_id: &str, registration: Registration) -> Result<(), RegistrationError> {
        self.register_all(plugin_id, [registration])
    }

    /// Registers all namespaces of a plugin, or none: nobody sees some of them without the others.
    ///
    /// # Errors
    ///
    /// Fails with the reason of the first one that is refused. The registry is then as before.
    pub fn register_all(
        &self,
        plugin_id: &str,
        registrations: impl IntoIterator<Item = Registration>,
    ) -> Result<(), RegistrationError> {
        let plugin_id = plugin_id.trim();
        let registrations: Vec<Registration> = registrations.into_iter().collect();
        if plugin_id.is_empty() {
            return Err(RegistrationError::BlankPluginId);
        }
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let mut next = state.clone();
        for registration in registrations {
            next.add(plugin_id, registration)?;
            next.generation += 1;
        }
        *state = next;
        Ok(())
    }

    /// Removes every namespace of a plugin, and says how many there were. Runs that have opened one keep it.
    pub fn clear_plugin(&self, plugin_id: &str) -> usize {
        let plugin_id = plugin_id.trim();
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let before = state.by_id.len();
        state
            .by_id
            .retain(|_, registered| registered.plugin_id != plugin_id);
        let removed = before - state.by_id.len();
        if removed > 0 {
            state.generation += 1;
        }
        removed
    }

    /// What is registered now.
    #[must_use]
    pub fn registrations(&self) -> Registrations {
        self.state.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The number of [`registrations`](Self::registrations) taken now, without the registrations.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.state
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .generation
    }
}
