//! The impulses that contacts had in the last step, as those of this one start from.

use crate::StepReport;
use crate::contact::Contact;
use crate::share::SHARE;
use crate::step::Scratch;
use crate::world::{World, WorldState};
use moreau_cache::CacheCounters;
use moreau_math::Vec3;
use rayon::prelude::*;

impl World {
    /// Looks up the warm start of each contact point.
    pub(crate) fn look_up_warm_starts(
        &mut self,
        scratch: &mut Scratch,
        dt: f64,
        parallel: bool,
        report: &mut StepReport,
    ) {
        let scale = warm_scale(&self.state, dt);
        scratch.warm.resize(scratch.points.len(), Vec3::ZERO);
        if scale == 0.0 {
            scratch.warm.fill(Vec3::ZERO);
            return;
        }
        let cache = &self.state.cache;
        let look_up = |(warm, points): (&mut [Vec3], &[Contact])| {
            let mut reader = cache.reader();
            for (warm, p) in warm.iter_mut().zip(points) {
                let pair = (p.a.to_bits(), p.b.to_bits());
                let old = reader.look_up(pair, p.key(), p.normal);
                *warm = old.map_or(Vec3::ZERO, |old| {
                    let (t1, t2) = (
                        p.tangent1.dot(old.tangential),
                        p.tangent2.dot(old.tangential),
                    );
                    Vec3::new(old.normal_impulse, t1, t2) * scale
                });
            }
            reader.counters()
        };
        let (warm, points) = (&mut scratch.warm, &scratch.points);
        let found = if parallel && points.len() > SHARE {
            let chunks = warm.par_chunks_mut(SHARE).zip(points.par_chunks(SHARE));
            chunks
                .map(look_up)
                .reduce(CacheCounters::default, |x, y| x + y)
        } else {
            look_up((warm, points))
        };
        self.state.cache.count(found);
        report.warm_started = found.hits as usize;
    }
}

/// Impulses grow with the step that they act over.
pub(crate) fn warm_scale(state: &WorldState, dt: f64) -> f64 {
    if !state.settings.warm_start || state.last_dt == 0.0 {
        return 0.0;
    }
    dt / state.last_dt
}
