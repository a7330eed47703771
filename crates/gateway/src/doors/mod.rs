//! The ways in: what stands between a caller and a cell.
mod elicit;
mod mcp;
mod progress;
mod stdio;

pub(crate) use self::{mcp::serve_stdio, stdio::Stdio};
