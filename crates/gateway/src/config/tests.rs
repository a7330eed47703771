//! Whole files in, configuration and problems out.
use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use super::*;

mod agents;
mod models;
mod policy;
mod serve;
mod turns;

fn read(shape: Shape, text: &str) -> Loaded {
    let document = Document {
        file: "dir/f.json".into(),
        shape,
        text: text.to_owned(),
    };
    load_documents(&[document], &|name| (name == "TOKEN").then(|| "t0k".to_owned()))
}

fn problems(loaded: &Loaded) -> Vec<String> {
    loaded
        .problems
        .iter()
        .map(|problem| {
            assert_eq!(problem.file, PathBuf::from("dir/f.json"));
            format!("{} {}: {}", problem.severity, problem.path, problem.message)
        })
        .collect()
}

/// One entry, as a host writes it.
fn entry(text: &str) -> (Option<ServerConfig>, Vec<String>) {
    let loaded = read(Shape::Host, &format!(r#"{{ "mcpServers": {{ "s": {text} }} }}"#));
    let problems = problems(&loaded);
    (loaded.config.servers.into_iter().next(), problems)
}

fn stdio(command: &str, args: &[&str], env: &[(&str, &str)]) -> Transport {
    Transport::Stdio {
        command: command.to_owned(),
        args: args.iter().map(|arg| Secret::new(*arg)).collect(),
        env: env
            .iter()
            .map(|(name, value)| ((*name).to_owned(), Secret::new(*value)))
            .collect(),
        cwd: None,
    }
}

fn http(url: &str, headers: &[(&str, &str)]) -> Transport {
    let headers = headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Secret::new(*value)))
        .collect();
    Transport::Http {
        url: Secret::new(url),
        headers,
    }
}

#[test]
fn the_shapes_of_all_hosts_are_understood() {
    let npx = || stdio("npx", &["-y", "x"], &[("KEY", "t0k")]);
    let web = || http("https://h/mcp", &[("Authorization", "Bearer t0k")]);
    for (text, expected) in [
        // Claude Desktop, Claude Code, Cursor.
        (
            r#"{ "mcpServers": { "s": { "command": "npx", "args": ["-y", "x"], "env": { "KEY": "${TOKEN}" } } } }"#,
            npx(),
        ),
        (
            r#"{ "mcpServers": { "s": { "type": "http", "url": "https://h/mcp", "headers": { "Authorization": "Bearer ${TOKEN}" } } } }"#,
            web(),
        ),
        // VS Code, comments and trailing commas included.
        (
            "{ // servers\n \"servers\": { \"s\": { \"type\": \"stdio\", \"command\": \"npx\", \"args\": [\"-y\", \"x\",], \"env\": { \"KEY\": \"${env:TOKEN}\" }, }, }, }",
            npx(),
        ),
        // Windsurf, Gemini CLI, mcporter, OpenClaw.
        (
            r#"{ "mcpServers": { "s": { "serverUrl": "https://h/mcp", "headers": { "Authorization": "Bearer ${TOKEN}" } } } }"#,
            web(),
        ),
        (
            r#"{ "mcpServers": { "s": { "httpUrl": "https://h/mcp", "headers": { "Authorization": "Bearer ${TOKEN}" } } } }"#,
            web(),
        ),
        (
            r#"{ "mcpServers": { "s": { "baseUrl": "https://h/mcp", "headers": { "Authorization": "Bearer ${TOKEN}" } } } }"#,
            web(),
        ),
        (
            r#"{ mcp: { servers: { s: { url: "https://h/mcp", transport: "streamable-http", headers: { Authorization: "Bearer ${TOKEN}" } } } } }"#,
            web(),
        ),
        // A whole command line as one array.
        (
            r#"{ "mcpServers": { "s": { "type": "local", "command": ["npx", "-y", "x"], "environment": { "KEY": "${TOKEN}" } } } }"#,
            npx(),
        ),
    ] {
        let loaded = read(Shape::Host, text);
        assert_eq!(problems(&loaded), Vec::<String>::new(), "{text}");
        assert_eq!(
            loaded.config.servers,
            [ServerConfig::new("s", expected)],
            "{text}"
        );
    }
}

