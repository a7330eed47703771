//! JSON Schema to types.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Map, Value};

use super::{
    graph::{REFERENCES, named_nodes},
    kind::{ALL_KINDS, Kind, excluded, suggested},
    literal::{MAX_SAFE_INTEGER, one_of},
    refs::{Place, References, Unresolved, address},
    repeated::Repeated,
    settle::settle,
    text::{brief, comment, sentence},
    types::{Literal, Scalar, Type},
};

/// Most schema nodes that become text; the largest real tool of 2,100 has about 1,600.
const MAX_NODES: usize = 4_000;
/// How deep to read, tried in turn until the result fits [`MAX_NODES`]: a wide schema is cut evenly rather
/// than at its end.
const DEPTHS: [usize; 7] = [48, 12, 8, 6, 4, 3, 2];
/// Most parts of one schema that get a name.
const MAX_DEFINITIONS: usize = 256;
/// Most alternatives of one union that are spelled out.
const MAX_ALTERNATIVES: usize = 64;
/// Longest piece of schema that is quoted in a note.
const MAX_QUOTED_CHARS: usize = 80;

/// A schema as TypeScript: one type, and the definitions it refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The schema's own type.
    pub body: Type,
    /// What [`Type::Named`] points into.
    pub definitions: Vec<Definition>,
}

/// A part of a schema that is used more than once or contains itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// What the schema calls it; any text. Empty when the schema has no name for it.
    pub name: String,
    /// Comment text, already harmless.
    pub docs: String,
    /// Its type.
    pub ty: Type,
}

/// How much of the schema's own text a reader gets to see.
#[derive(Debug, Clone, Copy)]
pub struct Detail {
    /// How far a description is followed.
    pub extent: Extent,
    /// Most characters of the comment of a top-level property.
    pub docs: usize,
    /// Most characters of the comment of a property further inside.
    pub nested_docs: usize,
}

/// How far a description is followed, within the characters that [`Detail`] allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// To the end of its first sentence.
    Sentence,
    /// To its end; to that of its first sentence where the whole does not fit.
    Text,
}

impl Extent {
    /// Comment text of at most about `max_chars` characters; ends in `…` when something is missing.
    pub(super) fn of(self, text: &str, max_chars: usize) -> String {
        match self {
            Self::Sentence => sentence(text, max_chars),
            Self::Text => brief(text, max_chars),
        }
    }
}

impl Model {
    /// Reads `schema`; always answers, in time and size bounded however the schema is made.
    ///
    /// ```
    /// use codecell_catalog::schema::{Detail, Extent, Model, Printer};
    /// let schema = serde_json::json!({ "type": "array", "items": { "type": ["string", "null"] } });
    /// let model = Model::read(&schema, Detail { extent: Extent::Text, docs: 200, nested_docs: 100 });
    /// assert_eq!(Printer { names: &[] }.print(&model.body, 0), "(string | null)[]");
    /// ```
    #[must_use]
    pub fn read(schema: &Value, detail: Detail) -> Self {
        Self::read_among(schema, detail, &Repeated::default())
    }

    /// As [`read`](Self::read), with a definition for each part that is among the `repeated` ones.
    #[must_use]
    pub fn read_among(schema: &Value, detail: Detail, repeated: &Repeated) -> Self {
        let references = References::scan(schema);
        let named = named_nodes(&references);
        let mut shared = repeated.nodes_of(schema);
        shared.retain(|node| !named.contains(node));
        let mut last = None;
        for max_depth in DEPTHS {
            let mut reader = Reader::new(&references, &named, &shared, detail, max_depth);
            let model = reader.read();
            let fits = !reader.overflowed;
            last = Some(model);
            if fits {
                break;
            }
        }
        let mut model = last.unwrap_or(Self {
            body: Type::Unknown,
            definitions: Vec::new(),
        });
        settle(&mut model);
        model
    }

    /// Whether the empty object is a value of the type.
    #[must_use]
    pub fn accepts_empty_object(&self) -> bool {
        self.accepts_empty(&self.body, 0)
    }

    fn accepts_empty(&self, ty: &Type, depth: usize) -> bool {
        let next = |ty: &Type| self.accepts_empty(ty, depth + 1);
        match ty {
            // Deeper chains of names are not worth following for a question mark.
            _ if depth > 32 => false,
            Type::Unknown => true,
            Type::Object(object) => object.properties.iter().all(|property| property.optional),
            Type::Union(members) => members.iter().any(next),
            Type::Intersection(members) => members.iter().all(next),
            Type::Named(id) => self
                .definitions
                .get(*id)
                .is_some_and(|definition| next(&definition.ty)),
            Type::Noted(inner, _) => next(inner),
            _ => false,
        }
    }
}

