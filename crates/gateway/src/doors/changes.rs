//! News of the tool list.
use std::sync::Arc;

use tokio::sync::watch;

use crate::wiring::{App, VisibleTool};

/// Waits for the tool list to become another.
pub(super) struct ListChanges {
    app: Arc<App>,
    generation: watch::Receiver<u64>,
    known: Arc<Vec<VisibleTool>>,
}

impl ListChanges {
    pub(super) fn of(app: &Arc<App>) -> Self {
        Self {
            generation: app.shared.upstreams.watch(),
            known: Arc::clone(&app.view().visible),
            app: Arc::clone(app),
        }
    }

    /// True when the list has changed, false when it cannot any more.
    pub(super) async fn next(&mut self) -> bool {
        while self.generation.changed().await.is_ok() {
            let now = self.app.view();
            let same = now.visible.len() == self.known.len()
                && now
                    .visible
                    .iter()
                    .zip(&*self.known)
                    .all(|(now, known)| now.looks_like(known));
            if !same {
                self.known = Arc::clone(&now.visible);
                return true;
            }
        }
        false
    }
}
