//! `models`: which providers are understood, what costs one, and how a model is found.
use std::time::Duration;

use codecell_llm::{Api, Secret as Key};

use super::super::*;
use super::policy::own;
use super::problems;

fn models(text: &str) -> (Models, Vec<String>) {
    let loaded = own(&format!("{{ models: {text} }}"));
    let problems = problems(&loaded);
    (loaded.config.models, problems)
}

/// One provider, called `p`.
fn provider(text: &str) -> (Result<ProviderSettings, String>, Vec<String>) {
    let (models, problems) = models(&format!("{{ providers: {{ p: {text} }} }}"));
    let provider = models.provider("p").cloned().map_err(|error| error.to_string());
    (provider, problems)
}

fn plain(api: Api, base_url: &str) -> ProviderSettings {
    ProviderSettings {
        id: "p".into(),
        api,
        base_url: Secret::new(base_url),
        key: None,
        headers: vec![],
        timeout: None,
        models: vec![],
    }
}

fn entry(id: &str, max_tokens: Option<u64>) -> ModelEntry {
    let id = id.to_owned();
    ModelEntry { id, max_tokens }
}

#[test]
fn everything_that_a_provider_can_say_is_read() {
    let (settings, problems) = provider(
        r#"{
            api: "openai-responses", baseUrl: "http://127.0.0.1:9/v1", apiKey: "sk-${TOKEN}",
            headers: { "X-Team": "a", "X-Key": "${env:TOKEN}" }, timeoutSeconds: 5,
            models: ["small", { id: "org/big", maxTokens: 8192 }, { id: "plain" }],
        }"#,
    );
    let expected = ProviderSettings {
        key: Some(Key::new("sk-t0k")),
        headers: vec![
            ("X-Team".into(), Key::new("a")),
            ("X-Key".into(), Key::new("t0k")),
        ],
        timeout: Some(Duration::from_secs(5)),
        models: vec![
            entry("small", None),
            entry("org/big", Some(8192)),
            entry("plain", None),
        ],
        ..plain(Api::OpenAiResponses, "http://127.0.0.1:9/v1")
    };
    assert_eq!((settings.as_ref(), problems), (Ok(&expected), vec![]));

    let sent = expected.provider();
    assert_eq!(
        (sent.api, sent.base_url.as_str()),
        (Api::OpenAiResponses, "http://127.0.0.1:9/v1")
    );
    assert_eq!((sent.key, sent.headers), (expected.key, expected.headers));
    let limit = Duration::from_secs(5);
    assert_eq!(
        (sent.timeouts.connect, sent.timeouts.response, sent.timeouts.idle),
        (limit, limit, limit)
    );
    let patient = plain(Api::OpenAiResponses, "http://h/").provider();
    assert_eq!(patient.timeouts, codecell_llm::Timeouts::default());
}

#[test]
fn a_provider_has_the_protocol_and_the_place_that_go_together() {
    for (text, api, base_url) in [
        (
            "{ baseUrl: 'http://localhost:11434/v1' }",
            Api::OpenAiCompletions,
            "http://localhost:11434/v1",
        ),
        (
            "{ api: 'openai-responses' }",
            Api::OpenAiResponses,
            "https://api.openai.com/v1",
        ),
        (
            "{ api: 'openai-completions' }",
            Api::OpenAiCompletions,
            "https://api.openai.com/v1",
        ),
        (
            "{ api: 'anthropic-messages' }",
            Api::AnthropicMessages,
            "https://api.anthropic.com/",
        ),
        (
            "{ api: 'google-generative-ai' }",
            Api::GoogleGenerateContent,
            "https://generativelanguage.googleapis.com/v1beta",
        ),
        // The official host without its path.
        (
            "{ api: 'openai-responses', baseUrl: 'https://API.openai.com' }",
            Api::OpenAiResponses,
            "https://api.openai.com/v1",
        ),
        (
            "{ api: 'google-generative-ai', baseUrl: 'https://generativelanguage.googleapis.com/' }",
            Api::GoogleGenerateContent,
            "https://generativelanguage.googleapis.com/v1beta",
        ),
        // Another's host keeps what is written, its query too.
        (
            "{ baseUrl: 'https://api.openai.com.example/?api-version=1' }",
            Api::OpenAiCompletions,
            "https://api.openai.com.example/?api-version=1",
        ),
        (
            "{ baseUrl: 'https://${TOKEN}.example/v1' }",
            Api::OpenAiCompletions,
            "https://t0k.example/v1",
        ),
    ] {
        let (settings, problems) = provider(text);
        assert_eq!((settings, problems), (Ok(plain(api, base_url)), vec![]), "{text}");
    }
}

