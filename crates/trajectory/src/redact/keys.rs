//! Names under which secrets stand.

/// How such names end, without separators and in lower case: `githubToken`, `GITHUB_TOKEN` and `github-token` are one.
const ENDINGS: [&str; 20] = [
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "apikey",
    "accesskey",
    "accesskeyid",
    "secretkey",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "authorization",
    "cookie",
    "credential",
    "sessid",
    "sessionkey",
    "connectsid",
    "amzsignature",
];

/// Names that are secret as a whole and too short to be an ending.
const WHOLE: [&str; 6] = ["auth", "bearer", "jwt", "otp", "pat", "pwd"];

const PLURALS: [&str; 6] = [
    "tokens",
    "secrets",
    "passwords",
    "apikeys",
    "cookies",
    "credentials",
];

/// Longer names are texts.
const MAX_NAME_BYTES: usize = 128;

/// Whether a value under this name is a secret.
pub(super) fn is_secret(name: &str) -> bool {
    let name = squashed(name);
    WHOLE.contains(&name.as_str()) || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Whether this name promises several secrets, if what stands under it is no number.
pub(super) fn is_secrets(name: &str) -> bool {
    let name = squashed(name);
    PLURALS.iter().any(|ending| name.ends_with(ending))
}

fn squashed(name: &str) -> String {
    if name.len() > MAX_NAME_BYTES {
        return String::new();
    }
    name.chars()
        .filter(|ch| ch.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}
