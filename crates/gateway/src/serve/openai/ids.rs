//! Ids of what a response names.
use uuid::Uuid;

/// Digits in the id of a turn, after its prefix.
const TURN_DIGITS: usize = 32;

const TURN_PREFIX: &str = "turn_";

/// An id for one response of a turn. A turn has several when it waits for its application, and each leads back to it.
pub(super) fn response(prefix: &str, turn: &str) -> String {
    let turn = turn.strip_prefix(TURN_PREFIX).unwrap_or(turn);
    let part = Uuid::new_v4().simple().to_string();
    format!("{prefix}{turn}{}", part.get(..8).unwrap_or_default())
}

/// The turn of a response of this id.
pub(super) fn turn_of(prefix: &str, id: &str) -> Option<String> {
    let digits = id.strip_prefix(prefix)?.get(..TURN_DIGITS)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| format!("{TURN_PREFIX}{digits}"))
}

/// An id for a part of a response.
pub(super) fn new(prefix: &str) -> String {
    format!("{prefix}{}", Uuid::new_v4().simple())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_response_of_a_turn_leads_to_it() {
        let turn = format!("turn_{}", Uuid::new_v4().simple());
        let (first, second) = (response("resp_", &turn), response("resp_", &turn));
        assert_ne!(first, second);
        for id in [&first, &second] {
            assert_eq!(turn_of("resp_", id), Some(turn.clone()), "{id}");
        }
        for id in [
            "",
            "resp_",
            "resp_12",
            "msg_0123456789abcdef0123456789abcdef",
            "resp_äääääääääääääääääääääääää",
        ] {
            assert_eq!(turn_of("resp_", id), None, "{id}");
        }
    }
}
