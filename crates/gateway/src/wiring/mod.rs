//! Joins the parts: servers to tools, tools to a surface, a surface to cells.
mod app;
mod direct;
mod executor;
mod guards;
mod record;
mod view;

pub(crate) use self::{
    app::{App, Setting, failed},
    executor::UpstreamTools,
    guards::Channel,
    record::Record,
    view::{RemovedTool, View, VisibleKind, VisibleTool},
};
