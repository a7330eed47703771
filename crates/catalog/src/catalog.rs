use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use serde_json::{Map, Value};

use crate::{
    check::Contracts,
    entry::Entry,
    id::ToolId,
    lookup::{LookupError, MAX_NEAREST, Reach, nearest, shortened},
    name::CallableName,
    notice::Notice,
    search::{Index, SearchReport, Visible},
    spec::{Exposure, Owner, Source, ToolSpec},
    tool::Tool,
};

/// The effective tools of one run: immutable, built once, shared by its cells.
///
/// Equal sets of tools make equal catalogs, in whatever order they were given.
#[derive(Debug)]
pub struct Catalog {
    tools: Vec<Arc<Tool>>,
    direct: Vec<ToolSpec>,
    notices: Vec<Notice>,
    by_id: HashMap<String, usize>,
    by_name: HashMap<String, Vec<usize>>,
    by_callable: BTreeMap<String, usize>,
    sources: SourceCounts,
    index: Index,
}

/// How many catalogued tools each kind of source gave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SourceCounts {
    /// Core and plugins.
    pub openclaw: usize,
    /// MCP servers.
    pub mcp: usize,
    /// The connected application.
    pub client: usize,
}

impl Catalog {
    /// Takes the effective tools of a run.
    ///
    /// Tool Search controls are dropped, direct-only tools are kept aside. Of two tools with one id the last one
    /// counts, and a [`Notice`] says so.
    #[must_use]
    pub fn build(specs: Vec<ToolSpec>) -> Self {
        let mut notices = Vec::new();
        let mut direct = Vec::new();
        let mut duplicates = BTreeSet::new();
        let mut kept: BTreeMap<(Owner, String), (ToolId, ToolSpec)> = BTreeMap::new();
        let mut owner_of: HashMap<ToolId, (Owner, String)> = HashMap::new();
        for spec in specs {
            if spec.is_tool_search_control() {
                continue;
            }
            if spec.name.is_empty() {
                notices.push(Notice::Unnamed {
                    owner: ToolId::new(&spec.owner, "").to_string(),
                });
                continue;
            }
            if spec.exposure == Exposure::DirectOnly {
                direct.push(spec);
                continue;
            }
            let id = ToolId::new(&spec.owner, &spec.name);
            let key = (spec.owner.clone(), spec.name.clone());
            // A bundled and an external plugin may share an id while their keys differ.
            if let Some(earlier) = owner_of.insert(id.clone(), key.clone()) {
                kept.remove(&earlier);
                duplicates.insert(id.clone());
            }
            kept.insert(key, (id, spec));
        }
        notices.extend(duplicates.into_iter().map(|id| Notice::Duplicate { id }));
        direct.sort_by(|a, b| (&a.owner, &a.name).cmp(&(&b.owner, &b.name)));
        let contracts = Arc::new(Contracts::default());
        let mut tools: Vec<Tool> = kept
            .into_values()
            .map(|(id, spec)| Tool::new(id, spec, Arc::clone(&contracts)))
            .collect();
        let by_callable = name_callables(&mut tools, &mut notices);
        notices.sort_by_cached_key(ToString::to_string);

        let mut by_id = HashMap::with_capacity(tools.len());
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::with_capacity(tools.len());
        let mut sources = SourceCounts::default();
        for (position, tool) in tools.iter().enumerate() {
            by_id.insert(tool.id().to_string(), position);
            by_name
                .entry(tool.spec().name.clone())
                .or_default()
                .push(position);
            match tool.entry().source {
                Source::OpenClaw => sources.openclaw += 1,
                Source::Mcp => sources.mcp += 1,
                Source::Client => sources.client += 1,
            }
        }
        let index = Index::build(&tools);
        Self {
            tools: tools.into_iter().map(Arc::new).collect(),
            direct,
            notices,
            by_id,
            by_name,
            by_callable,
            sources,
            index,
        }
    }

    /// What a person should know about how this catalog came to be.
    #[must_use]
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// The direct-only tools, which are not in the catalog and stay visible to the model.
    #[must_use]
    pub fn direct_only(&self) -> &[ToolSpec] {
        &self.direct
    }

    /// Number of catalogued tools.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether nothing is catalogued.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// How many tools each kind of source gave.
    #[must_use]
    pub fn sources(&self) -> SourceCounts {
        self.sources
    }

