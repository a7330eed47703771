//! The product's own tools: files inside configured folders, a shell, and a fetcher of public web pages.
//!
//! Whether a call is allowed is not decided here, only what a call can reach at most: no file outside the roots, no
//! address inside the network. `exec` is the exception and says so: it is confined by nothing but its limits, and
//! exists only where it is switched on.
//!
//! Unix only. Symbolic links in a root work where the system can resolve them beneath it (`openat2` of Linux) and are
//! refused elsewhere; absolute ones are refused everywhere.
//!
//! ```
//! use codecell_core_tools::{CoreToolsConfig, RootConfig, core_tools};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path().to_owned();
//! let roots = vec![RootConfig { path: folder, writable: false }];
//! let tools = core_tools(CoreToolsConfig { roots, ..CoreToolsConfig::default() })?;
//!
//! let names: Vec<_> = tools.iter().map(|tool| tool.definition().name).collect();
//! assert_eq!(names, ["read", "ls", "glob", "grep"], "nothing that writes, runs or connects");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod adapter;
mod beneath;
mod content;
mod edit;
mod exec;
mod fetch;
mod glob;
mod grep;
mod guardian;
mod lines;
mod ls;
mod patch;
mod problem;
mod read;
mod roots;
mod stage;
mod walk;
mod write;

use std::path::PathBuf;
use std::sync::Arc;

use codecell_tools::Tool;

use crate::roots::Roots;

pub use crate::{
    exec::ExecConfig,
    fetch::WebFetchConfig,
    guardian::{Guardian, Watch},
    roots::RootConfig,
};

/// Which tools there are, and what they reach. The default has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoreToolsConfig {
    /// The folders that the file tools may use. Without any there are no file tools; without a writable one there are
    /// none that write.
    ///
    /// With one root, paths are relative to it. With several, they begin with a root's name: the last component of
    /// its path, numbered (`app-2`) where that is taken.
    pub roots: Vec<RootConfig>,
    /// The shell, if there is to be one. It needs a root to start in.
    pub exec: Option<ExecConfig>,
    /// The fetcher, if there is to be one.
    pub web_fetch: Option<WebFetchConfig>,
}

/// Why there are no tools.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CoreToolsError {
    /// A root cannot be used.
    #[error("the root folder `{}` cannot be used", path.display())]
    Root {
        /// The root as it was configured.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A shell without a folder to start in.
    #[error("`exec` is enabled but there is no root folder to run commands in: configure one")]
    ExecWithoutRoot,
    /// The name of a variable for the shell that no variable can have.
    #[error("`{0}` cannot be the name of an environment variable")]
    Variable(String),
    /// An allowed host that is no host.
    #[error("`{0}` is no allowed host: give `name`, `name:port`, an address or `[address]:port`")]
    Host(String),
}

/// Makes the tools, in a fixed order.
///
/// # Errors
///
/// Fails when a root does not exist or is no folder, and when `exec` or `web_fetch` is configured with something it
/// cannot use. Nothing is connected to or run yet.
pub fn core_tools(config: CoreToolsConfig) -> Result<Vec<Arc<dyn Tool>>, CoreToolsError> {
    let roots = Arc::new(Roots::new(config.roots)?);
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    if !roots.is_empty() {
        tools.push(Arc::new(read::tool(&roots)));
        if roots.any_writable() {
            tools.push(Arc::new(write::tool(&roots)));
            tools.push(Arc::new(edit::tool(&roots)));
            tools.push(Arc::new(patch::tool(&roots)));
        }
        tools.push(Arc::new(ls::tool(&roots)));
        tools.push(Arc::new(glob::tool(&roots)));
        tools.push(Arc::new(grep::tool(&roots)));
    }
    if let Some(exec) = config.exec {
        tools.push(Arc::new(exec::tool(exec, &roots)?));
    }
    if let Some(fetch) = config.web_fetch {
        tools.push(Arc::new(fetch::tool(fetch)?));
    }
    Ok(tools)
}
