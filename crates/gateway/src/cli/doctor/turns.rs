//! Whether agent turns can be taken: providers, the agents' models, and where they are served.
use std::sync::Arc;

use codecell_llm::Client;
use serde::Serialize;

use crate::cli::serve::{DEFAULT_LISTEN, TOKEN_VARIABLE};
use crate::config::{Config, Models, ServeSettings};
use crate::turns::Agents;
use crate::wiring::{Channel, Shared};

/// What agent turns need. What is wrong here costs turns and nothing else.
#[derive(Debug, Serialize)]
pub(super) struct TurnsReport {
    pub(super) providers: Vec<ProviderReport>,
    pub(super) agents: Vec<AgentReport>,
    pub(super) serve: ServeReport,
}

/// A provider, and why it cannot be asked, if it cannot.
#[derive(Debug, Serialize)]
pub(super) struct ProviderReport {
    pub(super) id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) api: Option<&'static str>,
    /// Without any it is every model.
    pub(super) models: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
}

/// An agent, and why it cannot take turns, if it cannot.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentReport {
    pub(super) id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    pub(super) code_mode: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
}

/// Where `codecell serve` listens, and why it would not start, if it would not.
#[derive(Debug, Serialize)]
pub(super) struct ServeReport {
    pub(super) listen: String,
    /// Where the token comes from, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) token: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
}

impl TurnsReport {
    /// Nothing where neither models nor a server are configured: who only serves MCP on standard streams needs none.
    pub(super) fn new(shared: &Arc<Shared>, config: &Config) -> Option<Self> {
        let providers = providers(&config.models);
        if providers.is_empty() && config.serve == ServeSettings::default() {
            return None;
        }
        let agents = Agents::new(Arc::clone(shared), config, Channel::Http);
        let agents = config.agents.ids().into_iter().map(|id| agent(&agents, id));
        Some(Self {
            agents: agents.collect(),
            providers,
            serve: serve(&config.serve),
        })
    }
}

fn providers(models: &Models) -> Vec<ProviderReport> {
    models
        .all()
        .map(|(id, settings)| {
            let client = settings.map_err(str::to_owned).and_then(|settings| {
                Client::new(settings.provider())
                    .map(drop)
                    .map_err(|error| error.to_string())
            });
            let entries = settings.map(|settings| settings.models.as_slice());
            ProviderReport {
                id: id.to_owned(),
                api: settings.ok().map(|settings| settings.api.name()),
                models: entries
                    .unwrap_or_default()
                    .iter()
                    .map(|model| model.id.clone())
                    .collect(),
                reason: client.err(),
            }
        })
        .collect()
}

fn agent(agents: &Agents, id: String) -> AgentReport {
    match agents.of(&id, None) {
        Ok(target) => AgentReport {
            id,
            model: Some(target.model_ref),
            code_mode: target.app.has_code_mode(),
            reason: None,
        },
        Err(error) => AgentReport {
            id,
            model: None,
            code_mode: false,
            reason: Some(error.to_string()),
        },
    }
}

fn serve(settings: &ServeSettings) -> ServeReport {
    let listen = settings.listen.unwrap_or(DEFAULT_LISTEN);
    let of_environment = std::env::var(TOKEN_VARIABLE).is_ok_and(|token| !token.trim().is_empty());
    let token = if of_environment {
        Some(TOKEN_VARIABLE)
    } else {
        settings.token.as_ref().map(|_| "serve.token")
    };
    let open = token.is_none() && !listen.ip().is_loopback();
    ServeReport {
        listen: listen.to_string(),
        token,
        reason: open.then(|| {
            format!(
                "other machines can reach this address, so `codecell serve` starts only with a token: set \
                 `serve.token` or {TOKEN_VARIABLE}, or give --token-file"
            )
        }),
    }
}
