//! Looks at what the gateway holds, now and then, while nothing goes on.

use std::{
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};

use super::{
    cells,
    dice::Dice,
    fault::{SHAKY_PIPE, SHAKY_WEB, STEADY},
    front::{AMPLE, Visitor},
    holds::{Holds, Mark, grown, mebibytes},
    long::Provider,
    turns, visits,
    world::World,
};
use crate::{
    http::{Incoming, Request},
    process,
};

/// Looks at what is held, in all: what fills up at first fills up between the first few.
const LOOKS: u32 = 10;

/// Least time between two of them: cells are left behind in its first part, and are forgotten in the rest.
const LEAST: Duration = Duration::from_secs(15);

/// How long what is counted has to stay the same to be what the gateway holds at rest. Threads that did nothing for
/// ten seconds end.
const STILL: Duration = Duration::from_secs(12);

/// Figures of the gateway that are 0 at rest.
const GOING_ON: [&str; 5] = [
    "codecell_turns_active",
    "codecell_turns_waiting",
    "codecell_cells_suspended",
    "codecell_vms_live",
    "codecell_approvals_waiting",
];

/// Looks at what the gateway holds.
pub(super) struct Looking<'a> {
    pub(super) world: &'a World,
    pub(super) providers: &'a [Provider],
    pub(super) id: u32,
}

impl Looking<'_> {
    /// Lets the load run for so long, and looks now and then; fails if anything has grown.
    pub(super) fn watch(&self, whole: Duration) -> Result<()> {
        let interval = (whole / LOOKS).max(LEAST);
        self.recover()?;
        self.load(interval);
        println!(
            "  {:>9}{:>9}{:>10}{:>10}{:>9}{:>9}{:>9}   under load: turns that run and wait, cells, VMs, questions",
            "seconds", "asked", "own MiB", "all MiB", "handles", "threads", "children"
        );
        let began = Instant::now();
        let mut marks = Vec::new();
        let before = self.look(began, &mut marks, None, Duration::ZERO)?;
        let mut last = before;
        while began.elapsed() < whole && !self.world.ledger.is_enough() {
            self.load(interval);
            last = self.look(began, &mut marks, Some(&before), STILL)?;
        }
        if last.compare(&before).is_err() {
            // What the gateway keeps for later it gives back by and by.
            last = self.look(began, &mut marks, Some(&before), AMPLE)?;
        }
        last.compare(&before)?;
        if !grown(&marks)? {
            println!("  too few requests to tell a small leak of memory");
        }
        Ok(())
    }

    fn load(&self, time: Duration) {
        self.world.may_abandon.store(true, Ordering::SeqCst);
        self.world.gate.open();
        thread::sleep(time.mul_f64(0.3));
        self.world.may_abandon.store(false, Ordering::SeqCst);
        thread::sleep(time.mul_f64(0.7));
    }

    /// Holds the load back until nothing goes on, and measures. What is counted has so much time to be what it was
    /// `before`; without that, to come to rest.
    fn look(
        &self,
        began: Instant,
        marks: &mut Vec<Mark>,
        before: Option<&Holds>,
        time: Duration,
    ) -> Result<Holds> {
        let loaded = self.going_on()?;
        ensure!(
            self.world.gate.close(AMPLE * 2),
            "some requests did not come to an end"
        );
        self.recover()?;
        for visitor in self.world.take_gone() {
            visitor.leave()?;
        }
        self.quiet()?;
        self.world.nothing_adrift();
        // Connections that both sides keep for later are of no interest.
        self.providers.iter().for_each(|provider| provider.road.clear());
        for name in [STEADY[1], SHAKY_WEB] {
            self.world.servers.tell(name, "hang-up");
        }
        let holds = match before {
            None => self.at_rest()?,
            Some(before) => {
                let until = Instant::now() + time;
                loop {
                    let now = Holds::of(self.id)?;
                    if now.compare(before).is_ok() || Instant::now() > until {
                        break now;
                    }
                    thread::sleep(Duration::from_millis(200));
                }
            }
        };
        let asked = self.world.ledger.asked();
        marks.push(Mark {
            asked,
            private: holds.private,
        });
        println!(
            "  {:>9.0}{asked:>9}{:>10.1}{:>10.1}{:>9}{:>9}{:>9}   {loaded:?}",
            began.elapsed().as_secs_f64(),
            mebibytes(holds.private),
            mebibytes(holds.resident),
            holds.handles,
            holds.threads,
            holds.children
        );
        Ok(holds)
    }

    /// Nothing is the matter with any server any more: each answers.
    fn recover(&self) -> Result<()> {
        self.world.servers.tell_all("calm");
        let mut visitor = Visitor::modern(self.world.front);
        for name in [STEADY[0], STEADY[1], SHAKY_PIPE, SHAKY_WEB] {
            let cell = cells::answered(name, self.world.number());
            let mut last = None;
            let answers = process::until(AMPLE, "an answer", || {
                let result = visitor.call("exec", &cell.program);
                let verdict = result.and_then(|result| cell.due.judge(&result));
                let is_right = verdict.is_ok();
                last = Some(verdict);
                if !is_right {
                    thread::sleep(Duration::from_millis(300));
                }
                is_right.then_some(())
            });
            answers.with_context(|| format!("`{name}` does not recover: {last:?}"))?;
        }
        Ok(())
    }

    /// What the gateway says is going on.
    fn going_on(&self) -> Result<[u64; 5]> {
        let answer = self.world.front.ask(Request::get("/metrics"))?;
        ensure!(answer.status == 200, "no metrics: {answer:?}");
        let mut figures = [0; 5];
        for (figure, name) in figures.iter_mut().zip(GOING_ON) {
            let value = answer
                .text
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            *figure = value
                .with_context(|| format!("no `{name}`"))?
                .parse()
                .with_context(|| format!("`{name}` is no number"))?;
        }
        Ok(figures)
    }

    /// Waits until nothing runs, waits, is suspended or lives.
    fn quiet(&self) -> Result<()> {
        let mut seen = None;
        let quiet = process::until(AMPLE, "the end of every run", || {
            thread::sleep(Duration::from_millis(50));
            seen = Some(self.going_on());
            matches!(seen, Some(Ok([0, 0, 0, 0, 0]))).then_some(())
        });
        quiet.with_context(|| format!("of {GOING_ON:?} there is still {seen:?}"))
    }

    /// Leaves behind everything that a gateway may have to end with.
    pub(super) fn leave_behind(&self, dice: &mut Dice) -> Result<Vec<Incoming>> {
        self.world.may_abandon.store(true, Ordering::SeqCst);
        let mut listening = Vec::new();
        for _ in 0..4 {
            visits::abandoned(self.world, dice)?;
            turns::forgotten(self.world, dice)?;
            listening.push(visits::listening(self.world, dice)?);
        }
        Ok(listening)
    }

    /// What it holds once that stays the same.
    fn at_rest(&self) -> Result<Holds> {
        let end = Instant::now() + AMPLE;
        let mut held = Holds::of(self.id)?;
        let mut since = Instant::now();
        while since.elapsed() < STILL {
            thread::sleep(Duration::from_millis(200));
            let now = Holds::of(self.id)?;
            if now.compare(&held).is_err() || held.compare(&now).is_err() {
                if Instant::now() > end {
                    bail!("the gateway does not come to rest: {held}, then {now}");
                }
                since = Instant::now();
            }
            held = now;
        }
        Ok(held)
    }
}
