use std::ops::Range;

/// Texts in ascending order, in one piece of memory; equal ones may stand beside each other.
#[derive(Debug, Default)]
pub(super) struct Texts {
    joined: String,
    /// Where each text ends in `joined`; the next one starts there.
    ends: Vec<usize>,
}

impl Texts {
    /// Keeps `sorted`, which must be in ascending order.
    pub(super) fn new<'a>(sorted: impl Iterator<Item = &'a str> + Clone) -> Self {
        let (count, bytes) = sorted
            .clone()
            .fold((0, 0), |(count, bytes), text| (count + 1, bytes + text.len()));
        let mut texts = Self {
            joined: String::with_capacity(bytes),
            ends: Vec::with_capacity(count),
        };
        for text in sorted {
            texts.joined.push_str(text);
            texts.ends.push(texts.joined.len());
        }
        texts
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The text with this number; empty past the last one.
    pub(super) fn get(&self, number: usize) -> &str {
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before));
        let (start, end) = (start.copied().unwrap_or(0), self.ends.get(number).copied());
        end.and_then(|end| self.joined.get(start..end))
            .unwrap_or_default()
    }

    /// The number of the first text for which `is_before` is false; it must be true for those below and for no other.
    pub(super) fn partition_point(&self, is_before: impl Fn(&str) -> bool) -> usize {
        let mut open = 0..self.len();
        while !open.is_empty() {
            let middle = usize::midpoint(open.start, open.end);
            if is_before(self.get(middle)) {
                open.start = middle + 1;
            } else {
                open.end = middle;
            }
        }
        open.start
    }

    /// The number of `text`, the first one if there are several.
    pub(super) fn position(&self, text: &str) -> Option<usize> {
        let number = self.partition_point(|other| other < text);
        (number < self.len() && self.get(number) == text).then_some(number)
    }

    /// The numbers of all texts that are `text`.
    pub(super) fn equal_to(&self, text: &str) -> Range<usize> {
        self.partition_point(|other| other < text)..self.partition_point(|other| other <= text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_by_binary_search() {
        let texts = Texts::new(["", "a", "ab", "ab", "ab", "é"].into_iter());
        assert_eq!(texts.position("a"), Some(1));
        assert_eq!(texts.position("ab"), Some(2));
        assert_eq!(texts.position("b"), None);
        assert_eq!(texts.position("zz"), None);
        assert_eq!(texts.equal_to("ab"), 2..5);
        assert_eq!(texts.equal_to("b"), 5..5);
        assert_eq!((texts.get(0), texts.get(5), texts.get(6)), ("", "é", ""));
        assert_eq!(Texts::default().position(""), None);
    }
}
