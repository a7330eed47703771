//! Declarations of recorded servers: written, counted, and put to the test.
//!
//! A recorded server is a JSON file with a `tools` array, as in `fixtures/mcp`.
//!
//! - `declarations write DIR OUT` writes `OUT/index.d.ts`, and `OUT/<server>.d.ts` and `OUT/<server>.schema.json` for
//!   every `DIR/*.json`.
//! - `declarations tokens DIR [MOST]` counts what they cost a model, and fails above MOST percent of the tool lists.
//! - `declarations fits DIR OUT [SEED]` writes TypeScript into `OUT/recorded` and `OUT/made` that compiles only if the types
//!   accept and refuse what the schemas do.

mod fits;
mod recorded;
mod tokens;

use std::{
    error::Error,
    fs,
    io::{Write as _, stdout},
    path::Path,
};

use codecell_mcp_decls::{index_file, schemas_file, server_file};

use self::recorded::{Recorded, servers};

/// Where the made-up schemas come from; any number will do.
const SEED: u64 = 20_261_201;
/// How many tools get a made-up schema.
const MADE_UP: usize = 600;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["write", folder, out] => write(&servers(folder.as_ref())?, out.as_ref()),
        ["tokens", folder] => tokens::report(&servers(folder.as_ref())?, 100.0),
        ["tokens", folder, most] => tokens::report(&servers(folder.as_ref())?, most.parse()?),
        ["fits", folder, out] => fit(&servers(folder.as_ref())?, out.as_ref(), SEED),
        ["fits", folder, out, seed] => fit(&servers(folder.as_ref())?, out.as_ref(), seed.parse()?),
        _ => Err("usage: declarations write DIR OUT | tokens DIR [MOST] | fits DIR OUT [SEED]".into()),
    }
}

fn write(servers: &[Recorded], out: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(out)?;
    for server in servers {
        let (id, meta) = (&server.identifier, server.meta());
        fs::write(out.join(format!("{id}.d.ts")), server_file(&meta))?;
        fs::write(out.join(format!("{id}.schema.json")), schemas_file(&meta))?;
    }
    let summaries: Vec<_> = servers.iter().map(Recorded::summary).collect();
    fs::write(out.join("index.d.ts"), index_file(&summaries))?;
    Ok(())
}

fn fit(servers: &[Recorded], out: &Path, seed: u64) -> Result<(), Box<dyn Error>> {
    let (recorded, made) = (out.join("recorded"), out.join("made"));
    write(servers, &recorded)?;
    fs::create_dir_all(&made)?;
    for (what, count) in [
        ("recorded", fits::recorded(&recorded, seed, servers)?),
        ("made-up", fits::made_up(&made, seed, MADE_UP)?),
    ] {
        writeln!(
            stdout(),
            "{} {what} schemas: {} values must fit, {} must not",
            count.schemas,
            count.accepted,
            count.refused
        )?;
    }
    Ok(())
}
