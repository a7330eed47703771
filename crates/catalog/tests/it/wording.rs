//! What the search understands beyond the words as they stand.

use codecell_catalog::{Catalog, Owner, Reach, ToolSpec};
use serde_json::{Value, json};

/// Tools as server, name and description.
fn catalog(tools: &[(&str, &str, &str)]) -> Catalog {
    let specs = tools.iter().map(|(server, name, description)| {
        let parameters = json!({ "type": "object" });
        ToolSpec::new(Owner::Mcp((*server).into()), *name, *description, parameters)
    });
    Catalog::build(specs.collect())
}

#[track_caller]
fn names(catalog: &Catalog, query: &str) -> Vec<String> {
    let found = catalog.search(query, 8, Reach::All).into_iter();
    found.map(|tool| tool.spec().name.clone()).collect()
}

#[test]
fn a_synonym_is_known_in_every_form_of_the_word() {
    let catalog = catalog(&[
        ("a", "remove_message", "Moves it to the bin."),
        ("a", "archive", "Keeps it for later."),
    ]);
    for query in ["delete an email", "deleting emails", "deletes", "deleted mails"] {
        assert_eq!(names(&catalog, query), ["remove_message"], "{query}");
    }
}

#[test]
fn several_words_for_one_thing_answer_one_word() {
    let catalog = catalog(&[
        (
            "a",
            "anything",
            "Find, search, query, look up, locate or discover.",
        ),
        ("a", "invoices", "Find an invoice."),
        ("a", "invoice_cancel", "Cancel an invoice."),
        ("a", "invoice_print", "Print an invoice."),
    ]);
    let found = names(&catalog, "find an invoice");
    assert_eq!(found, ["invoices", "anything", "invoice_cancel", "invoice_print"]);
}

#[test]
fn what_parameters_say_of_themselves_is_searched() {
    let with = |name: &str, property: Value| {
        let parameters = json!({ "type": "object", "properties": { "value": property } });
        ToolSpec::new(Owner::Core, name, "", parameters)
    };
    let catalog = Catalog::build(vec![
        with(
            "lookup",
            json!({ "type": "string", "description": "ISBN of a book" }),
        ),
        with("paint", json!({ "enum": ["crimson", "teal"] })),
        with(
            "nested",
            json!({ "items": { "properties": { "x": { "description": "latitude" } } } }),
        ),
    ]);
    for (query, expected) in [("isbn", "lookup"), ("teal", "paint"), ("latitude", "nested")] {
        assert_eq!(names(&catalog, query), [expected], "{query}");
    }
}

#[test]
fn a_name_outweighs_a_description_and_that_a_parameter() {
    let with = |name: &str, description: &str, parameter: &str| {
        let parameters = json!({ "properties": { "x": { "description": parameter } } });
        ToolSpec::new(Owner::Core, name, description, parameters)
    };
    let catalog = Catalog::build(vec![
        with("one", "Nothing else.", "resize factor"),
        with("resize", "Nothing else.", "some factor"),
        with("two", "Resize pictures.", "some factor"),
    ]);
    assert_eq!(names(&catalog, "please resize it"), ["resize", "two", "one"]);
}

#[test]
fn a_value_is_searched_for_as_what_it_is() {
    let catalog = catalog(&[
        ("files", "write_file", "Writes a file."),
        ("notes", "reports_of_markdown", "Notes, reports and travel plans."),
        ("tables", "excel_writer", "Writes a spreadsheet."),
        ("video", "transcript", "What is said in a YouTube video."),
    ]);
    for (query, first) in [
        ("write it to /data/reports/notes.txt", "write_file"),
        ("put it into ./reports/travel/plans.xlsx", "excel_writer"),
        ("summary of https://www.youtube.com/watch?v=reports", "transcript"),
        ("/reports/travel", "reports_of_markdown"),
    ] {
        assert_eq!(
            names(&catalog, query).first().map(String::as_str),
            Some(first),
            "{query}"
        );
    }
    let report = catalog.search_report("write zyzzyva to /qwfp/frobnicate.txt", 8, Reach::All);
    assert_eq!(report.unmatched, ["zyzzyva"]);
}

#[test]
fn a_typing_mistake_is_forgiven_and_named() {
    let catalog = catalog(&[
        ("math", "calculate", "Evaluates an expression."),
        ("web", "open_browser", "Opens it."),
        ("web", "brew", "Makes tea."),
    ]);
    for (query, expected) in [
        ("caculate", "calculate"),
        ("broswer", "open_browser"),
        ("browserr", "open_browser"),
    ] {
        let report = catalog.search_report(query, 8, Reach::All);
        let found: Vec<&str> = report
            .tools
            .iter()
            .map(|tool| tool.spec().name.as_str())
            .collect();
        assert_eq!(
            (found, report.unmatched),
            (vec![expected], vec![query.to_owned()]),
            "{query}"
        );
    }
    // Short words have too many neighbours, and two mistakes make another word.
    for query in ["brow", "calclat"] {
        let found = names(&catalog, query);
        assert!(
            !found.contains(&"brew".to_owned()) && !found.contains(&"calculate".to_owned()),
            "{query}: {found:?}"
        );
    }
}

#[test]
fn a_tool_gains_from_a_family_that_answers_too() {
    let catalog = catalog(&[
        ("a", "get_summary", "Short text."),
        ("a", "upload", "Sends bytes."),
        ("z", "get_summary", "Short text."),
        ("z", "get_encyclopedia_article", "An article of the encyclopedia."),
    ]);
    let found: Vec<String> = catalog
        .search("encyclopedia summary", 8, Reach::All)
        .iter()
        .map(|tool| tool.id().to_string())
        .collect();
    assert_eq!(
        found,
        [
            "mcp:z:get_encyclopedia_article",
            "mcp:z:get_summary",
            "mcp:a:get_summary"
        ]
    );
}

#[test]
fn questions_and_tools_may_be_in_english_or_chinese() {
    let catalog = catalog(&[
        ("a", "tool1", "获取未来几天的天气"),
        ("a", "tool2", "Weather of a city."),
        ("a", "tool3", "Deletes a calendar."),
    ]);
    assert_eq!(names(&catalog, "weather"), ["tool2", "tool1"]);
    assert_eq!(names(&catalog, "天气"), ["tool1", "tool2"]);
    assert_eq!(names(&catalog, "删除日历"), ["tool3"]);
}
