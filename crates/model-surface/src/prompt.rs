use std::fmt;

use codecell_catalog::{
    Catalog,
    schema::{is_identifier, quote},
};

use crate::index::quick_index;

/// Server identifiers named in the first line, and their characters together: it has to stay a line. The rest is found
/// by `MCP.$search` and `API.list("mcp")`.
const MAX_NAMED_SERVERS: usize = 12;
const MAX_NAMED_CHARS: usize = 240;

/// Characters of all namespace prompts together, which plugins write and every request carries.
const MAX_NAMESPACE_UNITS: usize = 4_000;

/// Which languages a cell may be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Languages {
    /// JavaScript, and TypeScript where asked for.
    #[default]
    Both,
    /// JavaScript alone.
    JavaScriptOnly,
    /// TypeScript alone.
    TypeScriptOnly,
}

/// A visible plugin namespace, as its trusted plugin presents it. One that is not visible in a run is not passed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamespacePrompt<'a> {
    /// The global the guest has.
    pub global_name: &'a str,
    /// What it is, in a few words.
    pub description: &'a str,
    /// How to use it.
    pub prompt: Option<&'a str>,
}

/// Everything the description of `exec` depends on. Its `Display` *is* that description.
///
/// Text of MCP servers and clients never gets in: of MCP only identifiers do, which come from names the user
/// configured, and no tool counts, so that a server that connects late or changes its list leaves the request's prefix
/// as it was.
#[derive(Debug, Clone, Copy)]
pub struct ExecPrompt<'a> {
    /// The tools of the run.
    pub catalog: &'a Catalog,
    /// The languages that are switched on.
    pub languages: Languages,
    /// `MCP.<identifier>` of every configured server, in the order they shall be named; what is no identifier is only
    /// counted.
    pub mcp_servers: &'a [&'a str],
    /// The visible namespaces, in the order they shall be described.
    pub namespaces: &'a [NamespacePrompt<'a>],
}

impl fmt::Display for ExecPrompt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = self.catalog.guest_entries().next().is_some();
        let mcp = !self.mcp_servers.is_empty();

        writeln!(f, "{}\n", self.first_line())?;
        writeln!(f, "{}", self.form())?;
        if own || mcp {
            writeln!(
                f,
                "A call that fails throws: catch it. Independent calls run together in `await Promise.all([…])`."
            )?;
        }
        if own {
            f.write_str(OWN_TOOLS)?;
        }
        if mcp {
            f.write_str(if own { MCP_TOOLS_TOO } else { MCP_TOOLS })?;
        }
        f.write_str(RESULTS)?;
        self.write_namespaces(f)?;
        match quick_index(self.catalog) {
            Some(index) => write!(f, "\n{index}"),
            None => Ok(()),
        }
    }
}

const OWN_TOOLS: &str = "- `await tools.callValue(id, input)` calls a tool by its exact id and gives its value; \
`tools.<name>(input)` does the same where the name is unambiguous.
- `await tools.search(\"words\", { limit })` finds ids, `await tools.describe(id)` gives the schemas, `ALL_TOOLS` is \
the whole list: filter it in code.
";

/// What is to be said of MCP; with tools of our own, also that `tools` has none of these.
const MCP_TOOLS: &str = "- `await MCP.$search(\"words\", { limit })` finds tools: `[{ path, description, input }]`.
- `await MCP.<server>.<tool>({ … })`, the found path, calls one and gives `{ content, structuredContent, isError }`. \
`await API.read(\"mcp/<server>.d.ts\")` declares a server's tools, `await API.list(\"mcp\")` lists the files.
";

const MCP_TOOLS_TOO: &str = "- Tools of MCP servers are in `MCP`, not in `tools`. `await MCP.$search(\"words\", { limit })` \
finds them: `[{ path, description, input }]`.
- `await MCP.<server>.<tool>({ … })`, the found path, calls one and gives `{ content, structuredContent, isError }`. \
`await API.read(\"mcp/<server>.d.ts\")` declares a server's tools, `await API.list(\"mcp\")` lists the files.
";

