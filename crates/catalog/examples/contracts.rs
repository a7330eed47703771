//! Says which tools of recorded `tools/list` answers have schemas that cannot be checked, and why.
//!
//! `cargo run -p codecell-catalog --example contracts -- FILE…` reads JSON files with a `tools` array.

use std::{error::Error, io::Write as _};

use codecell_catalog::{Catalog, ContractSide, Owner, ToolSpec};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let (mut tools, mut unusable) = (0, 0);
    for path in std::env::args().skip(1) {
        let file: Value = serde_json::from_slice(&std::fs::read(&path)?)?;
        let listed = file
            .get("tools")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let specs = listed.into_iter().map(|tool| {
            let text = |key: &str| {
                tool.get(key)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned()
            };
            let schema = tool.get("inputSchema").cloned().unwrap_or(Value::Null);
            let mut spec = ToolSpec::new(
                Owner::Mcp(path.clone()),
                text("name"),
                text("description"),
                schema,
            );
            spec.output_schema = tool.get("outputSchema").cloned();
            spec
        });
        for tool in Catalog::build(specs.collect()).tools() {
            tools += 1;
            for side in [ContractSide::Input, ContractSide::Output] {
                if let Some(reason) = tool.unchecked(side) {
                    unusable += 1;
                    writeln!(out, "{} {side:?}: {reason}", tool.id())?;
                }
            }
            if let Err(error) = tool.check_arguments(&json!({ "zzz": [1, { "a": null }] })) {
                let lines = error.to_string().lines().count();
                assert!(lines <= 14, "{} tells too much: {error}", tool.id());
            }
        }
    }
    writeln!(out, "{tools} tools, {unusable} schemas that cannot be checked")?;
    Ok(())
}
