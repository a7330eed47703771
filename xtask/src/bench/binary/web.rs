//! Cells over `/mcp` of `codecell serve`, with one client and with many.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, anyhow};

use super::{
    home::Home,
    web_client::{Client, Serve},
};
use crate::bench::rows::{Row, Unit};

const GROUP: &str = "http";

/// Cells of all clients together.
const CELLS: usize = 3_200;

pub(super) fn measure(binary: &Path) -> Result<Vec<Row>> {
    let home = Home::new(binary)?;
    let serve = Serve::start(&home, Duration::from_secs(10))?;
    let mut rows = Vec::new();
    for number in [1, 16, 64] {
        let clients = if number == 1 {
            "1 client"
        } else {
            &format!("{number} clients")
        };
        let mut open = (0..number).map(|_| serve.client()).collect::<Result<Vec<_>>>()?;
        load(&mut open, CELLS / number / 8)?;
        let start = Instant::now();
        let times = load(&mut open, CELLS / number)?;
        let rate = times.len() as f64 / start.elapsed().as_secs_f64();
        let what = format!("`exec(\"return 1\")`, {clients}");
        rows.push(Row::times(GROUP, what.clone(), Unit::Microseconds, times));
        rows.push(Row::number(GROUP, format!("{what}, rate"), "cells/s", rate));
    }
    serve.stop()?;
    Ok(rows)
}

/// So many cells by each client, all clients at once.
fn load(clients: &mut [Client], each: usize) -> Result<Vec<Duration>> {
    thread::scope(|scope| {
        let run = |client: &mut Client| {
            (0..each)
                .map(|_| client.exec("return 1", "completed"))
                .collect::<Result<Vec<_>>>()
        };
        let running: Vec<_> = clients
            .iter_mut()
            .map(|client| scope.spawn(move || run(client)))
            .collect();
        let mut times = Vec::new();
        for client in running {
            times.extend(client.join().map_err(|_| anyhow!("a client panicked"))??);
        }
        Ok(times)
    })
}
