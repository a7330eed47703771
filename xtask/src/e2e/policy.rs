//! Which tools an agent has: allow and deny lists, and the sandbox.

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::{
    Steps,
    room::{Room, calls, expect_equal},
};

/// Where the probe of these steps logs.
const LOG: &str = "probe.log";

pub(super) fn play(steps: &mut Steps) {
    steps.play(
        "a denied tool is nowhere, and guessing its id calls nothing",
        denied,
    );
    steps.play(
        "deny beats allow, and allow leaves out the rest",
        deny_beats_allow,
    );
    steps.play(
        "a sandboxed agent has less, and only where it is sandboxed",
        sandboxed,
    );
    steps.play("an empty allow list switches code mode off", no_tools);
}

/// Code that calls `tool` with `argument` and gives the error's code, or `called`.
fn attempt(tool: &str, argument: &str) -> String {
    format!(
        "await (async () => {{ try {{ await tools.call('{tool}', {argument}); return 'called' }} catch (error) {{ return error.code }} }})()"
    )
}

fn denied(room: &Room) -> Result<()> {
    let mut probe = room.probe(LOG, &[])?;
    probe["directOnly"] = json!(["take_picture"]);
    let mut door = room.door(&room.configuration(&json!({
        "tools": {
            "deny": ["bump_counter", "mcp:probe:take_*", "write", "edit", "apply_patch"],
            "fs": { "roots": [{ "path": ".", "writable": true }] },
        },
        "mcp": { "servers": { "probe": probe } },
    }))?)?;
    let guesses = [
        attempt("openclaw:core:write", "{ path: 'made.txt', text: 'x' }"),
        attempt("write", "{ path: 'made.txt', text: 'x' }"),
        attempt("mcp:probe:bump_counter", "{ key: 'a' }"),
        attempt("mcp:probe:take_picture", "{}"),
    ];
    let value = door.value(&format!(
        "const everywhere = [...ALL_TOOLS, ...await tools.search('write edit patch file', {{ limit: 50 }})].map(tool => tool.name); \
         const found = await MCP.$search('counter picture', {{ limit: 50 }}); \
         const declared = await API.read('mcp/probe.d.ts') + await API.read('mcp/probe.schema.json'); \
         return [ \
           everywhere.filter(name => ['write', 'edit', 'apply_patch'].includes(name)), everywhere.includes('read'), \
           typeof tools.write, typeof MCP.probe.bumpCounter, typeof MCP.probe.takePicture, typeof MCP.probe.echoValue, \
           found.map(tool => tool.tool).filter(name => /bump|picture/.test(name)), /bump|picture/i.test(declared), \
           {}]",
        guesses.join(", ")
    ))?;
    let gone = "invalid_input";
    expect_equal(
        &value,
        &json!([
            [],
            true,
            "undefined",
            "undefined",
            "undefined",
            "function",
            [],
            false,
            gone,
            gone,
            gone,
            gone
        ]),
    )?;
    ensure!(
        door.tools()? == ["exec", "wait"],
        "a denied direct-only tool is listed"
    );
    door.close()?;
    ensure!(calls(room, LOG, "bump_counter") == 0, "a denied tool was called");
    ensure!(!room.files().join("made.txt").exists(), "a denied tool wrote");
    Ok(())
}

