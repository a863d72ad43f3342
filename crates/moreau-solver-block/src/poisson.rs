//! Poisson's law of restitution, with friction in both phases.
//!
//! ```text
//! compression  from v- to v_c:  0 <= l_n _|_ u_n,c + max(b_n, 0) >= 0,  Coulomb with u_t,c
//! expansion    from v_c to v+:  0 <= l'_n - e l_n _|_ u_n+ + max(b_n, 0) >= 0,  |l'_t| <= mu l'_n,
//!                               Coulomb with u_t+
//! total        l + l'
//! ```
//!
//! l is the compression's impulse of a contact (N s), e its coefficient (0 to 1). A contact gives back
//! the part e of what it took, whatever the others do; more only where it would sink otherwise. After
//! document 001, "Phase A" and "Phase B", in the order of an impact and with friction acting on the
//! bounce: the document's own order takes no friction from the bounce (a spinning sphere bounces
//! straight up) and can gain energy.
//!
//! **Energy.** The contacts' work is E = 1/2 sum l·(u- + u_c) + 1/2 sum l'·(u_c + u+), where u_t is
//! relative to the surface (bias included). The first sum is never positive. Where the total is, the
//! expansion is scaled by the theta in [0, 1) that makes it zero: (l', v+ - v_c) are affine in theta, so
//! cones, non-penetration and momentum stay kept. Over 52,000 random impacts it was never needed.

use crate::iteration::{Iteration, Phase};
use crate::settings::BlockSettings;
use crate::solver::{NAME, refuse_overflow};
use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::{Velocity, vec3};
use moreau_solver::{SolveError, SolveReport};

/// Solves impacts by Poisson's law; see the file's formulas.
///
/// Normal targets in the problem's biases that ask for a rebound (b_n < 0) are left out: restitution
/// is what is given with each solve. A contact that rests takes the coefficient 0, or it would give
/// back a part of every step's weight.
#[derive(Clone, Debug, Default)]
pub struct PoissonRestitution {
    settings: BlockSettings,
    iteration: Iteration,
    compressed: Vec<Velocity>,
    expansion: Impulses,
    floors: Vec<f64>,
}

/// What an impact's two phases did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoissonReport {
    /// Of the first phase; its residual is in m/s, as always.
    pub compression: SolveReport,
    /// Of the second; the natural map is that of the law with a least normal impulse.
    pub expansion: SolveReport,
    /// The part of the expansion that was kept: 1, or less where all of it would have gained energy.
    pub kept: f64,
}

