//! Why a program does not run, in words the model can act on.

use crate::Language;
use crate::position::Position;

/// Why a program was refused before the guest started. Nothing of it ran.
///
/// `Display` is the whole text for the model: what is wrong, where, and what to do instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The program reaches for a module: import it cannot, call a tool it can.
    #[error(
        "module access is disabled: {what} at {position}. A cell has no modules, packages, files or network, \
         so call tools instead: find one with `tools.search(query)` and call it with `tools.callValue(id, input)`, \
         call MCP tools as `MCP.<server>.<tool>(input)`, and read their declarations with `API.list()` and `API.read(path)`"
    )]
    ModuleAccess {
        /// The offending form, in backticks.
        what: &'static str,
        /// Where it stands.
        position: Position,
    },
    /// The program does not parse, or breaks a rule that makes it invalid before it runs.
    #[error("{language} syntax error at {position}: {message}{}. Nothing was run; correct the code and call exec again", and_more(*.more))]
    Syntax {
        /// The language it was read as.
        language: Language,
        /// What the parser says.
        message: String,
        /// Where.
        position: Position,
        /// How many further errors there are.
        more: usize,
    },
    /// The text is a shell command.
    #[error(
        "exec runs JavaScript or TypeScript, not shell commands: `{command}` looks like one. To run a command, find a \
         tool for it with `tools.search(query)` and call it from JavaScript with `tools.callValue(id, input)` and its \
         exact id, or call an MCP tool as `MCP.<server>.<tool>(input)`. Do not send the same command again"
    )]
    Shell {
        /// Its first line, shortened.
        command: String,
    },
    /// The text is longer than any program needs to be.
    #[error(
        "the program has {actual} bytes, more than the limit of {limit}: read large data through tools instead of writing it into the code"
    )]
    TooLarge {
        /// Its length in bytes.
        actual: usize,
        /// [`MAX_SOURCE_BYTES`](crate::MAX_SOURCE_BYTES).
        limit: usize,
    },
    /// The program is nested too deeply, or one statement is too long.
    #[error(
        "the program passes a limit at {position}: more than {limit} {what}. Split it into smaller statements that \
         end with `;`, or into functions"
    )]
    TooDeep {
        /// What is counted.
        what: &'static str,
        /// The limit that was passed.
        limit: u32,
        /// Where it was passed.
        position: Position,
    },
    /// The program would take too long to read, because its parts are ambiguous inside each other.
    #[error(
        "the program is too complex to check at {position}: its nested parts would have to be read more than {limit} times. Split it into smaller statements or functions"
    )]
    TooComplex {
        /// The limit that was passed, in tokens read.
        limit: u64,
        /// Where it was passed.
        position: Position,
    },
    /// The host could not check the program; the program may be fine.
    #[error("the program could not be checked: {reason}. Nothing was run; write it in another way")]
    Unchecked {
        /// What failed: the parser, or starting a thread for it.
        reason: String,
    },
}

fn and_more(more: usize) -> String {
    if more == 0 {
        String::new()
    } else {
        format!(" (and {more} more)")
    }
}
