use std::sync::Arc;

use super::state::{Era, Quarantined, State, ToolDump};

/// All servers at one moment. Cheap to hold; it never changes.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// Grows with every change.
    pub generation: u64,
    /// The servers, in the order of the configuration.
    pub servers: Vec<ServerSnapshot>,
}

impl Snapshot {
    /// The server of that name.
    #[must_use]
    pub fn server(&self, name: &str) -> Option<&ServerSnapshot> {
        self.servers.iter().find(|server| server.name == name)
    }
}

/// One server at one moment.
#[derive(Debug, Clone)]
pub struct ServerSnapshot {
    /// Its name in the configuration.
    pub name: String,
    /// What it is doing.
    pub state: State,
    /// Its first attempt is over, and with it the first reading of its tools.
    pub settled: bool,
    /// The tools come from an earlier connection.
    pub stale: bool,
    /// More pages of tools are on their way.
    pub listing: bool,
    /// Its tools, filters applied, in the server's order.
    pub tools: Arc<[Arc<ToolDump>]>,
    /// Tools that were left out.
    pub quarantined: Arc<[Quarantined]>,
    /// Oddities that cost nothing, such as duplicate names.
    pub notes: Arc<[String]>,
    /// The server's own words on how to use it: untrusted text.
    pub instructions: Option<Arc<str>>,
    /// It has resources.
    pub has_resources: bool,
    /// It has prompts.
    pub has_prompts: bool,
    /// Which generation of the protocol it speaks, once known.
    pub era: Option<Era>,
    /// The protocol revision agreed on, once known.
    pub protocol_version: Option<String>,
    /// Lines on its standard output that were no protocol messages.
    pub noise_lines: u64,
    /// The last lines of its standard error.
    pub stderr_tail: String,
}
