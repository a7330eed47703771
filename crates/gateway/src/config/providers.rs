//! Reads `models` of our own configuration.
//!
//! A mistake in a provider costs that provider: who asks for one of its models is told the reason. No message shows a
//! value that may be a key.
use std::time::Duration;

use codecell_llm::{Api, Secret as Key};
use reqwest::{
    Url,
    header::{HeaderName, HeaderValue},
};
use serde_json::{Map, Value};

use super::{
    base_url,
    block::{Block, Wrong, complain, fail, refuse},
    expand::{self, Lookup},
    models::{Configured, ModelEntry, Models, ProviderSettings},
    problem::{Report, join},
    secret::Secret,
    text::{kind, show},
    turn::MAX_TOKENS,
};

/// Longest id of a provider.
const MAX_ID_CHARS: usize = 64;

/// What models of this program's own server begin with, so no provider can be called so.
const RESERVED_ID: &str = "codecell";

/// Longest time to wait for a provider, in seconds.
const MAX_TIMEOUT_SECONDS: u64 = 86_400;

/// Keys of other products at a provider, and at a model of one.
const FOREIGN: &[&str] = &["agentRuntime", "compat", "contextTokens", "contextWindow"];
const FOREIGN_OF_MODELS: &[&str] = &[
    "agentRuntime",
    "compat",
    "contextTokens",
    "contextWindow",
    "cost",
    "input",
    "name",
    "reasoning",
];

/// A part of a provider, or why the provider cannot be used; the problem was reported already.
type Usable<T> = Result<T, String>;

/// Reads the block. A provider that an earlier file named is replaced, with a warning.
pub(super) fn read(
    value: &Value,
    path: &str,
    models: &mut Models,
    lookup: &Lookup<'_>,
    report: &mut Report<'_>,
) {
    let Some(mut block) = Block::open(value, path, Wrong::Hidden, report) else {
        return;
    };
    if let Some((path, value)) = block.get("mode") {
        match value.as_str() {
            Some("merge" | "replace") => block.report().note(
                &path,
                "changes nothing: there is no built-in list of models to merge with",
            ),
            _ => complain(
                Wrong::Ignored,
                &path,
                "`merge` or `replace`",
                value,
                block.report(),
            ),
        }
    }
    if let Some((path, value)) = block.get("providers") {
        match value {
            Value::Object(providers) => {
                for (id, value) in providers {
                    add(id, value, &join(&path, id), models, lookup, block.report());
                }
            }
            other => {
                refuse(&path, "an object of providers by id", other, block.report());
            }
        }
    }
    block.finish();
}

fn add(
    id: &str,
    value: &Value,
    path: &str,
    models: &mut Models,
    lookup: &Lookup<'_>,
    report: &mut Report<'_>,
) {
    let unfit = |c: char| c == '/' || c.is_whitespace() || c.is_control();
    if id.is_empty() || id.chars().count() > MAX_ID_CHARS || id.contains(unfit) {
        return report.error(
            path,
            format!("a provider's id has 1 to {MAX_ID_CHARS} characters, no slashes and no spaces"),
        );
    }
    if id.eq_ignore_ascii_case(RESERVED_ID) {
        return report.error(
            path,
            format!("`{RESERVED_ID}` is what this program calls its own models: choose another id"),
        );
    }
    let configured = Configured {
        id: id.to_owned(),
        settings: provider(id, value, path, lookup, report),
    };
    let earlier = models
        .providers
        .iter_mut()
        .find(|known| known.id.eq_ignore_ascii_case(id));
    match earlier {
        Some(earlier) => {
            report.warning(
                path,
                format!("provider `{id}` was configured before: this entry replaces it"),
            );
            *earlier = configured;
        }
        None => models.providers.push(configured),
    }
}

fn provider(
    id: &str,
    value: &Value,
    path: &str,
    lookup: &Lookup<'_>,
    report: &mut Report<'_>,
) -> Usable<ProviderSettings> {
    let Value::Object(map) = value else {
        return Err(refuse(path, "an object", value, report));
    };
    let mut block = Block::of(map, path, report);
    block.foreign(FOREIGN);
    let api = api(&mut block);
    let url = base_url(&mut block, &api, lookup);
    let key = key(&mut block, lookup);
    let headers = headers(&mut block, lookup);
    let timeout = block.number("timeoutSeconds", 1, MAX_TIMEOUT_SECONDS);
    let models = entries(&mut block);
    if let (Ok(url), Ok(Some(_))) = (&url, &key)
        && base_url::is_open_to_others(url)
    {
        let path = block.at("baseUrl");
        block.report().note(
            &path,
            "the key goes over the network in the clear: use `https://` if the server can",
        );
    }
    block.finish();
    Ok(ProviderSettings {
        id: id.to_owned(),
        api: api?.unwrap_or(Api::OpenAiCompletions),
        base_url: Secret::new(url?),
        key: key?,
        headers: headers?,
        timeout: timeout.map(Duration::from_secs),
        models: models?,
    })
}

fn api(block: &mut Block<'_, '_, '_>) -> Usable<Option<Api>> {
    let Some((path, value)) = block.get("api") else {
        return Ok(None);
    };
    match value.as_str().and_then(Api::parse) {
        Some(api) => Ok(Some(api)),
        None => {
            let message = format!("expected {}, got {} `{}`", apis(), kind(value), show(value));
            Err(fail(&path, message, block.report()))
        }
    }
}

