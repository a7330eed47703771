use codecell_catalog::{Catalog, Owner, Reach, ToolSpec};
use serde_json::{Map, Value, json};

use crate::ids;

/// An office's worth of servers, written for this test: server, tool, description, parameters.
const TOOLS: [(&str, &str, &str, &[&str]); 40] = [
    (
        "jira",
        "create_issue",
        "Creates a new issue in a project.",
        &["projectKey", "summary", "issueType"],
    ),
    (
        "jira",
        "transition_issue",
        "Moves an issue to another workflow state.",
        &["issueKey", "transition"],
    ),
    (
        "jira",
        "search_issues",
        "Searches issues using JQL.",
        &["jql", "maxResults"],
    ),
    (
        "jira",
        "add_comment",
        "Adds a comment to an issue.",
        &["issueKey", "body"],
    ),
    (
        "github",
        "create_pull_request",
        "Open a pull request between two branches.",
        &["owner", "repo", "head", "base"],
    ),
    (
        "github",
        "merge_pull_request",
        "Merge a pull request.",
        &["owner", "repo", "pull_number"],
    ),
    (
        "github",
        "get_file_contents",
        "Read a file or directory of a repository.",
        &["owner", "repo", "path"],
    ),
    (
        "github",
        "list_commits",
        "Commits of a branch, newest first.",
        &["owner", "repo", "sha"],
    ),
    (
        "github",
        "fork_repository",
        "Fork a repository to your account.",
        &["owner", "repo"],
    ),
    (
        "files",
        "read_text_file",
        "Returns the contents of a text file.",
        &["path", "head", "tail"],
    ),
    (
        "files",
        "write_file",
        "Writes a file, replacing what was there.",
        &["path", "content"],
    ),
    (
        "files",
        "list_directory",
        "Lists the entries of a directory.",
        &["path"],
    ),
    (
        "files",
        "move_file",
        "Moves or renames a file.",
        &["source", "destination"],
    ),
    (
        "files",
        "create_directory",
        "Makes a directory and its parents.",
        &["path"],
    ),
    (
        "mail",
        "send_message",
        "Sends a message to one or more recipients.",
        &["to", "subject", "body"],
    ),
    (
        "mail",
        "search_inbox",
        "Finds messages by sender, subject or text.",
        &["query"],
    ),
    (
        "mail",
        "download_attachment",
        "Saves an attachment of a message.",
        &["messageId", "attachmentId"],
    ),
    (
        "calendar",
        "create_event",
        "Schedules an event and invites people.",
        &["title", "start", "end", "attendees"],
    ),
    (
        "calendar",
        "find_free_slots",
        "When all attendees have time.",
        &["attendees", "duration"],
    ),
    ("calendar", "cancel_event", "Cancels an event.", &["eventId"]),
    (
        "sheets",
        "append_rows",
        "Appends rows to a spreadsheet.",
        &["spreadsheetId", "range", "values"],
    ),
    (
        "sheets",
        "read_range",
        "Values of a range of cells in a spreadsheet.",
        &["spreadsheetId", "range"],
    ),
    (
        "sheets",
        "add_chart",
        "Draws a chart of a range.",
        &["spreadsheetId", "range", "chartType"],
    ),
    ("db", "run_query", "Runs a read-only SQL statement.", &["sql"]),
    (
        "db",
        "describe_table",
        "Columns and types of a table.",
        &["table"],
    ),
    (
        "slack",
        "post_to_channel",
        "Posts text in a channel.",
        &["channel", "text"],
    ),
    ("slack", "list_channels", "Lists public channels.", &["cursor"]),
    ("slack", "get_user_profile", "Profile of a member.", &["userId"]),
    ("maps", "geocode", "Coordinates of an address.", &["address"]),
    (
        "maps",
        "get_directions",
        "Route between two places.",
        &["origin", "destination", "mode"],
    ),
    (
        "weather",
        "get_forecast",
        "Weather for the next days at a position.",
        &["latitude", "longitude"],
    ),
    ("stocks", "get_quote", "Current price of a share.", &["ticker"]),
    ("browser", "navigate", "Opens a page.", &["url"]),
    (
        "browser",
        "take_screenshot",
        "Takes a picture of the current page.",
        &["fullPage"],
    ),
    (
        "browser",
        "fill_form",
        "Types into the fields of a form.",
        &["fields"],
    ),
    (
        "images",
        "resize",
        "Changes the size of an image.",
        &["path", "width", "height"],
    ),
    (
        "images",
        "convert_format",
        "Converts an image between PNG, JPEG and WebP.",
        &["path", "format"],
    ),
    ("k8s", "pods_list", "Pods of a namespace.", &["namespace"]),
    (
        "k8s",
        "pod_logs",
        "Log output of a pod.",
        &["namespace", "pod", "tailLines"],
    ),
    ("bing", "bing_search", "使用必应搜索指定的关键词", &["query"]),
];

