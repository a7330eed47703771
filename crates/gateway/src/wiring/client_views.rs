//! Views with the tools of an application, kept for its next turn.
//!
//! An application sends its tools with every request, nearly always the same ones, and a catalog of thousands of tools
//! takes longer to build than many a turn.
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use codecell::ToolSpec;
use tokio::sync::OnceCell;

use super::view::View;

/// Sets of tools whose views are kept: each is a whole catalog.
const MAX_KEPT: usize = 4;

/// A view, once somebody has built it. Who comes meanwhile waits for it.
pub(super) type Place = Arc<OnceCell<Arc<View>>>;

/// The views that were asked for last, in front the last one.
#[derive(Default)]
pub(super) struct ClientViews(Mutex<VecDeque<Kept>>);

struct Kept {
    /// Of the servers.
    generation: u64,
    /// The application's tools.
    tools: Vec<ToolSpec>,
    view: Place,
}

impl ClientViews {
    /// Where the view with these tools is, or has to be built.
    pub(super) fn place(&self, generation: u64, tools: &[ToolSpec]) -> Place {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // What the servers had before nobody asks for again.
        kept.retain(|one| one.generation >= generation);
        let found = kept
            .iter()
            .position(|one| one.generation == generation && one.tools == tools);
        let one = found.and_then(|at| kept.remove(at)).unwrap_or_else(|| Kept {
            generation,
            tools: tools.to_vec(),
            view: Place::default(),
        });
        let view = Arc::clone(&one.view);
        kept.push_front(one);
        kept.truncate(MAX_KEPT);
        view
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use codecell::{Owner, ToolSpec};
    use serde_json::json;

    use super::{ClientViews, MAX_KEPT};

    fn tools(description: &str) -> Vec<ToolSpec> {
        let owner = Owner::Client("app".into());
        vec![ToolSpec::new(
            owner,
            "look",
            description,
            json!({ "type": "object" }),
        )]
    }

    #[test]
    fn equal_tools_find_the_same_view_as_long_as_the_servers_stay_as_they_are() {
        let views = ClientViews::default();
        let first = views.place(1, &tools("a"));
        for (generation, description, same) in [
            (1, "a", true),
            (1, "b", false),
            (1, "a", true),
            (2, "a", false),
            (1, "a", false),
        ] {
            let found = views.place(generation, &tools(description));
            assert_eq!(Arc::ptr_eq(&first, &found), same, "{generation} {description}");
        }
    }

    #[test]
    fn those_that_were_not_asked_for_for_long_are_forgotten() {
        let views = ClientViews::default();
        let (oldest, used) = (views.place(1, &tools("oldest")), views.place(1, &tools("used")));
        for number in 0..MAX_KEPT - 1 {
            views.place(1, &tools(&number.to_string()));
            assert!(Arc::ptr_eq(&used, &views.place(1, &tools("used"))));
        }
        assert!(!Arc::ptr_eq(&oldest, &views.place(1, &tools("oldest"))));
    }
}