#[test]
fn switches_filters_and_limits_are_read_under_every_name() {
    let (server, problems) = entry(
        r#"{ "url": "http://h/", "enabled": true, "allow": ["a*"], "deny": ["ab"], "directOnly": ["shot"],
             "elicitation": "defaults", "startupTimeoutMs": 1, "requestTimeoutMs": 9e99 }"#,
    );
    let mut expected = ServerConfig::new("s", http("http://h/", &[]));
    expected.allow = Some(Globs::new(vec!["a*".into()]));
    expected.deny = Globs::new(vec!["ab".into()]);
    expected.direct_only = DirectOnly::Matching(Globs::new(vec!["shot".into()]));
    expected.elicitation = Elicitation::Defaults;
    expected.startup_timeout = Duration::from_millis(100);
    expected.request_timeout = Duration::from_secs(3600);
    assert_eq!((server.as_ref(), problems), (Some(&expected), vec![]));
    assert!(expected.permits("aa") && !expected.permits("ab") && !expected.permits("b"));

    let (server, problems) = entry(r#"{ "url": "http://h/", "elicitation": "accept" }"#);
    assert_eq!(server, Some(ServerConfig::new("s", http("http://h/", &[]))));
    assert_eq!(
        problems,
        ["warning mcpServers.s.elicitation: expected `decline` or `defaults`, so questions are declined"]
    );

    let (server, problems) = entry(
        r#"{ "url": "http://h/", "disabled": true, "toolFilter": { "include": ["a"], "exclude": ["b"] },
             "directOnly": true, "startup_timeout_sec": 2, "timeout": 5000 }"#,
    );
    let mut expected = ServerConfig::new("s", http("http://h/", &[]));
    expected.disabled = true;
    expected.allow = Some(Globs::new(vec!["a".into()]));
    expected.deny = Globs::new(vec!["b".into()]);
    expected.direct_only = DirectOnly::All;
    expected.startup_timeout = Duration::from_secs(2);
    expected.request_timeout = Duration::from_secs(5);
    assert_eq!((server, problems), (Some(expected), vec![]));
}

#[test]
fn what_costs_a_server_names_place_and_remedy() {
    for (text, expected) in [
        (
            "7",
            "error mcpServers.s: expected an object with `command` or `url`, got a number",
        ),
        ("{}", "error mcpServers.s: has neither `command` nor `url`"),
        (r#"{ "command": "" }"#, "error mcpServers.s.command: is empty"),
        (
            r#"{ "command": 7 }"#,
            "error mcpServers.s.command: expected a string, got a number `7`",
        ),
        (
            r#"{ "command": "x", "args": "y" }"#,
            "error mcpServers.s.args: expected an array of strings, got a string",
        ),
        (
            r#"{ "command": "x", "args": [{}] }"#,
            "error mcpServers.s.args[0]: expected a string, got an object",
        ),
        (
            r#"{ "type": "http" }"#,
            "error mcpServers.s.url: is missing: an http server needs its endpoint",
        ),
        (
            r#"{ "url": "h/mcp" }"#,
            "error mcpServers.s.url: does not start with `http://` or `https://`",
        ),
        (
            r#"{ "type": "sse", "url": "http://h/" }"#,
            "error mcpServers.s.type: the old `sse` transport is not supported: use the server's streamable HTTP endpoint with `type: \"http\"`",
        ),
        (
            r#"{ "type": "ws", "url": "ws://h/" }"#,
            "error mcpServers.s.type: unknown type `ws`: expected `stdio` or `http`",
        ),
        // Without them more would be there than was meant.
        (
            r#"{ "command": "x", "disabled": "yes" }"#,
            "error mcpServers.s.disabled: expected `true` or `false`, got a string `\"yes\"`",
        ),
        (
            r#"{ "command": "x", "enabled": 0 }"#,
            "error mcpServers.s.enabled: expected `true` or `false`, got a number `0`",
        ),
        (
            r#"{ "command": "x", "allow": "get_*" }"#,
            "error mcpServers.s.allow: expected an array of tool names, got a string `\"get_*\"`",
        ),
        (
            r#"{ "command": "x", "deny": ["a", 7] }"#,
            "error mcpServers.s.deny[1]: expected a tool name, got a number `7`",
        ),
        (
            r#"{ "command": "x", "toolFilter": ["a"] }"#,
            "error mcpServers.s.toolFilter: expected an object, got an array `[\"a\"]`",
        ),
        (
            r#"{ "command": "x", "toolFilter": { "exclude": "a" } }"#,
            "error mcpServers.s.toolFilter.exclude: expected an array of tool names, got a string `\"a\"`",
        ),
        (
            r#"{ "command": "x", "env": { "KEY": "${NOPE}" } }"#,
            "error mcpServers.s.env.KEY: environment variable `NOPE` is not set: set it, or write `${NOPE:-default}`",
        ),
        (
            r#"{ "command": "x", "env": { "KEY": "${input:key}" } }"#,
            "error mcpServers.s.env.KEY: `${input:key}` asks an editor for a value and nobody can be asked here: write `${env:NAME}` and set that variable instead",
        ),
    ] {
        let (server, problems) = entry(text);
        assert_eq!(server, None, "{text}");
        assert_eq!(problems[0], expected, "{text}");
    }
}

#[test]
fn a_missing_env_file_costs_its_server() {
    let (server, problems) = entry(r#"{ "command": "x", "envFile": "no/such/.env" }"#);
    assert_eq!(server, None);
    assert!(
        problems[0].starts_with("error mcpServers.s.envFile: dir/no/such/.env cannot be read: "),
        "{problems:?}"
    );
}

#[test]
fn an_env_file_is_overridden_by_env() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(".env"), "A=file\nB=file\n").unwrap();
    let text =
        r#"{ mcp: { servers: { s: { command: "x", envFile: ".env", env: { B: "own" }, cwd: "sub" } } } }"#;
    let file = folder.path().join("codecell.json5");
    let document = Document {
        file,
        shape: Shape::Own,
        text: text.to_owned(),
    };
    let loaded = load_documents(&[document], &|_| None);
    let Transport::Stdio { env, cwd, .. } = &loaded.config.servers[0].transport else {
        panic!("{loaded:?}")
    };
    let env: BTreeMap<&str, &str> = env
        .iter()
        .map(|(name, value)| (name.as_str(), value.expose()))
        .collect();
    assert_eq!(env, BTreeMap::from([("A", "file"), ("B", "own")]));
    assert_eq!(cwd.as_deref(), Some(folder.path().join("sub").as_path()));
}

