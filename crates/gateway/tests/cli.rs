//! The command line as a user meets it: the built binary, its output and its exit codes.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::{Value, json};
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_codecell");

/// A folder with files in it, to run commands in.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// Runs `codecell` in `folder` with nothing of the user's own configuration in reach.
fn codecell(folder: &Path, arguments: &[&str], stdin: &str) -> Output {
    Command::new(BINARY)
        .args(arguments)
        .current_dir(folder)
        .env("HOME", folder)
        .env("XDG_CONFIG_HOME", folder.join("config"))
        .env(
            "CODECELL_CACHE_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-cache"),
        )
        .env_remove("CODECELL_LOG")
        .write_stdin(stdin)
        .output()
        .unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The result that `exec` printed: exactly one line of JSON.
fn result(output: &Output) -> Value {
    let stdout = text(&output.stdout);
    assert_eq!(stdout.lines().count(), 1, "{stdout}{}", text(&output.stderr));
    serde_json::from_str(&stdout).unwrap()
}

/// `exec` without servers: exit code and result.
fn exec(arguments: &[&str], stdin: &str) -> (i32, Value) {
    let folder = folder(&[]);
    let output = codecell(folder.path(), &[&["exec"], arguments].concat(), stdin);
    (code(&output), result(&output))
}

/// A configuration as Claude has it, with the demo's shop and perhaps more.
fn shop(more: Value) -> String {
    let mut servers =
        json!({ "shop": { "command": BINARY, "args": ["demo-server"], "directOnly": ["product_photo"] } });
    servers
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    json!({ "mcpServers": servers }).to_string()
}

#[test]
fn without_arguments_the_help_names_every_command() {
    let folder = folder(&[]);
    let output = codecell(folder.path(), &[], "");
    let help = text(&output.stdout);
    assert_eq!(code(&output), 0);
    for command in ["demo", "mcp", "exec", "tools", "decls", "doctor"] {
        assert!(help.contains(&format!("\n  {command} ")), "{command} in {help}");
    }
    assert!(!help.contains("demo-server"), "{help}");
}

#[test]
fn wrong_usage_exits_with_64_and_prints_nothing_to_stdout() {
    let folder = folder(&[]);
    for arguments in [
        &["frobnicate"][..],
        &["exec", "--no-such-flag"],
        &["exec", "--language", "python", "--code", "1"],
        &["exec", "program.js", "--code", "return 1"],
        &["exec", "--code", "return 1", "--timeout", "soon"],
        &["decls", "one", "two"],
    ] {
        let output = codecell(folder.path(), arguments, "");
        assert_eq!(
            (code(&output), text(&output.stdout)),
            (64, String::new()),
            "{arguments:?}"
        );
        assert!(!output.stderr.is_empty());
    }
}

#[test]
fn exec_prints_one_result_and_its_exit_code_says_how_it_ended() {
    let (exit, done) = exec(&["--code", "return 1+1"], "");
    assert_eq!(
        (exit, &done["status"], &done["value"]),
        (0, &json!("completed"), &json!(2))
    );

    let (exit, failed) = exec(&["--code", "\nthrow new RangeError('too far')"], "");
    assert_eq!(
        (exit, &failed["status"], &failed["code"]),
        (1, &json!("failed"), &json!("internal_error"))
    );
    assert!(
        failed["error"].as_str().unwrap().contains("RangeError: too far"),
        "{failed}"
    );

    let (exit, waiting) = exec(&["--code", "await yield_control('later'); return 3"], "");
    assert_eq!(
        (exit, &waiting["status"], &waiting["reason"]),
        (2, &json!("waiting"), &json!("yield"))
    );
}

