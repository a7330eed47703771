//! Secrets inside text: one pass from left to right, every byte looked at a bounded number of times.

use super::{OPAQUE, REDACTED, keys};

/// Forms of secrets that say what they are: how they begin, and how many characters follow at least.
const FORMS: [(&str, usize); 33] = [
    ("sk-", 16),
    ("sk_live_", 8),
    ("sk_test_", 8),
    ("rk_live_", 8),
    ("rk_test_", 8),
    ("ghp_", 16),
    ("gho_", 16),
    ("ghu_", 16),
    ("ghs_", 16),
    ("ghr_", 16),
    ("github_pat_", 16),
    ("glpat-", 16),
    ("xoxa-", 8),
    ("xoxb-", 8),
    ("xoxc-", 8),
    ("xoxd-", 8),
    ("xoxe-", 8),
    ("xoxp-", 8),
    ("xoxr-", 8),
    ("xoxs-", 8),
    ("xapp-", 8),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("ya29.", 16),
    ("npm_", 30),
    ("hf_", 30),
    ("pypi-", 30),
    ("SG.", 30),
    ("whsec_", 16),
    ("shpat_", 16),
    ("dop_v1_", 32),
    ("lin_api_", 16),
];

/// What stands behind a secret's name without being one: types and states.
const NO_SECRETS: [&str; 18] = [
    "string",
    "number",
    "boolean",
    "unknown",
    "any",
    "null",
    "undefined",
    "none",
    "true",
    "false",
    "await",
    "new",
    "required",
    "optional",
    "missing",
    "invalid",
    "expired",
    "not",
];

/// Names whose value goes on behind blanks.
const SCHEMES: [&str; 6] = ["bearer", "basic", "token", "digest", "negotiate", "apikey"];

pub(super) fn scanned(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // Whether a word may begin here, and whether only marks stood before in this line.
    let mut boundary = true;
    let mut line_start = true;
    while let Some(ch) = rest.chars().next() {
        let found = if boundary && is_word(ch) {
            form(rest).or_else(|| assignment(rest, &out, line_start))
        } else if ch == '-' {
            pem(rest).map(Found::whole)
        } else if ch == ':' {
            user_info(rest)
        } else {
            None
        };
        if let Some(Found { keep, hide, shown }) = found {
            let hide = whole_blocks(rest.get(keep..).unwrap_or_default(), hide);
            out.push_str(rest.get(..keep).unwrap_or_default());
            out.push_str(shown);
            rest = rest.get(keep + hide..).unwrap_or_default();
            (boundary, line_start) = (true, false);
            continue;
        }
        let taken = match ch {
            '\\' | '\u{1b}' => escape(rest),
            '%' => percent(rest),
            _ => ch.len_utf8(),
        };
        let (now, later) = rest.split_at(taken);
        out.push_str(now);
        rest = later;
        boundary = taken > ch.len_utf8() || !ch.is_alphanumeric();
        line_start = ch == '\n' || (line_start && !is_word(ch));
    }
    out
}

/// A secret: `keep` bytes stay, the `hide` bytes behind them become `shown`.
struct Found {
    keep: usize,
    hide: usize,
    shown: &'static str,
}

impl Found {
    fn whole(length: usize) -> Self {
        Self::after(0, length)
    }

    fn after(keep: usize, hide: usize) -> Self {
        Self {
            keep,
            hide,
            shown: REDACTED,
        }
    }
}

fn is_word(ch: char) -> bool {
    ch.is_alphanumeric() || ch == '_'
}

/// Bytes of the first run of characters that `belongs`.
fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|ch| !belongs(ch)).unwrap_or(text.len())
}

/// Bytes of an escape as in JSON or JavaScript text, behind which a word may begin; a terminal's colour is one with the
/// letter that ends it.
fn escape(text: &str) -> usize {
    for begin in [
        "\u{1b}[", "\\u001b[", "\\u001B[", "\\x1b[", "\\x1B[", "\\033[", "\\e[",
    ] {
        if let Some(rest) = text.strip_prefix(begin) {
            let parameters = run(rest, |ch| ch.is_ascii_digit() || ch == ';');
            return begin.len()
                + parameters
                + run(rest.get(parameters..).unwrap_or_default(), |ch| ch == 'm');
        }
    }
    match text.chars().nth(1) {
        Some('u')
            if text
                .get(2..6)
                .is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit())) =>
        {
            6
        }
        Some('n' | 'r' | 't' | 'b' | 'f') if text.starts_with('\\') => 2,
        _ => 1,
    }
}

