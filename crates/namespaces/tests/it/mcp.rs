//! Names, paths, files and `$api` of the `MCP` namespace.

use std::{collections::HashSet, fs, path::Path, sync::Arc};

use codecell_catalog::{Catalog, Owner, ToolSpec};
use codecell_namespaces::{ApiPathError, ApiSelector, McpNamespace, Members, PathError, ServerInfo, Target};
use serde_json::{Value, json};

fn tool(server: &str, name: &str, description: &str) -> ToolSpec {
    let schema =
        json!({ "type": "object", "properties": { "title": { "type": "string" } }, "required": ["title"] });
    ToolSpec::new(Owner::Mcp(server.to_owned()), name, description, schema)
}

fn namespace(tools: Vec<ToolSpec>, servers: Vec<ServerInfo>) -> (Arc<Catalog>, McpNamespace) {
    let catalog = Arc::new(Catalog::build(tools));
    let mcp = McpNamespace::build(&catalog, servers);
    (catalog, mcp)
}

/// Two servers: `github` with two tools, `my-docs` with one, resources and a state.
fn two_servers() -> (Arc<Catalog>, McpNamespace) {
    let docs = ServerInfo {
        resources: true,
        state: "stale".to_owned(),
        ..ServerInfo::ready("my-docs")
    };
    namespace(
        vec![
            tool("github", "create_issue", "Open a new issue"),
            tool("github", "delete", "Delete a repository"),
            tool("my-docs", "read", "Read a page"),
        ],
        vec![ServerInfo::ready("github"), docs],
    )
}

fn listed(mcp: &McpNamespace, prefix: Option<&str>) -> Vec<String> {
    let files = mcp.files().list(prefix);
    files
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn every_listed_name_is_callable_and_means_its_own_tool() {
    let path = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/mcp/nasty.json"
    ));
    let dump: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let names: Vec<&str> = dump["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let (catalog, mcp) = namespace(
        names.iter().map(|name| tool("nasty", name, "")).collect(),
        Vec::new(),
    );

    let methods = mcp.members("nasty").unwrap().methods;
    let mut reached = HashSet::new();
    for method in &methods {
        let Ok(Target::Tool(id)) = mcp.resolve(&["nasty", method]) else {
            panic!("`{method}` is not callable")
        };
        assert_eq!(mcp.path_of(id.as_str()).unwrap(), format!("MCP.nasty.{method}"));
        assert!(
            reached.insert(catalog.get(id.as_str()).unwrap().spec().name.clone()),
            "`{method}` is no tool of its own"
        );
        let api = mcp.api(ApiSelector {
            server: Some("nasty"),
            tool: Some(method),
            schema: false,
        });
        let header = api["header"].as_str().unwrap();
        assert!(header.contains(&format!("function {method}(")), "{header}");
    }
    assert_eq!(reached.len(), names.iter().collect::<HashSet<_>>().len());
    for harmful in [
        "then",
        "toJSON",
        "constructor",
        "__proto__",
        "toString",
        "valueOf",
        "resources",
        "prompts",
        "$api",
    ] {
        assert!(!methods.iter().any(|method| method == harmful), "{harmful}");
    }
}

