//! The demonstration: a bundled MCP server and three cells played against it.
mod play;
mod render;
mod scenes;
mod server;
mod shop;

pub(crate) use self::{play::run, server::ShopServer};