const RESULTS: &str = "- `text(value)` and `json(value)` add to the output. Output and value share one small budget: \
filter, join and count in code, return what matters.
- If the result says `status: \"waiting\"`, call `wait` with its `runId`; `await yield_control()` pauses on purpose.
";

impl ExecPrompt<'_> {
    /// Enough by itself for a host that searches its tools by their descriptions.
    fn first_line(&self) -> String {
        let language = match self.languages {
            Languages::Both => "JavaScript or TypeScript",
            Languages::JavaScriptOnly => "JavaScript",
            Languages::TypeScriptOnly => "TypeScript",
        };
        let mut reached = Vec::new();
        if !self.mcp_servers.is_empty() {
            let mut left = MAX_NAMED_CHARS;
            let mut fits = |server: &&&str| {
                let rest = left.checked_sub(server.chars().count());
                left = rest.unwrap_or(0);
                rest.is_some()
            };
            let servers = self
                .mcp_servers
                .iter()
                .filter(|server| is_identifier(server))
                .take(MAX_NAMED_SERVERS)
                .take_while(|server| fits(server));
            let named: Vec<String> = servers.map(|server| format!("`{server}`")).collect();
            reached.push(match (named.as_slice(), self.mcp_servers.len() - named.len()) {
                ([], more) => format!("{more} MCP servers"),
                (named, 0) => format!("the MCP servers {}", named.join(", ")),
                (named, more) => format!("the MCP servers {} and {more} more", named.join(", ")),
            });
        }
        let sources = self.catalog.sources();
        match sources.openclaw {
            0 => {}
            1 => reached.push("1 built-in tool".to_owned()),
            many => reached.push(format!("{many} built-in tools")),
        }
        if sources.client > 0 {
            reached.push("the connected app".to_owned());
        }
        if reached.is_empty() {
            return format!("Run a {language} program. No tools are connected, so it can only compute.");
        }
        format!(
            "Run a {language} program that finds and calls tools: {}.",
            reached.join("; ")
        )
    }

    fn form(&self) -> String {
        let language = match self.languages {
            Languages::Both => " `language` is \"javascript\" unless you say \"typescript\".",
            Languages::JavaScriptOnly => "",
            Languages::TypeScriptOnly => " Say `language: \"typescript\"`.",
        };
        format!(
            "`code` is the body of an async function: `await` calls, `return` a JSON value. It is no shell and has no \
             modules, files or network; `console`, timers and the standard built-ins are there.{language}"
        )
    }

    fn write_namespaces(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespaces.is_empty() {
            return Ok(());
        }
        writeln!(f, "\n{NAMESPACES}")?;
        let mut left = MAX_NAMESPACE_UNITS;
        let mut omitted = 0;
        for namespace in self.namespaces {
            let part = namespace.lines();
            match left.checked_sub(part.encode_utf16().count()) {
                Some(rest) => {
                    left = rest;
                    f.write_str(&part)?;
                }
                None => omitted += 1,
            }
        }
        if omitted > 0 {
            writeln!(f, "{omitted} more are listed in `namespaces`.")?;
        }
        Ok(())
    }
}

const NAMESPACES: &str = "Registered namespace globals are available in code mode:";

impl NamespacePrompt<'_> {
    /// Name and description on one line, the prompt indented below it: a plugin's text cannot begin a line of ours.
    fn lines(&self) -> String {
        let mut lines = format!(
            "- {}: {}\n",
            one_line(self.global_name),
            one_line(self.description)
        );
        for line in self.prompt.unwrap_or_default().lines().map(one_line) {
            if !line.is_empty() {
                lines.push_str("  ");
                lines.push_str(&line);
                lines.push('\n');
            }
        }
        lines
    }
}

/// The words of `text` with single blanks between them, without characters that cannot be seen or that reorder others.
fn one_line(text: &str) -> String {
    // Quoting escapes exactly those.
    let visible = |ch: char| !quote(ch.encode_utf8(&mut [0; 4])).starts_with("\"\\u");
    let words: Vec<String> = text
        .split_whitespace()
        .map(|word| word.chars().filter(|ch| visible(*ch)).collect())
        .filter(|word: &String| !word.is_empty())
        .collect();
    words.join(" ")
}
