//! `${VAR}`, `${VAR:-default}` and `${env:VAR}`.

/// Looks a variable of the environment up; tests pass their own.
pub(super) type Lookup<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Why a text could not be expanded.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ExpandError {
    #[error("environment variable `{0}` is not set: set it, or write `${{{0}:-default}}`")]
    Unset(String),
    #[error(
        "`${{input:{0}}}` asks an editor for a value and nobody can be asked here: write `${{env:NAME}}` and set that variable instead"
    )]
    Input(String),
    #[error("`${{{0}}}` is known only inside an editor: write the path itself, or an environment variable")]
    Editor(String),
}

/// Replaces every reference; text that merely looks similar (`$VAR`, `${a + b}`) is left alone.
///
/// A replaced value is not expanded again, so a variable cannot smuggle another one in.
pub(super) fn expand(text: &str, lookup: &Lookup<'_>) -> Result<String, ExpandError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let Some((inside, tail)) = after.split_once('}') else {
            out.push_str("${");
            rest = after;
            continue;
        };
        match reference(inside, lookup)? {
            Some(value) => out.push_str(&value),
            None => {
                out.push_str("${");
                out.push_str(inside);
                out.push('}');
            }
        }
        rest = tail;
    }
    out.push_str(rest);
    Ok(out)
}

fn reference(inside: &str, lookup: &Lookup<'_>) -> Result<Option<String>, ExpandError> {
    if let Some(id) = inside.strip_prefix("input:") {
        return Err(ExpandError::Input(id.to_owned()));
    }
    let inside = inside.strip_prefix("env:").unwrap_or(inside);
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    if !is_variable(name) {
        return Ok(None);
    }
    match (lookup(name), default) {
        // As in a shell, `:-` also replaces an empty value.
        (Some(value), Some(default)) if value.is_empty() => Ok(Some(default.to_owned())),
        (Some(value), _) => Ok(Some(value)),
        (None, Some(default)) => Ok(Some(default.to_owned())),
        (None, None) if name == "userHome" => match lookup("HOME") {
            Some(home) => Ok(Some(home)),
            None => Err(ExpandError::Unset("HOME".to_owned())),
        },
        (None, None)
            if matches!(
                name,
                "workspaceFolder" | "workspaceFolderBasename" | "workspaceRoot"
            ) =>
        {
            Err(ExpandError::Editor(name.to_owned()))
        }
        (None, None) => Err(ExpandError::Unset(name.to_owned())),
    }
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, ExpandError>) {
        let lookup = |name: &str| match name {
            "TOKEN" => Some("t0k".to_owned()),
            "EMPTY" => Some(String::new()),
            "NESTED" => Some("${TOKEN}".to_owned()),
            "HOME" => Some("/home/me".to_owned()),
            _ => None,
        };
        assert_eq!(expand(text, &lookup), expected.map(str::to_owned), "{text}");
    }

    #[test]
    fn references_are_replaced_once() {
        check("Bearer ${TOKEN}", Ok("Bearer t0k"));
        check("${env:TOKEN}-${TOKEN}", Ok("t0k-t0k"));
        check("${NO:-fallback}", Ok("fallback"));
        check("${env:NO:-}", Ok(""));
        check("${EMPTY:-full}${EMPTY}", Ok("full"));
        check("${NESTED}", Ok("${TOKEN}"));
        check("${userHome}/x", Ok("/home/me/x"));
    }

    #[test]
    fn lookalikes_stay_as_they_are() {
        check("$TOKEN ${a + b} ${} ${TOKEN", Ok("$TOKEN ${a + b} ${} ${TOKEN"));
    }

    #[test]
    fn what_cannot_be_known_is_named() {
        check("${NO}", Err(ExpandError::Unset("NO".into())));
        check("${input:key}", Err(ExpandError::Input("key".into())));
        check(
            "${workspaceFolder}/a",
            Err(ExpandError::Editor("workspaceFolder".into())),
        );
    }
}
