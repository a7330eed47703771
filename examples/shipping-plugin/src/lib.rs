//! A plugin to learn from: four tools, a namespace and two hooks around a handful of shipments in memory.
//!
//! ```
//! use codecell_plugins::{Origin, PluginHost};
//!
//! let host = PluginHost::new();
//! host.load(codecell_shipping_plugin::plugin(), Origin::Bundled)?;
//!
//! let names: Vec<_> = host.tools().iter().map(|loaded| loaded.tool.definition().name).collect();
//! assert_eq!(names, ["shipping_list", "shipping_quote", "shipping_promote", "shipping_log"]);
//! # Ok::<(), codecell_plugins::LoadError>(())
//! ```
mod ledger;
mod logbook;
mod namespace;
mod only_paid;
mod promotion;
mod tools;

use std::sync::Arc;

use codecell_plugins::{Plugin, PluginApi, PluginError};

use crate::{
    ledger::Ledger,
    logbook::{Logbook, NoteOutcome},
    only_paid::OnlyPaid,
};

/// The id of the plugin, and the owner of its tools.
const ID: &str = "shipping";

/// The plugin, with shipments of its own: what one such plugin promotes, another does not see.
#[must_use]
pub fn plugin() -> Arc<dyn Plugin> {
    Arc::new(Shipping {
        ledger: Arc::new(Ledger::new()),
        logbook: Arc::default(),
    })
}

struct Shipping {
    ledger: Arc<Ledger>,
    logbook: Arc<Logbook>,
}

impl Plugin for Shipping {
    fn id(&self) -> &str {
        ID
    }

    fn register(&self, api: &mut PluginApi) -> Result<(), PluginError> {
        api.tool(tools::list(&self.ledger));
        api.tool(tools::quote());
        api.tool(tools::promote(&self.ledger));
        api.tool(tools::log(&self.logbook));
        api.namespace(namespace::shipping());
        api.before_tool_call(0, None, Arc::new(OnlyPaid::new(&self.ledger, &self.logbook)));
        api.after_tool_call(0, None, Arc::new(NoteOutcome(Arc::clone(&self.logbook))));
        Ok(())
    }
}