fn office() -> Catalog {
    let specs = TOOLS.iter().map(|(server, name, description, parameters)| {
        let properties: Map<String, Value> = parameters
            .iter()
            .map(|name| ((*name).to_owned(), json!({ "type": "string" })))
            .collect();
        let schema = json!({ "type": "object", "properties": properties });
        ToolSpec::new(Owner::Mcp((*server).into()), *name, *description, schema)
    });
    Catalog::build(specs.collect())
}

fn found(query: &str) -> Vec<String> {
    ids(office().search(query, 8, Reach::All))
}

/// `expected` are the first hits, in this order.
#[track_caller]
fn first(query: &str, expected: &[&str]) {
    let hits = found(query);
    let head: Vec<&str> = hits.iter().take(expected.len()).map(String::as_str).collect();
    assert_eq!(head, expected, "{query:?} gave {hits:?}");
}

#[test]
fn a_name_or_an_id_comes_first_however_it_is_spelled() {
    first("resize", &["mcp:images:resize"]);
    first("mcp:db:run_query", &["mcp:db:run_query"]);
    first("createIssue", &["mcp:jira:create_issue"]);
    first("create issue", &["mcp:jira:create_issue"]);
    first("LIST-COMMITS", &["mcp:github:list_commits"]);
}

#[test]
fn tasks_are_understood_in_everyday_words() {
    first("make a ticket about login", &["mcp:jira:create_issue"]);
    first("email the report to anna", &["mcp:mail:send_message"]);
    first("show me what is in this folder", &["mcp:files:list_directory"]);
    first("schedule a meeting with the team", &["mcp:calendar:create_event"]);
    first(
        "how do I get from the station to the museum: route",
        &["mcp:maps:get_directions"],
    );
    first("will it rain? weather tomorrow", &["mcp:weather:get_forecast"]);
    first("merging the pull requests", &["mcp:github:merge_pull_request"]);
    first("show me the logs of the pods", &["mcp:k8s:pod_logs"]);
    first("stock price of NVDA", &["mcp:stocks:get_quote"]);
    first("draw a graph of the sheet", &["mcp:sheets:add_chart"]);
}

#[test]
fn parameters_and_servers_count_too() {
    first("jql", &["mcp:jira:search_issues"]);
    first(
        "slack",
        &[
            "mcp:slack:get_user_profile",
            "mcp:slack:list_channels",
            "mcp:slack:post_to_channel",
        ],
    );
    first("latitude longitude", &["mcp:weather:get_forecast"]);
}

#[test]
fn a_part_of_a_word_is_found_below_the_whole_word() {
    let specs = ["read_sheet", "read_spreadsheet", "read_book"]
        .map(|name| ToolSpec::new(Owner::Core, name, "", json!({ "type": "object" })));
    let catalog = Catalog::build(specs.to_vec());
    assert_eq!(
        ids(catalog.search("sheet", 8, Reach::All)),
        ["openclaw:core:read_sheet", "openclaw:core:read_spreadsheet"]
    );
    first("attach", &["mcp:mail:download_attachment"]);
}

#[test]
fn other_scripts_are_searched() {
    first("搜索", &["mcp:bing:bing_search"]);
    first("关键词", &["mcp:bing:bing_search"]);
}

#[test]
fn a_question_nothing_answers_finds_nothing() {
    for query in ["", "   ", "?!", "the of and", "zyzzyva qwfp", "日本"] {
        assert_eq!(found(query), Vec::<String>::new(), "{query:?}");
    }
}

#[test]
fn dead_words_are_reported() {
    let catalog = office();
    let report = catalog.search_report("merge the frobnicated pull request zyzzyva", 8, Reach::All);
    assert_eq!(report.unmatched, ["frobnicated", "zyzzyva"]);
    assert_eq!(report.tools[0].id().as_str(), "mcp:github:merge_pull_request");
    let hidden = catalog.search_report("merge", 8, Reach::Guest);
    assert_eq!(
        (hidden.tools.len(), hidden.unmatched),
        (0, vec!["merge".to_owned()])
    );
}

#[test]
fn a_huge_query_is_cut_not_refused() {
    let query = format!("merge pull request {}", "word ".repeat(100_000));
    first(&query, &["mcp:github:merge_pull_request"]);
}

#[test]
fn the_limit_holds() {
    assert_eq!(office().search("create issue", 2, Reach::All).len(), 2);
    assert_eq!(office().search("create issue", 0, Reach::All).len(), 0);
}
