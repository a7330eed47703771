//! The arguments of every command.
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Code mode for AI agents: two tools, exec and wait, in front of all your MCP servers.
#[derive(Debug, Parser)]
#[command(name = "codecell", version, subcommand_required = true, max_term_width = 100)]
#[command(after_help = "Start with `codecell demo`: it needs no set-up.")]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show what code mode does, with a bundled MCP server and three small programs
    ///
    /// Exits with 0 if every program ended as expected, with 1 otherwise.
    Demo,
    /// Serve exec and wait over MCP on standard input and output, in front of the configured servers
    ///
    /// This is the command to put into the configuration of Claude Code, Cursor, VS Code, Codex or any other MCP
    /// host. It ends when its input ends.
    Mcp(ConfigArgs),
    /// Serve agent turns, MCP and a view of what goes on, over HTTP
    ///
    /// Agent turns come over an API that clients of OpenAI's chat completions and responses speak; models and agents
    /// are those of the configuration. MCP is at /mcp. Prints its address when it is ready, and ends on Ctrl-C.
    Serve(ServeArgs),
    /// Run one agent turn: the model answers, calling tools as it likes
    ///
    /// The answer goes to standard output as it is written, what happens on the way to standard error. Exits with 0
    /// if the model was done, 1 if it was not, 64 on wrong usage and 130 on Ctrl-C. Questions that need a person can
    /// be answered with `codecell approvals` from another terminal.
    Agent(AgentArgs),
    /// Run one program and print its result as one line of JSON
    ///
    /// Exits with 0 if the program completed, 1 if it failed, 2 if it is waiting and 64 on wrong usage. A waiting
    /// program ends with this process, so use --wait to see it through.
    Exec(ExecArgs),
    /// List the tools of all configured servers, or search them
    Tools(ToolsArgs),
    /// Print the TypeScript declarations that programs see
    Decls(DeclsArgs),
    /// Check the configuration and every server, and count what the tools cost in tokens
    ///
    /// Exits with 0 if all is well and with 1 on configuration errors or failed servers.
    Doctor(DoctorArgs),
    /// List what waits for an approval, show it, and answer it
    ///
    /// Finds the questions of every Codecell process of this user.
    Approvals(ApprovalsArgs),
    /// The MCP server of the demo: a small shop with made-up data
    #[command(hide = true)]
    DemoServer,
}

/// Where the servers come from.
#[derive(Debug, Clone, Args)]
pub(super) struct ConfigArgs {
    /// Codecell's own configuration (JSON5); without this and --mcp-config, ./codecell.json5 or the one in the
    /// user's configuration folder is used, if there is one
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// A configuration as other hosts have it: `mcpServers` of Claude, Cursor, Windsurf; `servers` of VS Code.
    /// Can be given more than once; of servers with one name, the last wins
    #[arg(long, value_name = "FILE")]
    pub(super) mcp_config: Vec<PathBuf>,
    /// The agent of the configuration whose tools and limits count
    #[arg(long, value_name = "ID", default_value = "main")]
    pub(super) agent: String,
    /// Append what happens to this file, as JSON Lines, secrets taken out: cells, their calls, approvals
    #[arg(long, value_name = "FILE")]
    pub(super) trajectory: Option<PathBuf>,
}

/// Where transcripts lie.
#[derive(Debug, Clone, Args)]
pub(super) struct StateArgs {
    /// The folder of the transcripts; without it CODECELL_STATE_DIR, then the user's state folder
    #[arg(long = "state", value_name = "DIR")]
    pub(super) state: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// The address to listen on [default: serve.listen of the configuration, then 127.0.0.1:4860]; port 0 takes a
    /// free one
    #[arg(long, value_name = "ADDRESS")]
    pub(super) listen: Option<SocketAddr>,
    /// A file with the bearer token that callers must send; without it CODECELL_TOKEN, then serve.token of the
    /// configuration. Needed to listen where other machines can reach it
    #[arg(long, value_name = "FILE")]
    pub(super) token_file: Option<PathBuf>,
    #[command(flatten)]
    pub(super) state: StateArgs,
    #[command(flatten)]
    pub(super) config: ConfigArgs,
}

#[derive(Debug, Args)]
pub(super) struct AgentArgs {
    /// What to say to the agent, or - for standard input
    #[arg(value_name = "PROMPT")]
    pub(super) prompt: String,
    /// The session to go on with, or the name of a new one; without it every turn is a session of its own
    #[arg(long, value_name = "KEY")]
    pub(super) session: Option<String>,
    /// Another model than the agent's own
    #[arg(long, value_name = "PROVIDER/ID")]
    pub(super) model: Option<String>,
    /// Print one line of JSON at the end instead of the text
    #[arg(long)]
    pub(super) json: bool,
    /// Do not tell on standard error what happens
    #[arg(long)]
    pub(super) quiet: bool,
    #[command(flatten)]
    pub(super) state: StateArgs,
    #[command(flatten)]
    pub(super) config: ConfigArgs,
}

#[derive(Debug, Args)]
pub(super) struct ExecArgs {
    /// The file with the program, or - for standard input; a name ending in .ts means TypeScript
    #[arg(value_name = "FILE", conflicts_with = "code")]
    pub(super) program: Option<PathBuf>,
    /// The program itself
    #[arg(long, value_name = "TEXT")]
    pub(super) code: Option<String>,
    /// The language of the program
    #[arg(long, value_enum)]
    pub(super) language: Option<Language>,
    /// Keep resuming until the program completes or fails
    #[arg(long)]
    pub(super) wait: bool,
    /// The time limit of the program, and of each resumption, in milliseconds
    #[arg(long, value_name = "MS")]
    pub(super) timeout: Option<u64>,
    #[command(flatten)]
    pub(super) config: ConfigArgs,
}

/// The languages of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Language {
    Javascript,
    Typescript,
}

impl Language {
    /// The name that `exec` takes.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Javascript => "javascript",
            Self::Typescript => "typescript",
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct ToolsArgs {
    /// What to search for; without it, all tools are listed
    #[arg(value_name = "QUERY", num_args = 0..)]
    pub(super) query: Vec<String>,
    /// Print a JSON array of catalog entries
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) config: ConfigArgs,
}

#[derive(Debug, Args)]
pub(super) struct DeclsArgs {
    /// Only the declarations of this server
    #[arg(value_name = "SERVER")]
    pub(super) server: Option<String>,
    /// Write the files into this folder instead of printing them
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) config: ConfigArgs,
}

#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) config: ConfigArgs,
}

#[derive(Debug, Args)]
pub(super) struct ApprovalsArgs {
    #[command(subcommand)]
    pub(super) command: Option<ApprovalsCommand>,
    /// Print JSON instead of text
    #[arg(long, global = true)]
    pub(super) json: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum ApprovalsCommand {
    /// Show one question: the tool, its arguments, and the program that calls it
    Show {
        /// The id, or the beginning of it
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Let the call run
    Allow {
        /// The id, or the beginning of it
        #[arg(value_name = "ID")]
        id: String,
        /// And later calls of this tool by this agent, as long as that process lives
        #[arg(long)]
        always: bool,
    },
    /// Refuse the call; the program can catch that
    Deny {
        /// The id, or the beginning of it
        #[arg(value_name = "ID")]
        id: String,
    },
}
