//! The tools as their callers see them. Every result in these tests is held against its tool's output schema.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod contracts;
mod escape;
mod exec;
mod fetch;
mod files;
mod patch;
mod search;

use std::path::PathBuf;
use std::sync::Arc;

use codecell_catalog::{Owner, Tool as CatalogTool};
use codecell_core_tools::{CoreToolsConfig, RootConfig, core_tools};
use codecell_tools::{Progress, Tool, ToolCall};
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Tools, and the folder they work in.
struct Kit {
    folder: TempDir,
    tools: Vec<Arc<dyn Tool>>,
}

impl Kit {
    /// One root that may be written, with these files in it.
    fn with(files: &[(&str, &str)]) -> Self {
        Self::of(files, |roots| CoreToolsConfig {
            roots,
            ..CoreToolsConfig::default()
        })
    }

    fn of(files: &[(&str, &str)], config: impl FnOnce(Vec<RootConfig>) -> CoreToolsConfig) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let root = RootConfig {
            path: folder.path().to_owned(),
            writable: true,
        };
        let tools = core_tools(config(vec![root])).unwrap();
        Self { folder, tools }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    /// Names of everything in the folder, to show that nothing was left behind.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<Value, (&'static str, String)> {
        call(&self.tools, name, arguments, CancellationToken::new()).await
    }

    /// The code of the error that a call must end in.
    async fn refusal(&self, name: &str, arguments: Value) -> &'static str {
        match self.call(name, arguments.clone()).await {
            Ok(value) => panic!("{name} {arguments} gave {value}"),
            Err((code, _)) => code,
        }
    }
}

/// Calls a tool and checks what it gives.
async fn call(
    tools: &[Arc<dyn Tool>],
    name: &str,
    arguments: Value,
    cancel: CancellationToken,
) -> Result<Value, (&'static str, String)> {
    let tool = tools.iter().find(|tool| tool.definition().name == name).unwrap();
    let catalogued = Arc::new(CatalogTool::alone(tool.definition().into_spec(Owner::Core)));
    let call = ToolCall {
        tool: Arc::clone(&catalogued),
        arguments: arguments.into(),
        caller: Arc::default(),
        cancel,
        progress: Progress::default(),
        cell: None,
        number: 0,
        outside: Default::default(),
    };
    let result = tool
        .call(call)
        .await
        .map_err(|error| (error.code, error.message))?;
    let value: Value = result.value.unwrap().read().unwrap();
    catalogued.check_output(&value).unwrap();
    Ok(value)
}
