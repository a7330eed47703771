//! The read-only files behind `API.list` and `API.read`.

use std::sync::{Arc, OnceLock};

use codecell_catalog::{Catalog, schema::comment};
use codecell_mcp_decls::{ServerSummary, index_file};
use serde_json::{Value, json};

use crate::server::Server;

/// Longest path that an error repeats.
const MAX_SHOWN_CHARS: usize = 120;

const INDEX: &str = "mcp/index.d.ts";

/// Why a path was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApiPathError {
    /// Empty, or with an empty, `.` or `..` segment: the caller takes a path that `API.list` shows.
    #[error("invalid API file path: `{path}`")]
    Invalid {
        /// What was asked for, shortened.
        path: String,
    },
    /// No such file.
    #[error("unknown API file: `{path}`; API.list(\"mcp\") lists {files} files{}", nearest.as_ref().map(|path| format!(", such as `{path}`")).unwrap_or_default())]
    Unknown {
        /// What was asked for, shortened.
        path: String,
        /// How many files there are.
        files: usize,
        /// A file of about that name.
        nearest: Option<String>,
    },
}

/// One kind of file.
#[derive(Clone, Copy)]
enum File<'a> {
    Index,
    Declarations(&'a Server),
    Schemas(&'a Server),
}

/// The declaration files of one catalog, rendered when first asked for.
#[derive(Debug)]
pub struct ApiFiles {
    catalog: Arc<Catalog>,
    servers: Vec<Server>,
    index: OnceLock<String>,
}

impl ApiFiles {
    pub(crate) fn new(catalog: Arc<Catalog>, servers: Vec<Server>) -> Self {
        Self {
            catalog,
            servers,
            index: OnceLock::new(),
        }
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    pub(crate) fn servers(&self) -> &[Server] {
        &self.servers
    }

    pub(crate) fn index(&self) -> &str {
        self.index.get_or_init(|| {
            let servers: Vec<ServerSummary<'_>> = self.servers.iter().map(Server::summary).collect();
            index_file(&servers)
        })
    }

    /// The files at or below `prefix` (whole segments), as an array of `{ path, description, bytes }`; empty
    /// when there are none.
    #[must_use]
    pub fn list(&self, prefix: Option<&str>) -> Value {
        let prefix = prefix.unwrap_or_default().trim_matches('/');
        let below = |path: &str| {
            prefix.is_empty()
                || path
                    .strip_prefix(prefix)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.all()
            .filter(|file| below(&path(*file)))
            .map(|file| {
                json!({ "path": path(file), "description": description(file), "bytes": self.bytes(file) })
            })
            .collect()
    }

    /// The text of one file.
    ///
    /// # Errors
    ///
    /// Fails when the path is malformed or no file has it.
    pub fn read(&self, path: &str) -> Result<String, ApiPathError> {
        let wanted = path.trim_start_matches('/');
        let shown = || comment(path, MAX_SHOWN_CHARS);
        if wanted
            .split('/')
            .any(|segment| matches!(segment, "" | "." | ".."))
        {
            return Err(ApiPathError::Invalid { path: shown() });
        }
        match self.find(wanted) {
            Some(File::Index) => Ok(self.index().to_owned()),
            Some(File::Declarations(server)) => Ok(server.declarations(&self.catalog).to_owned()),
            Some(File::Schemas(server)) => Ok(server.schemas(&self.catalog)),
            None => Err(ApiPathError::Unknown {
                path: shown(),
                files: self.all().count(),
                nearest: self.nearest(wanted),
            }),
        }
    }

    fn all(&self) -> impl Iterator<Item = File<'_>> {
        let servers = self
            .servers
            .iter()
            .flat_map(|server| [File::Declarations(server), File::Schemas(server)]);
        std::iter::once(File::Index)
            .filter(|_| !self.servers.is_empty())
            .chain(servers)
    }

    fn find(&self, wanted: &str) -> Option<File<'_>> {
        self.all().find(|file| path(*file) == wanted)
    }

    fn bytes(&self, file: File<'_>) -> usize {
        match file {
            File::Index => self.index().len(),
            File::Declarations(server) => server.declarations(&self.catalog).len(),
            File::Schemas(server) => server.schema_bytes(&self.catalog),
        }
    }

    /// The file of a server that was meant by its configured name, a missing suffix or another case.
    fn nearest(&self, wanted: &str) -> Option<String> {
        let letters = |text: &str| -> String {
            text.chars()
                .filter(|ch| ch.is_alphanumeric())
                .flat_map(char::to_lowercase)
                .take(MAX_SHOWN_CHARS)
                .collect()
        };
        let last = wanted.rsplit('/').next().unwrap_or(wanted);
        let asked = letters(last.split('.').next().unwrap_or(last));
        self.servers
            .iter()
            .find(|server| letters(&server.identifier) == asked || letters(&server.info.name) == asked)
            .map(|server| path(File::Declarations(server)))
    }
}

fn path(file: File<'_>) -> String {
    match file {
        File::Index => INDEX.to_owned(),
        File::Declarations(server) => format!("mcp/{}.d.ts", server.identifier),
        File::Schemas(server) => format!("mcp/{}.schema.json", server.identifier),
    }
}

fn description(file: File<'_>) -> String {
    match file {
        File::Index => "Types shared by all servers, and the servers".to_owned(),
        File::Declarations(server) => {
            let (name, count) = (comment(&server.info.name, MAX_SHOWN_CHARS), server.methods.len());
            let remark = if server.remark().is_empty() {
                String::new()
            } else {
                format!(" ({})", server.remark())
            };
            format!(
                "Declarations of {name}: {count} tool{}{remark}",
                if count == 1 { "" } else { "s" }
            )
        }
        File::Schemas(server) => {
            format!(
                "JSON Schemas of {} as received, by method",
                comment(&server.info.name, MAX_SHOWN_CHARS)
            )
        }
    }
}
