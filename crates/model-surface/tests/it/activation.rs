use codecell_catalog::{Exposure, Owner, ToolSpec};
use codecell_model_surface::{Activation, CodeMode, ToolUse, activate};
use serde_json::json;

use crate::{core, tool};

fn direct(owner: Owner, name: &str) -> ToolSpec {
    let mut spec = tool(owner, name);
    spec.exposure = Exposure::DirectOnly;
    spec
}

const MODES: [CodeMode; 2] = [CodeMode::Off, CodeMode::On];
const USES: [ToolUse; 5] = [
    ToolUse::Effective,
    ToolUse::Standalone,
    ToolUse::RawCall,
    ToolUse::Disabled,
    ToolUse::EmptyAllowList,
];

/// Tools that a careless pass would sort, merge, drop or rewrite.
fn odd_tools() -> Vec<ToolSpec> {
    let mut odd = tool(Owner::Mcp("z".into()), "");
    odd.parameters = json!({ "z": 18_446_744_073_709_551_615_u64, "a": [1.0, null], "$ref": "#" });
    odd.output_schema = Some(json!(false));
    odd.annotations = Some(json!("not an object"));
    odd.label = Some("\u{202e}".into());
    vec![
        core("z"),
        odd,
        core("z"),
        core("exec"),
        core("wait"),
        core("tool_search_code"),
        core("tool_search"),
        core("tool_describe"),
        direct(Owner::BundledPlugin("search".into()), "tool_call"),
        direct(Owner::Core, "image"),
        direct(Owner::Core, "image"),
        core("a"),
    ]
}

/// Every field of every tool, order and spelling of the schemas included.
fn bytes(tools: &[ToolSpec]) -> Vec<String> {
    let texts = tools.iter().map(|tool| {
        let schemas = (&tool.parameters, &tool.output_schema, &tool.annotations);
        format!("{} {tool:?}", serde_json::to_string(&schemas).unwrap())
    });
    texts.collect()
}

#[test]
fn code_mode_is_active_only_where_it_is_on_and_the_run_has_tools() {
    for mode in MODES {
        for wanted in USES {
            for tools in [vec![], vec![core("read")], odd_tools()] {
                let expected = match (mode, wanted) {
                    (CodeMode::On, ToolUse::Effective) => !tools.is_empty(),
                    (CodeMode::On, ToolUse::Standalone) => true,
                    _ => false,
                };
                let before = bytes(&tools);
                match activate(tools, mode, wanted) {
                    Activation::Active { .. } => assert!(expected, "{mode:?} {wanted:?}"),
                    Activation::Inactive(same) => {
                        assert!(!expected, "{mode:?} {wanted:?}");
                        assert_eq!(bytes(&same), before, "{mode:?} {wanted:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_stand_alone_door_without_tools_has_an_empty_catalog() {
    let Activation::Active { catalog, direct } = activate(vec![], CodeMode::On, ToolUse::Standalone) else {
        panic!()
    };
    assert!(catalog.is_empty() && direct.is_empty());
}

#[test]
fn tool_search_and_code_mode_exclude_each_other() {
    let Activation::Active {
        catalog,
        direct: shown,
    } = activate(odd_tools(), CodeMode::On, ToolUse::Effective)
    else {
        panic!()
    };
    let hidden: Vec<&str> = catalog.tools().map(|tool| tool.id().as_str()).collect();
    assert_eq!(
        hidden,
        [
            "openclaw:core:a",
            "openclaw:core:exec",
            "openclaw:core:wait",
            "openclaw:core:z"
        ]
    );
    assert_eq!(shown, [direct(Owner::Core, "image")]);
}

#[test]
fn a_tool_search_control_takes_no_name_from_a_tool_that_is_shown() {
    let theirs = direct(Owner::Mcp("s".into()), "tool_search");
    let tools = vec![direct(Owner::Core, "tool_search"), theirs.clone()];
    let Activation::Active {
        catalog,
        direct: shown,
    } = activate(tools, CodeMode::On, ToolUse::Effective)
    else {
        panic!()
    };
    assert!(catalog.is_empty());
    assert_eq!(shown, [theirs]);
}

#[test]
fn an_active_run_hides_all_but_direct_only_tools() {
    let tools = vec![
        core("read"),
        direct(Owner::Mcp("b".into()), "shot"),
        core("tool_call"),
        direct(Owner::Core, "image"),
        core("exec"),
    ];
    let Activation::Active {
        catalog,
        direct: shown,
    } = activate(tools, CodeMode::On, ToolUse::Effective)
    else {
        panic!()
    };
    let hidden: Vec<&str> = catalog.tools().map(|tool| tool.id().as_str()).collect();
    assert_eq!(hidden, ["openclaw:core:exec", "openclaw:core:read"]);
    assert_eq!(
        shown,
        [
            direct(Owner::Core, "image"),
            direct(Owner::Mcp("b".into()), "shot")
        ]
    );
}

#[test]
fn a_direct_only_tool_whose_name_is_taken_is_catalogued() {
    let tools = vec![
        direct(Owner::Mcp("b".into()), "shot"),
        direct(Owner::Mcp("a".into()), "shot"),
        direct(Owner::Core, "exec"),
        direct(Owner::Core, "wait"),
    ];
    let Activation::Active {
        catalog,
        direct: shown,
    } = activate(tools, CodeMode::On, ToolUse::Effective)
    else {
        panic!()
    };
    let hidden: Vec<&str> = catalog.tools().map(|tool| tool.id().as_str()).collect();
    assert_eq!(hidden, ["openclaw:core:exec", "openclaw:core:wait", "mcp:b:shot"]);
    assert_eq!(shown, [direct(Owner::Mcp("a".into()), "shot")]);
}
