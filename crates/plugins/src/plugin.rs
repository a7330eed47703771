//! What a plugin is, and what it can register.

use std::{sync::Arc, time::Duration};

use codecell_namespaces::Registration;
use codecell_tools::{AfterToolCall, BeforeToolCall, Tool};

/// Why a plugin does not register. Any error will do, and so will a text: `Err("no token is set".into())`.
pub type PluginError = Box<dyn std::error::Error + Send + Sync>;

/// Tools, namespaces and hooks under one id.
///
/// The host calls [`register`](Self::register) once for each load, and [`unload`](Self::unload) once after each
/// `register` that succeeded. A panic in either is contained.
pub trait Plugin: Send + Sync + 'static {
    /// The id, always the same: lower-case letters, digits, `-` and `_`. It stands in the ids of the tools.
    fn id(&self) -> &str;

    /// Registers everything the plugin has. Nobody sees any of it before this has returned, nor if it fails.
    ///
    /// # Errors
    ///
    /// Fails when the plugin cannot work here; the reason is for the operator.
    fn register(&self, api: &mut PluginApi) -> Result<(), PluginError>;

    /// Lets go of what [`register`](Self::register) has taken hold of.
    ///
    /// By then no new call can reach the plugin. Calls on their way still do.
    fn unload(&self) {}
}

/// Takes what a plugin registers, while it registers. Everything is checked when the plugin is done.
#[derive(Default)]
pub struct PluginApi {
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) namespaces: Vec<Registration>,
    pub(crate) before: Vec<Hook<dyn BeforeToolCall>>,
    pub(crate) after: Vec<Hook<dyn AfterToolCall>>,
}

pub(crate) struct Hook<H: ?Sized> {
    pub(crate) priority: i32,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) run: Arc<H>,
}

impl PluginApi {
    /// Adds a tool. Its name must be its own among the plugin's tools.
    ///
    /// A schema that does not compile refuses no plugin: that tool loads, and every call of it fails.
    pub fn tool(&mut self, tool: Arc<dyn Tool>) {
        self.tools.push(tool);
    }

    /// Adds a namespace. It can stand on tools of this plugin only.
    pub fn namespace(&mut self, registration: Registration) {
        self.namespaces.push(registration);
    }

    /// Has `hook` asked before every tool call of the process, also those of other plugins. Higher priorities are
    /// asked first. See [`Hooks::before`](codecell_tools::Hooks::before) for the time limit.
    pub fn before_tool_call(
        &mut self,
        priority: i32,
        time_limit: Option<Duration>,
        hook: Arc<dyn BeforeToolCall>,
    ) {
        self.before.push(Hook {
            priority,
            time_limit,
            run: hook,
        });
    }

    /// Has `hook` asked after every tool call of the process; order and time limit as for
    /// [`before_tool_call`](Self::before_tool_call).
    pub fn after_tool_call(
        &mut self,
        priority: i32,
        time_limit: Option<Duration>,
        hook: Arc<dyn AfterToolCall>,
    ) {
        self.after.push(Hook {
            priority,
            time_limit,
            run: hook,
        });
    }
}
