//! The measures by which public test campaigns compare solvers.
//!
//! ```text
//! e = |r - P_K(r - rho (u + g(u)))| / max(rho |q|, |r|, rho |u|)      g(u) = (mu |u_t|, 0, 0)
//! merit = 1/2 r'W r + q'r
//! ```
//!
//! Euclidean norms over all contacts. The campaigns take rho = 1, which adds impulses to velocities:
//! the value depends on the units. With rho_c = 1/max(diag W_cc), and q and u times rho_c in the
//! denominator as well, all of it is N s and no change of units changes the value. Rows take part with
//! clamp for P_K and without g.

use crate::{DelassusProblem, SolveError, certificate};
use moreau_constraint::{ContactProblem, Impulses, project_cone};
use moreau_math::{Mat3, Vec3, vec3};
use serde::{Deserialize, Serialize};

/// The measures of one answer; see the module's formulas.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measures {
    /// The natural map with rho = 1.
    pub natural_map: f64,
    /// The natural map in units of its own.
    pub scaled_natural_map: f64,
    /// 1/2 r'W r + q'r, J: with W symmetric, what the impulses put in, but for biases.
    pub energy: f64,
}

/// One contact of an answer.
pub(crate) struct Term<'a> {
    pub(crate) r: Vec3,
    pub(crate) u: Vec3,
    pub(crate) q: Vec3,
    pub(crate) friction: f64,
    pub(crate) w: &'a Mat3,
}

/// Squares of the map, and of q, r and u.
#[derive(Clone, Copy, Debug, Default)]
struct Squares {
    map: f64,
    sizes: [f64; 3],
}

/// The sums that the measures are made of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    plain: Squares,
    scaled: Squares,
    energy: f64,
}

impl Squares {
    fn add_contact(&mut self, term: &Term<'_>, rho: f64) {
        let (u, mu) = (term.u, term.friction);
        let slip = (u.y * u.y + u.z * u.z).sqrt();
        let step = vec3(u.x + mu * slip, u.y, u.z) * rho;
        self.map += (term.r - project_cone(term.r - step, mu)).length_squared();
        for (size, x) in self.sizes.iter_mut().zip([term.q * rho, term.r, u * rho]) {
            *size += x.length_squared();
        }
    }

    fn add_row(&mut self, (map, q, l, w): (f64, f64, f64, f64), rho: f64) {
        self.map += map * map;
        for (size, x) in self.sizes.iter_mut().zip([q * rho, l, w * rho]) {
            *size += x * x;
        }
    }

    fn ratio(&self) -> f64 {
        if self.map == 0.0 {
            return 0.0;
        }
        self.map.sqrt() / self.sizes.into_iter().fold(0.0, f64::max).sqrt()
    }
}

impl Sums {
    pub(crate) fn add(&mut self, term: &Term<'_>) {
        let w = term.w;
        let largest = w.x_axis.x.max(w.y_axis.y).max(w.z_axis.z);
        self.plain.add_contact(term, 1.0);
        self.scaled.add_contact(term, inverse(largest));
        self.energy += 0.5 * term.r.dot(term.u + term.q);
    }

    pub(crate) fn measures(&self) -> Measures {
        Measures {
            natural_map: self.plain.ratio(),
            scaled_natural_map: self.scaled.ratio(),
            energy: self.energy,
        }
    }
}

/// 1/x, or 1 where that is no number: nothing moves there.
fn inverse(x: f64) -> f64 {
    let inverse = 1.0 / x;
    if inverse > 0.0 && inverse.is_finite() {
        inverse
    } else {
        1.0
    }
}

impl Measures {
    /// The measures of `impulses` as an answer to a problem of bodies.
    ///
    /// # Errors
    /// Where the lengths do not fit the problem.
    pub fn of(problem: &ContactProblem, impulses: &Impulses) -> Result<Self, SolveError> {
        certificate::check_lengths(problem, impulses)?;
        let v = problem.velocities(impulses);
        let mut sums = Sums::default();
        for (c, r) in problem.contacts().iter().zip(&impulses.contacts) {
            sums.add(&Term {
                r: *r,
                u: problem.contact_velocity(c, &v) + c.bias,
                q: problem.free_velocity(c) + c.bias,
                friction: c.friction,
                w: &problem.delassus_block(c),
            });
        }
        for (row, l) in problem.rows().iter().zip(&impulses.rows) {
            let bodies = problem.bodies();
            let free = row.velocity(&bodies[row.a].velocity, &bodies[row.b].velocity);
            let q = free + row.bias;
            let w = row.velocity(&v[row.a], &v[row.b]) + row.bias + row.regularization * l;
            let map = |rho: f64| l - (l - rho * w).clamp(row.lower, row.upper);
            let rho = inverse(problem.row_diagonal(row));
            sums.plain.add_row((map(1.0), q, *l, w), 1.0);
            sums.scaled.add_row((map(rho), q, *l, w), rho);
            sums.energy += 0.5 * l * (w + q);
        }
        Ok(sums.measures())
    }

    /// The measures of the impulses `r` (N s, one a contact) as an answer in contact space.
    pub fn in_contact_space(problem: &DelassusProblem, r: &[Vec3]) -> Self {
        let mut sums = Sums::default();
        for (i, l) in r.iter().enumerate() {
            sums.add(&Term {
                r: *l,
                u: problem.velocity(i, r),
                q: problem.q()[i],
                friction: problem.friction()[i],
                w: problem.diagonal(i),
            });
        }
        sums.measures()
    }
}
