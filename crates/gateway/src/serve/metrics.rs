//! Numbers for Prometheus.
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::Gateway;
use crate::histogram::Histogram;
use crate::turns::RunState;
use crate::upstream::State as ServerState;

/// The steps into which requests are sorted, in seconds.
const REQUEST_STEPS: [f64; 9] = [0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0];

/// The status of a request whose client left before it was answered, as others count it.
const CLIENT_LEFT: u16 = 499;

/// Requests by route and status.
#[derive(Debug, Default)]
pub(crate) struct HttpCounts {
    routes: Mutex<BTreeMap<String, Route>>,
}

#[derive(Debug)]
struct Route {
    by_status: BTreeMap<u16, u64>,
    times: Histogram,
}

impl HttpCounts {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Route>> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn routes() -> Router<Arc<Gateway>> {
    Router::new().route("/metrics", get(show))
}

/// Counts a request and its answer.
pub(super) async fn count(State(gateway): State<Arc<Gateway>>, request: Request, next: Next) -> Response {
    // The route and not the path: paths hold what callers make up, and each would be a series of its own.
    let route = request.extensions().get::<MatchedPath>();
    let mut counting = Counting {
        route: route.map_or_else(|| "none".to_owned(), |route| route.as_str().to_owned()),
        status: CLIENT_LEFT,
        began: Instant::now(),
        gateway,
    };
    let response = next.run(request).await;
    counting.status = response.status().as_u16();
    response
}

/// A request that is being answered. It is counted when this goes, so that one whose client left is counted as well.
struct Counting {
    gateway: Arc<Gateway>,
    route: String,
    status: u16,
    began: Instant,
}

impl Drop for Counting {
    fn drop(&mut self) {
        let mut routes = self.gateway.http.lock();
        let route = routes
            .entry(std::mem::take(&mut self.route))
            .or_insert_with(|| Route {
                by_status: BTreeMap::new(),
                times: Histogram::new(&REQUEST_STEPS),
            });
        *route.by_status.entry(self.status).or_default() += 1;
        route.times.record(self.began.elapsed());
    }
}

async fn show(State(gateway): State<Arc<Gateway>>) -> Response {
    const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, TEXT)], page(&gateway).0).into_response()
}

/// Everything there is, as one page.
fn page(gateway: &Gateway) -> Page {
    let mut page = Page(String::new());
    page.head("codecell_build_info", "gauge", "The version that runs.");
    page.sample(
        "codecell_build_info",
        &[("version", env!("CARGO_PKG_VERSION"))],
        1,
    );
    page.value(
        "codecell_uptime_seconds",
        "gauge",
        "Time since the process started serving.",
        gateway.started.elapsed().as_secs(),
    );
    turns(&mut page, gateway);
    cells(&mut page, gateway);
    http(&mut page, gateway);
    let servers = gateway.mcp.shared.upstreams.snapshot();
    page.head(
        "codecell_upstream_servers",
        "gauge",
        "MCP servers by what they are doing.",
    );
    for state in ServerState::LABELS {
        let count = servers
            .servers
            .iter()
            .filter(|server| server.state.label() == state);
        page.sample("codecell_upstream_servers", &[("state", state)], count.count());
    }
    if let Some(bytes) = resident_bytes() {
        page.value(
            "codecell_process_resident_bytes",
            "gauge",
            "Memory of the process that is in RAM.",
            bytes,
        );
    }
    page
}

fn turns(page: &mut Page, gateway: &Gateway) {
    let counters = gateway.turns.counters();
    page.head(
        "codecell_turns_total",
        "counter",
        "Agent turns that are over, by how they ended.",
    );
    for (outcome, count) in counters.turns() {
        page.sample("codecell_turns_total", &[("outcome", outcome)], count);
    }
    let live = gateway.turns.list();
    let waiting = live
        .iter()
        .filter(|turn| matches!(turn.state, RunState::Waiting(_)));
    let waiting = waiting.count();
    page.value(
        "codecell_turns_active",
        "gauge",
        "Agent turns that run, those that wait for their client not included.",
        live.len() - waiting,
    );
    page.value(
        "codecell_turns_waiting",
        "gauge",
        "Agent turns that wait for their client.",
        waiting,
    );
    page.histogram(
        "codecell_turn_duration_seconds",
        "Time of agent turns, that spent waiting for their client included.",
        &[(Vec::new(), counters.turn_time())],
    );
    page.head(
        "codecell_provider_requests_total",
        "counter",
        "Requests to model providers, by their protocol and what became of them.",
    );
    for ((api, outcome), count) in counters.provider_requests() {
        let labels = [("api", api), ("outcome", outcome)];
        page.sample("codecell_provider_requests_total", &labels, count);
    }
}

