//! The type model: what TypeScript can say about a JSON value, and the algebra of "or" and "and" on it.

/// A TypeScript type, as far as JSON Schema needs one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// `unknown`: any value.
    Unknown,
    /// `never`: no value.
    Never,
    /// `null`.
    Null,
    /// `boolean`.
    Boolean,
    /// `number`.
    Number,
    /// `bigint`: an integer beyond 2^53, which crosses exactly.
    BigInt,
    /// `string`.
    String,
    /// One string, number, bigint or boolean, spelled as TypeScript.
    Literal(Literal),
    /// `T[]`.
    Array(Box<Type>),
    /// `[A, B?, ...C[]]`.
    Tuple(Tuple),
    /// `{ a: A; b?: B }`, `Record<string, unknown>` and the like.
    Object(Object),
    /// `A | B`; made by [`Type::union`].
    Union(Vec<Type>),
    /// `A & B`; made by [`Type::meet`].
    Intersection(Vec<Type>),
    /// The definition at this index of the [`Model`](super::Model).
    Named(usize),
    /// A type with a remark on what it leaves out.
    Noted(Box<Type>, String),
}

/// A literal type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Literal {
    /// The type it belongs to: [`Type::String`], [`Type::Number`], [`Type::BigInt`] or [`Type::Boolean`].
    pub of: Scalar,
    /// TypeScript text.
    pub text: String,
}

/// The scalar a [`Literal`] is one value of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    /// `true` or `false`.
    Boolean,
    /// A number that a double holds exactly.
    Number,
    /// An integer that a double does not hold.
    BigInt,
    /// A string.
    String,
}

/// A fixed beginning of an array and what follows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tuple {
    /// The leading elements.
    pub items: Vec<Type>,
    /// How many of them must be there.
    pub required: usize,
    /// What further elements are; `None` when there are none.
    pub rest: Option<Box<Type>>,
}

/// An object type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Declared properties, required ones first.
    pub properties: Vec<Property>,
    /// Properties beyond the declared ones.
    pub rest: Rest,
}

/// One declared property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Name as in JSON.
    pub name: String,
    /// What it means: comment text, already harmless; empty for none.
    pub docs: String,
    /// What a type cannot say, such as bounds and a default: comment text, already harmless; empty for none.
    pub facts: String,
    /// Whether it may be left out.
    pub optional: bool,
    /// Its type.
    pub ty: Type,
}

/// What an object type says about properties it does not name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rest {
    /// The schema says nothing: no index signature.
    Silent,
    /// There are none.
    Closed,
    /// Any.
    Open,
    /// Any name, values of this type.
    Of(Box<Type>),
    /// Names with these beginnings, values of these types.
    Prefixed(Vec<(String, Type)>),
}

/// Most properties an object keeps when objects are merged; a schema rarely has more than a hundred.
pub(super) const MAX_PROPERTIES: usize = 512;

impl Type {
    /// Any JSON object.
    pub(super) fn any_object() -> Self {
        Self::Object(Object {
            properties: Vec::new(),
            rest: Rest::Silent,
        })
    }

    pub(super) fn noted(self, note: impl Into<String>) -> Self {
        Self::Noted(Box::new(self), note.into())
    }

    /// The type without its remark.
    pub(super) fn bare(&self) -> &Self {
        match self {
            Self::Noted(inner, _) => inner.bare(),
            other => other,
        }
    }

    /// Values of any of `members`: flat, without repeats; `unknown` swallows the rest.
    #[must_use]
    pub fn union(members: impl IntoIterator<Item = Self>) -> Self {
        let mut flat: Vec<Self> = Vec::new();
        let mut notes: Option<Self> = None;
        for member in members {
            let parts = match member {
                Self::Union(parts) => parts,
                other => vec![other],
            };
            for part in parts {
                match part.bare() {
                    Self::Unknown => return part,
                    Self::Never => notes = Some(part),
                    _ if flat.contains(&part) => {}
                    _ => flat.push(part),
                }
            }
        }
        fold_booleans(&mut flat);
        match flat.len() {
            0 => notes.unwrap_or(Self::Never),
            1 => flat.remove(0),
            _ => Self::Union(flat),
        }
    }

