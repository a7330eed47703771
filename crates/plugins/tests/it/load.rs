use std::sync::{Arc, atomic::Ordering};

use codecell_plugins::{
    BoxFuture, Origin, PluginHost, Tool, ToolCall, ToolDefinition, ToolError, ToolResult,
};
use codecell_tools::CallError;

use crate::world::{Scripted, Witness, call_of_another, echo, namespace, register_all, visible};

/// What the hooks saw of one call.
async fn seen(host: &PluginHost, witness: &Witness) -> Result<Vec<String>, CallError> {
    call_of_another(host).await?;
    Ok(witness.take())
}

#[tokio::test]
async fn a_plugin_brings_its_tools_namespaces_and_hooks_and_takes_them_away() {
    let host = PluginHost::new();
    let witness = Witness::default();
    let registering = witness.clone();
    let plugin = Scripted::new("parrot", move |api| {
        register_all(api, &registering);
        Ok(())
    });
    host.load(plugin.clone(), Origin::External).unwrap();
    assert_eq!(host.plugins(), [("parrot".to_owned(), Origin::External)]);
    assert_eq!(visible(&host), ["openclaw:parrot:echo", "Echoes"]);
    assert_eq!(
        seen(&host, &witness).await.unwrap(),
        ["before other", "after other"]
    );

    assert!(host.unload("parrot"));
    assert_eq!((host.plugins(), visible(&host)), (vec![], vec![]));
    assert_eq!(seen(&host, &witness).await.unwrap(), [""; 0]);
    assert!(!host.unload("parrot"));
    assert_eq!(plugin.unloads.load(Ordering::Relaxed), 1);

    host.load(plugin, Origin::Bundled).unwrap();
    assert_eq!(visible(&host), ["openclaw:parrot:echo", "Echoes"]);
}

#[tokio::test]
async fn nothing_remains_of_a_plugin_that_does_not_load() {
    let host = PluginHost::new();
    host.load(
        Scripted::new("first", |api| {
            api.tool(echo("echo"));
            api.namespace(namespace("taken", "Taken"));
            Ok(())
        }),
        Origin::Bundled,
    )
    .unwrap();
    let before = visible(&host);
    let generation = host.namespaces().generation();

    let witness = Witness::default();
    let registering = witness.clone();
    let failing =
        move |then: fn(&mut codecell_plugins::PluginApi) -> Result<(), codecell_plugins::PluginError>| {
            let witness = registering.clone();
            Scripted::new("second", move |api| {
                register_all(api, &witness);
                then(api)
            })
        };
    for (plugin, unloads, message) in [
        (
            failing(|_| Err("no token is set".into())),
            0,
            "plugin `second` did not register: no token is set",
        ),
        (
            failing(|_| panic!("a defect of the plugin")),
            0,
            "plugin `second` panicked while it registered",
        ),
        (
            failing(|api| {
                api.tool(echo(" "));
                Ok(())
            }),
            1,
            "plugin `second` has a tool without a name",
        ),
        (
            failing(|api| {
                api.tool(echo("echo"));
                Ok(())
            }),
            1,
            "plugin `second` has two tools named `echo`",
        ),
        (
            failing(|api| {
                api.tool(Arc::new(Nameless));
                Ok(())
            }),
            1,
            "plugin `second` panicked while it registered",
        ),
        (
            failing(|api| {
                api.namespace(namespace("fine", "Fine"));
                api.namespace(namespace("own", "Taken"));
                Ok(())
            }),
            1,
            "plugin `second` has a namespace that cannot be registered: Code mode namespace globalName \"Taken\" is \
             already registered by \"taken\".",
        ),
    ] {
        let error = host.load(plugin.clone(), Origin::External).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!(visible(&host), before, "{message}");
        assert_eq!(host.namespaces().generation(), generation, "{message}");
        assert_eq!(host.plugins().len(), 1, "{message}");
        assert_eq!(seen(&host, &witness).await.unwrap(), [""; 0], "{message}");
        assert_eq!(plugin.unloads.load(Ordering::Relaxed), unloads, "{message}");
    }
}

