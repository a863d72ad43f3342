/// Knobs of a [`BroadPhase`](crate::BroadPhase). None changes the pairs found, only the time that takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BroadPhaseSettings {
    /// How much the kept boxes of moving proxies are enlarged, as a part of their longest edge.
    /// Default 0.1. Too small: proxies leave their boxes and are looked up again in many steps; too
    /// big: many pairs are looked at that do not touch. Zero switches it off.
    pub margin: f64,
    /// How many steps of its latest motion the box of a proxy is stretched ahead, up to half of its
    /// longest edge. Default 4. Too small and too big as above; zero switches it off.
    pub lookahead: f64,
}

impl Default for BroadPhaseSettings {
    fn default() -> Self {
        Self {
            margin: 0.1,
            lookahead: 4.0,
        }
    }
}

/// What the latest call of [`BroadPhase::pairs`](crate::BroadPhase::pairs) did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BroadPhaseCounters {
    /// Proxies of all kinds.
    pub proxies: usize,
    /// Proxies that were put into a tree again and looked for partners.
    pub changed: usize,
    /// Trees that were built anew.
    pub rebuilds: usize,
    /// Pairs of enlarged boxes that were looked at.
    pub candidates: usize,
    /// Proxies that are compared with all others because their boxes are unbounded.
    pub unbounded: usize,
    /// Height of the tree of moving proxies.
    pub height: usize,
}