fn cells(page: &mut Page, gateway: &Gateway) {
    let shared = &gateway.mcp.shared;
    let engine = shared.loaded_engine();
    page.value(
        "codecell_cells_suspended",
        "gauge",
        "Cells that are stored and can be resumed.",
        engine.map_or(0, |engine| engine.suspended_runs()),
    );
    page.value(
        "codecell_vms_live",
        "gauge",
        "Virtual machines that exist right now.",
        engine.map_or(0, |engine| engine.live_vms()),
    );
    page.head(
        "codecell_nested_calls_total",
        "counter",
        "Tool calls of cells, by how they ended.",
    );
    for (outcome, count) in shared.calls.read() {
        page.sample("codecell_nested_calls_total", &[("outcome", outcome)], count);
    }
    page.value(
        "codecell_approvals_waiting",
        "gauge",
        "Questions that wait for a person.",
        shared.approvals.list().len(),
    );
}

fn http(page: &mut Page, gateway: &Gateway) {
    let routes = gateway.http.lock();
    page.head(
        "codecell_http_requests_total",
        "counter",
        "HTTP requests, by route and status.",
    );
    for (route, counts) in &*routes {
        for (status, count) in &counts.by_status {
            let labels = [("route", route.as_str()), ("status", &status.to_string())];
            page.sample("codecell_http_requests_total", &labels, count);
        }
    }
    let times: Vec<_> = routes
        .iter()
        .map(|(route, counts)| (vec![("route", route.as_str())], counts.times.clone()))
        .collect();
    page.histogram(
        "codecell_http_request_duration_seconds",
        "Time until the answer to an HTTP request began.",
        &times,
    );
}

/// A page in the text format of Prometheus.
struct Page(String);

type Labels<'a> = Vec<(&'a str, &'a str)>;

impl Page {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        self.0.push_str(name);
        if !labels.is_empty() {
            let labels: Vec<String> = labels
                .iter()
                .map(|(label, value)| format!("{label}=\"{}\"", escaped(value)))
                .collect();
            let _ = write!(self.0, "{{{}}}", labels.join(","));
        }
        let _ = writeln!(self.0, " {value}");
    }

    /// A metric without labels.
    fn value(&mut self, name: &str, kind: &str, help: &str, value: impl std::fmt::Display) {
        self.head(name, kind, help);
        self.sample(name, &[], value);
    }

    fn histogram(&mut self, name: &str, help: &str, series: &[(Labels<'_>, Histogram)]) {
        self.head(name, "histogram", help);
        let bucket = format!("{name}_bucket");
        for (labels, times) in series {
            let mut step = |end: &str, count: u64| {
                let mut labels = labels.clone();
                labels.push(("le", end));
                self.sample(&bucket, &labels, count);
            };
            for (end, count) in times.steps() {
                step(&end.to_string(), count);
            }
            step("+Inf", times.count());
            self.sample(&format!("{name}_sum"), labels, times.sum().as_secs_f64());
            self.sample(&format!("{name}_count"), labels, times.count());
        }
    }
}

/// A label's value as it stands between quotes.
fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

/// Where the system says so.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Histogram, Page};

    #[test]
    fn a_page_is_what_prometheus_reads() {
        let mut page = Page(String::new());
        page.value("up", "gauge", "Whether it is up.", 1);
        page.head("seen_total", "counter", "Seen.");
        page.sample("seen_total", &[("what", "a \"b\" \\ \n c"), ("how", "")], 2);
        let mut times = Histogram::new(&[0.25, 1.0]);
        times.record(Duration::from_millis(500));
        page.histogram("time_seconds", "Time.", &[(vec![("route", "/a")], times)]);
        let expected = r#"# HELP up Whether it is up.
# TYPE up gauge
up 1
# HELP seen_total Seen.
# TYPE seen_total counter
seen_total{what="a \"b\" \\ \n c",how=""} 2
# HELP time_seconds Time.
# TYPE time_seconds histogram
time_seconds_bucket{route="/a",le="0.25"} 0
time_seconds_bucket{route="/a",le="1"} 1
time_seconds_bucket{route="/a",le="+Inf"} 1
time_seconds_sum{route="/a"} 0.5
time_seconds_count{route="/a"} 1
"#;
        assert_eq!(page.0, expected);
    }
}
