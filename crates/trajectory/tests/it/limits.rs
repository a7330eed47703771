use codecell_trajectory::{Happening, Limits, MemorySink, Outcome, Recorder, ToolCall};
use serde_json::{Value, json};

use crate::{clock, data, recorder, types};

fn recorded(arguments: Value) -> Value {
    let (recorder, sink) = recorder();
    recorder.record(None, ToolCall::direct("c", "t", arguments));
    data(&sink.events()[0])["arguments"].clone()
}

fn with(limits: Limits) -> (Recorder, MemorySink) {
    let sink = MemorySink::new(1_000_000);
    let recorder = Recorder::new("s1", sink.clone())
        .with_clock(clock())
        .with_limits(limits);
    (recorder, sink)
}

#[test]
fn long_wide_and_deep_values_are_cut_and_say_so() {
    let exact = "é".repeat(32_768);
    assert_eq!(recorded(json!({ "s": exact })), json!({ "s": exact }));
    let cut = format!("{exact}<7 more characters>");
    assert_eq!(
        recorded(json!({ "s": format!("{exact}{}", "x".repeat(7)) })),
        json!({ "s": cut })
    );

    let items: Vec<usize> = (0..64).collect();
    assert_eq!(recorded(json!(items)), json!(items));
    let more: Vec<usize> = (0..100).collect();
    let cut = recorded(json!(more));
    assert_eq!(
        (cut.as_array().unwrap().len(), &cut[64]),
        (65, &json!("<36 more items>"))
    );

    let wide: serde_json::Map<String, Value> = (0..70).map(|n| (format!("k{n}"), json!(n))).collect();
    let cut = recorded(Value::Object(wide));
    assert_eq!(
        (cut.as_object().unwrap().len(), &cut["<truncated>"]),
        (65, &json!("6 more properties"))
    );

    let deep = (0..40).fold(json!("leaf"), |inner, _| json!([inner]));
    assert_eq!(recorded(deep), json!([[[[["<too deep>"]]]]]));
    assert_eq!(recorded(json!([[[[["five"]]]]])), json!([[[[["five"]]]]]));
}

#[test]
fn a_line_never_passes_its_limit_and_keeps_what_fits() {
    for filler in ["x", "\n", "\u{1}", "é", "\"", "🎉"] {
        for (strings, length) in [(60, 32_000), (64, 5_000), (9, 32_768)] {
            let big: Vec<String> = (0..strings).map(|_| filler.repeat(length)).collect();
            let (recorder, sink) = recorder();
            recorder.record(None, ToolCall::direct("c", "t", json!({ "a": big, "b": [big] })));
            let event = &sink.events()[0];
            let line = serde_json::to_string(event).unwrap();
            assert!(line.len() <= 256 << 10, "{filler:?} {}", line.len());
            assert!(line.len() > 200 << 10, "room is used: {filler:?} {}", line.len());
            assert_eq!(data(event)["toolCallId"], "c");
        }
    }
}

#[test]
fn an_event_that_fits_no_line_keeps_its_place_in_the_tree() {
    let (recorder, sink) = with(Limits {
        line_bytes: 300,
        ..Limits::default()
    });
    let call = ToolCall::nested("c:1", "c", "openclaw:core:t", "t", json!({}));
    recorder.record(
        None,
        call.result(Outcome::Error(None), json!({ "text": "y".repeat(5_000) }), 4),
    );
    let remains = data(&sink.events()[0]).clone();
    let original = remains["originalBytes"].clone();
    assert_eq!(
        remains,
        json!({
            "truncated": true, "originalBytes": original, "toolCallId": "c:1", "parentToolCallId": "c",
            "catalogId": "openclaw:core:t", "name": "t", "isError": true, "tookMs": 4,
        })
    );
}

#[test]
fn a_session_that_is_too_long_is_truncated_once_and_still_ends() {
    let by_events = Limits {
        session_events: 5,
        ..Limits::default()
    };
    let by_bytes = Limits {
        session_bytes: 1_290,
        ..Limits::default()
    };
    for (limits, told) in [
        (by_events, json!({ "limit": "events", "max": 5 })),
        (by_bytes, json!({ "limit": "bytes", "max": 1_290 })),
    ] {
        let (recorder, sink) = with(limits);
        for call in 0..20 {
            recorder.record(Some("r"), ToolCall::direct(call.to_string(), "t", json!({})));
        }
        recorder.record(None, Happening::SessionEnded);
        let events = sink.events();
        let mut expected = vec!["tool.call"; 5];
        expected.extend(["trace.truncated", "session.ended"]);
        assert_eq!(types(&events), expected);
        assert_eq!(data(&events[5]), &told);
        assert_eq!(data(&events[6]), &json!({ "droppedEvents": 15 }));
        let written: usize = events
            .iter()
            .map(|event| serde_json::to_string(event).unwrap().len())
            .sum();
        assert!(written < 2_200, "{written}");
    }
}

#[test]
fn the_limits_are_those_of_the_format() {
    assert_eq!(
        Limits::default(),
        Limits {
            line_bytes: 262_144,
            string_chars: 32_768,
            items: 64,
            depth: 6,
            session_bytes: 10_485_760,
            session_events: 200_000,
        }
    );
}
