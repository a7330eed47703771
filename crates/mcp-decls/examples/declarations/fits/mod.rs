//! A TypeScript program that compiles only if the declarations mean what the schemas mean.

mod expressible;
mod rng;
mod schemas;
mod values;

use std::{error::Error, fmt::Write as _, fs, path::Path};

use codecell_mcp_decls::{ServerMeta, ToolMeta, index_file, server_file, tool_header};
use serde_json::Value;

use self::{
    expressible::expressible,
    rng::Rng,
    values::{Change, changed, sample},
};
use crate::recorded::Recorded;

/// Values tried for one schema, and changes of each.
const SAMPLES: usize = 4;
const CHANGES: usize = 5;

/// A program that grows: one call per line.
#[derive(Default)]
pub(crate) struct Program {
    text: String,
    pub(crate) schemas: usize,
    pub(crate) accepted: usize,
    pub(crate) refused: usize,
}

/// Writes `index.d.ts`, the declarations of one server of made-up tools, and what must and must not fit them.
pub(crate) fn made_up(out: &Path, seed: u64, tools: usize) -> Result<Program, Box<dyn Error>> {
    let mut rng = Rng::new(seed);
    let schemas: Vec<Value> = (0..tools).map(|_| schemas::arguments(&mut rng)).collect();
    let names: Vec<String> = (0..tools).map(|at| format!("tool{at}")).collect();
    let server = ServerMeta {
        tools: names
            .iter()
            .zip(&schemas)
            .map(|(name, schema)| ToolMeta::new(name, name, "", schema))
            .collect(),
        ..ServerMeta::new("made", "made")
    };
    fs::write(out.join("index.d.ts"), index_file(&[]))?;
    fs::write(out.join("made.d.ts"), server_file(&server))?;

    let mut program = Program::default();
    for tool in &server.tools {
        program.calls(&server, tool, &mut rng)?;
    }
    fs::write(out.join("made.ts"), &program.text)?;
    Ok(program)
}

/// Writes values for the tools of recorded servers, whose declarations lie in `out` already.
pub(crate) fn recorded(out: &Path, seed: u64, servers: &[Recorded]) -> Result<Program, Box<dyn Error>> {
    let mut rng = Rng::new(seed);
    let mut program = Program::default();
    for server in servers {
        let meta = server.meta();
        for tool in &meta.tools {
            program.calls(&meta, tool, &mut rng)?;
        }
    }
    fs::write(out.join("recorded.ts"), &program.text)?;
    Ok(program)
}

impl Program {
    /// Calls `tool` with values of its schema, and with changed ones that the schema refuses for a reason which a
    /// type can express.
    fn calls(
        &mut self,
        server: &ServerMeta<'_>,
        tool: &ToolMeta<'_>,
        rng: &mut Rng,
    ) -> Result<(), Box<dyn Error>> {
        let function = format!("{}.{}", server.identifier, tool.method);
        let schema = tool.input_schema;
        // A remark says that the type before it accepts more than the schema.
        let remarks = tool_header(server, tool).contains(" /* ");
        let unions = has_unions(schema);
        let (Ok(exact), Ok(loose)) = (
            jsonschema::validator_for(schema),
            jsonschema::validator_for(&expressible(schema, unions)),
        ) else {
            // Recorded servers may list what is no schema.
            return Ok(());
        };
        self.schemas += 1;
        for _ in 0..SAMPLES {
            let made = sample(schema, schema, rng, 0);
            let Some(value) = made.filter(|value| value.is_object() && exact.is_valid(value)) else {
                continue;
            };
            writeln!(self.text, "MCP.{function}({});", literal(&value))?;
            self.accepted += 1;
            for _ in 0..CHANGES {
                // One member of a union that knows a property, or any property, knows it for all of them.
                let fair = |(_, change): &(Value, Change)| !unions || *change != Change::Added;
                if let Some((value, _)) = changed(&value, rng).filter(fair)
                    && !remarks
                    && !loose.is_valid(&value)
                {
                    // What compiles under this line is an error of its own.
                    writeln!(self.text, "// @ts-expect-error")?;
                    writeln!(self.text, "MCP.{function}({});", literal(&value))?;
                    self.refused += 1;
                }
            }
        }
        Ok(())
    }
}

/// Whether a value may be one thing or another.
fn has_unions(schema: &Value) -> bool {
    let text = schema.to_string();
    ["\"anyOf\"", "\"oneOf\""]
        .iter()
        .any(|keyword| text.contains(keyword))
}

/// `value` as TypeScript: JSON, but for integers that a double does not hold.
fn literal(value: &Value) -> String {
    const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;
    let all = |texts: Vec<String>| texts.join(", ");
    match value {
        Value::Array(items) => format!("[{}]", all(items.iter().map(literal).collect())),
        Value::Object(map) => {
            let members = map.iter().map(|(name, value)| {
                // `__proto__` written plainly is no property.
                format!("[{}]: {}", Value::from(name.as_str()), literal(value))
            });
            format!("{{{}}}", all(members.collect()))
        }
        Value::Number(number)
            if number.as_u64().is_some_and(|value| value > MAX_SAFE_INTEGER)
                || number
                    .as_i64()
                    .is_some_and(|value| value.unsigned_abs() > MAX_SAFE_INTEGER) =>
        {
            format!("{number}n")
        }
        value => value.to_string(),
    }
}