/// All protocols in words.
fn apis() -> String {
    let [responses, completions, messages, google] = [
        Api::OpenAiResponses,
        Api::OpenAiCompletions,
        Api::AnthropicMessages,
        Api::GoogleGenerateContent,
    ];
    format!("`{responses}`, `{completions}`, `{messages}` or `{google}`")
}

fn base_url(block: &mut Block<'_, '_, '_>, api: &Usable<Option<Api>>, lookup: &Lookup<'_>) -> Usable<Url> {
    let given = block.get("baseUrl");
    let api = (*api).clone()?;
    let (path, text) = match (given, api) {
        (Some((path, Value::String(text))), _) => {
            let text = expanded(text, &path, lookup, block.report())?;
            (path, text)
        }
        (Some((path, other)), _) => return Err(refuse(&path, "a string", other, block.report())),
        (None, Some(api)) => (block.at("baseUrl"), base_url::official(api).to_owned()),
        (None, None) => {
            let path = block.at("baseUrl");
            let message = format!(
                "is missing: say where the provider is, or which `api` it has: {}",
                apis()
            );
            return Err(fail(&path, message, block.report()));
        }
    };
    base_url::check(text.trim(), api.unwrap_or(Api::OpenAiCompletions))
        .map_err(|message| fail(&path, message, block.report()))
}

fn key(block: &mut Block<'_, '_, '_>, lookup: &Lookup<'_>) -> Usable<Option<Key>> {
    let Some((path, value)) = block.get("apiKey") else {
        return Ok(None);
    };
    let Value::String(text) = value else {
        return Err(refuse(&path, "a string", value, block.report()));
    };
    let text = expanded(text, &path, lookup, block.report())?;
    let text = text.trim();
    if text.is_empty() {
        block.report().note(&path, "is empty, so no key is sent");
        return Ok(None);
    }
    in_a_header(text, &path, block.report()).map(Some)
}

fn headers(block: &mut Block<'_, '_, '_>, lookup: &Lookup<'_>) -> Usable<Vec<(String, Key)>> {
    let none = Map::new();
    let (path, map) = match block.get("headers") {
        None => (String::new(), &none),
        Some((path, Value::Object(map))) => (path, map),
        Some((path, other)) => return Err(refuse(&path, "an object of strings", other, block.report())),
    };
    let mut found = Vec::new();
    for (name, value) in map {
        let path = join(&path, name);
        let report = block.report();
        if name.parse::<HeaderName>().is_err() {
            return Err(fail(&path, "is no name of a header".to_owned(), report));
        }
        match value {
            Value::Null => report.note(&path, "is null, so it is not sent"),
            Value::String(text) => {
                let text = expanded(text, &path, lookup, report)?;
                found.push((name.clone(), in_a_header(&text, &path, report)?));
            }
            other => return Err(refuse(&path, "a string", other, report)),
        }
    }
    Ok(found)
}

fn expanded(text: &str, path: &str, lookup: &Lookup<'_>, report: &mut Report<'_>) -> Usable<String> {
    expand::expand(text, lookup).map_err(|error| fail(path, error.to_string(), report))
}

fn in_a_header(text: &str, path: &str, report: &mut Report<'_>) -> Usable<Key> {
    match HeaderValue::from_str(text) {
        Ok(_) => Ok(Key::new(text)),
        Err(_) => Err(fail(
            path,
            "has characters that no header may have".to_owned(),
            report,
        )),
    }
}

fn entries(block: &mut Block<'_, '_, '_>) -> Usable<Vec<ModelEntry>> {
    let items = match block.get("models") {
        None => return Ok(Vec::new()),
        Some((_, Value::Array(items))) => items,
        Some((path, other)) => return Err(refuse(&path, "an array of models", other, block.report())),
    };
    let path = block.at("models");
    let mut found: Vec<ModelEntry> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let path = format!("{path}[{index}]");
        // An entry that were merely left out could leave an empty list, and that allows every model.
        let entry = entry(item, &path, block.report())?;
        if found.iter().any(|known| known.id == entry.id) {
            let message = format!("model `{}` is listed before: this entry is ignored", entry.id);
            block.report().warning(&path, message);
        } else {
            found.push(entry);
        }
    }
    Ok(found)
}

/// A model: its id alone, or an object that says more.
fn entry(value: &Value, path: &str, report: &mut Report<'_>) -> Usable<ModelEntry> {
    let (id, max_tokens) = match value {
        Value::String(id) => (id.clone(), None),
        Value::Object(map) => {
            let mut block = Block::of(map, path, report);
            block.foreign(FOREIGN_OF_MODELS);
            let id = match block.get("id") {
                Some((_, Value::String(id))) => id.clone(),
                Some((path, other)) => return Err(refuse(&path, "a string", other, block.report())),
                None => String::new(),
            };
            let max_tokens = block.number("maxTokens", 1, MAX_TOKENS);
            block.finish();
            (id, max_tokens)
        }
        other => return Err(refuse(path, "a model's id or an object with `id`", other, report)),
    };
    if id.trim().is_empty() || id.chars().any(char::is_control) {
        let message = "needs the `id` that the provider calls the model".to_owned();
        return Err(fail(path, message, report));
    }
    Ok(ModelEntry { id, max_tokens })
}
