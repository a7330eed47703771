//! A caller who came in, and what has to end with it.
use std::sync::Arc;

use codecell::Caller;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::door::{Door, Handler};
use crate::wiring::App;

/// How the cells of a caller are kept apart.
#[derive(Clone, Copy)]
pub(super) enum Runs {
    /// All are of one run: the connection is the agent's run.
    Shared,
    /// Every cell is a run of its own, as is every direct call. Without a session there is nothing that begins or ends,
    /// and what counts per run, such as the guard against loops, must not add up what different people do.
    Apart,
}

impl Runs {
    /// On whose behalf the next call is made.
    pub(super) fn next(self, caller: &Caller) -> Caller {
        let mut next = caller.clone();
        if let Self::Apart = self {
            next.run = Uuid::new_v4().to_string();
        }
        next
    }
}

/// One caller: its session, and everything that was started for it.
pub(crate) struct Visit {
    door: Door,
}

impl Visit {
    /// Somebody comes in over a connection of its own.
    ///
    /// # Errors
    ///
    /// Fails when the trajectory cannot be written.
    pub(crate) fn begin(app: &Arc<App>) -> anyhow::Result<Self> {
        Self::with(app, Runs::Shared)
    }

    /// All those who come in without a connection or a session. They cannot be told apart.
    ///
    /// # Errors
    ///
    /// Fails when the trajectory cannot be written.
    pub(crate) fn of_everybody(app: &Arc<App>) -> anyhow::Result<Self> {
        Self::with(app, Runs::Apart)
    }

    fn with(app: &Arc<App>, runs: Runs) -> anyhow::Result<Self> {
        let caller = app.caller();
        let handler = Handler {
            app: Arc::clone(app),
            record: app.shared.record(&caller)?,
            caller,
            runs,
            abort: CancellationToken::new(),
            gone: CancellationToken::new(),
            servers_awaited: Arc::default(),
            initialized: Arc::default(),
            waiting: Arc::default(),
        };
        Ok(Self {
            door: Door { handler },
        })
    }

    /// What answers its requests.
    pub(crate) fn door(&self) -> Door {
        self.door.clone()
    }

    /// Fires when nothing but answers can be sent to it any more.
    pub(crate) fn gone(&self) -> CancellationToken {
        self.door.handler.gone.clone()
    }

    /// Fires when everything of it has to end.
    pub(crate) fn aborted(&self) -> CancellationToken {
        self.door.handler.abort.clone()
    }

    /// Ends everything that was started for it, suspended cells included.
    pub(crate) async fn end(self) {
        let handler = self.door.handler;
        handler.gone.cancel();
        handler.abort.cancel();
        handler.app.shared.end_session(&handler.caller.session);
        if let Some(record) = handler.record {
            record.close().await;
        }
    }
}
