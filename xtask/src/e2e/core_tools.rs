//! The product's own tools, called from cells: files inside roots, and a shell that is not code mode's `exec`.

use std::{fs, os::unix::fs::symlink};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    Steps,
    room::{Door, Room, expect_code, expect_equal, expect_status},
};

pub(super) fn play(steps: &mut Steps) {
    steps.play("a cell searches, edits and writes files inside a root", files);
    steps.play(
        "no way out of a root is taken, nor one to write in a readable one",
        escapes,
    );
    steps.play(
        "a tool named exec is called by its id, beside code mode's own",
        shell,
    );
}

/// A door whose file tools see the folder `work`, with these settings of `tools` beside.
fn door(room: &Room, writable: bool, more: &Value) -> Result<Door> {
    let root = room.files().join("work");
    if !root.exists() {
        fs::create_dir(&root)?;
    }
    let mut tools = more.clone();
    tools["fs"] = json!({ "roots": [{ "path": "work", "writable": writable }] });
    room.door(&room.configuration(&json!({ "tools": tools }))?)
}

fn files(room: &Room) -> Result<()> {
    let mut door = door(room, true, &json!({}))?;
    let result = door.exec(
        "const made = await tools.write({ path: 'src/a.rs', text: 'fn main() {\\n    old();\\n}\\n', createDirs: true }); \
         await tools.write({ path: 'src/b.md', text: 'old()\\n' }); \
         const { matches } = await tools.grep({ pattern: 'old\\\\(', glob: '*.rs' }); \
         for (const path of new Set(matches.map(match => match.path))) \
           await tools.edit({ path, edits: [{ oldText: 'old()', newText: 'new()' }] }); \
         let twice; try { await tools.edit({ path: 'src/a.rs', edits: [{ oldText: 'old()', newText: '' }] }) } \
         catch (error) { twice = typeof error.message } \
         const { text, totalLines } = await tools.read({ path: 'src/a.rs', offset: 2, limit: 1 }); \
         return [made, matches, text, totalLines, twice]",
    )?;
    expect_status(&result, "completed")?;
    expect_equal(
        &result["value"],
        &json!([
            { "path": "src/a.rs", "bytes": 25, "created": true },
            [{ "path": "src/a.rs", "line": 2, "text": "    old();" }],
            "    new();\n",
            3,
            "string"
        ]),
    )?;
    let on_disk = |name: &str| fs::read_to_string(room.files().join("work").join(name));
    expect_equal(
        &json!([on_disk("src/a.rs")?, on_disk("src/b.md")?]),
        &json!(["fn main() {\n    new();\n}\n", "old()\n"]),
    )?;
    door.close()
}

fn escapes(room: &Room) -> Result<()> {
    room.file("secret.txt", "not for cells\n")?;
    let root = room.files().join("work");
    fs::create_dir(&root)?;
    for (name, target) in [
        ("up", room.files()),
        ("link.txt", room.files().join("secret.txt")),
    ] {
        symlink(target, root.join(name))?;
    }
    symlink("../secret.txt", root.join("relative.txt"))?;
    let mut door = door(room, true, &json!({}))?;
    let secret = room.files().join("secret.txt");
    let mut ways: Vec<String> = [
        "../secret.txt",
        "up/secret.txt",
        "up/new.txt",
        "link.txt",
        "relative.txt",
        "src/../../secret.txt",
        "/etc/passwd",
    ]
    .map(str::to_owned)
    .into();
    ways.push(secret.display().to_string());
    let value = door.value(&format!(
        "const ways = {}; const seen = []; \
         const tell = (call) => call.then(() => 'done', (error) => error.code); \
         for (const path of ways) seen.push([ \
           await tell(tools.read({{ path }})), await tell(tools.write({{ path, text: 'x' }})), \
           await tell(tools.edit({{ path, edits: [{{ oldText: 'not', newText: 'now' }}] }})), \
           await tell(tools.grep({{ path, pattern: 'cells' }})) \
         ]); \
         const {{ matches }} = await tools.grep({{ pattern: 'cells' }}); \
         return [seen, matches]",
        json!(ways)
    ))?;
    for (way, seen) in ways.iter().zip(value[0].as_array().context("nothing was tried")?) {
        for code in seen.as_array().into_iter().flatten() {
            let refused = matches!(code.as_str(), Some("outside_roots" | "symlink"));
            ensure!(refused, "`{way}`: {seen}");
        }
    }
    expect_equal(&value[1], &json!([]))?;
    door.close()?;
    expect_equal(&json!(fs::read_to_string(secret)?), &json!("not for cells\n"))?;
    ensure!(
        !room.files().join("new.txt").exists(),
        "a cell wrote outside its root"
    );
    let mut readable = self::door(room, false, &json!({}))?;
    expect_equal(
        &readable.value("return ALL_TOOLS.map(tool => tool.name)")?,
        &json!(["glob", "grep", "ls", "read"]),
    )?;
    readable.close()
}

fn shell(room: &Room) -> Result<()> {
    let mut door = door(room, true, &json!({ "exec": true }))?;
    ensure!(door.tools()? == ["exec", "wait"], "other tools are listed");
    let listed = door.listing("exec")?;
    ensure!(
        listed["inputSchema"]["properties"]["code"].is_object(),
        "the visible exec is not code mode's: {listed}"
    );
    let result = door.exec(
        "const ran = await tools.callValue('openclaw:core:exec', { command: 'echo from the shell; pwd; exit 3' }); \
         const named = ALL_TOOLS.filter(tool => tool.name === 'exec').map(tool => tool.id); \
         const unreachable = []; \
         for (const [id, input] of [['openclaw:core:wait', { runId: 'x' }], ['wait', { runId: 'x' }], ['exec', { code: 'return 1' }]]) \
           try { await tools.call(id, input); unreachable.push('called') } catch (error) { unreachable.push(error.code) } \
         return [ran.exitCode, ran.stdout.split('\\n')[0], ran.stdout.includes('/files/work'), named, unreachable]",
    )?;
    expect_equal(
        &result["value"],
        &json!([
            3,
            "from the shell",
            true,
            ["openclaw:core:exec"],
            ["invalid_input", "invalid_input", "invalid_input"]
        ]),
    )?;
    // Shell text for code mode's own exec is refused with advice, whatever else is there.
    expect_code(&door.exec("ls -la && pwd")?, "invalid_input")?;
    door.close()?;
    let mut without = self::door(room, true, &json!({}))?;
    expect_equal(
        &without.value("return ALL_TOOLS.some(tool => tool.name === 'exec')")?,
        &json!(false),
    )?;
    without.close()
}
