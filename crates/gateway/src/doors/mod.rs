//! The ways in: what stands between a caller and a cell.
mod answer;
mod call;
mod changes;
mod door;
mod elicit;
mod progress;
mod stdio;
mod visit;
mod wire;

pub(crate) use self::{
    door::Door,
    stdio::{Stdio, serve_stdio},
    visit::Visit,
    wire::{decode, encode},
};
