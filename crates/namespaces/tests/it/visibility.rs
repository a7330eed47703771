use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use codecell_catalog::{Catalog, Exposure, Owner, ToolSpec};
use codecell_namespaces::{NamespacePrompt, NamespaceRegistry, PluginNamespaces, Registration, Scope};
use serde_json::{Value, json};

use crate::{catalog, context, github, issues, tool};

/// The globals a run with `tools` sees, when the plugin `github` has registered `Issues`.
fn seen_with(tools: Vec<ToolSpec>) -> Vec<String> {
    let registry = NamespaceRegistry::new();
    registry.register("github", issues(|| Ok(Scope::new()))).unwrap();
    let visible = PluginNamespaces::visible(&registry.registrations(), &Catalog::build(tools));
    visible.list().map(str::to_owned).collect()
}

#[test]
fn prompt_texts_appear_only_while_the_tools_are_visible() {
    let registry = NamespaceRegistry::new();
    let namespace = issues(|| Ok(Scope::new())).with_prompt("Use Issues.list(params).");
    registry.register("github", namespace).unwrap();
    let registrations = registry.registrations();

    let visible = PluginNamespaces::visible(&registrations, &catalog());
    assert_eq!(
        visible.prompts().collect::<Vec<_>>(),
        [NamespacePrompt {
            global_name: "Issues",
            description: "GitHub issues.",
            prompt: Some("Use Issues.list(params)."),
        }]
    );
    let one_tool = Catalog::build(vec![tool(github(), "list_issues")]);
    for catalog in [one_tool, Catalog::build(Vec::new())] {
        let hidden = PluginNamespaces::visible(&registrations, &catalog);
        assert_eq!(hidden.prompts().collect::<Vec<_>>(), []);
    }
}

#[test]
fn a_tool_of_the_same_name_from_another_source_reveals_nothing() {
    let owners = [
        Owner::Core,
        Owner::BundledPlugin("other".into()),
        Owner::ExternalPlugin("GitHub".into()),
        Owner::Mcp("github".into()),
        Owner::Client("github".into()),
    ];
    for owner in owners {
        let seen = seen_with(vec![
            tool(github(), "list_issues"),
            tool(owner.clone(), "update_issue"),
        ]);
        assert_eq!(seen, [""; 0], "{owner:?}");
    }
    for owner in [github(), Owner::BundledPlugin("github".into())] {
        let seen = seen_with(vec![
            tool(owner.clone(), "list_issues"),
            tool(owner.clone(), "update_issue"),
            tool(Owner::Mcp("github".into()), "update_issue"),
        ]);
        assert_eq!(seen, ["Issues"], "{owner:?}");
    }
}

#[test]
fn a_direct_only_tool_is_in_no_catalog_and_reveals_nothing() {
    let direct = ToolSpec {
        exposure: Exposure::DirectOnly,
        ..tool(github(), "update_issue")
    };
    assert_eq!(seen_with(vec![tool(github(), "list_issues"), direct]), [""; 0]);
}

#[test]
fn namespaces_are_listed_by_id() {
    let registry = NamespaceRegistry::new();
    for (id, global_name) in [("b", "First"), ("c", "Second"), ("a", "Third")] {
        let namespace = Registration::new(id, global_name, "", ["list_issues"], |_| Ok(Scope::new()));
        registry.register("github", namespace).unwrap();
    }
    let visible = PluginNamespaces::visible(&registry.registrations(), &catalog());
    assert_eq!(visible.list().collect::<Vec<_>>(), ["Third", "First", "Second"]);
}

#[test]
fn every_scope_is_created_once_for_a_run_and_knows_it() {
    let created = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&created);
    let namespace = Registration::new("id", "Issues", "", ["list_issues"], move |context| {
        counter.fetch_add(1, Ordering::Relaxed);
        let run = json!([context.agent, context.session, context.run, context.config]);
        Ok(Scope::new().with("run", run))
    });
    let registry = NamespaceRegistry::new();
    registry.register("github", namespace).unwrap();
    let visible = PluginNamespaces::visible(&registry.registrations(), &catalog());
    registry.clear_plugin("github");

    let config: Value = json!({ "repository": "octo/cat" });
    let open = visible.open(&context(&config));
    for _ in 0..2 {
        let tree = open.tree("Issues").unwrap();
        assert_eq!(
            tree,
            r#"{"object":{"run":{"value":["main","s1","r1",{"repository":"octo/cat"}]}}}"#
        );
    }
    assert_eq!(created.load(Ordering::Relaxed), 1);
}

#[test]
fn a_scope_that_is_refused_costs_its_own_namespace_only() {
    let registration = |id: &str, global_name: &str, scope: fn() -> Result<Scope, String>| {
        Registration::new(id, global_name, "", ["list_issues"], move |_| scope())
    };
    let open = crate::opened([
        registration("fine", "Fine", || Ok(Scope::new())),
        registration("refused", "Refused", || Err("there is no repository here".into())),
        registration("panics", "Panics", || panic!("a defect of the plugin")),
        registration("empty-key", "EmptyKey", || Ok(Scope::new().with("", json!(1)))),
    ]);
    assert_eq!(open.tree("Fine").unwrap(), r#"{"object":{}}"#);
    for (global_name, message) in [
        (
            "Refused",
            "Code mode namespace \"refused\" createScope failed: there is no repository here",
        ),
        (
            "Panics",
            "Code mode namespace \"panics\" createScope failed: it panicked",
        ),
        ("EmptyKey", "Invalid code mode namespace path segment: (empty)"),
    ] {
        assert_eq!(open.tree(global_name).unwrap_err().to_string(), message);
        assert_eq!(
            open.resolve(&[global_name, "list"], &[]).unwrap_err().to_string(),
            message
        );
    }
}
