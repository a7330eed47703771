//! What of a tool is indexed, and how much a word counts where it stands.

use serde_json::Value;

use super::words::Splitter;
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

    /// Whether words that tell nothing are left out. In a name they are part of it.
    pub(super) fn is_running_text(self) -> bool {
        matches!(self, Self::Label | Self::Description | Self::ParameterText)
    }
}

/// Reads the words of tools.
#[derive(Default)]
pub(super) struct Reader {
    splitter: Splitter,
    /// How many parameters of the tool at hand have been read.
    parameters: usize,
}

impl Reader {
    /// Gives every word of a tool in lower case, not yet stemmed, and where it stands. Those of one field are in the
    /// order of the text.
    pub(super) fn read(&mut self, tool: &Tool, give: &mut impl FnMut(Field, &str)) {
        let spec = tool.spec();
        self.parameters = 0;
        self.split(&spec.name, Field::Name, give);
        self.split(spec.label.as_deref().unwrap_or_default(), Field::Label, give);
        self.split(
            head(&spec.description, MAX_INDEXED_CHARS),
            Field::Description,
            give,
        );
        self.schema(&spec.parameters, 0, give);
        self.split(spec.owner.name().unwrap_or_default(), Field::Owner, give);
    }

    fn split(&mut self, text: &str, field: Field, give: &mut impl FnMut(Field, &str)) {
        self.splitter.split(text, &mut |word| give(field, word));
    }

    fn schema(&mut self, schema: &Value, depth: usize, give: &mut impl FnMut(Field, &str)) {
        if depth >= MAX_PARAMETER_DEPTH {
            return;
        }
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            for (name, property) in properties {
                if self.parameters >= MAX_PARAMETERS {
                    return;
                }
                self.parameters += 1;
                self.split(name, Field::Parameter, give);
                self.text(property, give);
                self.schema(property, depth + 1, give);
            }
        }
        if let Some(items) = schema.get("items") {
            self.schema(items, depth + 1, give);
        }
    }

    fn text(&mut self, property: &Value, give: &mut impl FnMut(Field, &str)) {
        let description = property.get("description").and_then(Value::as_str);
        let choices = property.get("enum").and_then(Value::as_array);
        let choices = choices.into_iter().flatten().take(MAX_CHOICES);
        for text in description.into_iter().chain(choices.filter_map(Value::as_str)) {
            self.split(head(text, MAX_PARAMETER_CHARS), Field::ParameterText, give);
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
