use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde_json::{Map, Value};

use super::{
    entry::Entry,
    expand::Lookup,
    glob::Globs,
    problem::{Report, join},
    secret::Secret,
    text::kind,
};

/// Longest server name: it becomes part of tool ids and file names.
const MAX_NAME_CHARS: usize = 128;

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// A child process that speaks over its standard streams.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments; people put tokens here too.
        args: Vec<Secret>,
        /// Variables set beside the short inherited environment.
        env: BTreeMap<String, Secret>,
        /// Its working directory.
        cwd: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http {
        /// The endpoint, which may carry a token in its query.
        url: Secret,
        /// Headers sent with every request.
        headers: BTreeMap<String, Secret>,
    },
}

/// Which tools stay visible to the model instead of going into the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DirectOnly {
    /// Every tool of the server.
    All,
    /// Those whose name matches; an empty list is none.
    Matching(Globs),
}

/// One server, ready to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Its name, free text.
    pub name: String,
    /// How it is reached.
    pub transport: Transport,
    /// Switched off by the user: listed, never started.
    pub disabled: bool,
    /// If present, only matching tools exist.
    pub allow: Option<Globs>,
    /// Matching tools do not exist, allowed or not.
    pub deny: Globs,
    /// Which tools stay visible to the model.
    pub direct_only: DirectOnly,
    /// What it is told when it asks the user something.
    pub elicitation: Elicitation,
    /// Time for the process to start and shake hands.
    pub startup_timeout: Duration,
    /// Time for one request.
    pub request_timeout: Duration,
}

/// What a server is told when it asks the user to fill in a form. Nobody is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Elicitation {
    /// No.
    #[default]
    Decline,
    /// The form's own defaults, if every field that is required has one; otherwise no.
    Defaults,
}

impl ServerConfig {
    /// A server with the default limits and no filters.
    #[must_use]
    pub fn new(name: impl Into<String>, transport: Transport) -> Self {
        Self {
            name: name.into(),
            transport,
            disabled: false,
            allow: None,
            deny: Globs::default(),
            direct_only: DirectOnly::Matching(Globs::default()),
            elicitation: Elicitation::default(),
            startup_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(60),
        }
    }

    /// Whether a tool of this name exists as far as the filters go.
    #[must_use]
    pub fn permits(&self, tool: &str) -> bool {
        self.allow.as_ref().is_none_or(|allow| allow.matches(tool)) && !self.deny.matches(tool)
    }

    /// Whether a tool of this name stays visible to the model.
    #[must_use]
    pub fn is_direct_only(&self, tool: &str) -> bool {
        match &self.direct_only {
            DirectOnly::All => true,
            DirectOnly::Matching(globs) => globs.matches(tool),
        }
    }
}

/// Keys other hosts use that change nothing here.
const FOREIGN: [&str; 12] = [
    "alwaysAllow",
    "autoApprove",
    "default_tools_approval_mode",
    "description",
    "dev",
    "gallery",
    "icon",
    "name",
    "supportsParallelToolCalls",
    "tools",
    "trust",
    "version",
];

/// Keys whose meaning would be missed.
const UNSUPPORTED: [(&str, &str); 7] = [
    (
        "auth",
        "signing in is not supported yet: put the token into `headers`",
    ),
    ("bearer_token", "is not read: put `Authorization` into `headers`"),
    (
        "bearer_token_env_var",
        "is not read: put `Authorization: Bearer ${env:NAME}` into `headers`",
    ),
    ("clientCert", "client certificates are not supported"),
    ("headersHelper", "is not run: put the headers into `headers`"),
    (
        "oauth",
        "signing in is not supported yet: put the token into `headers`",
    ),
    ("sslVerify", "certificates are always verified"),
];

/// Variables that make an interpreter load other code. They are the user's own wish, but worth seeing.
const HOOKS: [&str; 7] = [
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "DYLD_INSERT_LIBRARIES",
    "NODE_OPTIONS",
    "PYTHONSTARTUP",
    "PERL5OPT",
    "RUBYOPT",
];

