//! Checks values against JSON Schema, bounded in memory, time and depth whatever the schema says.

mod cache;
mod contract;
mod cost;
mod problem;
mod relax;
mod walk;

pub(crate) use self::cache::Contracts;

use crate::id::ToolId;

/// Which of a tool's schemas is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContractSide {
    /// `parameters`.
    Input,
    /// `outputSchema`.
    Output,
}

impl ContractSide {
    fn keyword(self) -> &'static str {
        match self {
            Self::Input => "inputSchema",
            Self::Output => "outputSchema",
        }
    }
}

/// A trusted tool whose schema no value can be checked against: its author has to repair it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tool `{id}` has an invalid {}: {reason}", side.keyword())]
pub struct ContractError {
    /// The tool.
    pub id: ToolId,
    /// The unusable schema.
    pub side: ContractSide,
    /// What is wrong with it, shortened.
    pub reason: String,
}

/// Why arguments were refused; the tool was not called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// The caller corrects the arguments.
    #[error("invalid arguments for `{id}`:\n{}\nexpected input: {input}", problems.join("\n"))]
    Invalid {
        /// The tool.
        id: ToolId,
        /// One line per problem: path, what was expected, what was given. The last line counts what is left out.
        problems: Vec<String>,
        /// The tool's signature, as bounded as every hint.
        input: String,
    },
    /// The tool's author repairs the schema.
    #[error(transparent)]
    Contract(#[from] ContractError),
}

/// Why a value is not what the tool promised; the call *has* happened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The value breaks the schema. No part of the value is in here.
    #[error("tool `{id}` was called, and its value does not match its outputSchema:\n{}", problems.join("\n"))]
    Mismatch {
        /// The tool.
        id: ToolId,
        /// One line per problem: path, what was promised, what kind of thing came.
        problems: Vec<String>,
    },
    /// The tool's author repairs the schema.
    #[error(transparent)]
    Contract(#[from] ContractError),
}
