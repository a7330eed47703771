//! What of a tool is indexed, and how much a word counts where it stands.

use serde_json::Value;

use super::words::{split_words, text_words};
use crate::tool::Tool;

/// Characters of a description that are indexed; what comes later is examples.
const MAX_INDEXED_CHARS: usize = 4_096;

/// Parameters indexed per tool, and how deep they are looked for.
const MAX_PARAMETERS: usize = 128;
const MAX_PARAMETER_DEPTH: usize = 4;

/// Characters of one parameter's description that are indexed, and how many of its choices.
const MAX_PARAMETER_CHARS: usize = 256;
const MAX_CHOICES: usize = 32;

/// Where a word stands.
#[derive(Clone, Copy)]
pub(super) enum Field {
    Name,
    Label,
    Description,
    Parameter,
    /// What parameters say of themselves: their descriptions and choices.
    ParameterText,
    Owner,
}

pub(super) const FIELDS: [Field; 6] = [
    Field::Name,
    Field::Label,
    Field::Description,
    Field::Parameter,
    Field::ParameterText,
    Field::Owner,
];

impl Field {
    /// How much a word counts here. A tool is named after what it does, descriptions ramble.
    pub(super) fn weight(self) -> f32 {
        match self {
            Self::Name => 4.0,
            Self::Label => 1.5,
            Self::Description => 1.0,
            Self::Owner => 0.75,
            Self::Parameter => 0.6,
            Self::ParameterText => 0.5,
        }
    }

    /// BM25's `b`: how much a field's length above the average takes away.
    pub(super) fn dilution(self) -> f32 {
        match self {
            Self::Name | Self::Label | Self::Description => 0.5,
            Self::Parameter | Self::ParameterText => 0.75,
            // Servers name themselves as they please.
            Self::Owner => 0.0,
        }
    }
}

/// The words in each of [`FIELDS`], lower case, not yet stemmed.
pub(super) fn words_of(tool: &Tool) -> [Vec<String>; 6] {
    let spec = tool.spec();
    let mut parameters = Parameters::default();
    parameters.read(&spec.parameters, 0);
    [
        split_words(&spec.name),
        text_words(spec.label.as_deref().unwrap_or_default()).collect(),
        text_words(head(&spec.description, MAX_INDEXED_CHARS)).collect(),
        parameters.names,
        parameters.texts,
        spec.owner.name().map(split_words).unwrap_or_default(),
    ]
}

#[derive(Default)]
struct Parameters {
    count: usize,
    names: Vec<String>,
    texts: Vec<String>,
}

impl Parameters {
    fn read(&mut self, schema: &Value, depth: usize) {
        if depth >= MAX_PARAMETER_DEPTH {
            return;
        }
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            for (name, property) in properties {
                if self.count >= MAX_PARAMETERS {
                    return;
                }
                self.count += 1;
                self.names.extend(split_words(name));
                self.text(property);
                self.read(property, depth + 1);
            }
        }
        if let Some(items) = schema.get("items") {
            self.read(items, depth + 1);
        }
    }

    fn text(&mut self, property: &Value) {
        let description = property.get("description").and_then(Value::as_str);
        let choices = property.get("enum").and_then(Value::as_array);
        let choices = choices.into_iter().flatten().take(MAX_CHOICES);
        for text in description.into_iter().chain(choices.filter_map(Value::as_str)) {
            self.texts.extend(text_words(head(text, MAX_PARAMETER_CHARS)));
        }
    }
}

/// The first `most` characters.
fn head(text: &str, most: usize) -> &str {
    text.char_indices()
        .nth(most)
        .and_then(|(end, _)| text.get(..end))
        .unwrap_or(text)
}