#[test]
fn exec_reads_the_program_from_a_file_or_from_standard_input() {
    let folder = folder(&[
        ("one.js", "return 1"),
        ("two.ts", "const n: number = 2; return n"),
    ]);
    for (arguments, stdin, value) in [
        (&["exec", "one.js"][..], "", 1),
        (&["exec", "two.ts"], "", 2),
        (&["exec", "-"], "return 3", 3),
        (&["exec"], "return 4", 4),
        (
            &["exec", "-", "--language", "typescript"],
            "return 5 as number",
            5,
        ),
    ] {
        let output = codecell(folder.path(), arguments, stdin);
        let result = result(&output);
        assert_eq!(
            (code(&output), &result["value"]),
            (0, &json!(value)),
            "{arguments:?}: {result}"
        );
    }
}

#[test]
fn wait_sees_a_program_through_and_keeps_all_it_printed() {
    let program = "text('a'); await yield_control(); text('b'); await yield_control(); return 'c'";
    let (exit, done) = exec(&["--wait", "--code", program], "");
    let output = json!([{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }]);
    assert_eq!((exit, &done["value"], &done["output"]), (0, &json!("c"), &output));
}

#[test]
fn the_time_limit_can_be_given_and_is_kept_in_its_range() {
    for limit in ["0", "300"] {
        let (exit, failed) = exec(&["--timeout", limit, "--code", "while (true) {}"], "");
        assert_eq!((exit, &failed["code"]), (1, &json!("timeout")), "{failed}");
    }
}

#[test]
fn a_refusal_before_the_start_is_a_failed_result() {
    let broken = "{ mcp: { servers: ";
    let off = "{ tools: { codeMode: false } }";
    let folder = folder(&[("broken.json5", broken), ("off.json5", off)]);
    for (arguments, named) in [
        (&["exec", "missing.js"][..], "missing.js"),
        (
            &["exec", "--code", "return 1", "--config", "broken.json5"],
            "broken.json5",
        ),
        (
            &["exec", "--code", "return 1", "--config", "absent.json5"],
            "absent.json5",
        ),
        (
            &["exec", "--code", "return 1", "--config", "off.json5"],
            "tools.codeMode",
        ),
        (&["exec", "--code", "ls -la && pwd"], "exec"),
    ] {
        let output = codecell(folder.path(), arguments, "");
        let result = result(&output);
        assert_eq!(
            (code(&output), &result["status"], &result["code"]),
            (1, &json!("failed"), &json!("invalid_input"))
        );
        assert!(
            result["error"].as_str().unwrap().contains(named),
            "{arguments:?}: {result}"
        );
    }
}

#[test]
fn a_cell_calls_the_servers_of_the_users_own_file() {
    let folder = folder(&[("mcp.json", &shop(json!({})))]);
    let program = "const { orders } = (await MCP.shop.listOrders({ customer_id: 'c-1' })).structuredContent;
        const levels = await Promise.all(orders[0].lines.map(({ sku }) => MCP.shop.stockLevel({ sku })));
        return levels.every((level) => level.structuredContent.onHand >= 0);";
    let output = codecell(
        folder.path(),
        &["exec", "--mcp-config", "mcp.json", "--code", program],
        "",
    );
    let result = result(&output);
    assert_eq!((code(&output), &result["value"]), (0, &json!(true)), "{result}");
    assert!(result["telemetry"]["callCount"].as_u64().unwrap() >= 2);
    assert_eq!(
        result["telemetry"]["visibleTools"],
        json!(["exec", "wait", "product_photo"])
    );
}

#[test]
fn a_configuration_in_the_working_folder_is_found() {
    let own =
        format!("{{ mcp: {{ servers: {{ shop: {{ command: {BINARY:?}, args: ['demo-server'] }} }} }} }}");
    let folder = folder(&[("codecell.json5", &own)]);
    let output = codecell(folder.path(), &["tools", "--json", "refund"], "");
    let found: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found[0]["path"], "MCP.shop.refundOrder");
    assert_eq!(found[0]["id"], "mcp:shop:refund_order");
}

