//! `serve`: what is understood, and what is said of what is not.
use super::super::*;
use super::policy::own;
use super::problems;

fn serve(text: &str) -> (ServeSettings, Vec<String>) {
    let loaded = own(&format!("{{ serve: {text} }}"));
    let problems = problems(&loaded);
    (loaded.config.serve, problems)
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn everything_that_serve_can_say_is_read() {
    let (settings, problems) = serve(
        r#"{
            listen: "[::1]:0", token: "${TOKEN}", maxBodyBytes: 2048,
            allowedHosts: ["Gateway.Example", "gateway.example:8443", "h:443", "h:80", "10.0.0.5", "[::1]:9"],
            allowedOrigins: ["https://App.example/", "http://app.example:80", "https://app.example:8443",
                "chrome-extension://abc"],
        }"#,
    );
    let expected = ServeSettings {
        listen: Some("[::1]:0".parse().unwrap()),
        token: Some(Secret::new("t0k")),
        allowed_hosts: texts(&[
            "gateway.example",
            "gateway.example:8443",
            "h",
            "h",
            "10.0.0.5",
            "[::1]:9",
        ]),
        allowed_origins: texts(&[
            "https://app.example",
            "http://app.example",
            "https://app.example:8443",
            "chrome-extension://abc",
        ]),
        max_body_bytes: 2048,
    };
    assert_eq!((settings, problems), (expected, vec![]));
}

#[test]
fn a_server_of_which_nothing_is_said_has_no_token_and_takes_four_mebibytes() {
    let expected = ServeSettings {
        listen: None,
        token: None,
        allowed_hosts: vec![],
        allowed_origins: vec![],
        max_body_bytes: 4_194_304,
    };
    assert_eq!(serve("{}"), (expected, vec![]));
}

#[test]
fn what_a_server_cannot_have_is_named() {
    let address = "expected an IP address and a port like `127.0.0.1:4860`";
    let name = "expected a name like `gateway.example`";
    let from = "expected an origin like `https://app.example`";
    for (text, expected) in [
        ("7", "error serve: expected an object, got a number".to_owned()),
        (
            "{ listen: 'localhost:1' }",
            format!("error serve.listen: {address}, got `\"localhost:1\"`"),
        ),
        (
            "{ listen: 4860 }",
            format!("error serve.listen: {address}, got `4860`"),
        ),
        (
            "{ token: ['hunter2'] }",
            "error serve.token: expected a string, got an array".to_owned(),
        ),
        (
            "{ token: 'hunter 2' }",
            "error serve.token: has characters that no bearer token may have: use letters, digits and punctuation"
                .to_owned(),
        ),
        (
            "{ token: '' }",
            "error serve.token: is empty: leave it out if no token is meant".to_owned(),
        ),
        (
            "{ token: '${NOPE}' }",
            "error serve.token: environment variable `NOPE` is not set: set it, or write `${NOPE:-default}`".to_owned(),
        ),
        (
            "{ allowedHosts: 'h' }",
            "error serve.allowedHosts: expected an array of strings, got a string".to_owned(),
        ),
        (
            "{ allowedHosts: ['https://h', '*.h', 'h/x', 7] }",
            [
                format!("error serve.allowedHosts[0]: {name}, got `\"https://h\"`"),
                format!("error serve.allowedHosts[1]: {name}, got `\"*.h\"`"),
                format!("error serve.allowedHosts[2]: {name}, got `\"h/x\"`"),
                format!("error serve.allowedHosts[3]: {name}, got `7`"),
            ]
            .join("; "),
        ),
        (
            "{ allowedOrigins: ['app.example', '*', 'null', 'https://h/x', 'https://u@h', 'file:///x'] }",
            [
                format!("error serve.allowedOrigins[0]: {from}, got `\"app.example\"`"),
                format!("error serve.allowedOrigins[1]: {from}, got `\"*\"`"),
                format!("error serve.allowedOrigins[2]: {from}, got `\"null\"`"),
                format!("error serve.allowedOrigins[3]: {from}, got `\"https://h/x\"`"),
                format!("error serve.allowedOrigins[4]: {from}, got `\"https://u@h\"`"),
                format!("error serve.allowedOrigins[5]: {from}, got `\"file:///x\"`"),
            ]
            .join("; "),
        ),
        (
            "{ maxBodyBytes: 1 }",
            "note serve.maxBodyBytes: 1 is outside 1024 to 67108864, so 1024 is used".to_owned(),
        ),
        (
            "{ port: 1 }",
            "warning serve.port: unknown setting, ignored; known are listen, token, allowedHosts, allowedOrigins, \
             maxBodyBytes"
                .to_owned(),
        ),
    ] {
        let (settings, problems) = serve(text);
        assert_eq!(problems.join("; "), expected, "{text}");
        assert_eq!(settings.token, None, "{text}");
    }
}
