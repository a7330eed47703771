//! How answers are put on the wire: whole, in events, and in events that are torn apart.

use std::{
    io::{self, Write},
    net::TcpStream,
};

use super::Frame;

/// Sizes of the writes that tear an awkward stream apart.
const TORN: [usize; 5] = [1, 13, 3, 64, 7];

/// All frames, one write each.
pub(super) fn plain_stream(mut stream: &TcpStream, frames: &[Frame]) -> io::Result<()> {
    begin(stream, frames, frames.len())?;
    stream.write_all(b"0\r\n\r\n")
}

/// All frames, as they may be and rarely are.
pub(super) fn awkward_stream(mut stream: &TcpStream, frames: &[Frame]) -> io::Result<()> {
    head(&mut stream)?;
    let text: String = frames.iter().map(awkward).collect();
    let (mut rest, mut sizes) = (text.as_bytes(), TORN.iter().cycle());
    while !rest.is_empty() {
        let size = sizes.next().copied().unwrap_or(1).min(rest.len());
        let (piece, more) = rest.split_at(size);
        chunk(&mut stream, piece)?;
        rest = more;
    }
    stream.write_all(b"0\r\n\r\n")
}

/// As many frames, and no end.
pub(super) fn begin(mut stream: &TcpStream, frames: &[Frame], after: usize) -> io::Result<()> {
    head(&mut stream)?;
    for frame in frames.iter().take(after) {
        chunk(&mut stream, plain(frame).as_bytes())?;
    }
    Ok(())
}

fn head(stream: &mut impl Write) -> io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n",
    )
}

fn chunk(stream: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    let mut framed = format!("{:x}\r\n", bytes.len()).into_bytes();
    framed.extend_from_slice(bytes);
    framed.extend_from_slice(b"\r\n");
    stream.write_all(&framed)
}

pub(super) fn whole(
    stream: &mut impl Write,
    status: u16,
    headers: &[(&str, &str)],
    body: &str,
) -> io::Result<()> {
    let more: String = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{more}\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes())
}

fn plain(frame: &Frame) -> String {
    let event = frame.event.as_ref();
    let event = event.map(|event| format!("event: {event}\n")).unwrap_or_default();
    format!("{event}data: {}\n\n", frame.data)
}

fn awkward(frame: &Frame) -> String {
    let event = frame.event.as_ref();
    let event = event
        .map(|event| format!("event:{event}\r\n"))
        .unwrap_or_default();
    format!(": a comment\r\nid: 7\r\n{event}data:{}\r\n\r\n", frame.data)
}