/// Reads one entry; `None` means that the server is lost and the report says why.
pub(super) fn read(
    name: &str,
    value: &Value,
    path: &str,
    lookup: &Lookup<'_>,
    report: &mut Report<'_>,
) -> Option<ServerConfig> {
    if name.trim().is_empty() || name.chars().count() > MAX_NAME_CHARS || name.chars().any(char::is_control) {
        report.error(
            path,
            format!("a server name has 1 to {MAX_NAME_CHARS} characters and no control characters"),
        );
        return None;
    }
    let Value::Object(map) = value else {
        report.error(
            path,
            format!("expected an object with `command` or `url`, got {}", kind(value)),
        );
        return None;
    };
    let mut entry = Entry::new(map, path, lookup, report);
    let switches = (entry.switch(&["disabled"]), entry.switch(&["enabled"]));
    let disabled = matches!(switches, (Some(Some(true)), _) | (_, Some(Some(false))));
    let filter = entry.filters("toolFilter");
    let mut allow = entry.globs(&["allow", "includeTools", "enabled_tools", "allowedTools"]);
    let mut deny = entry.globs(&["deny", "excludeTools", "disabled_tools", "disabledTools"]);
    if let Some(Some((filter_path, filter))) = &filter {
        let mut inner = Entry::new(filter, filter_path, lookup, entry.report());
        let (include, exclude) = (inner.globs(&["include"]), inner.globs(&["exclude"]));
        inner.finish(&[], &[]);
        allow = allow.and_then(|allow| include.map(|include| allow.or(include)));
        deny = deny.and_then(|deny| exclude.map(|exclude| deny.or(exclude)));
    }
    let direct_only = match entry.switch_or_globs("directOnly") {
        Some(Ok(true)) => DirectOnly::All,
        Some(Err(globs)) => DirectOnly::Matching(globs),
        Some(Ok(false)) | None => DirectOnly::Matching(Globs::default()),
    };
    let elicitation = match entry.string(&["elicitation"]).as_deref() {
        None | Some("decline") => Elicitation::Decline,
        Some("defaults") => Elicitation::Defaults,
        Some(_) => {
            entry.warn(
                "elicitation",
                "expected `decline` or `defaults`, so questions are declined",
            );
            Elicitation::Decline
        }
    };
    let startup_timeout = entry
        .duration(
            &["startupTimeoutMs", "connectionTimeoutMs"],
            "startup_timeout_sec",
            100..=600_000,
        )
        .unwrap_or(Duration::from_secs(30));
    let request_timeout = entry
        .duration(
            &["requestTimeoutMs", "timeout"],
            "tool_timeout_sec",
            100..=3_600_000,
        )
        .unwrap_or(Duration::from_secs(60));
    // A switched-off server is listed whatever else is wrong with its entry: unset variables would be noise.
    let transport = if disabled {
        quietly(map, path, lookup, &mut entry)
    } else {
        transport(&mut entry)
    };
    entry.finish(&FOREIGN, &UNSUPPORTED);
    // Everything is read by now, so that all that is wrong is reported at once.
    let (_, _, _) = (switches.0?, switches.1?, filter?);
    Some(ServerConfig {
        name: name.to_owned(),
        transport: transport?,
        disabled,
        allow: allow?,
        deny: deny?.unwrap_or_default(),
        direct_only,
        elicitation,
        startup_timeout,
        request_timeout,
    })
}

/// The transport of a switched-off server, which is never used: what is wrong with it is not reported.
fn quietly(
    map: &Map<String, Value>,
    path: &str,
    lookup: &Lookup<'_>,
    entry: &mut Entry<'_, '_>,
) -> Option<Transport> {
    let mut ignored = Vec::new();
    let mut report = Report {
        file: PathBuf::new(),
        problems: &mut ignored,
    };
    let mut shadow = Entry::new(map, path, lookup, &mut report);
    let found = transport(&mut shadow);
    entry.know(shadow.seen());
    Some(found.unwrap_or(Transport::Stdio {
        command: String::new(),
        args: Vec::new(),
        env: BTreeMap::new(),
        cwd: None,
    }))
}

enum Kind {
    Stdio,
    Http,
}

fn transport(entry: &mut Entry<'_, '_>) -> Option<Transport> {
    let wanted = match entry.string(&["type", "transport"]).as_deref() {
        None => None,
        Some("stdio" | "local") => Some(Kind::Stdio),
        Some("http" | "streamable-http" | "streamable_http" | "streamableHttp" | "remote") => {
            Some(Kind::Http)
        }
        Some("sse") => {
            entry.fail("type", "the old `sse` transport is not supported: use the server's streamable HTTP endpoint with `type: \"http\"`");
            return None;
        }
        Some(other) => {
            let message = format!("unknown type `{other}`: expected `stdio` or `http`");
            entry.fail("type", &message);
            return None;
        }
    };
    let has_command = entry.has(&["command"]);
    let has_url = entry.has(&URLS);
    match (wanted, has_command, has_url) {
        (Some(Kind::Stdio), false, _) => entry.fail("command", "is missing: a stdio server needs a program"),
        (Some(Kind::Http), _, false) => entry.fail("url", "is missing: an http server needs its endpoint"),
        (None, false, false) => entry.fail("", "has neither `command` nor `url`"),
        (Some(Kind::Http), _, true) | (None, false, true) => return http(entry),
        (None, true, true) => {
            entry.warn("url", "is ignored, because `command` makes this a stdio server");
            return stdio(entry);
        }
        (Some(Kind::Stdio) | None, true, _) => return stdio(entry),
    }
    None
}

/// The endpoint under the names that hosts give it.
const URLS: [&str; 5] = ["url", "httpUrl", "serverUrl", "baseUrl", "uri"];

fn stdio(entry: &mut Entry<'_, '_>) -> Option<Transport> {
    let (command, mut args) = entry.command()?;
    args.extend(entry.texts("args")?);
    let from_file = entry.env_file()?;
    let mut env = from_file;
    let own = entry.secrets(&["env", "environment"])?;
    for name in own.keys().chain(env.keys()) {
        if HOOKS.contains(&name.as_str()) {
            entry.remark(
                &join("env", name),
                "makes the server's interpreter load other code; passed on as written",
            );
        }
    }
    env.extend(own);
    let cwd = entry.folder(&["cwd", "workingDirectory"])?;
    // Known to be irrelevant here, so that they are not called unknown.
    entry.know(
        [URLS.as_slice(), &["headers"]]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect(),
    );
    Some(Transport::Stdio {
        command,
        args,
        env,
        cwd,
    })
}

fn http(entry: &mut Entry<'_, '_>) -> Option<Transport> {
    let url = entry.expanded(&URLS)?;
    if !(url.starts_with("http://") || url.starts_with("https://")) {
        entry.fail("url", "does not start with `http://` or `https://`");
        return None;
    }
    let headers = entry.secrets(&["headers", "http_headers"])?;
    entry.know(["command", "args", "env", "cwd"].map(str::to_owned).to_vec());
    Some(Transport::Http {
        url: Secret::new(url),
        headers,
    })
}