    /// Values of both `self` and `other`, merged where that is shorter than `A & B`.
    #[must_use]
    pub fn meet(self, other: Self) -> Self {
        match (self, other) {
            (Self::Noted(inner, note), other) | (other, Self::Noted(inner, note)) => {
                inner.meet(other).noted(note)
            }
            (Self::Unknown, other) | (other, Self::Unknown) => other,
            (Self::Never, _) | (_, Self::Never) => Self::Never,
            (left, right) if left == right => left,
            (Self::Object(left), Self::Object(right)) => Self::Object(left.merge(right)),
            (Self::Object(object), named @ Self::Named(_))
            | (named @ Self::Named(_), Self::Object(object))
                if object.says_nothing() =>
            {
                named
            }
            (Self::Union(members), other) if distributes(&members, &other) => {
                Self::union(members.into_iter().map(|member| member.meet(other.clone())))
            }
            (other, Self::Union(members)) if distributes(&members, &other) => {
                Self::union(members.into_iter().map(|member| other.clone().meet(member)))
            }
            (Self::Intersection(mut left), Self::Intersection(right)) => {
                for part in right {
                    push_part(&mut left, part);
                }
                Self::Intersection(left)
            }
            (Self::Intersection(mut parts), other) | (other, Self::Intersection(mut parts)) => {
                push_part(&mut parts, other);
                Self::Intersection(parts)
            }
            (left @ (Self::Named(_) | Self::Union(_)), right)
            | (left, right @ (Self::Named(_) | Self::Union(_))) => Self::Intersection(vec![left, right]),
            (Self::Array(left), Self::Array(right)) => Self::Array(Box::new(left.meet(*right))),
            (tuple @ Self::Tuple(_), Self::Array(_)) | (Self::Array(_), tuple @ Self::Tuple(_)) => tuple,
            (left @ Self::Tuple(_), Self::Tuple(_)) => left,
            (Self::Literal(literal), scalar) | (scalar, Self::Literal(literal)) if literal.is_a(&scalar) => {
                Self::Literal(literal)
            }
            _ => Self::Never,
        }
    }
}

impl Literal {
    fn is_a(&self, scalar: &Type) -> bool {
        matches!(
            (self.of, scalar),
            (Scalar::Boolean, Type::Boolean)
                | (Scalar::Number, Type::Number)
                // A schema says `integer` or `number` of a constant beyond 2^53 too.
                | (Scalar::BigInt, Type::Number | Type::BigInt)
                | (Scalar::String, Type::String)
        )
    }
}

impl Object {
    /// Whether every object is one of these.
    fn says_nothing(&self) -> bool {
        self.properties.is_empty() && matches!(self.rest, Rest::Silent | Rest::Open)
    }

    fn merge(mut self, other: Self) -> Self {
        for property in other.properties {
            if let Some(mine) = self.properties.iter_mut().find(|mine| mine.name == property.name) {
                let ty = std::mem::replace(&mut mine.ty, Type::Unknown);
                mine.ty = ty.meet(property.ty);
                mine.optional &= property.optional;
                if mine.docs.is_empty() {
                    mine.docs = property.docs;
                }
                if mine.facts.is_empty() {
                    mine.facts = property.facts;
                }
            } else if self.properties.len() < MAX_PROPERTIES {
                self.properties.push(property);
            }
        }
        // Stable: within each half the order stays.
        self.properties.sort_by_key(|property| property.optional);
        self.rest = match (self.rest, other.rest) {
            (Rest::Silent, rest) | (rest, Rest::Silent) => rest,
            (Rest::Closed, _) | (_, Rest::Closed) => Rest::Closed,
            (Rest::Open, rest) | (rest, Rest::Open) => rest,
            (Rest::Of(left), Rest::Of(right)) => Rest::Of(Box::new(left.meet(*right))),
            (rest, _) => rest,
        };
        self
    }
}

/// Adds a part to an intersection; objects fall together.
fn push_part(parts: &mut Vec<Type>, part: Type) {
    if parts.contains(&part) {
        return;
    }
    if let Type::Object(object) = &part
        && let Some(mine) = parts.iter_mut().find(|mine| matches!(mine, Type::Object(_)))
    {
        let left = std::mem::replace(mine, Type::Unknown);
        *mine = left.meet(Type::Object(object.clone()));
        return;
    }
    parts.push(part);
}

/// Whether "and" is better taken into every member of a union than printed beside it.
fn distributes(members: &[Type], other: &Type) -> bool {
    let simple = |ty: &Type| {
        matches!(
            ty.bare(),
            Type::Null | Type::Boolean | Type::Number | Type::BigInt | Type::String | Type::Literal(_)
        )
    };
    match other {
        Type::Object(object) => {
            object.says_nothing() || !members.iter().any(|member| is_structured(member.bare()))
        }
        // Two long unions would multiply.
        Type::Union(others) => {
            others.len() * members.len() <= 1024 && (members.iter().all(simple) || others.iter().all(simple))
        }
        Type::Named(_) | Type::Intersection(_) => false,
        _ => true,
    }
}

fn is_structured(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Object(_) | Type::Named(_) | Type::Intersection(_) | Type::Union(_)
    )
}

fn fold_booleans(members: &mut Vec<Type>) {
    let literal = |text: &str| {
        Type::Literal(Literal {
            of: Scalar::Boolean,
            text: text.to_owned(),
        })
    };
    let (yes, no) = (literal("true"), literal("false"));
    if members.contains(&Type::Boolean) || (members.contains(&yes) && members.contains(&no)) {
        let at = members
            .iter()
            .position(|ty| *ty == yes || *ty == no || *ty == Type::Boolean);
        members.retain(|ty| *ty != yes && *ty != no && *ty != Type::Boolean);
        members.insert(at.unwrap_or(0).min(members.len()), Type::Boolean);
    }
}
