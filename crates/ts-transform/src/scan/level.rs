//! What is counted inside each open bracket.

/// A reading that turns out wrong leaves an error message behind, which costs that many tokens.
const COST_OF_AMBIGUITY: u64 = 6;

/// The bracket a level was opened by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Bracket {
    Top,
    Paren,
    Square,
    Brace,
    /// `${`, closed by `}`.
    Template,
}

impl Bracket {
    pub(super) fn of(byte: u8) -> Self {
        match byte {
            b'(' | b')' => Self::Paren,
            b'[' | b']' => Self::Square,
            _ => Self::Brace,
        }
    }
}

/// The counts of one open bracket. Names in the plural are since the last `;`, or since the last `,` where that ends
/// the form; fields marked *around* belong to the brackets outside.
#[derive(Clone, Debug)]
pub(super) struct Level {
    pub(super) bracket: Bracket,
    /// The bracket is the argument list of a call.
    pub(super) call: bool,
    /// The bracket belongs to `if`, `for`, `while` or `with`.
    pub(super) control: bool,
    /// *Around*: tokens of the spine.
    spine_around: u32,
    /// Tokens since the last `,` or `;`.
    pub(super) tokens: u32,
    /// Heads and labels that nest what follows, which a `,` does not end.
    pub(super) statements: u32,
    /// `<` that may be open type arguments.
    pub(super) angles: u32,
    /// `infer` seen.
    pub(super) infers: u32,
    /// `? (` seen, which TypeScript may read as the parameters of an arrow function with a return type.
    pub(super) conditionals: u32,
    /// `?` whose `:` is still to come.
    pub(super) questions: u32,
    /// `:` without a `?` since the last `,`: one is a key or an annotation, more may be labels.
    colons: u32,
    /// Scopes begun by statements, and by expressions.
    pub(super) statement_scopes: u32,
    pub(super) arrow_scopes: u32,
    /// *Around*, this bracket included: scopes.
    pub(super) scopes: u32,
    /// *Around*, this bracket included: how often it may be read because of what doubles its readings.
    pub(super) readings: u64,
    /// *Around*, this bracket included: parentheses that may hold parameters, and conditionals. Each adds one reading.
    pub(super) arrows: u32,
    /// A type annotation or assertion occurred since the last `;`.
    pub(super) types: bool,
    /// A `;` has been read; unless `else` or `while` follows, it ended everything.
    ended: bool,
}

impl Level {
    fn new(bracket: Bracket) -> Self {
        Self {
            bracket,
            call: false,
            control: false,
            spine_around: 0,
            tokens: 0,
            statements: 0,
            angles: 0,
            infers: 0,
            conditionals: 0,
            questions: 0,
            colons: 0,
            statement_scopes: 0,
            arrow_scopes: 0,
            scopes: 0,
            readings: 1,
            arrows: 0,
            types: false,
            ended: false,
        }
    }

    /// The level of a bracket that opens here.
    pub(super) fn inner(&self, bracket: Bracket) -> Self {
        Self {
            spine_around: self.spine(),
            scopes: self.scopes(),
            readings: self
                .readings
                .saturating_mul(1 + 2 * u64::from(self.angles))
                .saturating_mul(if self.infers > 0 { 2 } else { 1 }),
            arrows: self.arrows.saturating_add(self.conditionals),
            ..Self::new(bracket)
        }
    }

    /// The tokens at which the parser may have recursed to get here.
    pub(super) fn spine(&self) -> u32 {
        self.spine_around
            .saturating_add(self.tokens)
            .saturating_add(self.statements)
            .saturating_add(self.angles)
    }

    /// The scopes around the next name.
    pub(super) fn scopes(&self) -> u32 {
        self.scopes
            .saturating_add(self.statement_scopes)
            .saturating_add(self.arrow_scopes)
    }

    /// What reading the next token may cost, in tokens read.
    pub(super) fn readings(&self) -> u64 {
        let ambiguous = self.readings.saturating_mul(1 + u64::from(self.angles));
        let cost = if ambiguous > 1 {
            ambiguous.saturating_mul(COST_OF_AMBIGUITY)
        } else {
            1
        };
        cost.saturating_mul(1 + u64::from(self.arrows) + u64::from(self.conditionals))
    }

    /// `,`: the element before it is complete, but not the statements and type arguments around it.
    pub(super) fn end_element(&mut self) {
        self.tokens = 0;
        self.arrow_scopes = 0;
        self.questions = 0;
        self.colons = 0;
    }

    /// `:`. Whether it may belong to a label, which nests what follows.
    pub(super) fn colon(&mut self) -> bool {
        if self.questions > 0 {
            self.questions -= 1;
            return false;
        }
        self.colons = self.colons.saturating_add(1);
        let label = self.colons > 1;
        if label {
            self.statements = self.statements.saturating_add(1);
        }
        label
    }

    /// `;`.
    pub(super) fn end_statement_later(&mut self) {
        self.ended = true;
    }

    fn settle(&mut self, goes_on: bool) {
        if !std::mem::take(&mut self.ended) || goes_on {
            return;
        }
        self.end_element();
        self.statements = 0;
        self.angles = 0;
        self.infers = 0;
        self.conditionals = 0;
        self.statement_scopes = 0;
        self.types = false;
    }
}

/// The open brackets.
pub(super) struct Levels {
    top: Level,
    outer: Vec<Level>,
}

impl Levels {
    pub(super) fn new() -> Self {
        Self {
            top: Level::new(Bracket::Top),
            outer: Vec::new(),
        }
    }

    pub(super) fn top(&mut self) -> &mut Level {
        &mut self.top
    }

    pub(super) fn depth(&self) -> u32 {
        u32::try_from(self.outer.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn push(&mut self, level: Level) {
        self.outer.push(std::mem::replace(&mut self.top, level));
    }

    /// Opens a template substitution.
    pub(super) fn push_substitution(&mut self) {
        self.push(self.top.inner(Bracket::Template));
    }

    /// Closes the innermost bracket if `bracket` does that. `}` closes blocks and substitutions.
    pub(super) fn pop(&mut self, bracket: Bracket) -> Option<Level> {
        let matches = self.top.bracket == bracket
            || (bracket == Bracket::Brace && self.top.bracket == Bracket::Template);
        if !matches {
            return None;
        }
        let outer = self.outer.pop()?;
        Some(std::mem::replace(&mut self.top, outer))
    }

    /// A token follows: completes a pending `;` unless the statement goes on.
    pub(super) fn settle(&mut self, goes_on: bool) {
        self.top.settle(goes_on);
    }
}
