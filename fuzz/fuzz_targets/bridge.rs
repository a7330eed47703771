//! What a guest says to its host is hostile text; what is read from it is exactly what it said.

#![no_main]

use codecell_bridge::{Answer, CallId, Json, Output, OutputLog, Reply, Report, Request, Thrown};
use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;

#[path = "../../crates/guest-runtime/src/wire.rs"]
mod wire;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    call(text);
    report(text);
    output(text);
});

/// A request is read or refused, and the values in it keep their text: a rounded number would be another call.
fn call(text: &str) {
    let Ok(call) = wire::call(text) else { return };
    let values: Vec<Json> = match call.request {
        Request::Call { args, .. } | Request::CallValue { args, .. } => args.into_iter().collect(),
        Request::Namespace { args, .. } => args,
        Request::Timer { .. } | Request::Yield { .. } => Vec::new(),
    };
    for value in &values {
        assert!(text.contains(value.as_str()), "{value} is not what was said");
        assert_eq!(Json::parse(value.as_str()).as_ref().ok(), Some(value));
    }
    answered(values.into_iter().map(Answer::Ok).collect());
}

/// A report keeps its value, and an error comes back as the same error when it is thrown into another program.
fn report(text: &str) {
    match wire::report(text) {
        Ok(Report::Completed { value }) => {
            assert!(text.contains(value.as_str()), "{value} is not what was said");
            answered(vec![Answer::Ok(value)]);
        }
        Ok(Report::Failed { error }) => {
            let written = wire::thrown(&error).expect("an error has a JSON form");
            assert_eq!(
                serde_json::from_str::<Thrown>(&written).ok().as_ref(),
                Some(&error)
            );
            answered(vec![Answer::Error(error)]);
        }
        Ok(Report::Pending | Report::Idle) | Err(_) => {}
    }
}

/// Answers are written so that a reader finds each where it belongs, byte for byte.
fn answered(answers: Vec<Answer>) {
    let replies: Vec<Reply> = (0..)
        .zip(answers)
        .map(|(id, answer)| Reply {
            id: CallId(id),
            answer,
        })
        .collect();
    let written = wire::replies(&replies).expect("every answer has a JSON form");
    let read: Vec<&RawValue> = serde_json::from_str(&written).expect("answers are a JSON array");
    assert_eq!(read.len(), replies.len(), "{written}");
    for (reply, read) in replies.iter().zip(read) {
        let expected = match &reply.answer {
            Answer::Ok(value) => format!("{{\"id\":{},\"ok\":{value}}}", reply.id.0),
            Answer::Error(_) => continue,
        };
        assert_eq!(read.get(), expected);
    }
}

/// Whatever a program prints, the result it goes into stays within its budget, and nothing is lost silently.
fn output(text: &str) {
    const LIMIT: usize = 1024;
    let mut log = OutputLog::new(LIMIT);
    let mut all = true;
    for line in text.split('\n') {
        match line.strip_prefix('~') {
            // Far more than was written out.
            Some(head) => {
                log.overflow(head.to_owned(), head.len());
                all = false;
            }
            None => {
                let entry = match Json::parse(line) {
                    Ok(value) => Output::Json { value },
                    Err(_) => Output::Text { text: line.into() },
                };
                all &= log.push(entry).is_ok();
            }
        }
    }
    assert_eq!(log.left_out() == 0, all);
    let taken = log.take();
    let bytes: usize = taken
        .iter()
        .map(|entry| {
            serde_json::to_string(entry)
                .expect("output has a JSON form")
                .len()
                + 1
        })
        .sum();
    assert!(bytes <= LIMIT, "{bytes} bytes of {LIMIT}: {taken:?}");
    let marker = taken
        .last()
        .is_some_and(|last| matches!(last, Output::Text { text } if text.starts_with("[output truncated: ")));
    assert!(all || marker, "what was left out is not told: {taken:?}");
    assert_eq!(log.take(), [], "the next result starts anew");
}