#[test]
fn what_belongs_to_other_hosts_is_noted_and_tolerated() {
    let (server, problems) = entry(
        r#"{ "command": "x", "url": "http://h/", "autoApprove": [], "wat": 1, "oauth": {}, "startupTimeoutMs": "1",
             "env": { "NODE_OPTIONS": "-r evil", "PORT": 8080, "NONE": null } }"#,
    );
    assert_eq!(
        server.map(|server| server.transport),
        Some(stdio("x", &[], &[("NODE_OPTIONS", "-r evil"), ("PORT", "8080")]))
    );
    assert_eq!(
        problems,
        [
            "warning mcpServers.s.startupTimeoutMs: expected a number, got a string `\"1\"`",
            "warning mcpServers.s.url: is ignored, because `command` makes this a stdio server",
            "note mcpServers.s.env.NONE: is null, so it is not set",
            "note mcpServers.s.env.NODE_OPTIONS: makes the server's interpreter load other code; passed on as written",
            "note mcpServers.s.autoApprove: belongs to another host and is ignored",
            "note mcpServers.s.wat: unknown key, ignored",
            "warning mcpServers.s.oauth: signing in is not supported yet: put the token into `headers`",
        ]
    );
}

#[test]
fn a_disabled_server_needs_no_variables() {
    let (server, problems) = entry(r#"{ "disabled": true, "command": "x", "env": { "KEY": "${NOPE}" } }"#);
    assert_eq!(
        (server.map(|server| server.disabled), problems),
        (Some(true), vec![])
    );
}

#[test]
fn one_bad_server_costs_no_other_and_odd_names_are_harmless() {
    let loaded = read(
        Shape::Host,
        r#"{ "mcpServers": { "__proto__": { "command": "a" }, "bad": {}, "a.b c": { "command": "b" }, "": { "command": "c" } } }"#,
    );
    let names: Vec<&str> = loaded
        .config
        .servers
        .iter()
        .map(|server| server.name.as_str())
        .collect();
    assert_eq!(names, ["__proto__", "a.b c"]);
    assert_eq!(
        problems(&loaded),
        [
            "error mcpServers.bad: has neither `command` nor `url`",
            "error mcpServers.\"\": a server name has 1 to 128 characters and no control characters",
        ]
    );
}

#[test]
fn of_two_files_the_later_wins_with_a_warning() {
    let document = |file: &str, shape, text: &str| Document {
        file: file.into(),
        shape,
        text: text.to_owned(),
    };
    let loaded = load_documents(
        &[
            document(
                "own.json5",
                Shape::Own,
                "{ mcp: { servers: { s: { command: 'a' }, t: { command: 'b' } } } }",
            ),
            document(
                "their.json",
                Shape::Host,
                r#"{ "servers": { "s": { "command": "c" } } }"#,
            ),
        ],
        &|_| None,
    );
    let commands: Vec<Transport> = loaded
        .config
        .servers
        .into_iter()
        .map(|server| server.transport)
        .collect();
    assert_eq!(commands, [stdio("c", &[], &[]), stdio("b", &[], &[])]);
    let shown: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        ["warning: their.json: servers.s: server `s` was configured before: this entry replaces it"]
    );
}