    /// All tools: core, bundled plugins, external plugins, MCP, client; within those by owner and name.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().map(Arc::as_ref)
    }

    /// What a cell sees as `ALL_TOOLS`: every entry but MCP's, in catalog order.
    pub fn guest_entries(&self) -> impl Iterator<Item = &Entry> {
        self.tools()
            .map(Tool::entry)
            .filter(|entry| Reach::Guest.sees(entry.source))
    }

    /// The tool with exactly this id, whatever its source.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Tool> {
        self.by_id.get(id).and_then(|position| self.at(*position))
    }

    /// As [`get`](Self::get), to be kept beyond the catalog's life: a call outlives the list it was found in.
    #[must_use]
    pub fn shared(&self, id: &str) -> Option<Arc<Tool>> {
        self.by_id
            .get(id)
            .and_then(|position| self.tools.get(*position))
            .cloned()
    }

    fn at(&self, position: usize) -> Option<&Tool> {
        self.tools.get(position).map(Arc::as_ref)
    }

    /// The tool meant by an exact id or, failing that, by a name only one visible tool has. Case matters.
    ///
    /// # Errors
    ///
    /// Fails when nothing or more than one tool is meant, with the ids to choose from.
    pub fn lookup(&self, id_or_name: &str, reach: Reach) -> Result<&Tool, LookupError> {
        match self.find(id_or_name, reach) {
            // Ids and names are exact; only when nothing is, a stray blank around one is forgiven.
            Err(LookupError::Unknown { .. }) if id_or_name.trim() != id_or_name => {
                self.find(id_or_name.trim(), reach)
            }
            found => found,
        }
    }

    fn find(&self, asked: &str, reach: Reach) -> Result<&Tool, LookupError> {
        let hidden = |tool: &Tool| LookupError::McpOnly {
            id: tool.id().clone(),
        };
        if let Some(tool) = self.get(asked) {
            return match reach {
                Reach::Guest if tool.is_mcp() => Err(hidden(tool)),
                _ if reach.sees(tool.entry().source) => Ok(tool),
                _ => Err(self.unknown(asked, reach)),
            };
        }
        let (seen, unseen): (Vec<&Tool>, Vec<&Tool>) = self
            .by_name
            .get(asked)
            .into_iter()
            .flatten()
            .filter_map(|position| self.at(*position))
            .partition(|tool| reach.sees(tool.entry().source));
        match (seen.as_slice(), unseen.as_slice(), reach) {
            ([tool], _, _) => Ok(tool),
            ([], [tool], Reach::Guest) => Err(hidden(tool)),
            ([], _, _) => Err(self.unknown(asked, reach)),
            (several, _, _) => Err(LookupError::Ambiguous {
                name: shortened(asked),
                candidates: several
                    .iter()
                    .take(MAX_NEAREST)
                    .map(|tool| tool.id().clone())
                    .collect(),
            }),
        }
    }

    fn unknown(&self, asked: &str, reach: Reach) -> LookupError {
        let visible = self.tools().filter(|tool| reach.sees(tool.entry().source));
        LookupError::Unknown {
            asked: shortened(asked),
            nearest: nearest(asked, visible),
        }
    }

    /// The tool behind `tools.<name>`.
    #[must_use]
    pub fn by_callable_name(&self, name: &str) -> Option<&Tool> {
        self.by_callable.get(name).and_then(|position| self.at(*position))
    }

    /// Every `tools.<name>`, sorted.
    pub fn callable_names(&self) -> impl Iterator<Item = &str> {
        self.by_callable.keys().map(String::as_str)
    }

    /// The tools that answer `query` best, at most `limit`, best first.
    #[must_use]
    pub fn search(&self, query: &str, limit: usize, reach: Reach) -> Vec<&Tool> {
        self.search_report(query, limit, reach).tools
    }

    /// As [`search`](Self::search), and which words of the query no visible tool has.
    #[must_use]
    pub fn search_report(&self, query: &str, limit: usize, reach: Reach) -> SearchReport<'_> {
        let hits = self.index.search(query, limit, &self.visible(reach));
        SearchReport {
            tools: hits
                .positions
                .into_iter()
                .filter_map(|position| self.at(position))
                .collect(),
            unmatched: hits.unmatched,
        }
    }

    /// The positions of the tools that are seen: the order of the catalog puts those of one kind side by side.
    fn visible(&self, reach: Reach) -> Visible {
        let first_mcp = self.sources.openclaw;
        let first_client = first_mcp + self.sources.mcp;
        let end = self.tools.len();
        match reach {
            Reach::Guest => [0..first_mcp, first_client..end],
            Reach::Mcp => [first_mcp..first_client, end..end],
            Reach::All => [0..end, end..end],
        }
    }

    /// The entry with the full description, the real input hint and the schemas.
    #[must_use]
    pub fn describe(&self, tool: &Tool) -> Value {
        let mut object = match serde_json::to_value(tool.entry()) {
            Ok(Value::Object(object)) => object,
            _ => Map::new(),
        };
        let spec = tool.spec();
        object.insert("description".into(), spec.description.clone().into());
        object.insert("input".into(), tool.input_hint().into());
        object.insert("parameters".into(), spec.parameters.clone());
        if let Some(schema) = &spec.output_schema {
            object.insert("outputSchema".into(), schema.clone());
        }
        Value::Object(object)
    }
}

/// Gives every guest-visible tool its safe name, unless another one has the same.
fn name_callables(tools: &mut [Tool], notices: &mut Vec<Notice>) -> BTreeMap<String, usize> {
    let mut claims: BTreeMap<CallableName, Vec<usize>> = BTreeMap::new();
    for (position, tool) in tools.iter().enumerate() {
        if Reach::Guest.sees(tool.entry().source)
            && let Some(name) = CallableName::of(&tool.spec().name)
        {
            claims.entry(name).or_default().push(position);
        }
    }
    let mut by_callable = BTreeMap::new();
    for (name, positions) in claims {
        if let [position] = positions.as_slice() {
            by_callable.insert(name.to_string(), *position);
            if let Some(tool) = tools.get_mut(*position) {
                tool.set_callable(name);
            }
        } else {
            let ids = positions
                .iter()
                .filter_map(|position| tools.get(*position))
                .map(|tool| tool.id().clone());
            notices.push(Notice::SharedName {
                name: name.to_string(),
                ids: ids.collect(),
            });
        }
    }
    by_callable
}
