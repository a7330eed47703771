use codecell_namespaces::{NamespaceRegistry, Registration, Scope};

fn plain(id: &str, global_name: &str) -> Registration {
    Registration::new(id, global_name, "", ["tool"], |_| Ok(Scope::new()))
}

fn refusal(plugin_id: &str, registration: Registration) -> String {
    let registry = NamespaceRegistry::new();
    let error = registry.register(plugin_id, registration).unwrap_err();
    assert_eq!(
        (registry.registrations().iter().count(), registry.generation()),
        (0, 0)
    );
    error.to_string()
}

#[test]
fn names_that_are_missing_malformed_or_taken_are_refused() {
    let tools = |names: &[&str]| Registration {
        required_tool_names: names.iter().map(ToString::to_string).collect(),
        ..plain("id", "Global")
    };
    let cases = [
        (
            refusal("p", plain(" ", "Global")),
            "Code mode namespace id must be non-empty.",
        ),
        (
            refusal(" ", plain("id", "Global")),
            "Code mode namespace pluginId must be non-empty.",
        ),
        (
            refusal("p", tools(&[])),
            "Code mode namespace requiredToolNames must include at least one tool name.",
        ),
        (
            refusal("p", tools(&["tool", " "])),
            "Code mode namespace requiredToolNames must be non-empty strings.",
        ),
        (
            refusal(
                "p",
                Registration {
                    description: "x".repeat(513),
                    ..plain("id", "Global")
                },
            ),
            "Code mode namespace description has 513 characters; the limit is 512.",
        ),
        (
            refusal("p", plain("id", "Global").with_prompt("ü".repeat(2_001))),
            "Code mode namespace prompt has 2001 characters; the limit is 2000.",
        ),
    ];
    for (got, expected) in cases {
        assert_eq!(got, expected);
    }
}

#[test]
fn a_global_must_be_an_identifier() {
    for name in [
        "",
        " ",
        "two words",
        "2fast",
        "a-b",
        "a.b",
        "naïve",
        "delete",
        "await",
        "let",
    ] {
        assert_eq!(
            refusal("p", plain("id", name)),
            "Code mode namespace globalName must be a JavaScript identifier.",
            "{name}"
        );
    }
}

#[test]
fn a_global_of_code_mode_is_reserved() {
    for name in [
        "tools",
        "namespaces",
        "text",
        "json",
        "yield_control",
        "MCP",
        "API",
        "ALL_TOOLS",
        "globalThis",
        "Promise",
        "agents",
        "then",
        "__openclawCatalog",
        "__codecell",
    ] {
        assert_eq!(
            refusal("p", plain("id", name)),
            format!("Code mode namespace globalName \"{name}\" is reserved.")
        );
    }
}

#[test]
fn a_global_of_the_language_or_the_guest_cannot_be_covered() {
    for name in [
        "console",
        "crypto",
        "setTimeout",
        "structuredClone",
        "TextEncoder",
        "BigInt",
        "Reflect",
        "eval",
        "undefined",
        "NaN",
        "require",
        "toString",
        "constructor",
        "__proto__",
    ] {
        assert_eq!(
            refusal("p", plain("id", name)),
            format!("Code mode namespace globalName \"{name}\" collides with a global.")
        );
    }
}

#[test]
fn ids_and_globals_belong_to_the_first_who_registers_them() {
    let registry = NamespaceRegistry::new();
    registry.register("first", plain("issues", "Issues")).unwrap();
    for plugin in ["first", "second"] {
        let id = registry.register(plugin, plain("issues ", "Other")).unwrap_err();
        let global = registry.register(plugin, plain("other", " Issues")).unwrap_err();
        assert_eq!(
            id.to_string(),
            "Code mode namespace id \"issues\" is already registered."
        );
        assert_eq!(
            global.to_string(),
            "Code mode namespace globalName \"Issues\" is already registered by \"issues\"."
        );
    }
    let same_letters = registry.register("second", plain("Issues", "issues"));
    assert_eq!(same_letters, Ok(()), "case matters");
}

#[test]
fn registrations_are_trimmed_and_sorted() {
    let registry = NamespaceRegistry::new();
    let second = Registration {
        id: " b ".into(),
        global_name: " Second ".into(),
        description: " what it is\n".into(),
        required_tool_names: ["zeta ", "alpha", " zeta"].map(Into::into).into(),
        prompt: Some("  ".into()),
        ..plain("", "")
    };
    registry.register(" plugin ", second).unwrap();
    registry.register("plugin", plain("a", "First")).unwrap();
    let registrations = registry.registrations();
    let seen: Vec<_> = registrations
        .iter()
        .map(|registered| {
            let registration = registered.registration();
            (
                registered.plugin_id(),
                registration.id.as_str(),
                registration.global_name.as_str(),
                registration.description.as_str(),
                registration.required_tool_names.join(" "),
                registration.prompt.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("plugin", "a", "First", "", "tool".to_owned(), None),
            (
                "plugin",
                "b",
                "Second",
                "what it is",
                "alpha zeta".to_owned(),
                None
            ),
        ]
    );
}

#[test]
fn several_namespaces_are_registered_together_or_not_at_all() {
    let registry = NamespaceRegistry::new();
    registry.register("other", plain("taken", "Taken")).unwrap();
    let refused = registry.register_all("plugin", [plain("a", "A"), plain("taken", "B")]);
    assert!(refused.is_err());
    let ids: Vec<_> = registry
        .registrations()
        .iter()
        .map(|registered| registered.registration().id.clone())
        .collect();
    assert_eq!((ids, registry.generation()), (vec!["taken".to_owned()], 1));
}

#[test]
fn clearing_a_plugin_removes_its_namespaces_and_no_others() {
    let registry = NamespaceRegistry::new();
    let clone = registry.clone();
    registry
        .register_all("github", [plain("a", "A"), plain("b", "B")])
        .unwrap();
    registry.register("calendar", plain("c", "C")).unwrap();
    let before = clone.registrations();

    assert_eq!(registry.clear_plugin("github"), 2);
    assert_eq!(registry.clear_plugin("github"), 0);
    let left: Vec<_> = clone
        .registrations()
        .iter()
        .map(|registered| registered.registration().id.clone())
        .collect();
    assert_eq!(left, ["c"]);
    assert_eq!(
        (before.generation(), before.iter().count(), clone.generation()),
        (3, 3, 4),
        "what was taken before stays as it was"
    );
    registry.register("other", plain("a", "A")).unwrap();
}
