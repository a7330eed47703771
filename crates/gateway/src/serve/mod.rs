//! `codecell serve`: MCP, agent turns over an OpenAI-compatible API, and what an operator looks at, over HTTP.
//!
//! Everything in here turns requests into calls of the modules below and their answers into responses. What a turn is,
//! and what a cell may do, is settled there.
mod approvals;
mod cors;
mod error;
mod front;
mod mcp;
mod metrics;
mod openai;
mod ops;
mod path;
mod sessions;
mod trajectory;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::extract::connect_info::Connected;
use axum::middleware::from_fn_with_state;
use axum::serve::{IncomingStream, Listener};
use codecell::tools::RouteGuard;
use futures_util::FutureExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

pub(crate) use self::front::{Front, Token};
use self::mcp::Mcp;
use self::metrics::HttpCounts;
use crate::turns::Turns;
use crate::wiring::App;

/// How long running turns may go on after the process was asked to end.
const GRACE: Duration = Duration::from_secs(10);

/// How long connections may take to end once nothing runs any more.
const LINGER: Duration = Duration::from_secs(2);

/// Everything that requests need.
pub(crate) struct Gateway {
    pub(crate) turns: Turns,
    /// What `/mcp` serves.
    pub(crate) mcp: Arc<App>,
    /// Who came in there.
    pub(crate) mcp_door: Arc<Mcp>,
    pub(crate) front: Front,
    pub(crate) started: Instant,
    pub(crate) http: HttpCounts,
    /// Fires when the process is asked to end: nothing new begins.
    pub(crate) stopping: CancellationToken,
    /// Fires when every connection has to end.
    pub(crate) closing: CancellationToken,
    /// People answer questions over this API as well.
    _route: RouteGuard,
}

impl Gateway {
    pub(crate) fn new(turns: Turns, mcp: Arc<App>, front: Front) -> Arc<Self> {
        let (stopping, closing) = (CancellationToken::new(), CancellationToken::new());
        Arc::new(Self {
            _route: mcp.shared.approvals.add_route(),
            turns,
            mcp_door: Arc::new(Mcp::new(Arc::clone(&mcp), stopping.clone(), closing.clone())),
            mcp,
            front,
            started: Instant::now(),
            http: HttpCounts::default(),
            stopping,
            closing,
        })
    }
}

/// All routes.
fn router(gateway: &Arc<Gateway>) -> Router {
    Router::new()
        .merge(openai::routes())
        .merge(ops::routes())
        .merge(metrics::routes())
        .merge(mcp::routes())
        .fallback(error::unknown_route)
        .method_not_allowed_fallback(error::wrong_method)
        .layer(DefaultBodyLimit::max(gateway.front.max_body_bytes))
        .layer(from_fn_with_state(Arc::clone(gateway), front::admit))
        .layer(from_fn_with_state(Arc::clone(gateway), metrics::count))
        .with_state(Arc::clone(gateway))
}

/// Serves until `stop` fires; then lets running turns end, aborts the rest, and returns when no connection is left.
/// `hurry` cuts that short.
///
/// As long as turns run it goes on to answer, so that one can see what is still going on; only nothing new begins.
///
/// # Errors
///
/// Fails when the listener does.
pub(crate) async fn serve(
    listener: TcpListener,
    gateway: Arc<Gateway>,
    stop: CancellationToken,
    hurry: CancellationToken,
) -> anyhow::Result<()> {
    let service = router(&gateway).into_make_service_with_connect_info::<Arrival>();
    let closing = gateway.closing.clone().cancelled_owned();
    let serving = axum::serve(Door(listener), service).with_graceful_shutdown(closing);
    let winding_down = async {
        stop.cancelled().await;
        gateway.stopping.cancel();
        let grace = async {
            tokio::select! {
                () = tokio::time::sleep(GRACE) => {}
                () = hurry.cancelled() => {}
            }
        };
        let grace = grace.shared();
        let calls = async {
            tokio::select! {
                () = gateway.mcp_door.quiet() => {}
                () = grace.clone() => {}
            }
        };
        tokio::join!(gateway.turns.close(grace.clone()), calls);
        gateway.closing.cancel();
        tokio::time::sleep(LINGER).await;
    };
    tokio::select! {
        served = serving => served?,
        () = winding_down => tracing::debug!("connections were still open at the end"),
    }
    gateway.mcp_door.ended().await;
    Ok(())
}

/// A listener whose connections send what they have at once: events are small and must not wait for more of them.
struct Door(TcpListener);

impl Listener for Door {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        let (stream, client) = Listener::accept(&mut self.0).await;
        // Without it answers only come later.
        let _ = stream.set_nodelay(true);
        (stream, client)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

/// Where a connection arrived.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    /// The address of this machine that the client reached, if the system knows it.
    address: Option<IpAddr>,
}

impl Connected<IncomingStream<'_, Door>> for Arrival {
    fn connect_info(stream: IncomingStream<'_, Door>) -> Self {
        let address = stream.io().local_addr().ok();
        Self {
            address: address.map(|address| address.ip()),
        }
    }
}
