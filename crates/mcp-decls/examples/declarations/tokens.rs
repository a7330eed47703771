//! What declarations cost a model, against the tool lists they stand for.

use std::{
    collections::HashSet,
    error::Error,
    io::{Write, stdout},
    ops::AddAssign,
};

use codecell_mcp_decls::server_file;
use serde_json::{Map, Value};
use tiktoken_rs::o200k_base_singleton;

use crate::recorded::Recorded;

/// What a tool list says of each tool: as much as its declaration.
const LISTED: [&str; 4] = ["name", "description", "inputSchema", "outputSchema"];

/// Tokens (`o200k_base`).
#[derive(Default, Clone, Copy)]
struct Cost {
    tools: usize,
    /// The tool list, as compact JSON.
    listed: usize,
    /// The whole declaration file.
    declared: usize,
    /// Of that, the comments on tools.
    on_tools: usize,
    /// Of that, the comments on properties.
    on_properties: usize,
}

/// Prints what each server and all of them cost; an error when all together cost more than `most` percent.
pub(crate) fn report(servers: &[Recorded], most: f64) -> Result<(), Box<dyn Error>> {
    let mut out = stdout();
    writeln!(
        out,
        "{:24} {:>6} {:>9} {:>9} {:>8}  of which on tools, on properties",
        "server", "tools", "listed", "declared", "percent"
    )?;
    let mut total = Cost::default();
    for server in servers {
        let cost = cost(server)?;
        line(&mut out, &server.name, cost)?;
        total += cost;
    }
    line(&mut out, "all", total)?;
    let share = percent(total.declared, total.listed);
    if share > most {
        return Err(format!(
            "the declarations cost {share:.1} % of the tool lists, at most {most} % is allowed"
        )
        .into());
    }
    Ok(())
}

fn line(out: &mut impl Write, name: &str, cost: Cost) -> std::io::Result<()> {
    writeln!(
        out,
        "{name:24} {:>6} {:>9} {:>9} {:>8.1}  {:.1}, {:.1}",
        cost.tools,
        cost.listed,
        cost.declared,
        percent(cost.declared, cost.listed),
        percent(cost.on_tools, cost.listed),
        percent(cost.on_properties, cost.listed),
    )
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

fn cost(server: &Recorded) -> Result<Cost, Box<dyn Error>> {
    let file = server_file(&server.meta());
    let (mut on_tools, mut on_properties) = (0, 0);
    for line in file.lines() {
        if line.trim_start().starts_with("/**") {
            on_tools += count(line)?;
        } else if let Some((_, said)) = line.split_once("// ").filter(|_| line.starts_with(' ')) {
            on_properties += count(&format!(" // {said}"))?;
        }
    }
    let mut listed = 0;
    for tool in server.tools() {
        let shown: Map<String, Value> = LISTED
            .iter()
            .filter_map(|key| Some(((*key).to_owned(), tool.get(*key)?.clone())))
            .collect();
        listed += count(&Value::from(shown).to_string())?;
    }
    Ok(Cost {
        tools: server.tools().len(),
        listed,
        declared: count(&file)?,
        on_tools,
        on_properties,
    })
}

fn count(text: &str) -> Result<usize, Box<dyn Error>> {
    let (tokens, _) = o200k_base_singleton().encode(text, &HashSet::new())?;
    Ok(tokens.len())
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.tools += other.tools;
        self.listed += other.listed;
        self.declared += other.declared;
        self.on_tools += other.on_tools;
        self.on_properties += other.on_properties;
    }
}
