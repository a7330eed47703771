/// Whether `text` fits `pattern`, in which `*` is any run of characters and `?` any one.
///
/// Goes back to the last `*` only, so the work is bounded by the product of the lengths.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (mut rest, mut left) = (pattern.chars(), text.chars());
    let mut star = None;
    loop {
        let seen = left.clone();
        match (rest.next(), left.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                star = Some((rest.clone(), seen.clone()));
                left = seen;
            }
            (Some('?'), Some(_)) => {}
            (Some(wanted), Some(found)) if wanted == found => {}
            _ => {
                // Let the last star take one character more.
                let Some((after_star, taken)) = &mut star else {
                    return false;
                };
                if taken.next().is_none() {
                    return false;
                }
                rest = after_star.clone();
                left = taken.clone();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_take_any_run_and_question_marks_one_character() {
        for (pattern, text, expected) in [
            ("read", "read", true),
            ("read", "reader", false),
            ("re*", "read", true),
            ("*", "", true),
            ("*ad", "read", true),
            ("r*a*d", "rxaxad", true),
            ("r?ad", "read", true),
            ("r?ad", "rad", false),
            ("?", "", false),
            ("a*b", "a", false),
            ("git__*", "git__log", true),
            ("git__*", "gitlab__log", false),
            ("", "", true),
            ("", "x", false),
            ("*é?", "caféx", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern:?} {text:?}");
        }
    }

    #[test]
    fn a_hostile_pattern_ends() {
        let pattern = "a*".repeat(200) + "b";
        assert!(!matches(&pattern, &"a".repeat(2_000)));
    }
}
