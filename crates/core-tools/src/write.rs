//! `write`: a whole file in one step.

use std::sync::Arc;

use codecell_tools::ToolError;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::adapter::{Effect, FileTool, check, closed, define};
use crate::roots::Roots;
use crate::stage::{Folders, Target};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    path: String,
    text: String,
    #[serde(default)]
    create_dirs: bool,
}

#[derive(Serialize)]
pub(crate) struct Answer {
    path: String,
    bytes: usize,
    created: bool,
}

pub(crate) fn tool(roots: &Arc<Roots>) -> FileTool<Arguments, Answer> {
    let definition = define(
        "write",
        "Write a file",
        "Write a whole text file, new or in place of an old one whose permissions stay. Done in one step: nobody sees half a \
         file. `createDirs` makes missing folders.",
        [
            closed(
                json!({
                    "path": { "type": "string" },
                    "text": { "type": "string" },
                    "createDirs": { "type": "boolean" },
                }),
                &["path", "text"],
            ),
            closed(
                json!({
                    "path": { "type": "string" },
                    "bytes": { "type": "integer" },
                    "created": { "type": "boolean" },
                }),
                &["path", "bytes", "created"],
            ),
        ],
        Effect::Writes,
    );
    FileTool {
        definition,
        roots: Arc::clone(roots),
        work: write,
    }
}

fn write(roots: &Roots, arguments: Arguments, cancel: &CancellationToken) -> Result<Answer, ToolError> {
    let _turn = roots.writing();
    check(cancel)?;
    let place = roots.place(&arguments.path)?;
    let folders = if arguments.create_dirs {
        Folders::Create
    } else {
        Folders::MustExist
    };
    let target = Target::find(&place, folders)?;
    let created = !target.exists();
    let permissions = target.permissions();
    let staged = target.stage(arguments.text.as_bytes(), permissions)?;
    check(cancel)?;
    staged.commit()?;
    Ok(Answer {
        path: place.shown,
        bytes: arguments.text.len(),
        created,
    })
}
