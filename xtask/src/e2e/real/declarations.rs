//! Declarations in front of the compiler they are written for.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;

use super::tools::{Tools, text};
use crate::{
    e2e::{
        Steps,
        room::{LIMIT, Room},
        upstreams::{recorded, serve_recorded},
    },
    process, workspace,
};

/// Longest that building the example or compiling megabytes of declarations may take.
const COMPILE_LIMIT: Duration = Duration::from_secs(1_200);

pub(super) fn play(steps: &mut Steps, tools: &Tools, folders: &[PathBuf]) {
    for folder in folders {
        let name = folder.display();
        steps.play(
            &format!("real: tsc accepts the declarations rendered from `{name}`"),
            |room| rendered(room, tools, folder),
        );
        steps.play(
            &format!("real: tsc accepts `codecell decls` over `{name}`"),
            |room| served(room, tools, folder),
        );
    }
    steps.play("real: tsc rejects what a schema rejects", |room| {
        rejects(room, tools)
    });
}

/// Renders the dumps without any server, and compiles what comes out.
fn rendered(room: &Room, tools: &Tools, folder: &Path) -> Result<()> {
    let out = room.files().join("declarations");
    let mut command = Command::new(workspace::example("declarations")?);
    command.arg("write").arg(folder).arg(&out);
    let finished = process::run(&mut command, "", COMPILE_LIMIT)?;
    ensure!(
        finished.code == Some(0),
        "the example ended with {:?}: {}",
        finished.code,
        finished.stderr
    );
    compile(room, tools, &out)
}

/// Asks the gateway for the declarations of servers that replay the dumps, and compiles them.
fn served(room: &Room, tools: &Tools, folder: &Path) -> Result<()> {
    let config = room.config(&json!(true), &serve_recorded(room, &recorded(folder)?)?)?;
    let out = room.files().join("served");
    let arguments = ["decls".to_owned(), "--out".into(), text(&out)?.to_owned()];
    let finished = process::run(
        &mut room.codecell(arguments.into_iter().chain(config)),
        "",
        COMPILE_LIMIT,
    )?;
    ensure!(
        finished.code == Some(0),
        "`decls` ended with {:?}: {}",
        finished.code,
        finished.stderr
    );
    compile(room, tools, &out)
}

fn compile(room: &Room, tools: &Tools, folder: &Path) -> Result<()> {
    let files = declarations(folder)?;
    ensure!(!files.is_empty(), "no declaration in `{}`", folder.display());
    // One compilation with all files, as a cell's editor would see them.
    tsc(room, tools, folder, &files)
}

fn declarations(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).with_context(|| format!("reading `{}`", next.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_str().is_some_and(|path| path.ends_with(".d.ts")) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn tsc(room: &Room, tools: &Tools, folder: &Path, files: &[PathBuf]) -> Result<()> {
    let project = json!({
        "compilerOptions": { "strict": true, "noEmit": true, "target": "es2023", "lib": ["es2023"], "types": [], "skipLibCheck": false },
        "files": files.iter().map(|file| text(file)).collect::<Result<Vec<_>>>()?,
    });
    let path = folder.join("tsconfig.json");
    fs::write(&path, project.to_string())?;
    let mut command = room.program(tools.node());
    command.arg(tools.script("tsc")).arg("--project").arg(&path);
    let finished = process::run(&mut command, "", COMPILE_LIMIT)?;
    if finished.code != Some(0) {
        let first: Vec<&str> = finished.stdout.lines().take(20).collect();
        bail!(
            "tsc ended with {:?}:\n{}\n{}",
            finished.code,
            first.join("\n"),
            finished.stderr
        );
    }
    Ok(())
}

/// The probe's declarations, used rightly and wrongly: a wrong use that compiles is an error too.
fn rejects(room: &Room, tools: &Tools) -> Result<()> {
    let config = room.config(&json!(true), &json!({ "probe": room.probe("probe.log", &[])? }))?;
    let out = room.files().join("declarations");
    let arguments = ["decls".to_owned(), "--out".into(), text(&out)?.to_owned()];
    let finished = process::run(&mut room.codecell(arguments.into_iter().chain(config)), "", LIMIT)?;
    ensure!(
        finished.code == Some(0),
        "`decls` ended with {:?}: {}",
        finished.code,
        finished.stderr
    );
    let used = room.file(
        "use.ts",
        "async function use() {\n\
         \x20 const back = await MCP.probe.echoValue({ value: [1] });\n\
         \x20 await MCP.probe.bumpCounter({ key: 'a' });\n\
         \x20 await MCP.probe.failCall({ kind: 'result' });\n\
         \x20 await MCP.probe.crashServer({});\n\
         \x20 // @ts-expect-error a key of the wrong type\n\
         \x20 await MCP.probe.bumpCounter({ key: 1 });\n\
         \x20 // @ts-expect-error a missing key\n\
         \x20 await MCP.probe.bumpCounter({});\n\
         \x20 // @ts-expect-error an unknown key of a closed object\n\
         \x20 await MCP.probe.bumpCounter({ key: 'a', more: 1 });\n\
         \x20 // @ts-expect-error not a member of the enum\n\
         \x20 await MCP.probe.failCall({ kind: 'other' });\n\
         \x20 // @ts-expect-error no such tool\n\
         \x20 await MCP.probe.nothing({});\n\
         \x20 return back.structuredContent?.value;\n\
         }\nvoid use;\n",
    )?;
    let mut files = declarations(&out)?;
    files.push(used);
    tsc(room, tools, &room.files(), &files)
}