pub(super) struct Reader<'a, 'r> {
    pub(super) references: &'r References<'a>,
    named: &'r HashSet<usize>,
    /// Nodes that have a name too, but are described where they stand.
    shared: &'r HashSet<usize>,
    ids: HashMap<usize, usize>,
    names: Vec<String>,
    queue: VecDeque<Place<'a>>,
    pub(super) detail: Detail,
    max_depth: usize,
    nodes_left: usize,
    overflowed: bool,
    /// Up to draft 7 whatever stands beside `$ref` does not count.
    lone_refs: bool,
}

/// A map of keywords, the resource it belongs to, and how deep it lies.
#[derive(Clone, Copy)]
pub(super) struct Here<'a> {
    pub(super) keywords: &'a Map<String, Value>,
    pub(super) resource: usize,
    pub(super) depth: usize,
    /// The name of the nearest property or definition around.
    pub(super) name: &'a str,
}

impl<'a> Here<'a> {
    pub(super) fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.keywords.get(keyword)
    }

    pub(super) fn list(&self, keyword: &str) -> Option<&'a Vec<Value>> {
        self.get(keyword).and_then(Value::as_array)
    }

    pub(super) fn map(&self, keyword: &str) -> Option<&'a Map<String, Value>> {
        self.get(keyword).and_then(Value::as_object)
    }
}

impl<'a, 'r> Reader<'a, 'r> {
    fn new(
        references: &'r References<'a>,
        named: &'r HashSet<usize>,
        shared: &'r HashSet<usize>,
        detail: Detail,
        max_depth: usize,
    ) -> Self {
        let dialect = references
            .root()
            .and_then(|root| root.node.get("$schema"))
            .and_then(Value::as_str);
        let lone_refs = dialect.is_some_and(|dialect| {
            ["draft-04", "draft-06", "draft-07"]
                .iter()
                .any(|old| dialect.contains(old))
        });
        Self {
            references,
            named,
            shared,
            ids: HashMap::new(),
            names: Vec::new(),
            queue: VecDeque::new(),
            detail,
            max_depth,
            nodes_left: MAX_NODES,
            overflowed: false,
            lone_refs,
        }
    }

    fn read(&mut self) -> Model {
        let body = self
            .references
            .root()
            .map_or(Type::Unknown, |root| self.convert(root, 0, ""));
        let mut definitions = Vec::new();
        while let Some(place) = self.queue.pop_front() {
            let name = self.names.get(definitions.len()).cloned().unwrap_or_default();
            let ty = self.body(place, 0, "");
            let described = place
                .node
                .get("description")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let docs = if self.detail.docs == 0 || self.shared.contains(&address(place.node)) {
                String::new()
            } else {
                self.detail.extent.of(described, self.detail.docs)
            };
            definitions.push(Definition { name, docs, ty });
        }
        Model { body, definitions }
    }

    /// The type of a node, by name if it has one.
    pub(super) fn convert(&mut self, place: Place<'a>, depth: usize, name: &'a str) -> Type {
        let node = address(place.node);
        if !self.named.contains(&node) && !self.shared.contains(&node) {
            return self.body(place, depth, name);
        }
        if let Some(id) = self.ids.get(&node) {
            return Type::Named(*id);
        }
        let id = self.names.len();
        if id >= MAX_DEFINITIONS {
            return self.cut(place.node);
        }
        self.ids.insert(node, id);
        let title = place
            .node
            .get("title")
            .and_then(Value::as_str)
            .unwrap_or_default();
        self.names.push(if name.is_empty() {
            title.to_owned()
        } else {
            name.to_owned()
        });
        self.queue.push_back(place);
        Type::Named(id)
    }

    /// The type of a child schema.
    pub(super) fn child(&mut self, node: &'a Value, here: Here<'a>, name: &'a str) -> Type {
        let place = self.references.place(node, here.resource);
        self.convert(place, here.depth + 1, name)
    }

    fn body(&mut self, place: Place<'a>, depth: usize, name: &'a str) -> Type {
        match place.node {
            Value::Bool(true) => return Type::Unknown,
            Value::Bool(false) => return Type::Never,
            Value::Object(keywords) if keywords.is_empty() => return Type::Unknown,
            _ => {}
        }
        if self.nodes_left == 0 {
            self.overflowed = true;
            return self.cut(place.node);
        }
        self.nodes_left -= 1;
        let Value::Object(keywords) = place.node else {
            return Type::Unknown.noted("not a schema");
        };
        if depth > self.max_depth {
            return self.cut(place.node);
        }
        self.keywords(Here {
            keywords,
            resource: place.resource,
            depth,
            name,
        })
    }

