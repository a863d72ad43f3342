//! Contacts that wait: those too far open for this step.
//!
//! Of the contacts of a pile about half are gaps that nothing closes. A contact c waits where its warm
//! start is zero and, at the velocities of the warm start,
//!
//! ```text
//! s_n(c) > margin = 4 (mean of e),    e = |s_n| where the warm start presses, max(0, -s_n) elsewhere
//! ```
//!
//! with s_n = u_n + b_n in m/s, and the mean over all contacts: e is how far velocities will have to
//! change. A sweep leaves waiting contacts out. After 1, 2, 4, 8, ... sweeps, and with each look at the
//! residual, they are looked at too, and one whose s_n has become negative is visited from then on. What is returned holds for all contacts, waiting or not.

use moreau_constraint::{ContactPoint, ContactProblem, Impulses};
use moreau_math::Velocity;
use rayon::prelude::*;

/// Margin in units of the errors' mean.
const MARGIN: f64 = 4.0;

/// Smaller problems, and those of which less than an eighth could wait, are not worth the looks.
const FEWEST: usize = 64;

/// Contacts that a thread looks at by itself.
const SHARE: usize = 512;

/// Which contacts of a problem wait; keeps its memory.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    pub(crate) waits: Vec<bool>,
    velocities: Vec<Velocity>,
    normal: Vec<f64>,
}

impl Waiting {
    /// No contact waits where `enabled` is false. `parallel`: on the threads of the pool.
    pub(crate) fn choose(
        &mut self,
        problem: &ContactProblem,
        impulses: &Impulses,
        enabled: bool,
        parallel: bool,
    ) {
        let contacts = problem.contacts();
        self.waits.clear();
        self.waits.resize(contacts.len(), false);
        if !enabled || contacts.len() < FEWEST {
            return;
        }
        problem.velocities_into(impulses, &mut self.velocities);
        let v = &self.velocities;
        let speed = |c: &ContactPoint| {
            let u = v[c.b].at(c.lever_b) - v[c.a].at(c.lever_a);
            c.frame.normal.dot(u) + c.bias.x
        };
        if parallel {
            let speeds = contacts.par_iter().with_min_len(SHARE).map(speed);
            speeds.collect_into_vec(&mut self.normal);
        } else {
            self.normal.clear();
            self.normal.extend(contacts.iter().map(speed));
        }
        let mut sum = 0.0;
        for (s, l) in self.normal.iter().zip(&impulses.contacts) {
            let error = if l.x > 0.0 { *s } else { s.min(0.0) };
            sum += error.abs();
        }
        let margin = MARGIN * sum / contacts.len() as f64;
        let mut count = 0;
        for ((waits, s), l) in self
            .waits
            .iter_mut()
            .zip(&self.normal)
            .zip(&impulses.contacts)
        {
            *waits = l.x == 0.0 && l.y == 0.0 && l.z == 0.0 && *s > margin;
            count += usize::from(*waits);
        }
        if count * 8 < contacts.len() {
            self.waits.fill(false);
        }
    }
}
