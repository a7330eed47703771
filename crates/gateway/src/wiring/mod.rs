//! Joins the parts: servers to tools, tools to a surface, a surface to cells.
mod app;
mod calls;
mod client_views;
mod direct;
mod executor;
mod guards;
mod record;
mod shared;
mod view;

pub(crate) use self::{
    app::App,
    executor::UpstreamTools,
    guards::Channel,
    record::{Record, append_events, redactor},
    shared::{EngineState, Setting, Shared, failed, named_run},
    view::{RemovedTool, View, VisibleKind, VisibleTool},
};