    /// What is left of a node that is not read: its kind.
    fn cut(&self, node: &Value) -> Type {
        let kind = node.get("type").and_then(Value::as_str).and_then(Kind::named);
        match kind {
            Some(Kind::Null) => Type::Null,
            Some(Kind::Boolean) => Type::Boolean,
            Some(Kind::Number | Kind::Integer) => Type::Number,
            Some(Kind::String) => Type::String,
            Some(Kind::Array) => Type::Array(Box::new(Type::Unknown)).noted("cut, see the schema"),
            Some(Kind::Object) => Type::any_object().noted("cut, see the schema"),
            None => Type::Unknown.noted("cut, see the schema"),
        }
    }

    fn keywords(&mut self, here: Here<'a>) -> Type {
        let mut ty = Type::Unknown;
        for keyword in REFERENCES {
            if let Some(reference) = here.get(keyword).and_then(Value::as_str) {
                ty = ty.meet(self.reference(reference, here));
                if self.lone_refs {
                    return ty;
                }
            }
        }
        let own = self.own(here);
        let own = if here.get("nullable") == Some(&Value::Bool(true)) && own != Type::Unknown {
            Type::union([own, Type::Null])
        } else {
            own
        };
        ty = ty.meet(own);
        for keyword in ["anyOf", "oneOf"] {
            if let Some(members) = here.list(keyword).filter(|members| !members.is_empty()) {
                ty = ty.meet(self.alternatives(members, here));
            }
        }
        for member in here.list("allOf").into_iter().flatten() {
            ty = ty.meet(self.child(member, here, ""));
        }
        if let Some(condition) = here.get("if") {
            ty = self.conditional(condition, here, ty);
        }
        match here.get("not") {
            Some(Value::Bool(true)) => Type::Never,
            Some(Value::Object(map)) if map.is_empty() => Type::Never,
            Some(Value::Bool(false)) | None => ty,
            Some(not) => match excluded(not).filter(|_| ty == Type::Unknown) {
                Some(excluded) => {
                    let left = ALL_KINDS.iter().filter(|kind| !excluded.contains(kind));
                    Type::union(left.map(|kind| kind.any()).collect::<Vec<_>>())
                }
                None => ty.noted(format!("but not {}", excerpt(not))),
            },
        }
    }

    fn reference(&mut self, reference: &'a str, here: Here<'a>) -> Type {
        match self.references.resolve(reference, here.resource) {
            Ok(place) => self.convert(place, here.depth + 1, last_name(reference)),
            Err(why) => {
                let quoted = comment(reference, MAX_QUOTED_CHARS);
                let why = match why {
                    Unresolved::Elsewhere => "outside the schema, not fetched",
                    Unresolved::Missing => "not in the schema",
                };
                Type::Unknown.noted(format!("{quoted}: {why}"))
            }
        }
    }

    /// `const`, `enum`, or what `type` and the keywords of that type say.
    fn own(&mut self, here: Here<'a>) -> Type {
        let (kinds, strange) = self.kinds(here);
        let values: Option<Vec<&Value>> = match (here.get("const"), here.list("enum")) {
            (Some(value), _) => Some(vec![value]),
            (None, Some(values)) => Some(values.iter().collect()),
            (None, None) => None,
        };
        if let Some(values) = values {
            let fitting: Vec<&Value> = values
                .iter()
                .copied()
                .filter(|value| kinds.is_empty() || kinds.iter().any(|kind| kind.has(value)))
                .collect();
            // A list that contradicts its `type` is a slip of the author; the list is what was meant.
            return if fitting.is_empty() && !values.is_empty() {
                one_of(&values).noted("contradicts its type in the schema")
            } else {
                one_of(&fitting)
            };
        }
        let mut ty = if kinds.is_empty() {
            Type::Unknown
        } else {
            Type::union(
                kinds
                    .iter()
                    .map(|kind| self.kind(*kind, here))
                    .collect::<Vec<_>>(),
            )
        };
        if let Some(strange) = strange {
            ty = Type::Unknown.noted(format!("unknown type {}", excerpt(strange)));
        }
        ty
    }

