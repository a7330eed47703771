use std::time::Duration;

use codecell_model_surface::Languages;

/// What one cell may use, `tools.codeMode` of the configuration.
///
/// Every number is brought into its range by [`clamped`](Self::clamped), which [`Codecell`](crate::Codecell)
/// applies to whatever it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The languages a cell may be written in.
    pub languages: Languages,
    /// Wall-clock budget of each `exec` and each `wait`.
    pub timeout: Duration,
    /// Linear memory of the VM in bytes.
    pub memory_limit_bytes: usize,
    /// Value, output and error of one result together, in bytes of JSON.
    pub max_output_bytes: usize,
    /// Image of a suspended run in bytes, as it is stored.
    pub max_snapshot_bytes: usize,
    /// Calls of one run that are carried at once; more wait.
    pub max_pending_tool_calls: usize,
    /// How long a suspended run is kept.
    pub snapshot_ttl: Duration,
    /// Hits of a search that names no limit.
    pub search_default_limit: usize,
    /// Hits of a search at most.
    pub max_search_limit: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            languages: Languages::Both,
            timeout: Duration::from_millis(10_000),
            memory_limit_bytes: 64 << 20,
            max_output_bytes: 64 << 10,
            max_snapshot_bytes: 10 << 20,
            max_pending_tool_calls: 16,
            snapshot_ttl: Duration::from_secs(900),
            search_default_limit: 8,
            max_search_limit: 50,
        }
    }
}

impl Settings {
    /// The same settings with every number inside its range.
    #[must_use]
    pub fn clamped(self) -> Self {
        let max_search_limit = self.max_search_limit.clamp(1, 50);
        Self {
            languages: self.languages,
            timeout: self
                .timeout
                .clamp(Duration::from_millis(100), Duration::from_millis(60_000)),
            memory_limit_bytes: self.memory_limit_bytes.clamp(1 << 20, 1 << 30),
            max_output_bytes: self.max_output_bytes.clamp(1 << 10, 10 << 20),
            max_snapshot_bytes: self.max_snapshot_bytes.clamp(1 << 10, 256 << 20),
            max_pending_tool_calls: self.max_pending_tool_calls.clamp(1, 128),
            snapshot_ttl: self
                .snapshot_ttl
                .clamp(Duration::from_secs(1), Duration::from_secs(86_400)),
            search_default_limit: self.search_default_limit.clamp(1, max_search_limit),
            max_search_limit,
        }
    }
}