#[test]
fn code_mode_is_clamped_and_mistakes_are_named() {
    let loaded = read(
        Shape::Own,
        r#"{ tools: { codeMode: { enabled: 1, timeoutMs: 1e12, memoryLimitBytes: -5, maxOutputBytes: 2048.9,
             maxSnapshotBytes: "10", maxSearchLimit: 5, searchDefaultLimit: 40, languages: ["typescript", "lua"],
             mode: "also", timeout: 5 } }, other: 1 }"#,
    );
    let expected = CodeModeSettings {
        timeout_ms: 60_000,
        memory_limit_bytes: 1_048_576,
        max_output_bytes: 2048,
        max_search_limit: 5,
        search_default_limit: 5,
        languages: Languages {
            javascript: false,
            typescript: true,
        },
        ..CodeModeSettings::default()
    };
    assert_eq!(loaded.config.code_mode, expected);
    assert_eq!(
        problems(&loaded),
        [
            "warning tools.codeMode.enabled: expected `true` or `false`, got a number `1`: only a real `true` enables",
            "note tools.codeMode.timeoutMs: 1000000000000 is outside 100 to 60000, so 60000 is used",
            "note tools.codeMode.memoryLimitBytes: -5 is outside 1048576 to 1073741824, so 1048576 is used",
            "warning tools.codeMode.maxSnapshotBytes: expected a number from 1024 to 268435456, got a string `\"10\"`",
            "warning tools.codeMode.languages[1]: expected `javascript` or `typescript`, got a string `\"lua\"`",
            "warning tools.codeMode.mode: the only value is `only`, got a string `\"also\"`",
            "warning tools.codeMode.timeout: unknown setting, ignored; known are enabled, runtime, mode, languages, timeoutMs, memoryLimitBytes, maxOutputBytes, maxSnapshotBytes, maxPendingToolCalls, snapshotTtlSeconds, searchDefaultLimit, maxSearchLimit",
            "warning other: unknown setting, ignored; known are tools, agents, plugins, models, serve and mcp",
        ]
    );
}

#[test]
fn only_real_booleans_switch() {
    for (text, expected) in [
        ("{ tools: { codeMode: true } }", Switch::On),
        ("{ tools: { codeMode: false } }", Switch::Off),
        ("{ tools: { codeMode: { enabled: true } } }", Switch::On),
        ("{ tools: { codeMode: { enabled: false } } }", Switch::Off),
        ("{ tools: { codeMode: {} } }", Switch::Unset),
        ("{ tools: { codeMode: 'true' } }", Switch::Unset),
        ("{}", Switch::Unset),
    ] {
        assert_eq!(
            read(Shape::Own, text).config.code_mode.enabled,
            expected,
            "{text}"
        );
    }
}

#[test]
fn unreadable_files_are_one_problem_each() {
    for (shape, text, expected) in [
        (Shape::Own, "[]", "error : expected an object, got an array"),
        (
            Shape::Own,
            " ",
            "error : the file is empty, an object was expected",
        ),
        (
            Shape::Host,
            "{}",
            "error : names no servers: expected a `mcpServers` or `servers` object",
        ),
        (
            Shape::Host,
            r#"{ "mcpServers": [] }"#,
            "error mcpServers: expected an object of servers by name, got an array",
        ),
        (
            Shape::Own,
            "{ mcp: 5 }",
            "error mcp: expected an object, got a number",
        ),
    ] {
        assert_eq!(problems(&read(shape, text)), [expected], "{text}");
    }
    let broken = problems(&read(Shape::Own, "{ tools: "));
    assert!(
        broken.len() == 1 && broken[0].starts_with("error : is not JSON or JSON5: "),
        "{broken:?}"
    );
    let missing = load(&[Source {
        file: "no/such/file".into(),
        shape: Shape::Own,
    }]);
    assert!(
        missing.problems[0]
            .to_string()
            .starts_with("error: no/such/file: cannot be read: "),
        "{missing:?}"
    );
}

#[test]
fn secrets_never_show() {
    let loaded = read(
        Shape::Host,
        r#"{ "mcpServers": {
            "a": { "command": "x", "args": ["--token", "hunter2"], "env": { "K": "hunter2" } },
            "b": { "url": "https://h/?k=hunter2", "headers": { "K": "hunter2" } },
            "c": { "url": "hunter2" }, "d": { "command": "x", "env": { "K": ["hunter2"] } } } }"#,
    );
    assert_eq!(loaded.config.servers.len(), 2);
    let shown = format!("{loaded:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
}