#[test]
fn names_that_differ_in_case_or_punctuation_stay_apart() {
    let names = ["getUser", "getuser", "get_user", "get-user"];
    let (_, mcp) = namespace(names.iter().map(|name| tool("s", name, "")).collect(), Vec::new());
    let reached: Vec<String> = mcp
        .members("s")
        .unwrap()
        .methods
        .iter()
        .map(|method| match mcp.resolve(&["s", method]) {
            Ok(Target::Tool(id)) => format!("{method} {}", id.as_str()),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected: HashSet<&str> = HashSet::from([
        "getUser mcp:s:getUser",
        "getuser mcp:s:getuser",
        "getUser2 mcp:s:get-user",
        "getUser3 mcp:s:get_user",
    ]);
    assert_eq!(
        reached.iter().map(String::as_str).collect::<HashSet<_>>(),
        expected
    );
}

#[test]
fn another_server_renames_nothing() {
    let first = vec![tool("my_server", "go", "")];
    let both = vec![tool("my_server", "go", ""), tool("my-server", "go", "")];
    let (_, alone) = namespace(first, vec![ServerInfo::ready("my_server")]);
    let (_, beside) = namespace(
        both,
        vec![ServerInfo::ready("my_server"), ServerInfo::ready("my-server")],
    );
    assert_eq!(alone.path_of("mcp:my_server:go").unwrap(), "MCP.myServer.go");
    assert_eq!(beside.path_of("mcp:my_server:go").unwrap(), "MCP.myServer.go");
    assert_eq!(beside.path_of("mcp:my-server:go").unwrap(), "MCP.myServer2.go");
}

#[test]
fn a_server_called_index_does_not_hide_the_index() {
    let (_, mcp) = namespace(vec![tool("index", "go", "")], Vec::new());
    assert_eq!(
        listed(&mcp, None),
        ["mcp/index.d.ts", "mcp/index2.d.ts", "mcp/index2.schema.json"]
    );
    assert!(
        mcp.files()
            .read("mcp/index.d.ts")
            .unwrap()
            .contains("MCP.index2 (index): 1 tool")
    );
}

#[test]
fn members_are_what_the_guest_needs_for_a_lazy_object() {
    let (_, mcp) = two_servers();
    let members = mcp.members("myDocs").unwrap();
    assert_eq!(
        members,
        Members {
            server_name: "my-docs".into(),
            methods: vec!["read".into()],
            resources: true,
            prompts: false,
            unready: false,
        }
    );
    assert_eq!(
        serde_json::to_value(members).unwrap(),
        json!({ "serverName": "my-docs", "methods": ["read"], "resources": true, "prompts": false })
    );
    assert_eq!(mcp.members("github").unwrap().methods, ["createIssue", "delete2"]);
    assert_eq!(mcp.members("nobody"), None);
    let servers: Vec<_> = mcp
        .servers()
        .map(|server| (server.identifier, server.server_name, server.tool_count))
        .collect();
    assert_eq!(servers, [("github", "github", 2), ("myDocs", "my-docs", 1)]);
}

#[test]
fn a_server_that_is_not_there_says_so_under_any_name() {
    let down = ServerInfo {
        state: "failed: exited with status 3".into(),
        ..ServerInfo::ready("down")
    };
    let (_, mcp) = namespace(vec![tool("up", "go", "")], vec![ServerInfo::ready("up"), down]);
    assert!(mcp.members("down").unwrap().unready);
    let says = "MCP server `down` is not available: failed: exited with status 3";
    for path in [["down", "anything"].as_slice(), &["down", "resources", "list"]] {
        assert_eq!(mcp.resolve(path).unwrap_err().to_string(), says);
    }
    assert_eq!(mcp.unavailable("mcp:down:anything").unwrap().to_string(), says);
    for other in ["mcp:up:anything", "mcp:downtown:go", "openclaw:core:down"] {
        assert_eq!(mcp.unavailable(other), None, "{other}");
    }
}

#[test]
fn paths_lead_to_tools_resources_and_prompts_or_say_what_is_near() {
    let (_, mcp) = two_servers();
    assert_eq!(
        mcp.resolve(&["myDocs", "resources", "list"]),
        Ok(Target::ResourcesList {
            server: "my-docs".into()
        })
    );
    assert_eq!(
        mcp.resolve(&["myDocs", "resources", "read"]),
        Ok(Target::ResourcesRead {
            server: "my-docs".into()
        })
    );
    for (path, message) in [
        (
            &["github", "create_issue"][..],
            "unknown MCP tool `MCP.github.create_issue`; did you mean `MCP.github.createIssue`?; `MCP.$search(query)` finds tools",
        ),
        (
            &["github", "zzz"],
            "unknown MCP tool `MCP.github.zzz`; `MCP.$search(query)` finds tools",
        ),
        (
            &["my-docs", "read"],
            "unknown MCP server `MCP.my-docs`; servers: myDocs, github",
        ),
        (
            &["myDocs", "prompts", "get"],
            "MCP server `my-docs` serves no prompts",
        ),
        (
            &["github"],
            "`MCP.github` is not callable; call MCP.<server>.<tool>({ ... })",
        ),
        (
            &["github", "createIssue", "call"],
            "`MCP.github.createIssue.call` is not callable; call MCP.<server>.<tool>({ ... })",
        ),
        (
            &["myDocs", "resources"],
            "`MCP.myDocs.resources` is not callable; call MCP.<server>.<tool>({ ... })",
        ),
        (&[], "`MCP.` is not callable; call MCP.<server>.<tool>({ ... })"),
    ] {
        assert_eq!(mcp.resolve(path).unwrap_err().to_string(), message);
    }
    let (_, empty) = namespace(Vec::new(), Vec::new());
    assert_eq!(
        empty.resolve(&["github", "x"]),
        Err(PathError::UnknownServer {
            asked: "github".into(),
            servers: Vec::new()
        })
    );
}

#[test]
fn files_are_listed_with_their_true_size_and_read_by_exact_path() {
    let (_, mcp) = two_servers();
    assert_eq!(
        listed(&mcp, Some("mcp/")),
        [
            "mcp/index.d.ts",
            "mcp/github.d.ts",
            "mcp/github.schema.json",
            "mcp/myDocs.d.ts",
            "mcp/myDocs.schema.json"
        ]
    );
    assert_eq!(listed(&mcp, Some("/mcp/github.d.ts")), ["mcp/github.d.ts"]);
    for nothing in ["mc", "mcp/github", "mcp/../mcp", "other"] {
        assert_eq!(listed(&mcp, Some(nothing)), [""; 0], "{nothing}");
    }
    for file in mcp.files().list(None).as_array().unwrap() {
        let text = mcp.files().read(file["path"].as_str().unwrap()).unwrap();
        assert_eq!(file["bytes"], text.len(), "{file}");
    }
    assert_eq!(
        mcp.files().list(Some("mcp/myDocs.d.ts"))[0]["description"],
        "Declarations of my-docs: 1 tool (stale)"
    );
    let schemas: Value = serde_json::from_str(&mcp.files().read("/mcp/github.schema.json").unwrap()).unwrap();
    assert_eq!(
        schemas["createIssue"]["inputSchema"]["required"],
        json!(["title"])
    );
}

#[test]
fn odd_file_paths_are_refused() {
    let (_, mcp) = two_servers();
    for path in [
        "",
        "/",
        "mcp//github.d.ts",
        "./mcp/index.d.ts",
        "mcp/../mcp/index.d.ts",
        "mcp/",
    ] {
        assert_eq!(
            mcp.files().read(path),
            Err(ApiPathError::Invalid { path: path.into() }),
            "{path}"
        );
    }
    for (path, message) in [
        (
            "mcp/none.d.ts",
            "unknown API file: `mcp/none.d.ts`; API.list(\"mcp\") lists 5 files",
        ),
        (
            "mcp/my-docs.d.ts",
            "unknown API file: `mcp/my-docs.d.ts`; API.list(\"mcp\") lists 5 files, such as `mcp/myDocs.d.ts`",
        ),
    ] {
        assert_eq!(mcp.files().read(path).unwrap_err().to_string(), message);
    }
}

#[test]
fn search_answers_with_paths_to_call() {
    let (catalog, mcp) = two_servers();
    assert_eq!(
        mcp.search(&catalog, "create issue", 1),
        [json!({
            "path": "MCP.github.createIssue",
            "server": "github",
            "tool": "create_issue",
            "description": "Open a new issue",
            "input": "{ title: string }",
        })]
    );
}

#[test]
fn api_answers_for_the_root_a_server_and_a_tool() {
    let (_, mcp) = two_servers();
    let api = |server, tool, schema| mcp.api(ApiSelector { server, tool, schema });

    let root = api(None, None, false);
    assert_eq!(
        (root["kind"].as_str(), root["scope"].as_str()),
        (Some("mcp_api"), Some("root"))
    );
    assert_eq!(
        root["servers"][1],
        json!({ "identifier": "myDocs", "serverName": "my-docs", "toolCount": 1 })
    );

    let server = api(Some("github"), None, false);
    assert_eq!(server["scope"], "server");
    assert_eq!(
        server["server"],
        json!({ "identifier": "github", "serverName": "github" })
    );
    assert_eq!(server["header"], mcp.files().read("mcp/github.d.ts").unwrap());
    assert_eq!(server.get("schemas"), None);
    assert_eq!(
        server["tools"][0],
        json!({
            "method": "createIssue",
            "path": "MCP.github.createIssue",
            "mcpTool": "create_issue",
            "operation": "tool",
            "description": "Open a new issue",
        })
    );

    for asked in ["delete2", "delete", "github.delete2", "MCP.github.delete2"] {
        let tool = api(Some("github"), Some(asked), true);
        assert_eq!(
            (tool["scope"].as_str(), tool["tools"][0]["mcpTool"].as_str()),
            (Some("tool"), Some("delete"))
        );
        assert_eq!(
            tool["header"],
            "declare namespace MCP.github {\n  /** Delete a repository (tool \"delete\") */\n  function \
             delete2(input: { title: string }): Promise<McpToolResult>;\n}\n"
        );
        assert_eq!(
            tool["schemas"]["delete2"]["inputSchema"]["required"],
            json!(["title"])
        );
    }

    let docs = api(Some("myDocs"), Some("resources.read"), false);
    assert_eq!(
        (docs["scope"].as_str(), docs["tools"][0]["operation"].as_str()),
        (Some("tool"), Some("resources.read"))
    );
    assert_eq!(
        docs["note"],
        "Call a method with one object argument. Server state: stale."
    );

    let nothing = api(Some("github"), Some("none"), false);
    assert_eq!(
        (nothing["scope"].as_str(), &nothing["tools"]),
        (Some("server"), &json!([]))
    );
    assert_eq!(
        api(Some("Github"), None, false)["note"],
        "no server `Github`; servers: github, myDocs"
    );
}
