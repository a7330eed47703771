use std::{
    collections::BTreeMap,
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

use super::{
    agents::{self, Agents},
    code_mode::{self, CodeModeSettings},
    expand::Lookup,
    models::Models,
    plugins::{self, PluginEntry},
    problem::{Problem, Report, Severity, join},
    providers,
    serve::{self, ServeSettings},
    server::{self, ServerConfig},
    text::{self, MAX_FILE_BYTES, kind},
    tools::{self, ToolSettings},
};

/// What all files together say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Config {
    /// `tools.codeMode`.
    pub code_mode: CodeModeSettings,
    /// The rest of `tools`.
    pub tools: ToolSettings,
    /// `agents`.
    pub agents: Agents,
    /// `plugins.entries`, by plugin id.
    pub plugins: BTreeMap<String, PluginEntry>,
    /// `models`.
    pub models: Models,
    /// `serve`.
    pub serve: ServeSettings,
    /// The servers that could be read, in the order of the files; one name occurs once.
    pub servers: Vec<ServerConfig>,
}

/// A configuration and everything that is wrong with it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Loaded {
    /// What could be read.
    pub config: Config,
    /// What could not, or only in part, in the order it was found.
    pub problems: Vec<Problem>,
}

impl Loaded {
    /// The gravest severity, if there is any problem.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.problems.iter().map(|problem| problem.severity).max()
    }
}

/// What kind of file one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Ours: everything that [`Config`] holds.
    Own,
    /// Another host's: `mcpServers` or `servers`.
    Host,
}

/// A file to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Where it is.
    pub file: PathBuf,
    /// What kind it is.
    pub shape: Shape,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Where it was, for messages and relative paths.
    pub file: PathBuf,
    /// What kind it is.
    pub shape: Shape,
    /// Its content.
    pub text: String,
}

/// Reads files in the given order with the environment of this process; a later server of one name wins.
#[must_use]
pub fn load(sources: &[Source]) -> Loaded {
    let mut loaded = Loaded::default();
    for source in sources {
        match read_bounded(&source.file) {
            Ok(text) => {
                let document = Document {
                    file: source.file.clone(),
                    shape: source.shape,
                    text,
                };
                add(&document, &|name| std::env::var(name).ok(), &mut loaded);
            }
            Err(message) => loaded.problems.push(Problem {
                file: source.file.clone(),
                path: String::new(),
                severity: Severity::Error,
                message,
            }),
        }
    }
    loaded
}

/// Like [`load`], for texts already read and an environment of the caller's choice.
#[must_use]
pub fn load_documents(documents: &[Document], lookup: &dyn Fn(&str) -> Option<String>) -> Loaded {
    let mut loaded = Loaded::default();
    for document in documents {
        add(document, lookup, &mut loaded);
    }
    loaded
}

pub(super) fn read_bounded(file: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    fs::File::open(file)
        .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("is larger than {MAX_FILE_BYTES} bytes"));
    }
    String::from_utf8(bytes).map_err(|error| format!("is not UTF-8 text: {error}"))
}

fn add(document: &Document, lookup: &Lookup<'_>, loaded: &mut Loaded) {
    let Loaded { config, problems } = loaded;
    let mut report = Report {
        file: document.file.clone(),
        problems,
    };
    let root = match text::parse(&document.text) {
        Ok(Value::Object(root)) => root,
        Ok(other) => return report.error("", format!("expected an object, got {}", kind(&other))),
        Err(message) => return report.error("", message),
    };
    match document.shape {
        Shape::Own => own(&root, config, lookup, &mut report),
        Shape::Host => host(&root, config, lookup, &mut report),
    }
}

fn own(root: &Map<String, Value>, config: &mut Config, lookup: &Lookup<'_>, report: &mut Report<'_>) {
    for (key, value) in root {
        match (key.as_str(), value) {
            ("tools", Value::Object(tools)) => {
                if let Some(value) = tools.get("codeMode") {
                    code_mode::read(value, "tools.codeMode", &mut config.code_mode, report);
                }
                tools::read(value, "tools", &mut config.tools, report);
            }
            ("mcp", Value::Object(mcp)) => {
                for (key, value) in mcp {
                    if key == "servers" {
                        servers(value, "mcp.servers", config, lookup, report);
                    } else {
                        report.warning(&join("mcp", key), "unknown setting, ignored; known is servers");
                    }
                }
            }
            // Read below, over `tools`.
            ("agents", _) => {}
            ("plugins", value) => plugins::read(value, "plugins", &mut config.plugins, report),
            ("models", value) => providers::read(value, "models", &mut config.models, lookup, report),
            ("serve", value) => serve::read(value, "serve", &mut config.serve, lookup, report),
            ("tools" | "mcp", other) => {
                report.error(key, format!("expected an object, got {}", kind(other)));
            }
            ("mcpServers", value) => servers(value, "mcpServers", config, lookup, report),
            ("$schema", _) => {}
            _ => report.warning(
                &join("", key),
                "unknown setting, ignored; known are tools, agents, plugins, models, serve and mcp",
            ),
        }
    }
    if let Some(value) = root.get("agents") {
        agents::read(value, "agents", &config.code_mode, &mut config.agents, report);
    }
}

fn host(root: &Map<String, Value>, config: &mut Config, lookup: &Lookup<'_>, report: &mut Report<'_>) {
    let mut found = false;
    for key in ["mcpServers", "servers"] {
        if let Some(value) = root.get(key) {
            found = true;
            servers(value, key, config, lookup, report);
        }
    }
    if let Some(value) = root.get("mcp").and_then(|mcp| mcp.get("servers")) {
        found = true;
        servers(value, "mcp.servers", config, lookup, report);
    }
    if !found {
        report.error(
            "",
            "names no servers: expected a `mcpServers` or `servers` object",
        );
    }
}

fn servers(value: &Value, path: &str, config: &mut Config, lookup: &Lookup<'_>, report: &mut Report<'_>) {
    let Value::Object(entries) = value else {
        return report.error(
            path,
            format!("expected an object of servers by name, got {}", kind(value)),
        );
    };
    for (name, entry) in entries {
        let path = join(path, name);
        let Some(server) = server::read(name, entry, &path, lookup, report) else {
            continue;
        };
        if let Some(earlier) = config.servers.iter_mut().find(|known| known.name == server.name) {
            report.warning(
                &path,
                format!("server `{name}` was configured before: this entry replaces it"),
            );
            *earlier = server;
        } else {
            config.servers.push(server);
        }
    }
}
