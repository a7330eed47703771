//! A cheap pass over the tokens that bounds what the parser may cost, before the parser runs.
//!
//! The parser is recursive descent and reads some ambiguous forms more than once, so a few hundred bytes can cost it
//! hours or its whole stack. This pass is linear, does not recurse, and over-estimates both: every level of
//! recursion takes at least one token of the *spine* (the statement at hand and those around it, without finished
//! brackets and list elements), and every second reading begins at a token counted here.

mod cursor;
mod level;
mod token;

use self::cursor::{Cursor, Trivia};
use self::level::{Bracket, Levels};
use self::token::{Name, Previous, name_kind};
use crate::Language;
use crate::limits::{MAX_NESTING, MAX_REGEX_BRACKETS, MAX_STATEMENT_TOKENS, MAX_TOKENS_READ};
use crate::position::{Lines, Position};
use crate::refusal::Refusal;

/// Enums of one name are merged, and every member name is looked up in all of them.
const READINGS_PER_ENUM: u64 = 8;

/// What the pass has found out about an acceptable text.
#[derive(Debug)]
pub(crate) struct Shape {
    /// The parser, and every walk over its tree, recurses at most this often.
    pub(crate) depth: u32,
    /// Where the first closing bracket is that closes nothing.
    pub(crate) stray: Option<usize>,
}

/// Bounds the cost of `source`, or refuses it.
pub(crate) fn scan(source: &str, language: Language) -> Result<Shape, Refusal> {
    let mut scan = Scan {
        cursor: Cursor::new(source),
        language,
        levels: Levels::new(),
        previous: Previous::Operator,
        before_bang: Previous::Operator,
        new_line: true,
        work: 0,
        depth: 0,
        deepest_at: 0,
        walkers: 0,
        enums: 0,
        charged_to: 0,
        stray: None,
    };
    while scan.step()? {}
    // Checks such as "is this `await` inside parameters" walk from the node to its function.
    let walks = scan.walkers.saturating_mul(u64::from(scan.depth));
    scan.work = scan.work.saturating_add(walks);
    scan.check_work(scan.deepest_at)?;
    Ok(Shape {
        depth: scan.depth,
        stray: scan.stray,
    })
}

struct Scan<'a> {
    cursor: Cursor<'a>,
    language: Language,
    levels: Levels,
    /// The kind of the token before the one at hand.
    previous: Previous,
    /// If that was `!`: the kind of the token before it, which tells `x! / y` from `!/x/`.
    before_bang: Previous,
    /// A line ended between the previous token and this one.
    new_line: bool,
    work: u64,
    depth: u32,
    deepest_at: usize,
    /// Tokens whose checks walk up the tree.
    walkers: u64,
    /// Enums so far: a name in one may be looked up in all of them.
    enums: u64,
    /// Bytes up to here are counted in `work`.
    charged_to: usize,
    stray: Option<usize>,
}

