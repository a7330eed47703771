//! Programs that only compute.

use std::time::Duration;

use codecell::Settings;
use serde_json::json;

use crate::table::Table;
use crate::world::{Failure, World, context, tools};

const GROUP: &str = "cpu";
const RUNS: usize = 25;

/// Each is the body of a function; others run the same files.
const PROGRAMS: [(&str, &str); 7] = [
    ("fib", include_str!("programs/fib.js")),
    ("loops", include_str!("programs/loops.js")),
    ("json", include_str!("programs/json.js")),
    ("sort", include_str!("programs/sort.js")),
    ("strings", include_str!("programs/strings.js")),
    ("regex", include_str!("programs/regex.js")),
    ("map", include_str!("programs/map.js")),
];

pub(crate) async fn measure(world: &World, table: &mut Table) -> Result<(), Failure> {
    let mut context = context(tools(10));
    context.settings = Settings {
        timeout: Duration::from_secs(60),
        ..Settings::default()
    };
    for (what, code) in PROGRAMS {
        let times = world.time(&json!({ "code": code }), &context, RUNS).await?;
        table.times(GROUP, what, times);
    }
    Ok(())
}
