//! What it costs to have many tools.

use std::time::Instant;

use codecell::{Catalog, Reach};
use serde_json::json;

use crate::table::Table;
use crate::world::{Failure, QUESTION, World, context, tools};

const GROUP: &str = "catalogs";
const RUNS: usize = 400;

pub(crate) async fn measure(world: &World, table: &mut Table) -> Result<(), Failure> {
    for number in [10, 1_000, 5_000, 16_500] {
        let mut builds = Vec::new();
        for _ in 0..3 {
            let specs = tools(number);
            let start = Instant::now();
            drop(std::hint::black_box(Catalog::build(specs)));
            builds.push(start.elapsed());
        }
        table.times(GROUP, format!("build, {number} tools"), builds);

        let context = context(tools(number));
        let cell = json!({ "code": "return 1+1" });
        let times = world.time(&cell, &context, RUNS).await?;
        table.times(GROUP, format!("`return 1+1` before {number} tools"), times);
        let cell = json!({ "code": format!("return (await tools.search('{QUESTION}')).length") });
        let times = world.time(&cell, &context, RUNS / 4).await?;
        table.times(GROUP, format!("a cell that searches {number} tools"), times);

        let searches = (0..RUNS / 4).map(|_| {
            let start = Instant::now();
            let catalog = context.surface.catalog();
            std::hint::black_box(catalog.search(QUESTION, 8, Reach::Guest));
            start.elapsed()
        });
        table.times(GROUP, format!("search alone, {number} tools"), searches.collect());
    }
    Ok(())
}
