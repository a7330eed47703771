//! Agent turns: which model a name means, what a turn is given, and what is going on.
mod agents;
mod context;
mod counted;
mod counters;
mod live;
mod running;
mod scribe;
mod surface;
mod trajectory;
mod watch;

pub(crate) use self::{
    agents::{Agents, Target, TargetError},
    context::History,
    live::{AnswerProblem, Ask, BeginProblem, Hold, RunInfo, RunState, Turns},
    running::{Happening, Running},
    watch::NestedNews,
};
