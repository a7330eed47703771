//! Takes questions to people who sit at another terminal: one socket per process, in a folder only its user can open.
//!
//! A person finds every process that has questions, so a cell that waits for an approval can be answered from
//! anywhere on the machine, and a process that has ended is not mistaken for one that waits.
mod desk;
mod folder;
mod people;
mod wire;

pub(crate) use self::{
    desk::Desk,
    people::{decide, find, list},
};
