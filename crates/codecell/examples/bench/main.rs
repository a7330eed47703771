//! Measures what a caller of the library waits for: `cargo xtask bench`, or `cargo run --release -p codecell --example
//! bench -- [--json] [WORD]`. With a word only the groups whose name contains it are measured.
//!
//! Read ratios, not microseconds of somebody else's machine.
#![expect(clippy::print_stdout, reason = "the report is the product")]

mod catalogs;
mod cells;
mod cpu;
mod images;
mod table;
mod typescript;
mod world;

use crate::table::Table;
use crate::world::{Failure, World};

#[tokio::main(flavor = "multi_thread")]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let json = arguments.iter().any(|argument| argument == "--json");
    let word = arguments.iter().find(|argument| !argument.starts_with("--"));
    let wanted = |group: &str| word.is_none_or(|word| group.contains(word.as_str()));

    let world = World::new()?;
    let mut table = Table::default();
    if wanted("cells") {
        cells::measure(&world, &mut table).await?;
    }
    if wanted("typescript") {
        typescript::measure(&world, &mut table).await?;
    }
    if wanted("cpu") {
        cpu::measure(&world, &mut table).await?;
    }
    if wanted("images") {
        images::measure(&world, &mut table).await?;
    }
    if wanted("catalogs") {
        catalogs::measure(&world, &mut table).await?;
    }
    println!("{}", if json { table.json()? } else { table.markdown() });
    Ok(())
}