#[test]
fn what_costs_a_provider_is_named_when_it_is_used() {
    let at = "models.providers.p";
    let unset = "environment variable `NOPE` is not set: set it, or write `${NOPE:-default}`";
    let apis = "`openai-responses`, `openai-completions`, `anthropic-messages` or `google-generative-ai`";
    for (text, reason) in [
        ("'hunter2'", format!("{at}: expected an object, got a string")),
        (
            "{}",
            format!("{at}.baseUrl: is missing: say where the provider is, or which `api` it has: {apis}"),
        ),
        (
            "{ api: 'openai' }",
            format!("{at}.api: expected {apis}, got a string `\"openai\"`"),
        ),
        (
            "{ api: 7, baseUrl: 'http://h/' }",
            format!("{at}.api: expected {apis}, got a number `7`"),
        ),
        (
            "{ baseUrl: ['hunter2'] }",
            format!("{at}.baseUrl: expected a string, got an array"),
        ),
        ("{ baseUrl: '${NOPE}' }", format!("{at}.baseUrl: {unset}")),
        (
            "{ baseUrl: 'hunter2' }",
            format!("{at}.baseUrl: is no URL: relative URL without a base"),
        ),
        (
            "{ baseUrl: 'ftp://h/hunter2' }",
            format!("{at}.baseUrl: must begin with `http://` or `https://`"),
        ),
        (
            "{ baseUrl: 'https://me:hunter2@h/v1' }",
            format!(
                "{at}.baseUrl: holds a user name or a password: write the key into `apiKey` or `headers`"
            ),
        ),
        (
            "{ baseUrl: 'https://h/v1#hunter2' }",
            format!("{at}.baseUrl: has a part after `#`, which is never sent: leave it out"),
        ),
        (
            "{ baseUrl: 'http://api.openai.com/v1' }",
            format!(
                "{at}.baseUrl: `api.openai.com` must not be spoken to in the clear: begin with `https://`"
            ),
        ),
        (
            "{ baseUrl: 'http://API.anthropic.com./v1' }",
            format!(
                "{at}.baseUrl: `api.anthropic.com` must not be spoken to in the clear: begin with `https://`"
            ),
        ),
        (
            "{ baseUrl: 'http://2852039166/' }",
            format!(
                "{at}.baseUrl: `169.254.169.254` is link-local, where clouds keep the credentials of a machine: no provider is reached there"
            ),
        ),
        (
            "{ baseUrl: 'http://[::ffff:169.254.1.1]/' }",
            format!(
                "{at}.baseUrl: `[::ffff:a9fe:101]` is link-local, where clouds keep the credentials of a machine: no provider is reached there"
            ),
        ),
        (
            "{ baseUrl: 'http://[fe80::1]/' }",
            format!(
                "{at}.baseUrl: `[fe80::1]` is link-local, where clouds keep the credentials of a machine: no provider is reached there"
            ),
        ),
        (
            "{ baseUrl: 'https://h/v1/chat/completions/' }",
            format!("{at}.baseUrl: is the address of one kind of request: leave out `/chat/completions`"),
        ),
        (
            "{ baseUrl: 'https://h/', apiKey: '${NOPE}' }",
            format!("{at}.apiKey: {unset}"),
        ),
        (
            "{ baseUrl: 'https://h/', apiKey: { env: 'hunter2' } }",
            format!("{at}.apiKey: expected a string, got an object"),
        ),
        (
            "{ baseUrl: 'https://h/', apiKey: 'hunter\\n2' }",
            format!("{at}.apiKey: has characters that no header may have"),
        ),
        (
            "{ baseUrl: 'https://h/', headers: ['hunter2'] }",
            format!("{at}.headers: expected an object of strings, got an array"),
        ),
        (
            "{ baseUrl: 'https://h/', headers: { 'a b': 'x' } }",
            format!("{at}.headers.\"a b\": is no name of a header"),
        ),
        (
            "{ baseUrl: 'https://h/', headers: { a: 7 } }",
            format!("{at}.headers.a: expected a string, got a number"),
        ),
        (
            "{ baseUrl: 'https://h/', headers: { a: '${NOPE}' } }",
            format!("{at}.headers.a: {unset}"),
        ),
        // Left out, the entry would leave an empty list, which allows every model.
        (
            "{ baseUrl: 'https://h/', models: [7] }",
            format!("{at}.models[0]: expected a model's id or an object with `id`, got a number"),
        ),
        (
            "{ baseUrl: 'https://h/', models: [{ maxTokens: 1 }] }",
            format!("{at}.models[0]: needs the `id` that the provider calls the model"),
        ),
        (
            "{ baseUrl: 'https://h/', models: { a: {} } }",
            format!("{at}.models: expected an array of models, got an object"),
        ),
    ] {
        let (settings, problems) = provider(text);
        assert_eq!(problems, [format!("error {reason}")], "{text}");
        assert_eq!(
            settings,
            Err(format!("provider `p` cannot be used: {reason}")),
            "{text}"
        );
    }
}

