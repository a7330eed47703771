use codecell_llm::{Frame, FrameTooLarge, SseParser};

const STREAM: &str = "\u{feff}: hello\nevent: greeting\ndata: gr\u{fc}\u{df} \u{1f600}\ndata:dich\nid: 7\n\n\
                      data\n\n\ndata: last";

fn frames() -> [Frame; 3] {
    let frame = |event: Option<&str>, data: &str| Frame {
        event: event.map(Into::into),
        data: data.into(),
    };
    [
        frame(Some("greeting"), "gr\u{fc}\u{df} \u{1f600}\ndich"),
        frame(None, ""),
        frame(None, "last"),
    ]
}

#[test]
fn a_stream_reads_the_same_wherever_it_is_cut() {
    for ending in ["\n", "\r\n", "\r"] {
        let bytes = STREAM.replace('\n', ending).into_bytes();
        for size in 1..=bytes.len() {
            let mut parser = SseParser::new(1000);
            let mut seen = Vec::new();
            for portion in bytes.chunks(size) {
                seen.extend(parser.feed(portion).unwrap());
            }
            seen.extend(parser.end());
            assert_eq!(seen, frames(), "{ending:?} in portions of {size}");
        }
    }
}

#[test]
fn an_event_over_the_limit_ends_it() {
    let mut parser = SseParser::new(12);
    parser.feed(b"data: 12345\ndata: 1").unwrap();
    assert_eq!(parser.feed(b"234567"), Err(FrameTooLarge(12)));
}