impl Scan<'_> {
    /// Reads one token. `false` at the end.
    fn step(&mut self) -> Result<bool, Refusal> {
        self.new_line |= self.cursor.skip_trivia() == Trivia::WithLineBreak;
        let start = self.cursor.offset();
        let Some(byte) = self.cursor.peek() else {
            return Ok(false);
        };
        let kind = match byte {
            b'\'' | b'"' => {
                self.cursor.string(byte);
                Previous::Operand
            }
            b'`' => self.template(),
            b'0'..=b'9' => {
                self.cursor.number();
                Previous::Operand
            }
            b'.' if self.cursor.peek_at(1).is_some_and(|next| next.is_ascii_digit()) => {
                self.cursor.number();
                Previous::Operand
            }
            b'(' | b'[' | b'{' => self.open(byte),
            b')' | b']' | b'}' => self.close(byte),
            b'/' => self.slash(start)?,
            _ if self.cursor.at_name() => self.name(),
            _ => self.punctuator(start)?,
        };
        self.charge(start)?;
        if kind != Previous::Bang {
            self.before_bang = kind;
        }
        self.previous = kind;
        self.new_line = false;
        Ok(true)
    }

    /// Counts the token that has just been read.
    fn charge(&mut self, start: usize) -> Result<(), Refusal> {
        let level = self.levels.top();
        level.tokens = level.tokens.saturating_add(1);
        let spine = level.spine();
        if spine > self.depth {
            self.depth = spine;
            self.deepest_at = start;
        }
        if spine > MAX_STATEMENT_TOKENS {
            let position = self.position(start);
            return Err(Refusal::TooDeep {
                what: "tokens in one statement",
                limit: MAX_STATEMENT_TOKENS,
                position,
            });
        }
        // Comments and long tokens are read again with the tokens beside them.
        let bytes = (self.cursor.offset() - self.charged_to) as u64;
        self.charged_to = self.cursor.offset();
        self.work = self
            .work
            .saturating_add(level.readings().saturating_mul(1 + bytes / 16));
        self.check_work(start)
    }

    fn check_work(&self, at: usize) -> Result<(), Refusal> {
        if self.work > MAX_TOKENS_READ {
            let position = self.position(at);
            return Err(Refusal::TooComplex {
                limit: MAX_TOKENS_READ,
                position,
            });
        }
        if self.levels.depth() > MAX_NESTING {
            let position = self.position(at);
            return Err(Refusal::TooDeep {
                what: "open brackets",
                limit: MAX_NESTING,
                position,
            });
        }
        Ok(())
    }

    fn position(&self, offset: usize) -> Position {
        Lines::new(self.cursor.text()).position(offset)
    }

    fn is_typescript(&self) -> bool {
        self.language == Language::TypeScript
    }

    fn open(&mut self, byte: u8) -> Previous {
        self.cursor.bump(1);
        self.levels.settle(false);
        let call = self.previous.ends_operand();
        let typescript = self.is_typescript();
        let outer = self.levels.top();
        if byte == b'(' && self.previous == Previous::Question && typescript {
            outer.conditionals = outer.conditionals.saturating_add(1);
        }
        let mut inner = outer.inner(Bracket::of(byte));
        match byte {
            b'(' => {
                inner.call = call;
                inner.control = self.previous == Previous::ControlName;
                // `(a, b)` may turn out to be parameters only at the arrow behind it.
                if !call {
                    inner.arrows = inner.arrows.saturating_add(1);
                }
            }
            _ => {
                if byte == b'{' {
                    inner.scopes = inner.scopes.saturating_add(1);
                }
                // In a type, `({ … }` is read as parameters first.
                if typescript && self.previous == Previous::OpenParen && !outer.call {
                    inner.readings = inner.readings.saturating_mul(2);
                }
            }
        }
        self.levels.push(inner);
        if byte == b'(' {
            Previous::OpenParen
        } else {
            Previous::Operator
        }
    }

    fn close(&mut self, byte: u8) -> Previous {
        self.cursor.bump(1);
        let Some(closed) = self.levels.pop(Bracket::of(byte)) else {
            // The parser stops here. To go on counting is the safe side.
            if self.levels.depth() == 0 {
                self.stray.get_or_insert(self.cursor.offset() - 1);
            }
            return Previous::CloseBrace;
        };
        match closed.bracket {
            Bracket::Template => {
                self.cursor.template_chars(&mut self.levels);
                // Either a substitution has begun or the template has ended.
                if self.cursor.in_substitution() {
                    Previous::Operator
                } else {
                    Previous::Operand
                }
            }
            Bracket::Paren if closed.control => Previous::ControlParen,
            Bracket::Paren | Bracket::Square => Previous::Operand,
            Bracket::Brace | Bracket::Top => Previous::CloseBrace,
        }
    }

    fn template(&mut self) -> Previous {
        self.levels.settle(false);
        self.cursor.bump(1);
        self.cursor.template_chars(&mut self.levels);
        if self.cursor.in_substitution() {
            Previous::Operator
        } else {
            Previous::Operand
        }
    }

    fn name(&mut self) -> Previous {
        let after_dot = self.previous == Previous::Dot;
        let text = self.cursor.name();
        let name = if after_dot { Name::Plain } else { name_kind(text) };
        self.levels.settle(matches!(text, "else" | "while"));
        let level = self.levels.top();
        let scopes = level.scopes();
        match name {
            Name::Plain => {}
            Name::Control | Name::Nesting => level.statements = level.statements.saturating_add(1),
            Name::Walker | Name::MaybeOperator => self.walkers = self.walkers.saturating_add(1),
            Name::Infer => level.infers = level.infers.saturating_add(1),
            Name::TypeWord => level.types = true,
            Name::Operator | Name::Async => {}
        }
        if text == "for" && !after_dot {
            level.statement_scopes = level.statement_scopes.saturating_add(1);
        }
        if matches!(text, "class" | "function" | "switch" | "catch") && !after_dot {
            level.arrow_scopes = level.arrow_scopes.saturating_add(1);
        }
        // A name is looked up through the scopes around it.
        self.enums = self.enums.saturating_add(u64::from(text == "enum"));
        self.work = self
            .work
            .saturating_add(u64::from(scopes))
            .saturating_add(self.enums * READINGS_PER_ENUM);
        match name {
            Name::Control => Previous::ControlName,
            Name::Operator | Name::Nesting | Name::Infer => Previous::Operator,
            Name::TypeWord if text == "void" && !self.is_typescript() => Previous::Operator,
            Name::TypeWord => Previous::TypeWord,
            Name::Async => Previous::Async,
            Name::MaybeOperator => Previous::MaybeOperator,
            Name::Walker if matches!(text, "break" | "continue") => Previous::Operator,
            Name::Walker | Name::Plain => Previous::Operand,
        }
    }

    fn slash(&mut self, start: usize) -> Result<Previous, Refusal> {
        self.levels.settle(false);
        let types = self.levels.top().types;
        let typescript = self.is_typescript();
        let regex = match self.previous {
            Previous::Operator
            | Previous::Question
            | Previous::OpenParen
            | Previous::ControlName
            | Previous::ControlParen => Some(true),
            Previous::TypeWord | Previous::Angle if typescript => None,
            Previous::Bang if typescript && self.before_bang.ends_operand() => None,
            Previous::Bang | Previous::Angle => Some(true),
            // A type ends with its line, and then a regular expression may begin a statement.
            Previous::Operand | Previous::Async if typescript && self.new_line && types => None,
            Previous::Operand | Previous::Async | Previous::Dot | Previous::TypeWord => Some(false),
            Previous::CloseBrace | Previous::IncDec | Previous::MaybeOperator => None,
        };
        if regex == Some(true) {
            let brackets = self.cursor.regex();
            if brackets > MAX_REGEX_BRACKETS {
                return Err(Refusal::TooDeep {
                    what: "brackets in one regular expression",
                    limit: MAX_REGEX_BRACKETS,
                    position: self.position(start),
                });
            }
            self.depth = self.depth.max(self.levels.top().spine().saturating_add(brackets));
            return Ok(Previous::Operand);
        }
        if regex.is_none() && self.cursor.regex_would_hide_code() {
            return Err(Refusal::Syntax {
                language: self.language,
                message:
                    "this `/` can be a division or begin a regular expression; put the regular expression \
                          into parentheses, or the `/` at the end of the line before"
                        .to_owned(),
                position: self.position(start),
                more: 0,
            });
        }
        self.cursor.bump(if self.cursor.peek_at(1) == Some(b'=') {
            2
        } else {
            1
        });
        self.levels.top().angles = 0;
        Ok(Previous::Operator)
    }

    fn punctuator(&mut self, start: usize) -> Result<Previous, Refusal> {
        let text = self.cursor.punctuator();
        let typescript = self.is_typescript();
        let html = text == "<!--" || (text == "--" && self.new_line && self.cursor.peek() == Some(b'>'));
        if html && !typescript {
            return Err(Refusal::Syntax {
                language: self.language,
                message: "`<!--` and `-->` at the start of a line are HTML-like comments, which are not supported; \
                          write `//`, or spaces between the operators"
                    .to_owned(),
                position: self.position(start),
                more: 0,
            });
        }
        if text == ";" {
            self.levels.top().end_statement_later();
            return Ok(Previous::Operator);
        }
        self.levels.settle(false);
        let level = self.levels.top();
        let kind = match text {
            "," => {
                level.end_element();
                Previous::Operator
            }
            "." | "?." => Previous::Dot,
            "?" => {
                level.questions = level.questions.saturating_add(1);
                Previous::Question
            }
            ":" => {
                self.walkers = self.walkers.saturating_add(u64::from(level.colon()));
                Previous::Operator
            }
            "<" | "<<" | "<!--" => {
                if typescript {
                    level.angles = level.angles.saturating_add(if text == "<<" { 2 } else { 1 });
                }
                Previous::Operator
            }
            ">" | ">>" | ">>>" => {
                level.angles = level.angles.saturating_sub(text.len().try_into().unwrap_or(1));
                Previous::Angle
            }
            "=>" => {
                level.arrow_scopes = level.arrow_scopes.saturating_add(1);
                Previous::Operator
            }
            "++" | "--" => {
                level.angles = 0;
                Previous::IncDec
            }
            "!" => Previous::Bang,
            // No type contains these outside brackets, so whatever began at a `<` has ended.
            "&&" | "||" | "??" | "==" | "===" | "!=" | "!==" | "*" | "**" | "%" | "+" | "&&=" | "||="
            | "??=" | "*=" | "**=" | "%=" | "+=" | "-=" => {
                level.angles = 0;
                Previous::Operator
            }
            _ => Previous::Operator,
        };
        if matches!(text, ":") {
            level.types = true;
        }
        Ok(kind)
    }
}
