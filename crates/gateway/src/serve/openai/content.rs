//! What a message contains: a string, or parts of several kinds.
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use codecell_llm::{Content, Image};

use super::super::error::ApiError;
use super::part::Part;

/// Content that may show pictures.
pub(super) fn shown(content: &Part<'_>) -> Result<Vec<Content>, ApiError> {
    if content.value().is_string() {
        return Ok(vec![Content::Text(content.text()?.to_owned())]);
    }
    let shown = |part: Part<'_>| match kind(&part)? {
        Kind::Words(text) => Ok(Content::Text(text.to_owned())),
        Kind::Picture => image(&part).map(Content::Image),
    };
    content.items()?.into_iter().map(shown).collect()
}

/// Content of words alone. The words of parts follow each other without anything between them.
pub(super) fn words(content: &Part<'_>) -> Result<String, ApiError> {
    if content.value().is_string() {
        return Ok(content.text()?.to_owned());
    }
    let mut words = String::new();
    for part in content.items()? {
        match kind(&part)? {
            Kind::Words(text) => words.push_str(text),
            Kind::Picture => return Err(part.unsupported("must be text here")),
        }
    }
    Ok(words)
}

enum Kind<'v> {
    Words(&'v str),
    Picture,
}

fn kind<'v>(part: &Part<'v>) -> Result<Kind<'v>, ApiError> {
    let kind = part.need("type")?;
    match kind.text()? {
        "text" | "input_text" | "output_text" => Ok(Kind::Words(part.need("text")?.text()?)),
        "refusal" => Ok(Kind::Words(part.need("refusal")?.text()?)),
        "image_url" | "input_image" => Ok(Kind::Picture),
        _ => Err(kind.unsupported("is a kind of content that is not supported: send text or pictures")),
    }
}

/// A picture in the request itself. Nothing is fetched: a server that gets whatever it is told to reaches places that
/// its clients do not.
fn image(part: &Part<'_>) -> Result<Image, ApiError> {
    if let Some(file) = part.get("file_id") {
        return Err(
            file.unsupported("names a file, and there are none here: send the picture as a `data:` URL")
        );
    }
    let given = part.need("image_url")?;
    let url = given.get("url").unwrap_or(given);
    let text = url.text()?;
    let Some(data) = text.strip_prefix("data:") else {
        return Err(url.unsupported("must be a `data:` URL: pictures are not fetched, so send their bytes"));
    };
    let split = data.split_once(',').and_then(|(head, data)| {
        let mime_type = head.strip_suffix(";base64")?.split(';').next()?;
        Some((mime_type, data))
    });
    match split {
        Some((mime_type, data)) if mime_type.starts_with("image/") && STANDARD.decode(data).is_ok() => {
            Ok(Image {
                mime_type: mime_type.to_owned(),
                data: data.to_owned(),
            })
        }
        _ => Err(url.invalid("must be `data:image/TYPE;base64,` and the bytes in base64")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn contents(content: Value) -> Result<Vec<Content>, (String, Option<String>)> {
        let body = json!({ "content": content });
        let part = Part::body(&body).unwrap();
        shown(&part.need("content").unwrap()).map_err(|error| (error.body.message, error.body.param))
    }

    #[test]
    fn strings_and_parts_are_read() {
        let text = |text: &str| Content::Text(text.into());
        let picture = Content::Image(Image {
            mime_type: "image/png".into(),
            data: "QUJD".into(),
        });
        let url = "data:image/png;base64,QUJD";
        for (content, expected) in [
            (json!("hi"), vec![text("hi")]),
            (json!([]), vec![]),
            (
                json!([{ "type": "text", "text": "a" }, { "type": "input_text", "text": "b" }]),
                vec![text("a"), text("b")],
            ),
            (
                json!([{ "type": "output_text", "text": "a", "annotations": [] }, { "type": "refusal", "refusal": "no" }]),
                vec![text("a"), text("no")],
            ),
            (
                json!([{ "type": "image_url", "image_url": { "url": url, "detail": "low" } }]),
                vec![picture.clone()],
            ),
            (
                json!([{ "type": "input_image", "image_url": "data:image/png;name=x;base64,QUJD" }]),
                vec![picture],
            ),
        ] {
            assert_eq!(contents(content.clone()), Ok(expected), "{content}");
        }
    }

    #[test]
    fn what_cannot_be_shown_is_refused_where_it_stands() {
        let image = |url: &str| json!([{ "type": "image_url", "image_url": { "url": url } }]);
        let inline = "`content[0].image_url.url` must be `data:image/TYPE;base64,` and the bytes in base64";
        for (content, message, param) in [
            (json!(7), "`content` must be an array", "content"),
            (json!([7]), "`content[0].type` is missing", "content[0].type"),
            (
                json!([{ "type": "input_audio" }]),
                "`content[0].type` is a kind of content that is not supported: send text or pictures",
                "content[0].type",
            ),
            (
                image("https://example.com/a.png"),
                "`content[0].image_url.url` must be a `data:` URL: pictures are not fetched, so send their bytes",
                "content[0].image_url.url",
            ),
            (
                image("data:text/html;base64,QUJD"),
                inline,
                "content[0].image_url.url",
            ),
            (image("data:image/png,QUJD"), inline, "content[0].image_url.url"),
            (
                image("data:image/png;base64,QU D"),
                inline,
                "content[0].image_url.url",
            ),
            (
                json!([{ "type": "input_image", "file_id": "file-1" }]),
                "`content[0].file_id` names a file, and there are none here: send the picture as a `data:` URL",
                "content[0].file_id",
            ),
        ] {
            assert_eq!(
                contents(content.clone()),
                Err((message.to_owned(), Some(param.to_owned()))),
                "{content}"
            );
        }
    }
}
