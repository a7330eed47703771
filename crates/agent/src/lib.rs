//! Runs agent turns: asks a model, carries out the tool calls it makes, gives it the results, until it is done.
//!
//! It knows neither where tools come from nor how a provider is reached: the tools are a [`ToolSurface`], the model is
//! a [`Model`], what is to be kept goes to a [`Journal`]. Code mode and direct exposure are two surfaces.

mod event;
mod journal;
mod model;
mod surface;
mod turn;

pub use crate::{
    event::{Event, Stop, TurnEnd, TurnError},
    journal::{Journal, JournalError, Kept, NoJournal},
    model::{Arriving, Asking, Model, ModelStream},
    surface::{Answer, BoxFuture, ClientCall, Step, Suspended, SurfaceCall, ToolSurface},
    turn::{Limits, Turn},
};