#[test]
fn what_costs_less_is_named_too() {
    let (models, problems) = models(
        r#"{
            mode: "merge", other: 1,
            providers: {
                "a/b": { baseUrl: "https://h/" }, "": {}, Codecell: { baseUrl: "https://h/" },
                p: { baseUrl: "http://lan:1/v1", apiKey: "k", timeoutSeconds: 0, auth: "token", compat: {},
                    headers: { none: null }, models: [{ id: "m", name: "M", size: 1 }, "m"] },
                P: { baseUrl: "http://127.0.0.1:1/v1", apiKey: "${NOPE:-}", timeoutSeconds: "5" },
            },
        }"#,
    );
    assert_eq!(
        problems,
        [
            "note models.mode: changes nothing: there is no built-in list of models to merge with",
            "error models.providers.\"a/b\": a provider's id has 1 to 64 characters, no slashes and no spaces",
            "error models.providers.\"\": a provider's id has 1 to 64 characters, no slashes and no spaces",
            "error models.providers.Codecell: `codecell` is what this program calls its own models: choose another id",
            "note models.providers.p.headers.none: is null, so it is not sent",
            "note models.providers.p.timeoutSeconds: 0 is outside 1 to 86400, so 1 is used",
            "note models.providers.p.models[0].name: belongs to another host and is ignored",
            "warning models.providers.p.models[0].size: unknown setting, ignored; known are id, maxTokens",
            "warning models.providers.p.models[1]: model `m` is listed before: this entry is ignored",
            "note models.providers.p.baseUrl: the key goes over the network in the clear: use `https://` if the server can",
            "warning models.providers.p.auth: unknown setting, ignored; known are api, baseUrl, apiKey, headers, timeoutSeconds, models",
            "note models.providers.p.compat: belongs to another host and is ignored",
            "note models.providers.P.apiKey: is empty, so no key is sent",
            "warning models.providers.P.timeoutSeconds: expected a number from 1 to 86400, got a string `\"5\"`",
            "warning models.providers.P: provider `P` was configured before: this entry replaces it",
            "warning models.other: unknown setting, ignored; known are mode, providers",
        ]
    );
    let expected = ProviderSettings {
        id: "P".into(),
        ..plain(Api::OpenAiCompletions, "http://127.0.0.1:1/v1")
    };
    assert_eq!(models.providers().collect::<Vec<_>>(), [&expected]);
}

