//! `cargo xtask decls`: what declarations cost, and whether they mean what the schemas mean.
//!
//! The rendering is an example of the declarations' crate, run as a process: this crate knows no crate of the product.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde_json::json;

use crate::{
    e2e::real::tools::{npm, text},
    process, workspace,
};

/// The recorded servers of this repository.
const RECORDED: &str = "fixtures/mcp";
/// What their declarations may cost, in percent of their tool lists.
///
/// They are mostly small. A file of hundreds of tools says once what they have in common, and costs far less.
const MOST: f64 = 42.0;
/// Values that must and must not fit some of them, written by hand.
const BY_HAND: &str = "crates/mcp-decls/tests/types/values.ts";
const COMPILER: &str = "typescript@7.0.2";
/// Longest that compiling thousands of calls may take on a busy machine.
const COMPILE_LIMIT: Duration = Duration::from_secs(600);

#[derive(Args)]
pub(crate) struct Options {
    /// Another folder of recorded servers.
    folder: Option<PathBuf>,
    /// Fails when the declarations cost more than this many percent of the tool lists; of the repository's own
    /// recorded servers, 42.
    #[arg(long)]
    most: Option<f64>,
    /// Only counts: no compiler is installed.
    #[arg(long)]
    tokens: bool,
    /// Where chance begins when values are made up.
    #[arg(long)]
    seed: Option<u64>,
}

/// Counts, then compiles.
pub(crate) fn run(options: &Options) -> Result<()> {
    let own = options.folder.is_none();
    let folder = match &options.folder {
        Some(folder) => folder
            .canonicalize()
            .with_context(|| format!("there is no `{}`", folder.display()))?,
        None => workspace::root().join(RECORDED),
    };
    let most = options.most.or(own.then_some(MOST));
    let most = most.map(|most| most.to_string());
    example(["tokens", text(&folder)?].into_iter().chain(most.as_deref()))?;
    if options.tokens {
        return Ok(());
    }

    let out = workspace::target_dir()?.join("decls");
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    let seed = options.seed.map(|seed| seed.to_string());
    example(
        ["fits", text(&folder)?, text(&out)?]
            .into_iter()
            .chain(seed.as_deref()),
    )?;
    let compiler = compiler()?;
    let by_hand = own.then(|| workspace::root().join(BY_HAND));
    compile(&compiler, &out.join("recorded"), by_hand)?;
    compile(&compiler, &out.join("made"), None)?;
    println!("the compiler agrees with the schemas");
    Ok(())
}

fn example<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Result<()> {
    let status = Command::new(workspace::example("declarations")?)
        .current_dir(workspace::root())
        .args(arguments)
        .status()
        .context("starting the example")?;
    ensure!(
        status.success(),
        "the declarations are not good enough, or could not be rendered ({status})"
    );
    Ok(())
}

/// The compiler's script, installed once under the target folder.
fn compiler() -> Result<PathBuf> {
    let folder = workspace::target_dir()?.join("decls-tools");
    let (script, stamp) = (folder.join("node_modules/.bin/tsc"), folder.join("installed"));
    if !fs::read_to_string(&stamp).is_ok_and(|installed| installed == COMPILER) {
        println!("installing {COMPILER}");
        npm(&folder, &[COMPILER], |_| {})?;
        fs::write(&stamp, COMPILER)?;
    }
    Ok(script)
}

/// Compiles all that lies in `folder`, and `more`, as one program.
fn compile(compiler: &Path, folder: &Path, more: Option<PathBuf>) -> Result<()> {
    let mut files = more.into_iter().collect::<Vec<_>>();
    for entry in fs::read_dir(folder).with_context(|| format!("reading `{}`", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "ts") {
            files.push(path);
        }
    }
    files.sort();
    let project = json!({
        "compilerOptions": { "strict": true, "noEmit": true, "target": "es2023", "lib": ["es2023"], "types": [] },
        "files": files,
    });
    let path = folder.join("tsconfig.json");
    fs::write(&path, project.to_string())?;
    let mut command = Command::new("node");
    command
        .arg(compiler)
        .args(["--pretty", "false", "--project"])
        .arg(&path)
        .current_dir(folder);
    let finished = process::run(&mut command, "", COMPILE_LIMIT)?;
    if finished.code != Some(0) {
        let first: Vec<&str> = finished.stdout.lines().take(20).collect();
        bail!(
            "tsc ended with {:?} over `{}`; TS2578 is a value that fits and must not:\n{}\n{}",
            finished.code,
            folder.display(),
            first.join("\n"),
            finished.stderr
        );
    }
    Ok(())
}
