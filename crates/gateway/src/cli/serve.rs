//! `codecell serve`: MCP, agent turns and what an operator looks at, over HTTP.
use std::env;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use codecell_plugins::Plugin;
use codecell_sessions::Sessions;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::args::ServeArgs;
use super::output;
use super::setup::{Setup, block, costs_all_models, open_sessions, stop_signals};
use crate::config::{AgentSettings, ServeSettings};
use crate::serve::{Front, Gateway, Token, serve};
use crate::turns::{Agents, Turns};
use crate::wiring::{App, Channel, Shared};

/// Where it listens unless told otherwise: out of reach of other machines.
pub(super) const DEFAULT_LISTEN: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 4860);

/// Where the token is looked for if no file is named.
pub(super) const TOKEN_VARIABLE: &str = "CODECELL_TOKEN";

/// Serves until the process is asked to end.
pub(super) async fn run(args: ServeArgs, plugins: &[Arc<dyn Plugin>]) -> anyhow::Result<ExitCode> {
    let (stop, hurry) = stop_signals();
    let setup = Setup::read(&args.config);
    setup.complain();
    let settings = &setup.loaded.config.serve;
    let token = token(args.token_file.as_deref(), settings)?;
    // A token that cannot be read is missed only if no other is given.
    let needed = |path: &str| match path {
        "serve.token" => token.is_none(),
        path => block(path) == "serve" || costs_all_models(path),
    };
    if let Some(problem) = setup.fatal(needed) {
        bail!("the configuration cannot be used: {problem}");
    }
    let listen = args.listen.or(settings.listen).unwrap_or(DEFAULT_LISTEN);
    if token.is_none() && !listen.ip().is_loopback() {
        bail!(
            "listening on {listen} lets other machines in, so a token is needed: give it with --token-file, in \
             CODECELL_TOKEN or as `serve.token`"
        );
    }
    let front = Front {
        token,
        allowed_hosts: settings.allowed_hosts.clone(),
        allowed_origins: settings.allowed_origins.clone(),
        max_body_bytes: usize::try_from(settings.max_body_bytes).unwrap_or(usize::MAX),
    };
    let sessions = open_sessions(args.state.state.as_deref()).await?;
    // Before anything is started: an address that is taken should cost nothing.
    let listener = TcpListener::bind(listen)
        .await
        .with_context(|| format!("cannot listen on {listen}"))?;
    let config = &setup.loaded.config;
    let agent = config
        .agents
        .agent(&args.config.agent, &config.code_mode, &config.tools.sandbox)?;
    let shared = setup.shared(&args.config, plugins)?;
    let served = serve_shared(&setup, &shared, agent, sessions, front, listener, (stop, hurry)).await;
    shared.shutdown().await;
    served?;
    Ok(ExitCode::SUCCESS)
}

/// Puts the doors in front of what was started, and serves.
async fn serve_shared(
    setup: &Setup,
    shared: &Arc<Shared>,
    agent: AgentSettings,
    sessions: Sessions,
    front: Front,
    listener: TcpListener,
    (stop, hurry): (CancellationToken, CancellationToken),
) -> anyhow::Result<()> {
    let mcp = Arc::new(App::new(Arc::clone(shared), agent, Channel::Mcp)?);
    let agents = Agents::new(Arc::clone(shared), &setup.loaded.config, Channel::Http);
    let turns = Turns::new(agents, sessions, shared.trajectory()?);
    // The first cell should not pay for loading the engine; the servers load meanwhile as well.
    tokio::spawn({
        let shared = Arc::clone(shared);
        async move {
            if let Err(error) = shared.engine().await {
                tracing::error!(%error, "the guest engine cannot be loaded, every cell will fail");
            }
        }
    });
    let _desk = shared.open_desk();
    let at = listener.local_addr().context("the listener has no address")?;
    if let Err(error) = output::print(&format!("codecell serves on http://{at}")) {
        tracing::warn!(%error, "nobody reads standard output");
    }
    serve(listener, Gateway::new(turns, mcp, front), stop, hurry).await
}

/// The token: from the file that was named, or the environment, or the configuration.
fn token(file: Option<&Path>, settings: &ServeSettings) -> anyhow::Result<Option<Token>> {
    if let Some(file) = file {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read the token file `{}`", file.display()))?;
        let token =
            Token::new(&text).with_context(|| format!("the token file `{}` is empty", file.display()))?;
        return Ok(Some(token));
    }
    let given = env::var(TOKEN_VARIABLE).ok().and_then(|text| Token::new(&text));
    Ok(given.or_else(|| {
        settings
            .token
            .as_ref()
            .and_then(|token| Token::new(token.expose()))
    }))
}