impl PoissonRestitution {
    /// With the given settings for each phase. They are checked by each solve.
    pub fn new(settings: BlockSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// The settings.
    pub fn settings(&self) -> &BlockSettings {
        &self.settings
    }

    /// Solves `problem` with the coefficient `restitution` (0 to 1) of each contact. `impulses`: the
    /// warm start of the compression on the way in, the total on the way out. `velocities`: v+.
    ///
    /// # Errors
    /// Where the coefficients are not one a contact or not in 0 to 1, where a setting is out of range,
    /// and where the answer overflows.
    ///
    /// ```
    /// # use moreau_constraint::{BodyInput, ContactInput, ContactProblem};
    /// # use moreau_math::{SymMat3, Vec3, Velocity, vec3};
    /// use moreau_solver_block::PoissonRestitution;
    /// # let mut problem = ContactProblem::new(0.01)?;
    /// # let a = problem.add_body(BodyInput::fixed())?;
    /// # let inverse_inertia = SymMat3::from_diagonal(Vec3::splat(10.0));
    /// # let velocity = Velocity::new(vec3(0.0, -2.0, 0.0), vec3(0.0, 0.0, 20.0));
    /// # let ball = problem.add_body(BodyInput { inverse_mass: 1.0, inverse_inertia, velocity })?;
    /// # let lever_b = vec3(0.0, -0.5, 0.0);
    /// # problem.add_contact(ContactInput { a, b: ball, normal: Vec3::Y, lever_a: Vec3::ZERO, lever_b,
    /// #     separation: 0.0, friction: 0.4, restitution: 0.0 })?;
    /// let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
    /// PoissonRestitution::default().solve(&problem, &[0.5], &mut impulses, &mut velocities)?;
    /// let v = velocities[ball].linear;
    /// assert!((v - vec3(-1.2, 1.0, 0.0)).length() < 1e-12); // friction of 0.4 (2 + 1) N s
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn solve(
        &mut self,
        problem: &ContactProblem,
        restitution: &[f64],
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
    ) -> Result<PoissonReport, SolveError> {
        self.settings.validate(NAME)?;
        check(problem, restitution)?;
        let (contacts, rows) = (problem.contacts().len(), problem.rows().len());
        impulses.sanitize(contacts, rows);
        let phase = (problem, Phase::Compression);
        let compression = self
            .iteration
            .run(&self.settings, phase, impulses, velocities);
        refuse_overflow(problem, impulses, velocities)?;
        self.compressed.clone_from(velocities);

        // The expansion gives back at least this, and starts there.
        self.floors.clear();
        self.expansion.sanitize(contacts, rows);
        self.expansion.rows.fill(0.0);
        let pairs = impulses.contacts.iter().zip(restitution);
        for ((l, e), next) in pairs.zip(&mut self.expansion.contacts) {
            let floor = e * l.x;
            self.floors.push(floor);
            *next = vec3(floor, 0.0, 0.0);
        }
        let phase = Phase::Expansion {
            velocities: &self.compressed,
            rows: &impulses.rows,
            floors: &self.floors,
        };
        let expansion = self.iteration.run(
            &self.settings,
            (problem, phase),
            &mut self.expansion,
            velocities,
        );
        refuse_overflow(problem, &mut self.expansion, velocities)?;
        let kept = self.affordable(problem, impulses, velocities);
        for (l, d) in impulses.contacts.iter_mut().zip(&self.expansion.contacts) {
            *l += *d * kept;
        }
        for (l, d) in impulses.rows.iter_mut().zip(&self.expansion.rows) {
            *l += d * kept;
        }
        problem.velocities_into(impulses, velocities);
        Ok(PoissonReport {
            compression,
            expansion,
            kept,
        })
    }

    /// The part theta of the expansion that the energy allows, with `l` the compression's impulses and
    /// `v` the velocities after the whole expansion:
    /// E(theta) = E_c + theta l'·u_c + theta² l'·(u+ - u_c)/2.
    fn affordable(&self, problem: &ContactProblem, l: &Impulses, v: &[Velocity]) -> f64 {
        let (mut taken, mut linear, mut square) = (0.0, 0.0, 0.0);
        let mut size = 0.0;
        let pairs = problem.contacts().iter().zip(&l.contacts);
        for ((c, l), d) in pairs.zip(&self.expansion.contacts) {
            let surface = vec3(0.0, c.bias.y, c.bias.z);
            let free = problem.free_velocity(c) + surface;
            let middle = problem.contact_velocity(c, &self.compressed) + surface;
            let end = problem.contact_velocity(c, v) + surface;
            taken += 0.5 * l.dot(free + middle);
            linear += d.dot(middle);
            square += 0.5 * d.dot(end - middle);
            size += l.length() * free.length() + d.length() * end.length();
        }
        if taken + linear + square <= 1e-14 * size {
            return 1.0;
        }
        part_without_gain(taken, linear, square)
    }
}

/// The theta in [0, 1) where taken + linear theta + square theta² = 0, of which the value at 1 is
/// positive and `square` is not negative; 0 where `taken` is not negative.
fn part_without_gain(taken: f64, linear: f64, square: f64) -> f64 {
    if !(taken < 0.0) {
        return 0.0;
    }
    // The positive root, without cancellation.
    let root = (linear * linear - 4.0 * square * taken).max(0.0).sqrt();
    let theta = if linear >= 0.0 {
        -2.0 * taken / (linear + root)
    } else {
        (root - linear) / (2.0 * square)
    };
    theta.clamp(0.0, 1.0)
}

fn check(problem: &ContactProblem, restitution: &[f64]) -> Result<(), SolveError> {
    let (count, expected) = (restitution.len(), problem.contacts().len());
    if count != expected {
        return Err(SolveError::Length {
            what: "restitution",
            count,
            expected,
        });
    }
    let outside = restitution.iter().find(|e| !(0.0..=1.0).contains(*e));
    match outside {
        Some(value) => Err(SolveError::Setting {
            solver: NAME,
            field: "restitution",
            value: *value,
            allowed: "0 to 1",
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::part_without_gain;

    #[test]
    fn the_part_that_is_kept_neither_gains_nor_loses() {
        for (taken, linear, square) in [
            (-1.0, 0.0, 4.0),
            (-1.0, 3.0, 0.0),
            (-1e-9, 2.0, 5.0),
            (-0.5, -1.0, 7.0),
            (-3.0, 2.0, 2.0),
        ] {
            let theta = part_without_gain(taken, linear, square);
            assert!((0.0..1.0).contains(&theta), "{theta}");
            let energy: f64 = taken + linear * theta + square * theta * theta;
            assert!(energy.abs() < 1e-15, "{taken} {linear} {square}: {energy}");
        }
        assert_eq!(part_without_gain(0.0, 1.0, 1.0), 0.0);
        assert_eq!(part_without_gain(f64::NAN, 1.0, 1.0), 0.0);
    }
}