    /// The kinds that `type` allows, or that the other keywords suggest; and a `type` nobody knows.
    fn kinds(&self, here: Here<'a>) -> (Vec<Kind>, Option<&'a Value>) {
        let stated = match here.get("type") {
            Some(Value::Array(names)) => names.iter().collect(),
            Some(name) => vec![name],
            None => Vec::new(),
        };
        let mut kinds: Vec<Kind> = Vec::new();
        for name in &stated {
            match name.as_str().and_then(Kind::named) {
                Some(kind) if kinds.contains(&kind) => {}
                Some(kind) => kinds.push(kind),
                None => return (Vec::new(), Some(name)),
            }
        }
        if stated.is_empty() {
            kinds.extend(suggested(here.keywords));
        }
        (kinds, None)
    }

    fn kind(&mut self, kind: Kind, here: Here<'a>) -> Type {
        match kind {
            Kind::Null => Type::Null,
            Kind::Boolean => Type::Boolean,
            Kind::String => Type::String,
            Kind::Number => Type::Number,
            Kind::Integer if is_wide(here) => Type::union([Type::Number, Type::BigInt]),
            Kind::Integer => Type::Number,
            Kind::Array => self.array(here),
            Kind::Object => self.object(here),
        }
    }

    fn alternatives(&mut self, members: &'a [Value], here: Here<'a>) -> Type {
        if members.len() > MAX_ALTERNATIVES && !members.iter().all(is_constant) {
            return Type::Unknown.noted(format!("{} alternatives, see the schema", members.len()));
        }
        let constants: Option<Vec<&Value>> = members.iter().map(|member| member.get("const")).collect();
        if let Some(constants) = constants {
            return one_of(&constants);
        }
        let types: Vec<Type> = members
            .iter()
            .map(|member| self.child(member, here, here.name))
            .collect();
        Type::union(types)
    }

    /// Either the condition and `then`, or `else`: more than the schema accepts, never less.
    fn conditional(&mut self, condition: &'a Value, here: Here<'a>, ty: Type) -> Type {
        let (Some(then), Some(otherwise)) = (here.get("then"), here.get("else")) else {
            return if here.get("then").is_some() || here.get("else").is_some() {
                ty.noted("further rules under a condition, see the schema")
            } else {
                ty
            };
        };
        let condition = self.child(condition, here, "");
        let then = condition.meet(self.child(then, here, ""));
        let otherwise = self.child(otherwise, here, "");
        ty.meet(Type::union([then, otherwise]))
    }
}

fn is_constant(schema: &Value) -> bool {
    schema.get("const").is_some()
}

/// Whether an integer may lie beyond what a double holds.
fn is_wide(here: Here<'_>) -> bool {
    let format = here.get("format").and_then(Value::as_str).unwrap_or_default();
    let beyond = |keyword: &str| {
        let bound = here.get(keyword);
        bound
            .and_then(Value::as_i64)
            .is_some_and(|bound| bound.unsigned_abs() > MAX_SAFE_INTEGER)
            || bound
                .and_then(Value::as_u64)
                .is_some_and(|bound| bound > MAX_SAFE_INTEGER)
    };
    matches!(format, "int64" | "uint64") || ["minimum", "maximum"].iter().any(|keyword| beyond(keyword))
}

/// The name at the end of a reference, skipping keywords and positions.
fn last_name(reference: &str) -> &str {
    const NO_NAMES: &[&str] = &[
        "",
        "properties",
        "items",
        "additionalProperties",
        "anyOf",
        "oneOf",
        "allOf",
        "prefixItems",
        "$defs",
        "definitions",
    ];
    reference
        .rsplit(['/', '#'])
        .find(|part| !NO_NAMES.contains(part) && !part.chars().all(|ch| ch.is_ascii_digit()))
        .unwrap_or_default()
}

/// A piece of schema, short enough for a note.
fn excerpt(value: &Value) -> String {
    match value {
        Value::Object(map) if map.len() > 8 => "what the schema says".to_owned(),
        Value::Array(items) if items.len() > 8 => "what the schema says".to_owned(),
        value => comment(&value.to_string(), MAX_QUOTED_CHARS),
    }
}

/// Whether a type is short enough to be written several times.
pub(super) fn is_short(ty: &Type) -> bool {
    match ty.bare() {
        Type::Object(_) | Type::Tuple(_) | Type::Intersection(_) => false,
        Type::Literal(Literal { text, of }) => *of != Scalar::String || text.len() <= 16,
        Type::Array(item) => is_short(item),
        Type::Union(members) => members.len() <= 3 && members.iter().all(is_short),
        _ => true,
    }
}
