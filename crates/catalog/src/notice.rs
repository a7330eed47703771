use std::fmt;

use crate::id::ToolId;

/// Something a person should know about how the catalog was built. No tool disappears without one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// Two tools had one id; the one given last is in the catalog.
    Duplicate {
        /// The shared id.
        id: ToolId,
    },
    /// A tool without a name cannot be called and is left out.
    Unnamed {
        /// The owner's part of the id it would have had.
        owner: String,
    },
    /// Several tools would be `tools.<name>`, so none is; each is reached by its id.
    SharedName {
        /// The spelling they share.
        name: String,
        /// The tools, in catalog order.
        ids: Vec<ToolId>,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate { id } => {
                write!(f, "tool id `{id}` was given more than once; the last one counts")
            }
            Self::Unnamed { owner } => write!(f, "a tool of `{owner}` has no name and is left out"),
            Self::SharedName { name, ids } => {
                write!(f, "no tool is `tools.{name}`, because {} would be:", ids.len())?;
                ids.iter()
                    .take(SHOWN_IDS)
                    .try_for_each(|id| write!(f, " `{id}`"))?;
                if ids.len() > SHOWN_IDS {
                    write!(f, " and {} more", ids.len() - SHOWN_IDS)
                } else {
                    Ok(())
                }
            }
        }
    }
}

/// Ids named in one notice; more would make it unreadable.
const SHOWN_IDS: usize = 4;
