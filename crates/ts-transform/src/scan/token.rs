//! What a token tells about the one after it.

/// The kind of a token, as far as the next `/`, `(` or `[` depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Previous {
    /// A value ends here: a `/` divides and a `(` calls.
    Operand,
    /// An operator or statement keyword: a `/` begins a regular expression.
    Operator,
    /// `(`.
    OpenParen,
    /// `?`.
    Question,
    /// `.` or `?.`: what follows is a property name, whatever it spells.
    Dot,
    /// `if`, `for`, `while`, `with`: the parenthesis that follows holds no value.
    ControlName,
    /// The `)` of such a parenthesis.
    ControlParen,
    /// `}`, of a block or of an object.
    CloseBrace,
    /// `++` or `--`, before or behind its operand.
    IncDec,
    /// `!`: negation, or in TypeScript an assertion behind its operand.
    Bang,
    /// `>`, which may close type arguments.
    Angle,
    /// `await`, `yield`, `of`: operators or names, depending on where they stand.
    MaybeOperator,
    /// `as`, `type`, `void`, …: a type may follow or end here.
    TypeWord,
    /// `async`, which makes the `(` behind it ambiguous.
    Async,
}

impl Previous {
    /// Whether a `(` behind this token calls something rather than groups.
    pub(super) fn ends_operand(self) -> bool {
        matches!(self, Self::Operand)
    }
}

/// What a name means to this pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Name {
    /// A value, or a word that changes nothing.
    Plain,
    /// A statement head with a parenthesis: nests the statement behind it.
    Control,
    /// `else`, `do`: nest the statement behind them.
    Nesting,
    /// An operator: a value follows.
    Operator,
    /// Its checks walk up the tree.
    Walker,
    /// Walks up the tree and is an operator or a value.
    MaybeOperator,
    /// `infer`, whose constraint may be read twice.
    Infer,
    /// A type begins behind it, or it is a type itself.
    TypeWord,
    /// `async`.
    Async,
}

pub(super) fn name_kind(text: &str) -> Name {
    match text {
        "if" | "for" | "while" | "with" => Name::Control,
        "else" | "do" => Name::Nesting,
        "@" | "return" | "typeof" | "case" | "delete" | "in" | "instanceof" | "new" | "throw" | "extends"
        | "default" | "debugger" => Name::Operator,
        "await" | "yield" | "of" => Name::MaybeOperator,
        "break" | "continue" | "super" | "arguments" | "namespace" | "module" => Name::Walker,
        "infer" => Name::Infer,
        "as" | "satisfies" | "type" | "declare" | "is" | "keyof" | "readonly" | "unique" | "abstract"
        | "implements" | "asserts" | "void" | "interface" => Name::TypeWord,
        "async" => Name::Async,
        _ => Name::Plain,
    }
}
