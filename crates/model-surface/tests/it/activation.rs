use codecell_catalog::{Exposure, Owner, ToolSpec};
use codecell_model_surface::{Activation, CodeMode, ToolUse, activate};

use crate::{core, tool};

fn direct(owner: Owner, name: &str) -> ToolSpec {
    let mut spec = tool(owner, name);
    spec.exposure = Exposure::DirectOnly;
    spec
}

#[test]
fn a_run_without_code_mode_keeps_its_tools_as_they_are() {
    let tools = vec![
        core("z"),
        core("tool_search"),
        direct(Owner::Core, "image"),
        core("a"),
    ];
    for (mode, wanted) in [
        (CodeMode::Off, ToolUse::Effective),
        (CodeMode::Off, ToolUse::Standalone),
        (CodeMode::On, ToolUse::RawCall),
        (CodeMode::On, ToolUse::Disabled),
        (CodeMode::On, ToolUse::EmptyAllowList),
    ] {
        let Activation::Inactive(kept) = activate(tools.clone(), mode, wanted) else {
            panic!("{mode:?} {wanted:?}")
        };
        assert_eq!(kept, tools);
    }
}

#[test]
fn without_tools_only_a_stand_alone_door_shows_code_mode() {
    assert!(
        matches!(activate(vec![], CodeMode::On, ToolUse::Effective), Activation::Inactive(none) if none.is_empty())
    );
    let Activation::Active { catalog, direct } = activate(vec![], CodeMode::On, ToolUse::Standalone) else {
        panic!()
    };
    assert!(catalog.is_empty() && direct.is_empty());
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
