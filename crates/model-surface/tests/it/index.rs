use codecell_catalog::{Catalog, Owner, ToolSpec};
use codecell_model_surface::{MAX_INDEX_UNITS, quick_index};
use serde_json::json;

use crate::{core, tool};

fn with_output(name: &str) -> ToolSpec {
    let mut spec = core(name);
    spec.output_schema = Some(json!({ "type": "string" }));
    spec
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

#[test]
fn known_values_come_first_then_ids_and_nothing_untrusted() {
    let catalog = Catalog::build(vec![
        core("b"),
        with_output("z"),
        core("a"),
        tool(Owner::Mcp("s".into()), "m"),
        tool(Owner::Client("c".into()), "n"),
        tool(Owner::BundledPlugin("p".into()), "q"),
    ]);
    insta::assert_snapshot!(quick_index(&catalog).unwrap(), @r#"
    Index: exact id, input, and the value where it is known (`?` = see `tools.describe`).
    - "openclaw:core:z" { path: string } -> string
    - "openclaw:core:a" { path: string } -> ?
    - "openclaw:core:b" { path: string } -> ?
    - "openclaw:p:q" { path: string } -> ?
    These are all built-in tools.
    "#);
}

#[test]
fn without_trusted_tools_there_is_no_index() {
    assert_eq!(
        quick_index(&Catalog::build(vec![tool(Owner::Mcp("s".into()), "m")])),
        None
    );
}

#[test]
fn a_partial_index_says_so_and_counts_what_is_missing() {
    let catalog = Catalog::build(
        (0..500)
            .map(|number| core(&format!("tool_{number:03}_ελ🎉")))
            .collect(),
    );
    let index = quick_index(&catalog).unwrap();
    assert!(units(&index) <= MAX_INDEX_UNITS);
    assert!(units(&index) > MAX_INDEX_UNITS - 100, "room is used");
    let listed = index.lines().filter(|line| line.starts_with("- ")).count();
    assert_eq!(
        index.lines().last().unwrap(),
        format!(
            "PARTIAL: {} more built-in tools are not listed here; `tools.search` and `ALL_TOOLS` have them.",
            500 - listed
        )
    );
}

#[test]
fn a_line_too_long_lets_shorter_ones_in() {
    let catalog = Catalog::build(vec![core(&"x".repeat(9_000)), core("y"), core("z")]);
    let index = quick_index(&catalog).unwrap();
    assert!(
        index.contains("\"openclaw:core:z\"") && index.contains("PARTIAL: 1 more"),
        "{index}"
    );
}

#[test]
fn an_index_that_just_fits_is_complete() {
    // Grows one tool's name until the index no longer fits, which it must do exactly past the limit.
    let index_of = |length: usize| quick_index(&Catalog::build(vec![core(&"x".repeat(length))])).unwrap();
    let room = MAX_INDEX_UNITS - units(&index_of(1)) + 1;
    assert_eq!(units(&index_of(room)), MAX_INDEX_UNITS);
    assert!(index_of(room).ends_with("all built-in tools."));
    assert!(index_of(room + 1).contains("PARTIAL: 1 more"));
}

#[test]
fn the_order_tools_come_in_changes_nothing() {
    let mut specs: Vec<ToolSpec> = (0..300)
        .map(|number| core(&format!("tool_{}", number * 7919 % 1000)))
        .collect();
    let expected = quick_index(&Catalog::build(specs.clone()));
    for step in [1, 7, 150] {
        specs.rotate_left(step);
        assert_eq!(quick_index(&Catalog::build(specs.clone())), expected);
    }
    specs.reverse();
    assert_eq!(quick_index(&Catalog::build(specs)), expected);
}
