//! Which agent and which model a name means.
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use codecell_llm::Client;

use crate::config::{
    AgentSettings, Agents as AgentConfig, CodeModeSettings, Config, DEFAULT_AGENT, ModelRefError, Models,
    ToolSettings,
};
use crate::wiring::{App, Channel, Shared};

/// What every agent's names of models start with.
const OWN_NAME: &str = "codecell";

/// The agents of a process and the models they may use.
pub(crate) struct Agents {
    shared: Arc<Shared>,
    channel: Channel,
    agents: AgentConfig,
    code_mode: CodeModeSettings,
    tools: ToolSettings,
    models: Models,
    /// One for each agent and what code mode it has, which may depend on the model. Not one for each model: a
    /// provider may have any number of them, and whoever asks names them.
    apps: Mutex<Vec<Arc<App>>>,
    clients: Mutex<HashMap<String, Client>>,
}

/// An agent, and the model that speaks for it.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) app: Arc<App>,
    pub(crate) client: Client,
    /// The model as its provider calls it.
    pub(crate) model: String,
    /// `provider/model`.
    pub(crate) model_ref: String,
    /// Most tokens of an answer, if the model's entry says so.
    pub(crate) max_tokens: Option<u64>,
}

/// Why a name means no model.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum TargetError {
    /// Nothing has this name.
    #[error("model `{name}` does not exist; there are {}", known.join(", "))]
    Unknown { name: String, known: Vec<String> },
    /// The agent has no model, or its provider cannot be used.
    #[error("{0}")]
    Unusable(String),
}

impl Agents {
    pub(crate) fn new(shared: Arc<Shared>, config: &Config, channel: Channel) -> Self {
        Self {
            shared,
            channel,
            agents: config.agents.clone(),
            code_mode: config.code_mode.clone(),
            tools: config.tools.clone(),
            models: config.models.clone(),
            apps: Mutex::default(),
            clients: Mutex::default(),
        }
    }

    /// The names that a caller can ask for: every agent, then every model that is written down.
    pub(crate) fn names(&self) -> Vec<String> {
        let agents = self.agents.ids().into_iter().map(|id| match id.as_str() {
            DEFAULT_AGENT => OWN_NAME.to_owned(),
            id => format!("{OWN_NAME}/{id}"),
        });
        agents.chain(self.models.names()).collect()
    }

    /// Whether a name means something. What has it may be unusable all the same.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.names().iter().any(|known| known == name) || self.models.resolve(name).is_ok()
    }

    /// The agent and model of a name: `codecell`, `codecell/AGENT`, or `PROVIDER/MODEL` for the main agent.
    ///
    /// # Errors
    ///
    /// Fails when nothing has the name, or what has it cannot be used.
    pub(crate) fn named(&self, name: &str) -> Result<Target, TargetError> {
        let unknown = || TargetError::Unknown {
            name: name.chars().take(200).collect(),
            known: self.names(),
        };
        if name == OWN_NAME {
            return self.of(DEFAULT_AGENT, None);
        }
        match name.split_once('/') {
            Some((OWN_NAME, agent)) if self.agents.ids().iter().any(|id| id == agent) => self.of(agent, None),
            _ => match self.models.resolve(name) {
                Ok(_) => self.of(DEFAULT_AGENT, Some(name)),
                Err(error @ ModelRefError::Unusable { .. }) => Err(TargetError::Unusable(error.to_string())),
                Err(_) => Err(unknown()),
            },
        }
    }

    /// An agent with its own model, or with another.
    ///
    /// # Errors
    ///
    /// Fails when the configuration knows no such agent or model, or the model cannot be used.
    pub(crate) fn of(&self, agent: &str, model: Option<&str>) -> Result<Target, TargetError> {
        let unusable = |error: &dyn std::fmt::Display| TargetError::Unusable(error.to_string());
        let mut settings: AgentSettings = self
            .agents
            .agent(agent, &self.code_mode, &self.tools.sandbox)
            .map_err(|error| unusable(&error))?;
        let Some(model_ref) = model.map(str::to_owned).or_else(|| settings.model.clone()) else {
            return Err(TargetError::Unusable(format!(
                "agent `{agent}` has no model: set `agents.entries.{agent}.model` or `agents.defaults.model` to \
                 `PROVIDER/MODEL`, and the provider under `models.providers`"
            )));
        };
        let resolved = self
            .models
            .resolve(&model_ref)
            .map_err(|error| unusable(&error))?;
        let client = self
            .client(&resolved.provider.id)
            .map_err(|error| unusable(&error))?;
        settings.code_mode = settings.code_mode_for(Some(&model_ref));
        let (model, max_tokens) = (resolved.model.clone(), resolved.max_tokens);
        Ok(Target {
            app: self.app(settings).map_err(|error| unusable(&error))?,
            client,
            model,
            model_ref,
            max_tokens,
        })
    }

    fn app(&self, settings: AgentSettings) -> anyhow::Result<Arc<App>> {
        let mut apps = self.apps.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(app) = apps.iter().find(|app| *app.agent() == settings) {
            return Ok(Arc::clone(app));
        }
        let app = Arc::new(App::new(Arc::clone(&self.shared), settings, self.channel)?);
        apps.push(Arc::clone(&app));
        Ok(app)
    }

    fn client(&self, provider: &str) -> Result<Client, String> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(provider) {
            return Ok(client.clone());
        }
        let settings = self
            .models
            .provider(provider)
            .map_err(|error| error.to_string())?;
        let client = Client::new(settings.provider())
            .map_err(|error| format!("provider `{provider}` cannot be used: {error}"))?;
        clients.insert(provider.to_owned(), client.clone());
        Ok(client)
    }
}
