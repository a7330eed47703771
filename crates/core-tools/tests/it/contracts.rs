//! What the tools say of themselves.

use codecell_catalog::{Owner, Replay, Tool as CatalogTool};
use codecell_core_tools::{
    CoreToolsConfig, CoreToolsError, ExecConfig, RootConfig, WebFetchConfig, core_tools,
};

use crate::Kit;

fn everything() -> Kit {
    Kit::of(&[], |roots| CoreToolsConfig {
        roots,
        exec: Some(ExecConfig::default()),
        web_fetch: Some(WebFetchConfig::default()),
    })
}

#[test]
fn every_tool_has_whole_hints_and_true_annotations() {
    let kit = everything();
    let seen: Vec<(String, bool, String)> = kit
        .tools
        .iter()
        .map(|tool| {
            let tool = CatalogTool::alone(tool.definition().into_spec(Owner::Core));
            tool.check_contract().unwrap();
            let hint = tool.entry().output.clone().unwrap_or_else(|| "incomplete".into());
            let line = format!("{} {} -> {hint}", tool.spec().name, tool.entry().input);
            let safe = tool.replay() == Replay::Safe;
            (line, safe, tool.spec().annotations.clone().unwrap().to_string())
        })
        .collect();
    let reads = r#"{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}"#;
    let writes = r#"{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":false}"#;
    let fetches = r#"{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":true}"#;
    let acts = r#"{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true}"#;
    let expected = [
        (
            "read { path: string; limit?: number; offset?: number } -> { lines: number; path: string; startLine: number; text: string; totalLines: number; truncated: boolean }",
            true,
            reads,
        ),
        ("write { path: string; text: string; createDirs?: boolean } -> { bytes: number; created: boolean; path: string }", false, writes),
        ("edit { edits: Array<{ newText: string; oldText: string; all?: boolean }>; path: string } -> { path: string; replacements: number }", false, writes),
        ("apply_patch { patch: string } -> { files: Array<{ action: \"add\" | \"update\" | \"delete\" | \"move\"; addedLines: number; path: string; removedLines: number; from?: string }> }", false, writes),
        ("ls { depth?: number; path?: string } -> { entries: Array<{ kind: \"file\" | \"dir\" | \"symlink\" | \"other\"; name: string; bytes?: number }>; path: string; truncated: boolean }", true, reads),
        ("glob { pattern: string; limit?: number; path?: string } -> { paths: Array<string>; truncated: boolean }", true, reads),
        ("grep { pattern: string; context?: number; glob?: string; ignoreCase?: boolean; limit?: number; path?: string } -> { matches: Array<{ line: number; path: string; text: string; after?: Array<string>; before?: Array<string> }>; truncated: boolean }", true, reads),
        ("exec { command: string; cwd?: string; env?: { ... }; timeoutMs?: number } -> { exitCode: number | null; stderr: string; stdout: string; timedOut: boolean; truncated: boolean; signal?: string }", false, acts),
        ("web_fetch { url: string; maxBytes?: number } -> { contentType: string; status: number; text: string; truncated: boolean; url: string }", true, fetches),
    ]
    .map(|(line, safe, hints)| (line.to_owned(), safe, hints.to_owned()));
    assert_eq!(seen, expected);
}

#[test]
fn only_what_is_configured_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let root = |writable| RootConfig {
        path: folder.path().to_owned(),
        writable,
    };
    let cases = [
        (CoreToolsConfig::default(), ""),
        (
            CoreToolsConfig {
                roots: vec![root(false)],
                ..CoreToolsConfig::default()
            },
            "read ls glob grep",
        ),
        (
            CoreToolsConfig {
                roots: vec![root(false), root(true)],
                ..CoreToolsConfig::default()
            },
            "read write edit apply_patch ls glob grep",
        ),
        (
            CoreToolsConfig {
                web_fetch: Some(WebFetchConfig::default()),
                ..CoreToolsConfig::default()
            },
            "web_fetch",
        ),
        (
            CoreToolsConfig {
                roots: vec![root(false)],
                exec: Some(ExecConfig::default()),
                ..CoreToolsConfig::default()
            },
            "read ls glob grep exec",
        ),
    ];
    for (config, expected) in cases {
        let tools = core_tools(config).unwrap();
        let names: Vec<_> = tools.iter().map(|tool| tool.definition().name).collect();
        assert_eq!(names.join(" "), expected);
    }
}

#[test]
fn what_cannot_be_used_is_refused_when_the_tools_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let refused = |config: CoreToolsConfig| core_tools(config).err().unwrap().to_string();
    let root = |path| CoreToolsConfig {
        roots: vec![RootConfig {
            path,
            writable: false,
        }],
        ..CoreToolsConfig::default()
    };
    let missing = folder.path().join("missing");
    assert_eq!(
        refused(root(missing.clone())),
        format!("the root folder `{}` cannot be used", missing.display())
    );
    assert_eq!(
        refused(root(file.clone())),
        format!("the root folder `{}` cannot be used", file.display())
    );
    let exec = CoreToolsConfig {
        exec: Some(ExecConfig::default()),
        ..CoreToolsConfig::default()
    };
    assert!(matches!(core_tools(exec), Err(CoreToolsError::ExecWithoutRoot)));
    let fetch = WebFetchConfig {
        allowed_hosts: vec!["http://a/b".into()],
        ..WebFetchConfig::default()
    };
    let fetch = CoreToolsConfig {
        web_fetch: Some(fetch),
        ..CoreToolsConfig::default()
    };
    assert_eq!(
        refused(fetch),
        "`http://a/b` is no allowed host: give `name`, `name:port`, an address or `[address]:port`"
    );
    let mut exec = root(folder.path().to_owned());
    exec.exec = Some(ExecConfig {
        env: vec!["A=B".into()],
        ..ExecConfig::default()
    });
    assert_eq!(
        refused(exec),
        "`A=B` cannot be the name of an environment variable"
    );
}
