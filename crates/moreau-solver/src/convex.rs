//! How right an answer is under the associated (convex) model, which is **not** Coulomb's law.
//!
//! ```text
//! min 1/2 l'A l - b'l  over |l_t| <= mu l_n,    A = J M^-1 J',  b = -(J v + bias),  s = A l - b
//! optimal where  K contains l,  K* contains s,  l·s = 0  at each contact
//! ```
//!
//! It has a solution wherever some velocity keeps all s in K*, and v+ is unique; but where a contact
//! slides s_n = mu |s_t|: the bodies part while they rub. Coulomb's law has s + (mu |s_t|, 0, 0) in the place of s (see
//! [`crate::certify`]); the two agree where nothing slides or nothing rubs.
//!
//! Natural map of a contact, in m/s, with rho = 3/trace(A_cc): | l - P_K(l - rho s) | / rho; rows as
//! in [`crate::row_natural_map`]. Document 003, section M1.

use crate::certificate::{check_lengths, check_velocities, momentum_error, raise};
use crate::{SolveError, row_natural_map};
use moreau_constraint::{ContactProblem, Impulses, project_cone};
use moreau_math::{Vec3, Velocity};
use serde::{Deserialize, Serialize};

/// The errors of an answer under the associated model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConvexCertificate {
    /// Largest natural map without the De Saxcé term, over contacts and rows, m/s.
    pub natural_map: f64,
    /// The contact where it is, `None` where a row is worse or there is no contact.
    pub worst_contact: Option<usize>,
    /// The row where it is, `None` where a contact is worse or there is no row.
    pub worst_row: Option<usize>,
    /// As in [`crate::Certificate::momentum_balance`], m/s.
    pub momentum_balance: f64,
    /// Largest |l_t| - mu l_n, N s.
    pub max_cone_excess: f64,
    /// Largest distance of s from the dual cone, m/s.
    pub max_dual_excess: f64,
    /// Sum of l·s over all contacts, J: the gap between cost and dual cost where l and s are feasible
    /// and rows are bilateral.
    pub duality_gap: f64,
    /// 1/2 l'A l - b'l, J, rows included.
    pub cost: f64,
}

/// The natural map (m/s) of one contact under the associated model: impulse `l`, shifted velocity
/// `s` (contact frame), `trace` of its Delassus block (1/kg).
///
/// Where the trace is zero it is the distance from s to the dual cone.
pub fn convex_natural_map(l: Vec3, s: Vec3, friction: f64, trace: f64) -> f64 {
    let rho = 3.0 / trace;
    if !rho.is_finite() {
        return project_cone(-s, friction).length();
    }
    (l - project_cone(l - s * rho, friction)).length() / rho
}

/// Certifies `impulses` as an answer of the associated model to `problem`, with the velocities that
/// follow from them.
///
/// # Errors
/// Where the lengths do not fit the problem.
pub fn certify_convex(
    problem: &ContactProblem,
    impulses: &Impulses,
) -> Result<ConvexCertificate, SolveError> {
    check_lengths(problem, impulses)?;
    let velocities = problem.velocities(impulses);
    Ok(certify(problem, impulses, &velocities))
}

impl ConvexCertificate {
    /// Certifies `impulses` together with a solver's own `velocities` of all bodies.
    ///
    /// # Errors
    /// Where the lengths do not fit the problem.
    pub fn of(
        problem: &ContactProblem,
        impulses: &Impulses,
        velocities: &[Velocity],
    ) -> Result<Self, SolveError> {
        check_lengths(problem, impulses)?;
        check_velocities(problem, velocities)?;
        Ok(certify(problem, impulses, velocities))
    }
}

fn certify(problem: &ContactProblem, impulses: &Impulses, v: &[Velocity]) -> ConvexCertificate {
    let mut out = ConvexCertificate {
        natural_map: 0.0,
        worst_contact: None,
        worst_row: None,
        momentum_balance: momentum_error(problem, impulses, v),
        max_cone_excess: 0.0,
        max_dual_excess: 0.0,
        duality_gap: 0.0,
        cost: 0.0,
    };
    let contacts = problem.contacts().iter().zip(&impulses.contacts);
    for (i, (c, l)) in contacts.enumerate() {
        let s = problem.contact_velocity(c, v) + c.bias;
        let free = problem.free_velocity(c) + c.bias;
        let w = problem.delassus_block(c);
        let trace = w.x_axis.x + w.y_axis.y + w.z_axis.z;
        let map = convex_natural_map(*l, s, c.friction, trace);
        // A NaN must not pass for a small residual; `>=` so that one contact is always named.
        if map >= out.natural_map || map.is_nan() {
            (out.natural_map, out.worst_contact) = (map, Some(i));
        }
        let tangential = (l.y * l.y + l.z * l.z).sqrt();
        raise(&mut out.max_cone_excess, tangential - c.friction * l.x);
        let dual_excess = project_cone(-s, c.friction).length();
        raise(&mut out.max_dual_excess, dual_excess);
        out.duality_gap += l.dot(s);
        // A l = s - free, so the cost is l·(s + free)/2.
        out.cost += 0.5 * l.dot(s + free);
    }
    for (i, (r, l)) in problem.rows().iter().zip(&impulses.rows).enumerate() {
        let (a, b) = (
            &problem.bodies()[r.a].velocity,
            &problem.bodies()[r.b].velocity,
        );
        let free = r.velocity(a, b) + r.bias;
        let w = r.velocity(&v[r.a], &v[r.b]) + r.bias + r.regularization * l;
        let map = row_natural_map(*l, w, r, problem.row_diagonal(r));
        if map > out.natural_map || map.is_nan() {
            (out.natural_map, out.worst_contact, out.worst_row) = (map, None, Some(i));
        }
        out.cost += 0.5 * l * (w + free);
    }
    out
}
