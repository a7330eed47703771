use crate::{id::ToolId, spec::Source, tool::Tool};

/// Whose eyes a question is asked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reach {
    /// `tools.*` and `ALL_TOOLS` of a cell: everything but MCP tools.
    Guest,
    /// `MCP.*` of a cell: MCP tools only.
    Mcp,
    /// A person at a terminal: everything.
    All,
}

impl Reach {
    /// Whether a tool from `source` is seen.
    #[must_use]
    pub fn sees(self, source: Source) -> bool {
        match self {
            Self::Guest => source != Source::Mcp,
            Self::Mcp => source == Source::Mcp,
            Self::All => true,
        }
    }
}

/// Why a text named no tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// No id and no name like this: the caller picks one of the nearest, or searches.
    #[error("unknown tool id `{asked}`{}", did_you_mean(nearest))]
    Unknown {
        /// What was asked for, shortened.
        asked: String,
        /// Up to three ids that look alike, best first.
        nearest: Vec<ToolId>,
    },
    /// Several tools have this name: the caller uses an exact id.
    #[error("ambiguous tool name `{name}`; use an exact tool id: {}", listed(candidates))]
    Ambiguous {
        /// The shared name.
        name: String,
        /// The tools that have it, in catalog order, at most [`MAX_NEAREST`](crate::MAX_NEAREST).
        candidates: Vec<ToolId>,
    },
    /// The tool exists, and guest code reaches it through `MCP`.
    #[error("`{id}` is an MCP tool; it is called through `MCP`, where `MCP.$search(query)` finds it")]
    McpOnly {
        /// The tool that was meant.
        id: ToolId,
    },
}

/// Suggestions given for a name nobody has: enough for a typing mistake, few enough to read.
pub const MAX_NEAREST: usize = 3;

/// Characters of the asked text that an error repeats and a comparison looks at; longer names do not exist.
const MAX_ASKED_CHARS: usize = 160;

/// Alikeness below which a suggestion would only mislead.
const MIN_ALIKENESS: f64 = 0.4;

/// What a shared owner adds: enough to decide between equals.
const SAME_OWNER: f64 = 0.01;

pub(crate) fn shortened(asked: &str) -> String {
    let mut text: String = asked.chars().take(MAX_ASKED_CHARS).collect();
    if text.len() < asked.len() {
        text.push('…');
    }
    text
}

fn did_you_mean(nearest: &[ToolId]) -> String {
    if nearest.is_empty() {
        String::new()
    } else {
        format!("; did you mean {}?", listed(nearest))
    }
}

fn listed(ids: &[ToolId]) -> String {
    ids.iter()
        .map(|id| format!("`{id}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The ids most like `asked`, best first, ties in catalog order.
pub(crate) fn nearest<'a>(asked: &str, tools: impl Iterator<Item = &'a Tool>) -> Vec<ToolId> {
    let asked = asked.chars().take(MAX_ASKED_CHARS).collect::<String>();
    // Of an id only the tool's name is compared: all ids of one owner look alike.
    let name_at = asked.rfind([':', '.', '/']).map_or(0, |end| end + 1);
    let (owner, name) = asked.split_at(name_at);
    let (whole, name) = (Shape::of(&asked), Shape::of(name));
    let mut found: Vec<(f64, &Tool)> = tools
        .filter_map(|tool| {
            let candidate = Shape::of(&tool.spec().name);
            let same_owner = !owner.is_empty() && tool.id().as_str().starts_with(owner);
            let score = name.alike(&candidate).max(whole.alike(&candidate))
                + if same_owner { SAME_OWNER } else { 0.0 };
            (score >= MIN_ALIKENESS).then_some((score, tool))
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    // Where only the spelling of a name differs, anything else would be noise.
    if found.first().is_some_and(|best| best.0 >= 1.0) {
        found.retain(|(score, _)| *score >= 1.0);
    }
    found
        .into_iter()
        .take(MAX_NEAREST)
        .map(|(_, tool)| tool.id().clone())
        .collect()
}

/// The best of `names` for a mistyped `asked`, if one is near enough.
pub(crate) fn nearest_name<'a>(asked: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let asked = Shape::of(&asked.chars().take(MAX_ASKED_CHARS).collect::<String>());
    names
        .map(|name| (asked.alike(&Shape::of(name)), name))
        .filter(|(score, _)| *score >= MIN_ALIKENESS)
        .fold(None, |best: Option<(f64, &str)>, next| match best {
            Some(best) if best.0 >= next.0 => Some(best),
            _ => Some(next),
        })
        .map(|(_, name)| name)
}

/// A name without its spelling habits, so that `createIssue` and `create_issue` are the same.
struct Shape {
    letters: Vec<char>,
    words: Vec<String>,
}

impl Shape {
    fn of(name: &str) -> Self {
        let letters = name
            .chars()
            .filter(|c| c.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .take(MAX_ASKED_CHARS)
            .collect();
        let mut words = crate::search::split_words(name);
        words.sort();
        words.dedup();
        Self { letters, words }
    }

    /// 1 for the same letters, else the better of edit distance and shared words.
    fn alike(&self, other: &Self) -> f64 {
        let longer = self.letters.len().max(other.letters.len());
        if longer == 0 {
            return 0.0;
        }
        let shared = self
            .words
            .iter()
            .filter(|word| other.words.binary_search(word).is_ok())
            .count();
        let by_words = shared as f64 / (self.words.len() + other.words.len() - shared).max(1) as f64;
        let shorter = self.letters.len().min(other.letters.len());
        // Half the letters missing is too far for a slip of the finger, and not worth the quadratic comparison.
        let by_letters = if shorter * 2 < longer {
            0.0
        } else {
            1.0 - distance(&self.letters, &other.letters) as f64 / longer as f64
        };
        // Letters need to agree much more than words before they mean anything.
        by_words.max(if by_letters >= 0.6 { by_letters } else { 0.0 })
    }
}

/// Edits between two words: a letter more, less or other, or two swapped.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut above_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(last.len());
        row.push(i + 1);
        for (j, right) in b.iter().enumerate() {
            let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX - 1);
            let mut best = (at(&last, j) + usize::from(left != right))
                .min(at(&last, j + 1) + 1)
                .min(at(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(right) && b.get(j - 1) == Some(left);
            if swapped {
                best = best.min(at(&above_last, j - 1) + 1);
            }
            row.push(best);
        }
        above_last = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}
