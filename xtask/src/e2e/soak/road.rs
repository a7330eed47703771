//! The road between the gateway and its model: it can be slow, and it can be cleared.

use std::{
    collections::HashMap,
    io::{Read, Write},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use anyhow::{Context, Result};

use super::dice::Dice;

/// Of a hundred pieces so many are held up.
const SLOW: u64 = 3;

/// Passes on what two sides say, without a look at it.
pub(super) struct Road {
    address: SocketAddr,
    travellers: Arc<Travellers>,
}

#[derive(Default)]
struct Travellers {
    connections: Mutex<HashMap<u64, TcpStream>>,
    closed: AtomicBool,
}

impl Travellers {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, TcpStream>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Road {
    /// A road that leads to this address.
    pub(super) fn to(end: SocketAddr, seed: u64) -> Result<Road> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port for a road")?;
        let address = listener.local_addr()?;
        let travellers = Arc::new(Travellers::default());
        let kept = Arc::clone(&travellers);
        thread::spawn(move || {
            for (number, near) in (0..).zip(listener.incoming().map_while(Result::ok)) {
                if kept.closed.load(Ordering::SeqCst) {
                    return;
                }
                let kept = Arc::clone(&kept);
                thread::spawn(move || {
                    // Either side may end a connection at any time.
                    let _ = travel(number, &near, end, &kept, Dice::new(seed, number));
                    kept.lock().remove(&number);
                });
            }
        });
        Ok(Road { address, travellers })
    }

    /// Where it begins.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends every connection.
    pub(super) fn clear(&self) {
        for stream in self.travellers.lock().values() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Road {
    fn drop(&mut self) {
        self.travellers.closed.store(true, Ordering::SeqCst);
        self.clear();
        // Wakes the listener, which then sees that it is closed.
        drop(TcpStream::connect(self.address));
    }
}

fn travel(number: u64, near: &TcpStream, end: SocketAddr, kept: &Travellers, mut dice: Dice) -> Result<()> {
    let far = TcpStream::connect(end)?;
    for stream in [near, &far] {
        stream.set_nodelay(true)?;
    }
    kept.lock().insert(number, near.try_clone()?);
    thread::scope(|scope| {
        scope.spawn(|| pass(near, &far, || Duration::ZERO));
        pass(&far, near, || {
            let held_up = dice.percent(SLOW);
            Duration::from_millis(if held_up { dice.between(20, 400) } else { 0 })
        });
    });
    Ok(())
}

/// Passes on one direction until it ends; then the other has no more use.
fn pass(mut from: &TcpStream, mut to: &TcpStream, mut hold_up: impl FnMut() -> Duration) {
    let mut bytes = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        thread::sleep(hold_up());
        if to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    for stream in [from, to] {
        let _ = stream.shutdown(Shutdown::Both);
    }
}
