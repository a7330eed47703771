use std::fmt;

/// What guest code may spell after `tools.`: an identifier that names exactly one tool.
///
/// A name that already is an ASCII identifier keeps its spelling. Otherwise every other character becomes `_`, and a
/// leading digit gets `_` in front. Reserved words are fine, they are property names here. Names with a meaning of
/// their own on every object, or on `tools` itself, are never given; the tool's id still reaches it.
///
/// ```
/// use codecell_catalog::CallableName;
///
/// let spelled = |name| CallableName::of(name).map(|name| name.to_string());
/// assert_eq!(spelled("web_fetch"), Some("web_fetch".into()));
/// assert_eq!(spelled("my-tool"), Some("my_tool".into()));
/// assert_eq!(spelled("2fast"), Some("_2fast".into()));
/// assert_eq!(spelled("then"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct CallableName(String);

/// Names that would change what `tools` is: its own members, what makes an object a thenable or gives it a JSON form,
/// and what every object inherits.
const WITHHELD: [&str; 19] = [
    "search",
    "describe",
    "call",
    "callValue",
    "then",
    "toJSON",
    "constructor",
    "prototype",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
    "__proto__",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
];

impl CallableName {
    /// The safe spelling of `tool`, or `None` where there is none.
    #[must_use]
    pub fn of(tool: &str) -> Option<Self> {
        let mut name = String::with_capacity(tool.len() + 1);
        for (index, character) in tool.chars().enumerate() {
            if index == 0 && character.is_ascii_digit() {
                name.push('_');
            }
            let fits = character.is_ascii_alphanumeric() || matches!(character, '_' | '$');
            name.push(if fits { character } else { '_' });
        }
        let says_something = name.chars().any(|c| c.is_ascii_alphanumeric());
        (says_something && !WITHHELD.contains(&name.as_str())).then_some(Self(name))
    }

    /// The identifier.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tool: &str, expected: Option<&str>) {
        assert_eq!(
            CallableName::of(tool).as_ref().map(CallableName::as_str),
            expected,
            "{tool:?}"
        );
    }

    #[test]
    fn safe_names_keep_their_spelling_and_others_are_rewritten() {
        check("read", Some("read"));
        check("getUser", Some("getUser"));
        check("$x", Some("$x"));
        check("class", Some("class"));
        check("get.user", Some("get_user"));
        check("a/b c", Some("a_b_c"));
        check("2fa", Some("_2fa"));
        check("naïve_日本", Some("na_ve___"));
        check("x; touch y", Some("x__touch_y"));
    }

    #[test]
    fn names_that_would_change_the_object_are_withheld() {
        for tool in [
            "then",
            "toJSON",
            "constructor",
            "__proto__",
            "toString",
            "callValue",
            "search",
        ] {
            check(tool, None);
        }
    }

    #[test]
    fn a_name_without_a_letter_or_digit_has_no_spelling() {
        for tool in ["", "-", "日本", "_"] {
            check(tool, None);
        }
    }
}
