use std::time::Duration;

use codecell_llm::{Api, Client, Error, Event, Provider, Request, Secret, decode, encode};
use codecell_llm::{Delivery, Message};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{APIS, conversation, streams};

/// Answers one connection after the other, and hands on what was asked. One marked `open` stays open.
async fn server(answers: Vec<String>) -> (String, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let (asked, requests) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        for answer in answers {
            let (mut socket, _) = listener.accept().await.unwrap();
            asked.send(request(&mut socket).await).unwrap();
            socket.write_all(answer.as_bytes()).await.unwrap();
            if answer.contains("x-test: open") {
                // Ends when the client closes, which is told too.
                let _ = socket.read(&mut [0]).await;
                asked.send("closed".into()).unwrap();
            }
        }
    });
    (base, requests)
}

async fn request(socket: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let mut portion = [0; 4096];
        let count = socket.read(&mut portion).await.unwrap();
        bytes.extend_from_slice(&portion[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        if body.len() >= length.unwrap().parse().unwrap() {
            return text;
        }
    }
}

fn answer(head: &str, body: &str) -> String {
    format!("HTTP/1.1 {head}\r\nconnection: close\r\n\r\n{body}")
}

fn client(api: Api, base: &str) -> Client {
    let mut provider = Provider::new(api, base, Some(Secret::new("sk-hush-hush")));
    provider.headers = vec![("x-team".into(), Secret::new("blue"))];
    provider.retries.first_wait = Duration::from_millis(1);
    assert!(!format!("{provider:?}").contains("hush"));
    Client::new(provider).unwrap()
}

async fn told(client: &Client, request: &Request) -> Result<Vec<Event>, Error> {
    let mut stream = client
        .stream(request, &|_| Ok(()), &CancellationToken::new())
        .await?;
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event?);
    }
    Ok(events)
}

#[tokio::test]
async fn each_protocol_is_spoken_with_its_path_and_key() {
    for (api, path, key) in [
        (APIS[0], "/responses", "authorization: Bearer sk-hush-hush"),
        (APIS[1], "/chat/completions", "authorization: Bearer sk-hush-hush"),
        (APIS[2], "/v1/messages", "x-api-key: sk-hush-hush"),
        (
            APIS[3],
            "/models/m-1:streamGenerateContent?alt=sse",
            "x-goog-api-key: sk-hush-hush",
        ),
    ] {
        let (base, mut requests) = server(vec![answer("200 OK", streams::recorded(api))]).await;
        let request = conversation(api);
        let events = told(&client(api, &base), &request).await.unwrap();
        assert_eq!(events.last(), Some(&Event::Done(streams::expected(api))));
        let asked = requests.recv().await.unwrap();
        let (head, body) = asked.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with(&format!("POST {path} HTTP/1.1\r\n")), "{head}");
        assert!(head.contains(key) && head.contains("x-team: blue"), "{head}");
        let body: Value = serde_json::from_str(body).unwrap();
        assert_eq!(body, encode(api, &request, Delivery::Streamed));
    }
}

const WHOLE: &str = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#;
const CHAT: Api = Api::OpenAiCompletions;

fn hello() -> Request {
    Request {
        model: "m-1".into(),
        messages: vec![Message::user("Hi")],
        ..Request::default()
    }
}

#[tokio::test]
async fn a_busy_provider_is_asked_again_and_a_wrong_request_is_not() {
    let busy = answer("429 Too Many Requests\r\nretry-after-ms: 1", "{}");
    let down = answer("503 Service Unavailable", "{}");
    let (base, _requests) = server(vec![busy.clone(), down, answer("200 OK", WHOLE)]).await;
    let reply = client(CHAT, &base)
        .complete(&hello(), &|_| Ok(()), &CancellationToken::new())
        .await;
    assert_eq!(reply, decode(CHAT, "m-1", WHOLE));

    for (head, body, shown) in [
        (
            "401 Unauthorized",
            r#"{"error":{"message":"bad key sk-hush-hush"}}"#,
            "the provider answered 401: bad key [hidden] (attempts: 1)",
        ),
        (
            "429 Too Many Requests\r\nretry-after: 61",
            r#"[{"error":{"message":"slow down"}}]"#,
            "the provider answered 429: slow down (attempts: 1)",
        ),
        (
            "302 Found\r\nlocation: /",
            "",
            "the provider answered 302: no reason given (attempts: 1)",
        ),
    ] {
        let (base, _requests) = server(vec![answer(head, body)]).await;
        assert_eq!(
            told(&client(CHAT, &base), &hello())
                .await
                .unwrap_err()
                .to_string(),
            shown
        );
    }
}

#[tokio::test]
async fn only_what_broke_before_the_first_event_is_tried_again() {
    let begun = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    let full = format!("{begun}data: {{\"choices\":[{{\"finish_reason\":\"stop\"}}]}}\n\n");
    let (base, mut requests) = server(vec![answer("200 OK", ""), answer("200 OK", &full)]).await;
    assert_eq!(told(&client(CHAT, &base), &hello()).await.unwrap().len(), 2);
    requests.recv().await.unwrap();
    requests.recv().await.unwrap();

    let (base, mut requests) = server(vec![answer("200 OK", begun), answer("200 OK", &full)]).await;
    let error = told(&client(CHAT, &base), &hello()).await.unwrap_err();
    assert!(
        matches!(&error, Error::Interrupted { partial, .. } if partial.blocks.len() == 1),
        "{error:?}"
    );
    requests.recv().await.unwrap();
    assert!(requests.try_recv().is_err(), "asked twice");
}

#[tokio::test]
async fn nothing_leaves_when_the_guard_refuses() {
    let (base, mut requests) = server(vec![answer("200 OK", WHOLE)]).await;
    let guard = |_: &mut Value| Err("no".to_owned());
    let refused = client(CHAT, &base)
        .complete(&hello(), &guard, &CancellationToken::new())
        .await;
    assert_eq!(refused, Err(Error::Guard("no".into())));
    assert!(requests.try_recv().is_err());
}

#[tokio::test]
async fn cancelling_keeps_what_arrived_and_closes_the_connection() {
    let begun = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    let (base, mut requests) = server(vec![answer("200 OK\r\nx-test: open", begun)]).await;
    let cancel = CancellationToken::new();
    let mut stream = client(CHAT, &base)
        .stream(&hello(), &|_| Ok(()), &cancel)
        .await
        .unwrap();
    assert_eq!(stream.next().await, Some(Ok(Event::Text("Hi".into()))));
    cancel.cancel();
    let Some(Err(Error::Cancelled { partial })) = stream.next().await else {
        panic!("it went on");
    };
    assert_eq!(partial.blocks.len(), 1);
    assert_eq!(stream.next().await, None);
    drop(stream);
    requests.recv().await.unwrap();
    assert_eq!(requests.recv().await.unwrap(), "closed");
}

#[tokio::test]
async fn a_silent_provider_is_given_up() {
    let (base, _requests) = server(vec![answer("200 OK\r\nx-test: open", "")]).await;
    let mut provider = Provider::new(CHAT, base, None);
    provider.timeouts.idle = Duration::from_millis(20);
    let error = told(&Client::new(provider).unwrap(), &hello()).await.unwrap_err();
    assert_eq!(error.to_string(), "the provider was silent for 20 ms");
}