fn deny_beats_allow(room: &Room) -> Result<()> {
    room.file("here.txt", "here\n")?;
    let config = room.configuration(&json!({
        "tools": {
            "allow": ["read", "ls", "mcp:probe:*"],
            "deny": ["READ", "mcp:probe:bump_*"],
            "fs": { "roots": ["."] },
        },
        "mcp": { "servers": { "probe": room.probe(LOG, &[])?, "other": room.probe("other.log", &[])? } },
    }))?;
    let mut door = room.door(&config)?;
    let value = door.value(&format!(
        "return [ALL_TOOLS.map(tool => tool.id), typeof MCP.probe.echoValue, typeof MCP.probe.bumpCounter, \
         typeof MCP.other?.echoValue, {}, {}]",
        attempt("read", "{ path: 'here.txt' }"),
        attempt("mcp:other:bump_counter", "{ key: 'a' }"),
    ))?;
    expect_equal(
        &value,
        &json!([
            ["openclaw:core:ls"],
            "function",
            "undefined",
            "undefined",
            "invalid_input",
            "invalid_input"
        ]),
    )?;
    door.close()?;
    ensure!(
        calls(room, "other.log", "bump_counter") == 0,
        "a server that is not allowed was called"
    );
    // A person is told which list took a tool away.
    let shown = room.run(
        ["doctor".to_owned(), "--json".to_owned()].iter().chain(&config),
        "",
    )?;
    for words in ["tools", "deny wins"] {
        ensure!(
            format!("{}{}", shown.stdout, shown.stderr).contains(words),
            "`doctor` does not say `{words}`: {}{}",
            shown.stdout,
            shown.stderr
        );
    }
    Ok(())
}

fn sandboxed(room: &Room) -> Result<()> {
    let config = room.configuration(&json!({
        "tools": { "fs": { "roots": ["."] }, "web": { "fetch": true } },
        "agents": { "entries": {
            "guest": { "sandbox": { "mode": "all" } },
            "visitor": { "sandbox": { "mode": "non-main" } },
            "helper": { "sandbox": { "mode": "all" }, "tools": {
                "deny": ["grep"], "sandbox": { "tools": { "alsoAllow": ["mcp:probe:echo_value"] } },
            } },
        } },
        "mcp": { "servers": { "probe": room.probe(LOG, &[])? } },
    }))?;
    let look = "return [ALL_TOOLS.map(tool => tool.name), Object.keys(globalThis.MCP ?? {}), typeof globalThis.MCP?.probe?.echoValue, typeof globalThis.MCP?.probe?.bumpCounter]";
    let files = ["glob", "grep", "ls", "read"];
    let all = json!([
        ["glob", "grep", "ls", "read", "web_fetch"],
        ["probe"],
        "function",
        "function"
    ]);
    let inside = json!([files, [], "undefined", "undefined"]);
    let helped = json!([["glob", "ls", "read"], ["probe"], "function", "undefined"]);
    for (agent, at_the_terminal, over_mcp) in [
        ("main", &all, &all),
        ("guest", &inside, &inside),
        ("visitor", &all, &inside),
        ("helper", &helped, &helped),
    ] {
        let with_agent: Vec<String> = ["--agent", agent]
            .map(str::to_owned)
            .into_iter()
            .chain(config.clone())
            .collect();
        let arguments: Vec<&str> = ["--code", look]
            .into_iter()
            .chain(with_agent.iter().map(String::as_str))
            .collect();
        let (_, result) = room.exec(&arguments, "")?;
        expect_equal(&result["value"], at_the_terminal)
            .with_context(|| format!("{agent} at the terminal"))?;
        let mut door = room.door(&with_agent)?;
        expect_equal(&door.value(look)?, over_mcp).with_context(|| format!("{agent} over MCP"))?;
        if agent == "guest" {
            let value = door.value(&format!(
                "return {}",
                attempt("mcp:probe:bump_counter", "{ key: 'a' }")
            ))?;
            expect_equal(&value, &json!("invalid_input"))?;
        }
        door.close()?;
    }
    ensure!(
        calls(room, LOG, "bump_counter") == 0,
        "a sandboxed agent reached a server"
    );
    let unknown = room.run(
        ["mcp", "--agent", "nobody"]
            .map(str::to_owned)
            .iter()
            .chain(&config),
        "",
    )?;
    ensure!(
        unknown.code == Some(1) && unknown.stderr.contains("nobody") && unknown.stderr.contains("helper"),
        "an unknown agent: {unknown:?}"
    );
    Ok(())
}

fn no_tools(room: &Room) -> Result<()> {
    let probe = room.probe(LOG, &[])?;
    let config =
        room.configuration(&json!({ "tools": { "allow": [] }, "mcp": { "servers": { "probe": probe } } }))?;
    let mut door = room.door(&config)?;
    ensure!(door.tools()?.is_empty(), "a run without tools shows some");
    door.close()
}
