//! What is asked, and how often each.

use anyhow::Result;

use super::{cells::Verdict, dice::Dice, ledger::MODEL_FAILS, rude, turns, visits, world::World};

/// One kind of thing that a client does.
pub(super) struct Kind {
    pub(super) name: &'static str,
    weight: u64,
    pub(super) play: fn(&World, &mut Dice) -> Result<Verdict>,
}

const fn kind(name: &'static str, weight: u64, play: fn(&World, &mut Dice) -> Result<Verdict>) -> Kind {
    Kind { name, weight, play }
}

/// All of them.
static KINDS: [Kind; 25] = [
    kind("turn: a cell completes", 20, turns::sound),
    kind("turn: a cell fails as it must", 5, turns::wrong),
    kind("turn: a cell is suspended", 6, turns::suspended),
    kind("turn: a cell calls its client", 8, turns::client_tool),
    kind("turn: the client never answers", 2, turns::forgotten),
    kind("turn: a cell never ends", 1, turns::runaway),
    kind("turn: a cell eats memory", 1, turns::hog),
    kind("turn: a shaky server", 6, turns::shaken),
    kind("turn: the model has passing trouble", 6, turns::passing_trouble),
    kind(MODEL_FAILS, 5, turns::fatal_trouble),
    kind("turn: the client hangs up", 6, turns::hung_up),
    kind("mcp: cells complete", 14, visits::sound),
    kind("mcp: a cell fails as it must", 5, visits::wrong),
    kind("mcp: a cell is resumed", 8, visits::resumed),
    kind("mcp: a suspended cell ends with its session", 3, visits::ended),
    kind("mcp: a suspended cell is left behind", 3, visits::abandoned),
    kind("mcp: a cell eats memory", 1, visits::hog),
    kind("mcp: a shaky server", 6, visits::shaken),
    kind("mcp: the client vanishes", 6, visits::vanished),
    kind("mcp: the tools are listed", 4, visits::listed),
    kind("rude: no token, or a wrong one", 3, rude::stranger),
    kind("rude: a body that is too large", 2, rude::glutton),
    kind("rude: a body that is none", 3, rude::babbler),
    kind("rude: nothing of that name", 3, rude::lost),
    kind("rude: half a request", 4, rude::half),
];

/// What somebody does next.
pub(super) fn next(dice: &mut Dice) -> &'static Kind {
    let mut left = dice.below(KINDS.iter().map(|kind| kind.weight).sum());
    for kind in &KINDS {
        if left < kind.weight {
            return kind;
        }
        left -= kind.weight;
    }
    &KINDS[0]
}
