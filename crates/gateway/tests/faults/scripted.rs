//! MCP servers in a few lines of shell, so that a fault is written where it is tested.
use std::{fs, time::Duration};

use codecell_gateway::{
    config::{Secret, ServerConfig, Transport},
    upstream::{CallError, CallOptions, Upstreams},
};
use serde_json::{Value, json, value::RawValue};

use crate::support::eventually;

/// What a server does where a test says nothing else. Only the first call meets `fault`.
const MANNERS: &str = r#"
say() { printf '%s\n' "$1"; }
answer() { say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
refuse() { say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32000,\"message\":\"no\"}}"; }
flood() { head -c "$1" /dev/zero | tr '\0' x; }
first() { if [ -e "$1" ]; then return 1; else : > "$1"; fi; }
start() { :; }
finish() { :; }
discover() { refuse; }
initialize() { answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}}}'; }
list() { answer '{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}'; }
fault() { well; }
well() { answer '{"content":[]}'; }
call() { if first called; then fault; else well; fi; }
"#;

const SERVICE: &str = r#"
echo "start $$" >> log
start
while IFS= read -r line; do
  id=${line#*\"id\":}
  id=${id%%,*}
  case $line in
    *'"method":"server/discover"'*) method=discover ;;
    *'"method":"initialize"'*) method=initialize ;;
    *'"method":"tools/list"'*) method=list ;;
    *'"method":"tools/call"'*) method=call ;;
    *'"method":"notifications/cancelled"'*) echo cancelled >> log; continue ;;
    *) continue ;;
  esac
  echo "$method" >> log
  "$method"
done
finish
"#;

/// A folder with a server and its log. The server's functions run in that folder.
pub(crate) struct Scripted {
    folder: tempfile::TempDir,
}

impl Scripted {
    /// A server that does as these functions say, and behaves well otherwise.
    pub(crate) fn new(functions: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = [MANNERS, functions, "\n", SERVICE].concat();
        fs::write(folder.path().join("server.sh"), script).unwrap();
        Self { folder }
    }

    pub(crate) fn config(&self, name: &str) -> ServerConfig {
        let transport = Transport::Stdio {
            command: "/bin/sh".to_owned(),
            args: vec![Secret::new("server.sh")],
            env: Default::default(),
            cwd: Some(self.folder.path().to_owned()),
        };
        ServerConfig::new(name, transport)
    }

    /// As [`config`](Self::config), with this limit for every request.
    pub(crate) fn hasty(&self, name: &str, limit: Duration) -> ServerConfig {
        let mut config = self.config(name);
        config.request_timeout = limit;
        config
    }

    /// Its entry in a configuration file.
    pub(crate) fn entry(&self) -> Value {
        json!({ "command": "/bin/sh", "args": ["server.sh"], "cwd": self.folder.path() })
    }

    pub(crate) fn log(&self) -> Vec<String> {
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// The processes that were started.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let log = self.log();
        let starts = log.iter().filter_map(|line| line.strip_prefix("start "));
        starts.map(|id| id.parse().unwrap()).collect()
    }

    /// Waits until the server has seen this.
    pub(crate) async fn until(&self, line: &str) {
        eventually(line, || self.log().iter().any(|seen| seen == line)).await;
    }
}

/// Calls the tool of a server.
pub(crate) async fn call(upstreams: &Upstreams, server: &str) -> Result<String, CallError> {
    call_with(upstreams, server, "{}", CallOptions::default()).await
}

pub(crate) async fn call_with(
    upstreams: &Upstreams,
    server: &str,
    arguments: &str,
    options: CallOptions,
) -> Result<String, CallError> {
    let arguments = RawValue::from_string(arguments.to_owned()).unwrap();
    let result = upstreams.call_tool(server, "echo", &arguments, options).await;
    result.map(|result| result.get().to_owned())
}

/// What became of a call, in words.
pub(crate) fn told(outcome: Result<String, CallError>) -> String {
    match outcome {
        Ok(result) => result,
        Err(error) if error.in_doubt() => format!("in doubt: {error}"),
        Err(error) => error.to_string(),
    }
}
