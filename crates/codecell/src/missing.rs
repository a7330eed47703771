//! Says what was meant by a member that is not there: the engine only says `not a function`.

use codecell_bridge::Thrown;
use codecell_catalog::Reach;
use codecell_ts_transform::PositionMap;

use crate::surface::Surface;

/// A line to append to an uncaught error, if it comes from calling a tool that does not exist.
pub(crate) fn hint(error: &Thrown, map: &PositionMap, source: &str, surface: &Surface) -> Option<String> {
    let of_interest = error.message == "not a function" || error.message.starts_with("cannot read property");
    if error.name != "TypeError" || !of_interest {
        return None;
    }
    let frame = error.frames.first()?;
    let at = map.to_submitted(frame.line, frame.column)?;
    let path = member_at(source, at.line, at.column)?;
    match path.split_once('.')? {
        ("tools", name) => Some(surface.catalog().lookup(name, Reach::Guest).err()?.to_string()),
        ("MCP", rest) => {
            let segments: Vec<&str> = rest.split('.').collect();
            Some(surface.mcp().resolve(&segments).err()?.to_string())
        }
        _ => None,
    }
}

/// The dotted path that goes through a place of the source, both counted from 1; ASCII only.
fn member_at(source: &str, line: u32, column: u32) -> Option<&str> {
    let text = source.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
    let at = text
        .char_indices()
        .nth(usize::try_from(column).ok()?.checked_sub(1)?)?
        .0;
    let part = |ch: char| ch.is_ascii_alphanumeric() || matches!(ch, '_' | '$');
    let start = text
        .get(..at)?
        .rfind(|ch| !part(ch) && ch != '.')
        .map_or(0, |end| end + 1);
    // A call is placed at its member, a read of a member that is not there at the beginning of the path.
    let end = text
        .get(at..)?
        .find(|ch| !part(ch) && ch != '.')
        .map_or(text.len(), |more| at + more);
    // `start` may lie inside a wider character only if that is the last one before the path.
    text.get(start..end)
}
