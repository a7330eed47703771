//! Finding tools.

use codecell::{Owner, ToolSpec};
use serde_json::{Value, json};

use crate::play::{completed, twice};
use crate::source::{core, mcp, named, ready};

fn described(owner: Owner, name: &str, description: &str) -> ToolSpec {
    ToolSpec::new(owner, name, description, json!({ "type": "object" }))
}

/// Tools of several servers, of the kind people have.
fn many_servers() -> Vec<ToolSpec> {
    let of = |server: &str, tools: &[(&str, &str)]| -> Vec<ToolSpec> {
        let owner = || Owner::Mcp(server.into());
        tools
            .iter()
            .map(|(name, description)| described(owner(), name, description))
            .collect()
    };
    let mut all = of(
        "jira",
        &[
            ("create_issue", "Create an issue in a project"),
            ("update_issue", "Change fields of an issue"),
            ("search_issues", "Find issues with JQL"),
            ("add_comment", "Comment on an issue"),
            ("list_projects", "List the projects of the site"),
        ],
    );
    all.extend(of(
        "mail",
        &[
            ("send_message", "Send an e-mail"),
            ("list_messages", "List e-mails of a folder"),
            ("login_status", "Whether the account is logged in"),
        ],
    ));
    all.extend(of(
        "files",
        &[
            ("read_file", "Read a file"),
            ("write_file", "Make or replace a file"),
            ("make_directory", "Make a directory"),
            ("search", "Search in files"),
        ],
    ));
    all.extend(of(
        "db",
        &[
            ("query", "Run a read-only SQL query"),
            ("list_tables", "List tables"),
            ("describe_table", "Columns of a table"),
        ],
    ));
    all.extend((0..40).map(|n| {
        described(
            Owner::Mcp("noise".into()),
            &format!("metric_{n}"),
            "Reads a metric about the system",
        )
    }));
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn q1_mcp_tools_are_found_by_the_words_of_a_task() {
    let (bench, _) = named(many_servers(), ready(&["jira", "mail", "files", "db", "noise"]));
    for (task, wanted) in [
        ("make a ticket about login", "MCP.jira.createIssue"),
        ("open a bug in jira", "MCP.jira.createIssue"),
        ("write an email to the team", "MCP.mail.sendMessage"),
        ("what columns does the orders table have", "MCP.db.describeTable"),
        ("save text to disk", "MCP.files.writeFile"),
    ] {
        let code = format!("return (await MCP.$search('{task}', {{limit: 8}})).map(hit => hit.path)");
        let hits = twice(&bench, &code).await;
        let found = hits["value"]
            .as_array()
            .unwrap()
            .iter()
            .any(|path| path == wanted);
        assert!(found, "{task}: {hits:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn q4_words_that_match_nothing_are_known() {
    let (bench, _) = named(many_servers(), ready(&["jira", "mail", "files", "db", "noise"]));
    let catalog = bench.context.surface.catalog();
    let report = catalog.search_report("create issue frobnicate zyzzyva", 8, codecell::Reach::All);
    assert_eq!(report.unmatched, ["frobnicate", "zyzzyva"]);
    assert_eq!(report.tools[0].id().as_str(), "mcp:jira:create_issue");
    assert_eq!(
        twice(&bench, "return await MCP.$search('frobnicate zyzzyva')").await,
        completed(json!([]))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn q6_sixteen_thousand_tools_are_searched_from_a_cell() {
    let tools = (0..16_500)
        .map(|n| mcp("generated", &format!("operation_{n}_on_thing_{}", n % 97)))
        .collect();
    let (bench, _) = named(tools, ready(&["generated"]));
    let code = "let found = 0; for (let n = 0; n < 200; n++) {
          const [hit] = await MCP.$search(`operation ${n * 80} on thing`, {limit: 3});
          if (hit.tool.startsWith(`operation_${n * 80}_`)) found++;
        } return found";
    let result = bench.exec(code).await;
    assert_eq!(
        (&result["value"], &result["telemetry"]["searchCount"]),
        (&json!(200), &json!(200)),
        "{result:#}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn q7_a_tool_that_was_left_out_has_a_notice() {
    let tools = vec![
        core("read"),
        core(""),
        mcp("s", ""),
        described(Owner::Core, "read", "the second"),
    ];
    let (bench, _) = named(tools, ready(&["s"]));
    let notices: Vec<String> = bench
        .context
        .surface
        .catalog()
        .notices()
        .iter()
        .map(ToString::to_string)
        .collect();
    let expected = [
        "a tool of `mcp:s:` has no name and is left out",
        "a tool of `openclaw:core:` has no name and is left out",
        "tool id `openclaw:core:read` was given more than once; the last one counts",
    ];
    assert_eq!(notices, expected);
    let code = "return ALL_TOOLS.map(tool => [tool.id, tool.description])";
    assert_eq!(
        twice(&bench, code).await,
        completed(json!([["openclaw:core:read", "the second"]]))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn q8_a_partial_index_says_so_and_the_rest_is_found() {
    for (count, partial) in [(20, false), (500, true), (5_000, true)] {
        let tools = (0..count).map(|n| core(&format!("tool_number_{n:04}"))).collect();
        let (bench, _) = named(tools, Vec::new());
        let told = bench
            .context
            .surface
            .exec_descriptor(&bench.context.settings)
            .description;
        let listed =
            told.matches("\n- openclaw:core:").count() + told.matches("\n- \"openclaw:core:").count();
        let last = told.lines().find(|line| line.starts_with("PARTIAL: "));
        let expected = partial.then(|| {
            format!("PARTIAL: {} more built-in tools are not listed here; `tools.search` and `ALL_TOOLS` have them.", count - listed)
        });
        assert_eq!(last.map(str::to_owned), expected, "{count}");
        let index = told.find("Index: ").unwrap();
        assert!(told[index..].encode_utf16().count() <= 8_000);
        let rest = format!(
            "return [ALL_TOOLS.length, (await tools.search('tool number {:04}', {{limit: 1}}))[0].name]",
            count - 1
        );
        assert_eq!(
            twice(&bench, &rest).await,
            completed(json!([count, format!("tool_number_{:04}", count - 1)]))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn q10_equal_hits_come_in_the_same_order_whatever_came_first() {
    let mut tools: Vec<ToolSpec> = (0..30)
        .map(|n| described(Owner::Core, &format!("same_{n}"), "Reads a thing"))
        .collect();
    tools.extend((0..30).map(|n| {
        described(
            Owner::Mcp(format!("server{}", n % 3)),
            &format!("same_{n}"),
            "Reads a thing",
        )
    }));
    let servers = ready(&["server0", "server1", "server2"]);
    let code = "return [(await tools.search('read thing', {limit: 20})).map(hit => hit.id),
        (await MCP.$search('read thing', {limit: 20})).map(hit => hit.path), ALL_TOOLS.map(tool => tool.id)]";
    let mut first: Option<Value> = None;
    for _ in 0..4 {
        tools.rotate_left(17);
        let (bench, _) = named(tools.clone(), servers.clone());
        let found = twice(&bench, code).await;
        assert_eq!(found["value"][0].as_array().unwrap().len(), 20, "{found:#}");
        assert_eq!(first.get_or_insert_with(|| found.clone()), &found);
    }
}
