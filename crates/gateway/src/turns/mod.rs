//! Agent turns: which model a name means, what a turn is given, and what is going on.
mod agents;
mod ask;
mod begin;
mod context;
mod counted;
mod counters;
mod journal;
mod live;
mod running;
mod scribe;
mod surface;
mod trajectory;
mod watch;

pub(crate) use self::{
    agents::{Agents, TargetError},
    ask::{AnswerProblem, Ask, BeginProblem},
    context::History,
    live::{Hold, RunInfo, RunState, Turns},
    running::{Happening, Running},
    watch::NestedNews,
};