/// A tool that cannot tell its name.
struct Nameless;

impl Tool for Nameless {
    fn definition(&self) -> ToolDefinition {
        panic!("a defect of the plugin")
    }

    fn call(&self, _: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>> {
        Box::pin(async { Err(ToolError::new("never", "called by nobody")) })
    }
}

#[test]
fn a_second_plugin_of_one_id_leaves_the_first_as_it_is() {
    let host = PluginHost::new();
    let first = Scripted::new("parrot", |api| {
        api.tool(echo("echo"));
        api.namespace(namespace("echoes", "Echoes"));
        Ok(())
    });
    host.load(first.clone(), Origin::Bundled).unwrap();
    let second = Scripted::new("parrot", |api| {
        api.tool(echo("other"));
        Ok(())
    });
    assert_eq!(
        host.load(second, Origin::External).unwrap_err().to_string(),
        "plugin `parrot` is already loaded; unload it first"
    );
    assert_eq!(visible(&host), ["openclaw:parrot:echo", "Echoes"]);
    assert_eq!(first.unloads.load(Ordering::Relaxed), 0);
}

#[test]
fn a_plugin_may_look_at_the_host_while_it_registers_and_sees_nothing_of_itself() {
    let host = Arc::new(PluginHost::new());
    let inside = Arc::clone(&host);
    let plugin = Scripted::new("parrot", move |api| {
        api.tool(echo("echo"));
        assert_eq!(visible(&inside), [""; 0]);
        Ok(())
    });
    host.load(plugin, Origin::External).unwrap();
    assert_eq!(visible(&host), ["openclaw:parrot:echo"]);
}

#[test]
fn a_namespace_on_tools_of_another_plugin_is_never_visible() {
    let host = PluginHost::new();
    let owner = Scripted::new("owner", |api| {
        api.tool(echo("echo"));
        Ok(())
    });
    let thief = Scripted::new("thief", |api| {
        api.namespace(namespace("echoes", "Echoes"));
        Ok(())
    });
    host.load(owner, Origin::Bundled).unwrap();
    host.load(thief, Origin::External).unwrap();
    assert_eq!(visible(&host), ["openclaw:owner:echo"]);
}

#[test]
fn ids_that_would_mislead_are_refused() {
    let host = PluginHost::new();
    let load = |id| host.load(Scripted::new(id, |_| Ok(())), Origin::External);
    for id in [
        "",
        " ",
        "Parrot",
        "-parrot",
        "_parrot",
        "pa rrot",
        "pa:rrot",
        "pärrot",
        &*"x".repeat(65).leak(),
    ] {
        assert_eq!(
            load(id).unwrap_err().to_string(),
            format!(
                "plugin id `{id}` must be 1 to 64 lower-case letters, digits, `-` and `_`, beginning with a letter or a \
                 digit"
            )
        );
    }
    for id in ["core", "openclaw"] {
        assert_eq!(
            load(id).unwrap_err().to_string(),
            format!("plugin id `{id}` is reserved; choose another one")
        );
    }
    for id in ["parrot", "2-parrots_and", "p"] {
        load(id).unwrap();
    }
}

#[test]
fn tools_are_listed_by_plugin_and_then_as_registered() {
    let host = PluginHost::new();
    for id in ["b", "a"] {
        let plugin = Scripted::new(id, |api| {
            api.tool(echo("second"));
            api.tool(echo("first"));
            Ok(())
        });
        host.load(plugin, Origin::External).unwrap();
    }
    let listed: Vec<_> = host
        .tools()
        .iter()
        .map(|loaded| format!("{} {}", loaded.plugin_id, loaded.tool.definition().name))
        .collect();
    assert_eq!(listed, ["a second", "a first", "b second", "b first"]);
}