/// Bytes of a percent-encoded byte.
fn percent(text: &str) -> usize {
    let hex = text.get(1..3);
    if hex.is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit())) {
        3
    } else {
        1
    }
}

fn form(text: &str) -> Option<Found> {
    let token = |ch: char| ch.is_ascii_alphanumeric() || matches!(ch, '_' | '-' | '.');
    for (prefix, least) in FORMS {
        if let Some(rest) = text.strip_prefix(prefix) {
            let length = run(rest, token);
            if length >= least {
                return Some(Found::whole(prefix.len() + length));
            }
        }
    }
    if text.starts_with("eyJ") {
        let length = run(text, token);
        let parts = text.get(..length).unwrap_or_default().split('.');
        if parts.clone().count() >= 3 && parts.take(2).all(|part| part.len() > 3) {
            return Some(Found::whole(length));
        }
    }
    data_url(text).or_else(|| scheme(text))
}

/// `Bearer …` and `Basic …`, unless what follows is a plain word.
fn scheme(text: &str) -> Option<Found> {
    let name = run(text, |ch| ch.is_ascii_alphabetic());
    let word = text.get(..name)?;
    if !word.eq_ignore_ascii_case("bearer") && !word.eq_ignore_ascii_case("basic") {
        return None;
    }
    let blanks = run(text.get(name..)?, |ch| ch == ' ');
    let rest = text.get(name + blanks..)?;
    let length = run(rest, |ch| {
        ch.is_ascii_alphanumeric() || matches!(ch, '.' | '_' | '~' | '+' | '/' | '=' | '-')
    });
    let credential = rest.get(..length)?;
    let plain = credential
        .bytes()
        .skip(1)
        .all(|byte| byte.is_ascii_lowercase() || byte == b'.');
    let secret = blanks > 0 && length >= 6 && (!plain || length >= 20);
    secret.then(|| Found::after(name + blanks, length))
}

fn data_url(text: &str) -> Option<Found> {
    const MARK: &str = ";base64,";
    let rest = text.strip_prefix("data:")?;
    let kind = run(rest, |ch| {
        ch.is_ascii_alphanumeric() || matches!(ch, '/' | '+' | '-' | '.')
    });
    let bytes = rest.get(kind..)?.strip_prefix(MARK)?;
    let hide = run(bytes, |ch| {
        ch.is_ascii_alphanumeric() || matches!(ch, '+' | '/' | '=' | '_' | '-')
    });
    (hide > 0).then_some(Found {
        keep: "data:".len() + kind + MARK.len(),
        hide,
        shown: OPAQUE,
    })
}

/// `hide`, or more where that would end inside a PEM block: a block has lines, and what hides a line would show the rest.
fn whole_blocks(text: &str, hide: usize) -> usize {
    let hidden = text.get(..hide).unwrap_or_default();
    let Some(begin) = hidden.rfind(PEM_BEGIN) else {
        return hide;
    };
    let block = text.get(begin..).and_then(pem).unwrap_or_default();
    hide.max(begin + block)
}

const PEM_BEGIN: &str = "-----BEGIN";

/// Bytes of a PEM block, whatever it holds; without an end it is the rest.
fn pem(text: &str) -> Option<usize> {
    const END: &str = "-----END ";
    const DASHES: &str = "-----";
    if !text.starts_with(PEM_BEGIN) {
        return None;
    }
    let Some(end) = text.find(END) else {
        return Some(text.len());
    };
    let name = end + END.len();
    let rest = text.get(name..)?;
    let length = run(rest, |ch| ch.is_ascii_alphanumeric() || ch == ' ');
    let after = rest.get(length..)?;
    // Otherwise what follows may be the beginning of something else.
    let closed = after.starts_with(DASHES) && !after.starts_with(PEM_BEGIN);
    Some(if closed {
        name + length + DASHES.len()
    } else {
        name
    })
}

