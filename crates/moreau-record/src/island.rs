//! The islands of a frame and how each was solved, and their bytes: about 20 an island.

use crate::bits::{Packer, Torn, Unpacker};
use moreau_pipeline::{BodyId, Contact, IslandReport, World};

/// An island of a recorded step: the fields of [`moreau_pipeline::IslandReport`].
#[derive(Clone, Debug, PartialEq)]
pub struct IslandRecord {
    /// The step.
    pub frame: u64,
    /// Its dynamic body with the smallest id.
    pub first_body: BodyId,
    /// Dynamic bodies.
    pub bodies: u64,
    /// Contact points.
    pub contact_points: u64,
    /// Joints.
    pub joints: u64,
    /// Name of who solved it; `own` for the caller's, `other` for one that this build does not know.
    pub solver: &'static str,
    /// Why that stopped: `converged`, `budget used up`, `stalled` or `no solution`.
    pub stop: &'static str,
    /// Sweeps over its contacts.
    pub sweeps: u64,
    /// Factorisations of its system.
    pub factorizations: u64,
    /// Natural map of its worst contact or row, m/s.
    pub residual: f64,
    /// Its contact with the largest natural map, an index in the frame's contacts; `None` where a joint
    /// is worse.
    pub worst_contact: Option<u64>,
    /// Whether the energy guard reduced the bounce.
    pub guarded: bool,
}

impl IslandRecord {
    /// Whether its solve converged to its tolerance.
    pub fn certified(&self) -> bool {
        self.stop == STOPS[0]
    }
}

/// Names of solvers by their number in the file. What is published stays where it is.
const SOLVERS: [&str; 7] = [
    "other",
    "active-set",
    "newton",
    "simd",
    "block",
    "pgs",
    "own",
];

/// Why a solver stops, by the number in the file.
const STOPS: [&str; 5] = [
    "converged",
    "budget used up",
    "stalled",
    "no solution",
    "other",
];

/// The number of a name; that of `other` where there is none.
fn number(names: &[&str], name: &str) -> u64 {
    let found = names.iter().position(|known| *known == name);
    let other = names.iter().position(|known| *known == "other");
    found.or(other).unwrap_or(0) as u64
}

fn name(names: &[&'static str], number: u64) -> &'static str {
    let known = usize::try_from(number)
        .ok()
        .and_then(|n| names.get(n).copied());
    known.unwrap_or("other")
}

/// Adds the islands of the step that `world` has just made to `out`.
pub(crate) fn islands(world: &World, frame: u64, out: &mut Vec<IslandRecord>) {
    let (all, awake) = (world.contacts(), world.awake_contacts());
    let key = |c: &Contact| (c.a, c.b, c.key());
    // Reports count the contacts of awake bodies only.
    let index = |worst: usize| {
        if all.len() == awake.len() {
            return Some(worst as u64);
        }
        let worst = awake.get(worst)?;
        let found = all.binary_search_by_key(&key(worst), key);
        found.ok().map(|index| index as u64)
    };
    let record = |r: &IslandReport| IslandRecord {
        frame,
        first_body: r.first_body,
        bodies: r.bodies as u64,
        contact_points: r.contact_points as u64,
        joints: r.joints as u64,
        solver: name(&SOLVERS, number(&SOLVERS, r.solver.name())),
        stop: name(&STOPS, number(&STOPS, &r.solve.stop.to_string())),
        sweeps: r.solve.sweeps.into(),
        factorizations: r.solve.factorizations.into(),
        residual: r.solve.residual,
        worst_contact: r.solve.worst_contact.and_then(index),
        guarded: r.guarded,
    };
    out.extend(world.island_reports().iter().map(record));
}

/// Packs the islands of a frame: their number, then for each the slot of its first body, as the difference
/// to that of the island before, its generation, counts, names' numbers, the worst contact plus one as a
/// difference (0 for none), and the residual.
pub(crate) fn pack(islands: &[IslandRecord], packer: &mut Packer) {
    packer.integer(islands.len() as u64);
    let (mut slot, mut worst) = (0, 0);
    for r in islands {
        packer.near(r.first_body.index.into(), slot);
        slot = r.first_body.index.into();
        for count in [
            r.first_body.generation.into(),
            r.bodies,
            r.contact_points,
            r.joints,
            number(&SOLVERS, r.solver),
            number(&STOPS, r.stop),
            r.sweeps,
            r.factorizations,
            u64::from(r.guarded),
        ] {
            packer.integer(count);
        }
        let place = r.worst_contact.map_or(0, |index| index + 1);
        packer.near(place, worst);
        worst = place;
        packer.real(r.residual, 0.0);
    }
}

/// Reads [`pack`].
pub(crate) fn unpack(block: &[u8], frame: u64) -> Result<Vec<IslandRecord>, Torn> {
    let mut reader = Unpacker::new(block)?;
    let count = usize::try_from(reader.integer()?).map_err(|_| Torn)?;
    // Each takes more than ten bytes.
    if count > block.len() {
        return Err(Torn);
    }
    let mut islands = Vec::with_capacity(count);
    let (mut slot, mut worst) = (0, 0);
    for _ in 0..count {
        slot = reader.near_u32(slot)?;
        let generation = u32::try_from(reader.integer()?).map_err(|_| Torn)?;
        let mut next = || reader.integer();
        let (bodies, contact_points, joints) = (next()?, next()?, next()?);
        let (solver, stop) = (name(&SOLVERS, next()?), name(&STOPS, next()?));
        let (sweeps, factorizations, guarded) = (next()?, next()?, next()? == 1);
        worst = reader.near(worst)?;
        islands.push(IslandRecord {
            frame,
            first_body: BodyId {
                index: slot,
                generation,
            },
            bodies,
            contact_points,
            joints,
            solver,
            stop,
            sweeps,
            factorizations,
            residual: reader.real(0.0)?,
            worst_contact: worst.checked_sub(1),
            guarded,
        });
    }
    reader.finish()?;
    Ok(islands)
}

#[cfg(test)]
mod tests {
    use super::*;
    use moreau_pipeline::IslandSolver;

    #[test]
    fn every_solver_has_a_name() {
        for solver in IslandSolver::ALL {
            assert_eq!(
                name(&SOLVERS, number(&SOLVERS, solver.name())),
                solver.name()
            );
        }
        assert_eq!(name(&SOLVERS, number(&SOLVERS, "one of tomorrow")), "other");
        assert_eq!(name(&STOPS, 77), "other");
    }

    #[test]
    fn islands_take_few_bytes() {
        let island = |i: u32| IslandRecord {
            frame: 3,
            first_body: BodyId {
                index: 3 * i,
                generation: i % 2,
            },
            bodies: 4,
            contact_points: 12,
            joints: 0,
            solver: "newton",
            stop: "converged",
            sweeps: 0,
            factorizations: 5,
            residual: 1.0 / (f64::from(i) + 3.0),
            worst_contact: (i > 2).then(|| 12 * u64::from(i)),
            guarded: i == 4,
        };
        let all: Vec<_> = (0..100).map(island).collect();
        let (mut packer, mut block) = (Packer::default(), Vec::new());
        pack(&all, &mut packer);
        packer.take(&mut block);
        assert!(block.len() < 20 * all.len() + 16, "{}", block.len());
        assert_eq!(unpack(&block, 3), Ok(all));
        for length in 0..block.len() {
            assert_eq!(unpack(&block[..length], 3), Err(Torn), "of {length} bytes");
        }
    }
}
