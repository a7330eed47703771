//! Which providers there are, and which of their models may be used.
use std::time::Duration;

use codecell_llm::{Api, Provider, Secret as Key, Timeouts};

use super::secret::Secret;

/// Longest reference to a model. They also come from clients, and messages repeat them.
const MAX_REF_CHARS: usize = 256;

/// How many names a message lists.
const MAX_LISTED: usize = 12;

/// `models`: the providers in the order of the files; one id occurs once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Models {
    pub(super) providers: Vec<Configured>,
}

/// One provider of the configuration, or why it cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Configured {
    pub(super) id: String,
    pub(super) settings: Result<ProviderSettings, String>,
}

/// A provider that can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderSettings {
    /// Its id, the part of `provider/model` before the first slash.
    pub id: String,
    /// Its protocol.
    pub api: Api,
    /// Its base URL, which may carry a key in its query.
    pub base_url: Secret,
    /// Its key. Servers on this machine often need none.
    pub key: Option<Key>,
    /// Headers for every request, over those of the protocol.
    pub headers: Vec<(String, Key)>,
    /// Longest time until an answer begins, and between its pieces.
    pub timeout: Option<Duration>,
    /// The models that may be asked for; without any it is every one.
    pub models: Vec<ModelEntry>,
}

/// A model that a provider lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelEntry {
    /// What the provider calls it. May contain slashes.
    pub id: String,
    /// Most tokens of one answer.
    pub max_tokens: Option<u64>,
}

/// A model together with who is asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRef<'m> {
    /// Who is asked.
    pub provider: &'m ProviderSettings,
    /// What the provider calls the model.
    pub model: String,
    /// Most tokens of one answer, if the configuration says so of this model.
    pub max_tokens: Option<u64>,
}

impl ModelRef<'_> {
    /// `provider/model`, with the provider's id as it stands in the configuration.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider.id, self.model)
    }
}

/// Why a model cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelRefError {
    /// It is no reference.
    #[error("`{0}` names no model: write `provider/model`")]
    Malformed(String),
    /// Its provider is not configured.
    #[error("no provider is named `{provider}`; {}", listed("`models.providers`", known))]
    UnknownProvider {
        /// The id that was asked for.
        provider: String,
        /// The ids that are configured.
        known: Vec<String>,
    },
    /// Its provider lists its models, and this is none of them.
    #[error("provider `{provider}` has no model `{model}`; {}", listed("`models`", known))]
    UnknownModel {
        /// The provider's id.
        provider: String,
        /// The model that was asked for.
        model: String,
        /// The models that are listed.
        known: Vec<String>,
    },
    /// What is configured of its provider is wrong.
    #[error("provider `{provider}` cannot be used: {reason}")]
    Unusable {
        /// The provider's id.
        provider: String,
        /// What is wrong, and where.
        reason: String,
    },
}

/// What there is instead.
fn listed(place: &str, known: &[String]) -> String {
    if known.is_empty() {
        return format!("none is configured in {place}");
    }
    let shown: Vec<&str> = known.iter().take(MAX_LISTED).map(String::as_str).collect();
    let shown = shown.join(", ");
    match known.len().saturating_sub(MAX_LISTED) {
        0 => format!("configured are {shown}"),
        more => format!("configured are {shown} and {more} more"),
    }
}

impl Models {
    /// The providers that can be asked, in the order of the files.
    pub fn providers(&self) -> impl Iterator<Item = &ProviderSettings> {
        self.providers
            .iter()
            .filter_map(|provider| provider.settings.as_ref().ok())
    }

    /// Every provider that is written down, in the order of the files; of those that cannot be asked, why.
    pub fn all(&self) -> impl Iterator<Item = (&str, Result<&ProviderSettings, &str>)> {
        self.providers.iter().map(|provider| {
            let settings = provider.settings.as_ref().map_err(String::as_str);
            (provider.id.as_str(), settings)
        })
    }

    /// The models that usable providers list, as `provider/model`. A provider that lists none has more than these.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.providers()
            .flat_map(|provider| {
                provider
                    .models
                    .iter()
                    .map(|model| format!("{}/{}", provider.id, model.id))
            })
            .collect()
    }

    /// The provider of this id, whose case does not count.
    ///
    /// # Errors
    ///
    /// Fails when it is not configured, and with the reason when what is configured of it is wrong.
    pub fn provider(&self, id: &str) -> Result<&ProviderSettings, ModelRefError> {
        let found = self
            .providers
            .iter()
            .find(|provider| provider.id.eq_ignore_ascii_case(id));
        let Some(Configured { id, settings }) = found else {
            return Err(ModelRefError::UnknownProvider {
                provider: id.to_owned(),
                known: self
                    .providers
                    .iter()
                    .map(|provider| provider.id.clone())
                    .collect(),
            });
        };
        settings.as_ref().map_err(|reason| ModelRefError::Unusable {
            provider: id.clone(),
            reason: reason.clone(),
        })
    }

    /// Finds `provider/model`. The first slash ends the provider's id; models may have more of them.
    ///
    /// # Errors
    ///
    /// Fails when there is no such provider, when it cannot be used, and when it lists models without this one.
    pub fn resolve(&self, name: &str) -> Result<ModelRef<'_>, ModelRefError> {
        let sound = name.chars().count() <= MAX_REF_CHARS && !name.chars().any(char::is_control);
        let (id, model) = name
            .split_once('/')
            .filter(|(id, model)| sound && !id.trim().is_empty() && !model.trim().is_empty())
            .ok_or_else(|| {
                let head = name.chars().filter(|c| !c.is_control()).take(MAX_REF_CHARS);
                ModelRefError::Malformed(head.collect())
            })?;
        let provider = self.provider(id)?;
        let entry = provider.models.iter().find(|entry| entry.id == model);
        if entry.is_none() && !provider.models.is_empty() {
            return Err(ModelRefError::UnknownModel {
                provider: provider.id.clone(),
                model: model.to_owned(),
                known: provider.models.iter().map(|entry| entry.id.clone()).collect(),
            });
        }
        Ok(ModelRef {
            provider,
            model: model.to_owned(),
            max_tokens: entry.and_then(|entry| entry.max_tokens),
        })
    }
}

impl ProviderSettings {
    /// The same for whoever sends requests, with the usual retries.
    #[must_use]
    pub fn provider(&self) -> Provider {
        let usual = Timeouts::default();
        Provider {
            headers: self.headers.clone(),
            timeouts: self.timeout.map_or(usual, |limit| Timeouts {
                connect: usual.connect.min(limit),
                response: limit,
                idle: limit,
            }),
            ..Provider::new(self.api, self.base_url.expose(), self.key.clone())
        }
    }
}