/// `://user:password@`.
fn user_info(text: &str) -> Option<Found> {
    let rest = text.strip_prefix("://")?;
    let authority = run(rest, |ch| {
        !ch.is_whitespace() && !matches!(ch, '/' | '?' | '#' | '"' | '\'' | '`' | '<' | '>' | '\\')
    });
    let at = rest.get(..authority)?.rfind('@')?;
    (at > 0).then(|| Found::after(3, at))
}

/// A secret behind its name: `name=…`, `"name": "…"`, `Name: …`, `--name …`, `<name>…`.
fn assignment(text: &str, before: &str, line_start: bool) -> Option<Found> {
    let name = run(text, |ch| is_word(ch) || matches!(ch, '-' | '.'));
    let word = text.get(..name)?;
    if !keys::is_secret(word) {
        return None;
    }
    let mut at = name;
    let blanks = |at: usize| at + run(text.get(at..).unwrap_or_default(), |ch| matches!(ch, ' ' | '\t'));
    // `"name"` and, in TypeScript, `name?`.
    at += run(text.get(at..)?, |ch| {
        matches!(ch, '\\' | '"' | '\'' | '`' | '?' | ']')
    });
    let sign = blanks(at);
    let signs = run(text.get(sign..)?, |ch| matches!(ch, ':' | '=' | '>'));
    let element = before.ends_with('<');
    let separated = signs > 0 && (element || !text.get(sign..)?.starts_with('>'));
    at = if separated {
        blanks(sign + signs)
    } else if before.ends_with('-') && sign > at {
        sign
    } else {
        return None;
    };
    let rest = text.get(at..)?;
    let slashes = run(rest, |ch| ch == '\\');
    let quote = rest
        .get(slashes..)?
        .chars()
        .next()
        .filter(|ch| matches!(ch, '"' | '\'' | '`'));
    let (begin, length) = match quote {
        Some(quote) => (at + slashes + 1, quoted(rest.get(slashes + 1..)?, quote, slashes)),
        None => (
            at,
            bare(rest, word, line_start && text.get(sign..)?.starts_with(':')),
        ),
    };
    let value = text.get(begin..begin + length)?;
    let says_nothing = quote.is_none() && {
        let plain = value.trim_end_matches([';', ',', '.']).trim();
        NO_SECRETS.contains(&plain) || is_variable(plain)
    };
    (!value.is_empty() && !value.starts_with(REDACTED) && !says_nothing).then(|| Found::after(begin, length))
}

/// Bytes up to the closing quote, which has as many backslashes before it as the opening one, or the end of the line.
fn quoted(text: &str, quote: char, slashes: usize) -> usize {
    let mut seen = 0;
    for (at, ch) in text.char_indices() {
        match ch {
            '\n' => return at,
            '\\' => seen += 1,
            // An escaped quote of the value has more of them.
            ch if ch == quote && (seen == slashes || (slashes == 0 && seen % 2 == 0)) => {
                return at - seen.min(slashes);
            }
            _ => seen = 0,
        }
    }
    text.len()
}

/// Bytes of a value without quotes.
fn bare(text: &str, name: &str, to_line_end: bool) -> usize {
    if text.starts_with(['{', '[', '(', '<']) {
        return 0;
    }
    let name = name.to_ascii_lowercase();
    if to_line_end || name.ends_with("authorization") || name.ends_with("cookie") {
        return run(text, |ch| !matches!(ch, '\n' | '"' | '\'' | '`' | '\\' | '<'));
    }
    let ends = |ch: char| {
        ch.is_whitespace()
            || matches!(
                ch,
                ',' | ';' | '&' | ')' | '}' | ']' | '<' | '>' | '"' | '\'' | '`' | '\\'
            )
    };
    let length = run(text, |ch| !ends(ch));
    let first = text.get(..length).unwrap_or_default();
    if SCHEMES.iter().any(|scheme| first.eq_ignore_ascii_case(scheme)) {
        let rest = text.get(length..).unwrap_or_default();
        let blanks = run(rest, |ch| ch == ' ');
        return length + blanks + run(rest.get(blanks..).unwrap_or_default(), |ch| !ends(ch));
    }
    length
}

/// `$TOKEN`, `${TOKEN}`, `%TOKEN%`: the name of a secret, not the secret.
fn is_variable(text: &str) -> bool {
    let name = text
        .strip_prefix("${")
        .or_else(|| text.strip_prefix('$'))
        .map(|name| name.trim_end_matches('}'));
    name.is_some_and(|name| !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'))
}