#[test]
fn blocks_of_the_wrong_kind_are_refused_without_showing_them() {
    for (text, expected) in [
        (
            "[{ apiKey: 'hunter2' }]",
            "error models: expected an object, got an array",
        ),
        (
            "{ providers: [{ apiKey: 'hunter2' }] }",
            "error models.providers: expected an object of providers by id, got an array",
        ),
        (
            "{ mode: 'both' }",
            "warning models.mode: expected `merge` or `replace`, got a string `\"both\"`",
        ),
    ] {
        assert_eq!(
            models(text),
            (Models::default(), vec![expected.to_owned()]),
            "{text}"
        );
    }
}

#[test]
fn a_model_is_found_by_its_provider_and_its_id() {
    let (models, problems) = models(
        r#"{ providers: {
            any: { baseUrl: "https://any/" },
            few: { baseUrl: "https://few/", models: ["small", { id: "org/big", maxTokens: 7 }] },
            broken: { baseUrl: "https://h/", apiKey: "${NOPE}", models: ["x"] },
        } }"#,
    );
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(models.names(), ["few/small", "few/org/big"]);

    for (name, expected) in [
        ("any/a/b:c", ("any", "a/b:c", None, "any/a/b:c")),
        ("few/small", ("few", "small", None, "few/small")),
        ("FEW/org/big", ("few", "org/big", Some(7), "few/org/big")),
    ] {
        let found = models.resolve(name).unwrap();
        assert_eq!(
            (
                found.provider.id.as_str(),
                found.model.as_str(),
                found.max_tokens,
                found.name().as_str()
            ),
            expected,
            "{name}"
        );
    }

    let malformed = |text: &str| format!("`{text}` names no model: write `provider/model`");
    let endless = "x".repeat(300);
    for (name, expected) in [
        ("", malformed("")),
        ("small", malformed("small")),
        ("/small", malformed("/small")),
        ("any/", malformed("any/")),
        ("any/a\nb", malformed("any/ab")),
        (
            &format!("any/{endless}"),
            malformed(&format!("any/{}", &endless[..252])),
        ),
        (
            "none/small",
            "no provider is named `none`; configured are any, few, broken".to_owned(),
        ),
        (
            "few/Small",
            "provider `few` has no model `Small`; configured are small, org/big".to_owned(),
        ),
        (
            "broken/x",
            "provider `broken` cannot be used: models.providers.broken.apiKey: environment variable `NOPE` is not set: \
             set it, or write `${NOPE:-default}`"
                .to_owned(),
        ),
    ] {
        let found = models.resolve(name).map_err(|error| error.to_string());
        assert_eq!(found, Err(expected), "{name}");
    }
}

#[test]
fn an_unknown_name_is_answered_with_a_short_list() {
    let unknown = |models: &Models| models.provider("x").unwrap_err().to_string();
    assert_eq!(
        unknown(&Models::default()),
        "no provider is named `x`; none is configured in `models.providers`"
    );
    let many: String = (0..20)
        .map(|number| format!("p{number}: {{ baseUrl: 'https://h/' }},"))
        .collect();
    assert_eq!(
        unknown(&models(&format!("{{ providers: {{ {many} }} }}")).0),
        "no provider is named `x`; configured are p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11 and 8 more"
    );
}

#[test]
fn keys_never_show() {
    let loaded = own(r#"{
            models: { providers: { p: { baseUrl: "https://h/?key=hunter2", apiKey: "hunter2", headers: { a: "hunter2" } } } },
            serve: { token: "hunter2" },
        }"#);
    assert_eq!(problems(&loaded), Vec::<String>::new());
    let shown = format!("{loaded:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
}