#[test]
fn tools_lists_and_searches_with_the_state_of_every_server() {
    let folder = folder(&[(
        "mcp.json",
        &shop(json!({ "gone": { "command": "no-such-program-here" } })),
    )]);
    let listed = codecell(folder.path(), &["tools", "--mcp-config", "mcp.json"], "");
    let listing = text(&listed.stdout);
    assert_eq!(code(&listed), 0);
    for part in [
        "shop  ready  12 tools",
        "gone  failed",
        "MCP.shop.listOrders",
        "product_photo  (shop, direct-only",
    ] {
        assert!(listing.contains(part), "{part} in {listing}");
    }
    let nothing = codecell(
        folder.path(),
        &["tools", "--mcp-config", "mcp.json", "--json", "xylophone"],
        "",
    );
    assert_eq!(text(&nothing.stdout), "[]\n");
}

#[test]
fn decls_prints_or_writes_the_declarations() {
    let folder = folder(&[("mcp.json", &shop(json!({})))]);
    let one = codecell(folder.path(), &["decls", "shop", "--mcp-config", "mcp.json"], "");
    assert!(text(&one.stdout).contains("listOrders"), "{}", text(&one.stdout));

    let written = codecell(
        folder.path(),
        &["decls", "--out", "out", "--mcp-config", "mcp.json"],
        "",
    );
    assert_eq!(code(&written), 0, "{}", text(&written.stderr));
    for file in ["out/mcp/index.d.ts", "out/mcp/shop.d.ts"] {
        assert!(folder.path().join(file).is_file(), "{file}");
    }
    assert_eq!(
        fs::read_to_string(folder.path().join("out/mcp/shop.d.ts"))
            .unwrap()
            .trim(),
        text(&one.stdout).trim()
    );

    let unknown = codecell(folder.path(), &["decls", "shoop", "--mcp-config", "mcp.json"], "");
    assert_eq!(code(&unknown), 1);
    assert!(text(&unknown.stderr).contains("no server is named `shoop`; configured: shop"));
}

#[test]
fn doctor_is_content_with_a_sound_configuration() {
    let folder = folder(&[("mcp.json", &shop(json!({})))]);
    let output = codecell(
        folder.path(),
        &["doctor", "--json", "--mcp-config", "mcp.json"],
        "",
    );
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((code(&output), &report["ok"]), (0, &json!(true)), "{report}");
    assert_eq!(report["engine"], json!({ "state": "ready" }));
    assert_eq!(report["servers"][0]["tools"], 12);
    assert_eq!(report["servers"][0]["tokens"], report["tokens"]["direct"]);
    assert!(report["tokens"]["codecell"].as_u64().unwrap() > 0);
}

#[test]
fn doctor_names_what_is_wrong_and_exits_with_1() {
    let script = "echo cannot find the database >&2; exit 7";
    let more = json!({
        "broken": { "command": "sh", "args": ["-c", script] },
        "unset": { "command": "true", "env": { "TOKEN": "${CODECELL_TEST_UNSET}" } },
    });
    let folder = folder(&[("mcp.json", &shop(more))]);
    let output = codecell(folder.path(), &["doctor", "--mcp-config", "mcp.json"], "");
    let report = text(&output.stdout);
    assert_eq!(code(&output), 1, "{report}");
    for part in [
        "mcpServers.unset.env.TOKEN",
        "CODECELL_TEST_UNSET",
        "broken  failed",
        "cannot find the database",
        "shop  ready",
    ] {
        assert!(report.contains(part), "{part} in {report}");
    }
}

#[test]
fn the_demo_needs_nothing_and_ends_well() {
    let folder = folder(&[]);
    let output = codecell(folder.path(), &["demo"], "");
    let shown = text(&output.stdout);
    assert_eq!(code(&output), 0, "{shown}{}", text(&output.stderr));
    for part in [
        "1 of 3",
        "2 of 3",
        "3 of 3",
        "MCP.shop.stockLevel",
        "waiting",
        "Every program ended as it should.",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    assert!(!shown.contains('\u{1b}'), "no colour without a terminal");
    assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
}
