//! What a step says of itself when it is asked to: where its time went, how full the lanes of the fast
//! path were, what memory the world holds.
//!
//! The only file of the crate that reads the clock. What it measures goes into reports and nowhere
//! else: a step has the same bits whether it is measured or not.

use crate::World;
use crate::step::Scratch;
use moreau_solver_simd::SimdStats;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Seconds that the stages of a step took, in their order.
///
/// Assembly, solve and correction are what the step waited for the islands, shared out by what its
/// threads spent on each of them, so that the stages add up to the step on any number of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageTimes {
    /// Forces, boxes and pairs.
    pub broad_phase: f64,
    /// Manifolds and contact points.
    pub narrow_phase: f64,
    /// Groups of bodies that touch.
    pub islands: f64,
    /// Remembered impulses, and the contact problems of the islands.
    pub assembly: f64,
    /// Velocities and impulses.
    pub solve: f64,
    /// Pseudo-velocities that take overlaps out.
    pub correction: f64,
    /// New velocities and poses.
    pub integration: f64,
    /// Bodies that would pass through others or through sensors.
    pub continuous: f64,
    /// State, impulse cache, and the rest of the report.
    pub commit: f64,
    /// The whole step.
    pub total: f64,
}

impl StageTimes {
    /// Names of the stages, in the order of [`Self::stages`].
    pub const NAMES: [&str; 9] = [
        "broad phase",
        "narrow phase",
        "islands",
        "assembly",
        "solve",
        "correction",
        "integration",
        "continuous",
        "commit",
    ];

    /// All but the total, s.
    pub fn stages(&self) -> [f64; 9] {
        [
            self.broad_phase,
            self.narrow_phase,
            self.islands,
            self.assembly,
            self.solve,
            self.correction,
            self.integration,
            self.continuous,
            self.commit,
        ]
    }
}

/// How full the lanes of the fast path (`moreau-solver-simd`) were: sums over the islands that it
/// solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneFill {
    /// Most colours of an island.
    pub colours: usize,
    /// Pairs of bodies that found no colour and were visited alone.
    pub serial: usize,
    /// Contact points.
    pub contacts: usize,
    /// Places for contact points in the lanes.
    pub places: usize,
    /// Visits that sweeps would have made without rest, each of eight pairs of bodies.
    pub visits: usize,
    /// Of these the ones that were spared.
    pub spared: usize,
    /// Most sweeps that went through an island side by side; 0 where they followed each other.
    #[serde(default)]
    pub side_by_side: usize,
}

impl LaneFill {
    /// Part of the visits that was spared, 0 to 1.
    pub fn rest(&self) -> f64 {
        self.spared as f64 / self.visits.max(1) as f64
    }

    /// Part of the places that is taken, 0 to 1; 1 where there are none.
    pub fn fill(&self) -> f64 {
        if self.places == 0 {
            1.0
        } else {
            self.contacts as f64 / self.places as f64
        }
    }

    pub(crate) fn add(&mut self, stats: &SimdStats) {
        self.colours = self.colours.max(stats.colours);
        self.serial += stats.serial;
        self.contacts += stats.contacts;
        self.places += stats.places;
        self.visits += stats.visits;
        self.spared += stats.spared;
        self.side_by_side = self.side_by_side.max(stats.side_by_side);
    }
}

/// Bytes that a world holds for its own lists, with what they keep free. Shapes that bodies share and
/// what the solvers keep are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorldBytes {
    /// Bodies, joints, and what a step works out for each of them.
    pub bodies: usize,
    /// Contact points and the impulses that they start from.
    pub contacts: usize,
    /// Impulses remembered from step to step.
    pub cache: usize,
    /// Boxes and pairs.
    pub broad_phase: usize,
    /// Manifolds, those that are kept included.
    pub manifolds: usize,
    /// Islands, their contact problems and answers.
    pub islands: usize,
}

impl WorldBytes {
    /// All of them.
    pub fn total(&self) -> usize {
        self.bodies + self.contacts + self.cache + self.broad_phase + self.manifolds + self.islands
    }
}

/// What a step measured, asked for by [`World::set_profiling`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepProfile {
    /// Where the time went.
    pub times: StageTimes,
    /// Pairs whose kept manifold was used as it was, for both bodies stood; of those in [`StepReport::recycled`].
    ///
    /// [`StepReport::recycled`]: crate::StepReport::recycled
    pub placed: usize,
    /// How full the lanes of the fast path were.
    pub lanes: LaneFill,
    /// What the world holds after the step.
    pub bytes: WorldBytes,
}

/// What one island's solve measured.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IslandProfile {
    pub(crate) assembly: f64,
    pub(crate) solve: f64,
    pub(crate) correction: f64,
    pub(crate) lanes: SimdStats,
}

impl World {
    /// Whether steps measure themselves ([`crate::StepReport::profile`]). Off in a new world. It is no
    /// part of the settings or of snapshots, and steps have the same bits with it.
    ///
    /// A step with it takes some microseconds more, and a tenth of one for each island.
    pub fn set_profiling(&mut self, on: bool) {
        self.profiling = on;
    }

    /// Whether steps measure themselves.
    pub fn profiling(&self) -> bool {
        self.profiling
    }

    /// Bytes that the world holds. Looks at every pair of bodies that are close.
    pub fn bytes(&self) -> WorldBytes {
        self.bytes_with(&self.scratch)
    }

    /// As [`Self::bytes`], while the scratch memory is elsewhere.
    pub(crate) fn bytes_with(&self, scratch: &Scratch) -> WorldBytes {
        let state = &self.state;
        let mut bytes = WorldBytes {
            bodies: held(&state.bodies)
                + held(&state.free_bodies)
                + held(&state.joints)
                + held(&state.free_joints)
                + held(&state.ignored),
            contacts: held(&state.contacts),
            cache: state.cache.bytes(),
            islands: held(&self.island_reports),
            ..WorldBytes::default()
        };
        let (broad_phase, manifolds) = self.detection.bytes();
        bytes.broad_phase += broad_phase;
        bytes.manifolds += manifolds + held(&state.kept);
        bytes.contacts += self.all_contacts.get().map_or(0, held);
        state.sleepers.add_bytes(&mut bytes);
        bytes.islands += self.activity.bytes();
        scratch.add_bytes(&mut bytes);
        bytes
    }
}

/// Bytes of a list on the heap.
pub(crate) fn held<T>(list: &Vec<T>) -> usize {
    list.capacity() * size_of::<T>()
}

/// Tells how long things take, where it was asked to.
pub(crate) struct Clock {
    last: Option<Instant>,
}

impl Clock {
    /// Starts; one that is not `on` reads no time.
    pub(crate) fn new(on: bool) -> Self {
        Self {
            last: on.then(Instant::now),
        }
    }

    /// Seconds since the last lap; 0 where it is not on.
    pub(crate) fn lap(&mut self) -> f64 {
        let Some(last) = &mut self.last else {
            return 0.0;
        };
        let now = Instant::now();
        let before = std::mem::replace(last, now);
        (now - before).as_secs_f64()
    }
}
