use std::fmt;

use uuid::Uuid;

/// Names a suspended run: `cm_` and a random UUID, so that it cannot be guessed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(String);

impl RunId {
    pub(crate) fn fresh() -> Self {
        Self(format!("cm_{}", Uuid::new_v4()))
    }

    /// A name somebody gave us; it may name nothing.
    pub(crate) fn from_text(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The text that a caller gives back to resume the run.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
