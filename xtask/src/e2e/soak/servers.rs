//! The MCP servers of the long load, as the one who gives them orders knows them.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};

use super::front::AMPLE;
use crate::process;

/// Gives orders to servers.
pub(super) struct Servers {
    driver: SocketAddr,
    there: Arc<Mutex<HashMap<String, There>>>,
    /// Those over HTTP are our children; the gateway has the others.
    web: Mutex<HashMap<String, Web>>,
}

/// A server that runs.
struct There {
    pid: u32,
    port: u16,
    orders: TcpStream,
}

struct Web {
    child: Child,
    port: u16,
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Servers {
    /// Waits for servers to come.
    pub(super) fn new() -> Result<Servers> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port for a driver")?;
        let driver = listener.local_addr()?;
        let there: Arc<Mutex<HashMap<String, There>>> = Arc::default();
        let known = Arc::clone(&there);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let known = Arc::clone(&known);
                thread::spawn(move || attend(stream, &known));
            }
        });
        Ok(Servers {
            driver,
            there,
            web: Mutex::default(),
        })
    }

    /// The arguments of this program that start a server over its standard streams.
    pub(super) fn arguments(&self, name: &str) -> Vec<String> {
        let driver = self.driver.to_string();
        ["soak-server", "--name", name, "--driver", &driver]
            .map(str::to_owned)
            .to_vec()
    }

    /// Starts a server over HTTP, on the port that it had before; returns the port.
    pub(super) fn start_web(&self, name: &str) -> Result<u16> {
        let before = lock(&self.web).remove(name).map(|web| web.port);
        let child = Command::new(std::env::current_exe()?)
            .args(self.arguments(name))
            .args(["--port", &before.unwrap_or(0).to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .context("starting a server")?;
        let pid = child.id();
        let came = || {
            let there = lock(&self.there);
            let there = there.get(name).filter(|there| there.pid == pid)?;
            Some(there.port)
        };
        let mut web = Web { child, port: 0 };
        web.port = process::until(AMPLE, "the start of a server", came)?;
        let port = web.port;
        lock(&self.web).insert(name.to_owned(), web);
        Ok(port)
    }

    /// Gives a server an order; one that is not there hears nothing.
    pub(super) fn tell(&self, name: &str, order: &str) {
        if let Some(there) = lock(&self.there).get_mut(name) {
            let _ = writeln!(there.orders, "{order}");
        }
    }

    /// Gives all servers an order.
    pub(super) fn tell_all(&self, order: &str) {
        for there in lock(&self.there).values_mut() {
            let _ = writeln!(there.orders, "{order}");
        }
    }

    /// Sends a signal to a server; false if it is not there.
    pub(super) fn signal(&self, name: &str, signal: Signal) -> bool {
        // Whoever is forgotten under this lock had not ended before it.
        let there = lock(&self.there);
        let pid = there.get(name).and_then(|there| i32::try_from(there.pid).ok());
        pid.and_then(Pid::from_raw)
            .is_some_and(|pid| kill_process(pid, signal).is_ok())
    }
}

/// Knows a server until it goes.
fn attend(stream: TcpStream, known: &Mutex<HashMap<String, There>>) {
    let Ok(orders) = stream.try_clone() else {
        return;
    };
    let mut reader = BufReader::new(stream);
    let mut greeting = String::new();
    if reader.read_line(&mut greeting).is_err() {
        return;
    }
    let mut words = greeting.split_whitespace();
    let name = words.next().unwrap_or_default().to_owned();
    let numbers = (
        words.next().and_then(|pid| pid.parse().ok()),
        words.next().and_then(|port| port.parse().ok()),
    );
    let (Some(pid), Some(port)) = numbers else {
        return;
    };
    lock(known).insert(name.clone(), There { pid, port, orders });
    let _ = reader.read_to_end(&mut Vec::new());
    let mut known = lock(known);
    if known.get(&name).is_some_and(|there| there.pid == pid) {
        known.remove(&name);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
