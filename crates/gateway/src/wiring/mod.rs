//! Joins the parts: servers to tools, tools to a surface, a surface to cells.
mod app;
mod direct;
mod executor;

pub(crate) use self::{
    app::{App, View, VisibleKind, VisibleTool, connection_scope, failed, surface},
    executor::UpstreamTools,
};
