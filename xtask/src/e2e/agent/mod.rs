//! `codecell serve` with a scripted model behind it and a client in front of it.

mod chat_stream;
mod operate;
mod response_stream;
mod seed;
mod serve;
mod stage;
mod talk;
mod turns;

pub(super) use self::{
    operate::play as play_operator,
    seed::play as play_seed,
    serve::{Serve, TOKEN},
    stage::{LOG, Stage},
    talk::{ClientTool, Outcome, Spoken, Surface, Talk},
    turns::play as play_turns,
};
