//! Printing: results to standard output, everything else to standard error.
use std::io::{self, Write};

/// Writes `line` and a line break to standard output.
pub(crate) fn print(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(line.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Writes `line` to standard error.
pub(crate) fn complain(line: &str) {
    // With standard error gone there is nobody left to tell.
    let _unwritten = writeln!(io::stderr().lock(), "{line}");
}

/// Whether text is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    Plain,
    Colour,
}

impl Paint {
    /// Colour only for a person: standard output is a terminal, and `NO_COLOR` is not set.
    pub(crate) fn of_stdout() -> Self {
        Self::of(&io::stdout())
    }

    /// The same for standard error.
    pub(crate) fn of_stderr() -> Self {
        Self::of(&io::stderr())
    }

    fn of(stream: &impl io::IsTerminal) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        if stream.is_terminal() && !refused && !dumb {
            Self::Colour
        } else {
            Self::Plain
        }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.wrap("32", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.wrap("33", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.wrap("31", text)
    }

    pub(crate) fn cyan(self, text: &str) -> String {
        self.wrap("36", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Colour => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }
}

/// `1234567` as `1,234,567`.
pub(crate) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The first line of `text`, cut at `width` characters, without control characters: fit for a terminal.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    let clean: String = line
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if clean.chars().count() <= width {
        return clean;
    }
    let mut cut: String = clean.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// Text of a model or a server as it can be trusted on a terminal: what could hide or rewrite other text is spelled
/// out.
pub(crate) fn visible(text: &str) -> String {
    let hides = |c: char| {
        c.is_control() && c != '\n' && c != '\t'
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if hides(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Paint, one_line, thousands, visible};

    #[test]
    fn numbers_are_grouped_by_thousands() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(number), text);
        }
    }

    #[test]
    fn a_summary_is_one_short_line_without_control_characters() {
        for (text, line) in [
            ("", ""),
            ("\n\n  second \nthird", "second"),
            ("bell\u{7}and\u{1b}[31mred", "bell and [31mred"),
            ("abcdefghij", "abcdefg…"),
        ] {
            assert_eq!(
                one_line(text, if text == "abcdefghij" { 8 } else { 80 }),
                line,
                "{text:?}"
            );
        }
    }

    #[test]
    fn plain_paint_adds_nothing() {
        assert_eq!(Paint::Plain.red("x"), "x");
        assert_eq!(Paint::Colour.red("x"), "\u{1b}[31mx\u{1b}[0m");
    }

    #[test]
    fn text_that_would_deceive_a_reader_is_spelled_out() {
        let shown = [
            ("rm -rf x\n\ttwo", "rm -rf x\n\ttwo"),
            ("safe\u{1b}[2K\rgone", "safe\\u{1b}[2K\\u{d}gone"),
            ("a\u{202e}b\u{200b}", "a\\u{202e}b\\u{200b}"),
        ];
        for (text, expected) in shown {
            assert_eq!(visible(text), expected);
        }
    }
}
