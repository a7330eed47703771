/// A list of name patterns in which `*` stands for any run of characters and `?` for exactly one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Globs(Vec<String>);

impl Globs {
    /// Takes the patterns as written.
    #[must_use]
    pub fn new(patterns: Vec<String>) -> Self {
        Self(patterns)
    }

    /// Whether any pattern matches the whole of `name`.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.0.iter().any(|pattern| glob(pattern, name))
    }

    /// The patterns as written.
    #[must_use]
    pub fn patterns(&self) -> &[String] {
        &self.0
    }
}

/// Two cursors and one remembered star: linear memory, at worst quadratic time, no recursion.
fn glob(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(&letter) = name.get(n) {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&wanted) if wanted == '?' || wanted == letter => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    p = at + 1;
                    n = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(p).all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, expected) in [
            ("get_*", "get_user", true),
            ("get_*", "forget_user", false),
            ("*", "", true),
            ("?", "", false),
            ("a?c", "abc", true),
            ("*_issue*", "create_issue_now", true),
            ("*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaa", false),
            ("日?", "日本", true),
            ("exact", "exact", true),
            ("exact", "exactly", false),
        ] {
            assert_eq!(
                Globs::new(vec![pattern.into()]).matches(name),
                expected,
                "{pattern} on {name}"
            );
        }
    }

    #[test]
    fn an_empty_list_matches_nothing() {
        assert!(!Globs::default().matches("x"));
    }
}
