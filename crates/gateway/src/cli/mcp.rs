//! `codecell mcp` and `codecell demo-server`: MCP servers on standard input and output.
use std::process::ExitCode;
use std::sync::Arc;

use codecell_plugins::Plugin;
use rmcp::ServiceExt;
use rmcp::transport::stdio_pipes;

use super::args::ConfigArgs;
use super::setup::{Setup, stop_signal};
use crate::demo::ShopServer;
use crate::doors::{Stdio, serve_stdio};
use crate::wiring::Channel;

/// Serves one host until it closes its side or asks the process to end.
pub(super) async fn run(args: ConfigArgs, plugins: &[Arc<dyn Plugin>]) -> anyhow::Result<ExitCode> {
    let stop = stop_signal();
    let setup = Setup::read(&args);
    setup.complain();
    let app = Arc::new(setup.app(&args, Channel::Mcp, plugins)?);
    // The first cell should not pay for loading the engine; the servers load meanwhile as well.
    tokio::spawn({
        let app = Arc::clone(&app);
        async move {
            if let Err(error) = app.shared.engine().await {
                tracing::error!(%error, "the guest engine cannot be loaded, every cell will fail");
            }
        }
    });
    let _desk = app.shared.open_desk();
    let (read, write) = stdio_pipes();
    let ended = serve_stdio(&app, Stdio::new(read, write), stop).await;
    app.shared.shutdown().await;
    ended?;
    Ok(ExitCode::SUCCESS)
}

/// Serves the demo's shop until its client closes the connection or asks the process to end.
pub(super) async fn demo_server() -> anyhow::Result<ExitCode> {
    let stop = stop_signal();
    let (read, write) = stdio_pipes();
    match ShopServer::new()?
        .serve_with_ct(Stdio::new(read, write), stop)
        .await
    {
        Ok(service) => {
            service.waiting().await?;
        }
        Err(error) => tracing::debug!(%error, "the connection ended before the handshake"),
    }
    Ok(ExitCode::SUCCESS)
}
