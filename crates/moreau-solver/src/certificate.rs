//! How right an answer is, whoever computed it.
//!
//! Natural map of contact c, in m/s: with s = u+ + b, g = (mu |s_t|, 0, 0), rho = 3/trace(W_cc),
//!
//! ```text
//! | l - P_K(l - rho (s + g)) | / rho
//! ```
//!
//! It is zero exactly where the Coulomb conditions hold. For a row with diagonal d and rho = 1/d:
//! | l - clamp(l - rho w, lower, upper) | / rho.
//!
//! Of the normal direction alone, 0 <= l_n, 0 <= s_n, l_n s_n = 0, the same map is |min(l_n/rho, s_n)|.
//! That of the contact is at least its part of 1/sqrt(1 + mu²), for with e = l - P_K(l - rho (s + g)) the
//! projection's remainder rho (s + g) - e lies in the dual cone: rho s_n >= e_n - mu |e_t|, and
//! rho s_n <= e_n + mu |e_t| unless l_n <= |e|. Little is left of it where mu is large: the cone is nearly a
//! half-space, and a contact that closes at v without impulse has the map v/mu. So the map of a contact is taken
//! as no less than a tenth of that of its normal direction, which changes nothing up to mu = 9.9.

use crate::SolveError;
use moreau_constraint::{ContactPoint, ContactProblem, Impulses, Row, project_cone, project_disc};
use moreau_math::{Vec3, Velocity, vec3};
use serde::{Deserialize, Serialize};

/// The errors of an answer. Zero everywhere for an exact one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// Largest natural map over contacts and rows, m/s.
    pub natural_map: f64,
    /// The contact where it is, `None` where a row is worse or there is no contact.
    pub worst_contact: Option<usize>,
    /// The row where it is, `None` where a contact is worse or there is no row.
    pub worst_row: Option<usize>,
    /// M (v+ - v) - J' l of the worst body, linear and angular: with the velocity error (dv, dw) that
    /// it amounts to, sqrt(|dv|² + dw·I dw/m), m/s (see [`moreau_constraint::BodyInput::velocity_norm`]). Only
    /// rounding, where v+ comes from l; large where a solver's velocities and impulses disagree.
    pub momentum_balance: f64,
    /// Least normal impulse, N s; negative pulls.
    pub min_normal_impulse: f64,
    /// Least s_n, m/s; negative penetrates or bounces too little.
    pub min_normal_velocity: f64,
    /// Largest |l_n s_n|, J: a contact that pushes while it separates.
    pub max_complementarity: f64,
    /// Largest |l_t| - mu l_n, N s; 0 where all impulses lie in their cones.
    pub max_cone_excess: f64,
    /// Largest |l_t - P(l_t - rho s_t)|, N s, with P the projection on the disc of mu l_n: friction
    /// that does not oppose sliding, or that does not hold although it could.
    pub max_direction_error: f64,
    /// Kinetic energy after minus before, J (of the movable bodies, from the free velocities).
    pub energy_change: f64,
    /// Largest change of total linear momentum along the ten directions of the metrics document,
    /// N s; not zero where fixed bodies take up momentum.
    pub directional_momentum_drift: f64,
}

/// The ten unit directions of the directional momentum metric: the axes, then the face and space
/// diagonals x+y, y+z, z+x, x+y+z, x-y, y-z, z-x.
pub fn momentum_directions() -> [Vec3; 10] {
    [
        Vec3::X,
        Vec3::Y,
        Vec3::Z,
        vec3(1.0, 1.0, 0.0).normalize(),
        vec3(0.0, 1.0, 1.0).normalize(),
        vec3(1.0, 0.0, 1.0).normalize(),
        vec3(1.0, 1.0, 1.0).normalize(),
        vec3(1.0, -1.0, 0.0).normalize(),
        vec3(0.0, 1.0, -1.0).normalize(),
        vec3(-1.0, 0.0, 1.0).normalize(),
    ]
}

/// The part of the normal direction's own natural map that a contact's is no less than.
pub const NORMAL_SHARE: f64 = 0.1;

/// The natural map (m/s) of one contact whose impulse is `l` and whose shifted velocity is `s`
/// (both in the contact frame); `trace` of its Delassus block, 1/kg.
///
/// No less than [`NORMAL_SHARE`] of |min(l_n/rho, s_n)|, the map of the normal direction alone: no contact closes
/// at more than ten times it, however large the friction is (up to a coefficient of 9.9 that follows from the
/// cone's map). Where the trace is zero no impulse changes anything at the contact, and the map is the
/// distance from s + g to the dual cone, or a tenth of -s_n.
pub fn natural_map(l: Vec3, s: Vec3, friction: f64, trace: f64) -> f64 {
    let slip = (s.y * s.y + s.z * s.z).sqrt();
    let shifted = vec3(s.x + friction * slip, s.y, s.z);
    let rho = 3.0 / trace;
    let map = if rho.is_finite() {
        (l - project_cone(l - shifted * rho, friction)).length() / rho
    } else {
        project_cone(-shifted, friction).length()
    };
    let normal = NORMAL_SHARE * (l.x * (trace / 3.0)).min(s.x).abs();
    // A map that is no number stays.
    if normal > map { normal } else { map }
}

/// The natural map (m/s) of one row whose impulse is `l` and whose velocity with bias and
/// regularization is `w`; `diagonal` of the row, 1/kg.
///
/// Where the diagonal is zero no impulse changes anything at the row, and the map is the part of w
/// that its bounds do not allow.
pub fn row_natural_map(l: f64, w: f64, row: &Row, diagonal: f64) -> f64 {
    if !(1.0 / diagonal).is_finite() {
        let allowed = (l <= row.lower && w > 0.0) || (l >= row.upper && w < 0.0);
        return if allowed { 0.0 } else { w.abs() };
    }
    (l - (l - w / diagonal).clamp(row.lower, row.upper)).abs() * diagonal
}

/// Certifies `impulses` as an answer to `problem`, with the velocities that follow from them.
///
/// # Errors
/// Where the lengths do not fit the problem.
pub fn certify(problem: &ContactProblem, impulses: &Impulses) -> Result<Certificate, SolveError> {
    check_lengths(problem, impulses)?;
    let velocities = problem.velocities(impulses);
    Ok(certify_with(problem, impulses, &velocities))
}

pub(crate) fn check_lengths(
    problem: &ContactProblem,
    impulses: &Impulses,
) -> Result<(), SolveError> {
    let pairs = [
        ("contact", impulses.contacts.len(), problem.contacts().len()),
        ("row", impulses.rows.len(), problem.rows().len()),
    ];
    for (what, count, expected) in pairs {
        if count != expected {
            return Err(SolveError::Length {
                what,
                count,
                expected,
            });
        }
    }
    Ok(())
}

pub(crate) fn check_velocities(
    problem: &ContactProblem,
    velocities: &[Velocity],
) -> Result<(), SolveError> {
    let (count, expected) = (velocities.len(), problem.bodies().len());
    if count == expected {
        return Ok(());
    }
    Err(SolveError::Length {
        what: "velocity",
        count,
        expected,
    })
}

impl Certificate {
    /// Certifies `impulses` together with a solver's own `velocities` of all bodies (they may
    /// disagree: see [`Certificate::momentum_balance`]).
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
        Ok(certify_with(problem, impulses, velocities))
    }
}

fn certify_with(problem: &ContactProblem, impulses: &Impulses, v: &[Velocity]) -> Certificate {
    let mut out = Certificate {
        natural_map: 0.0,
        worst_contact: None,
        worst_row: None,
        momentum_balance: 0.0,
        min_normal_impulse: f64::INFINITY,
        min_normal_velocity: f64::INFINITY,
        max_complementarity: 0.0,
        max_cone_excess: 0.0,
        max_direction_error: 0.0,
        energy_change: 0.0,
        directional_momentum_drift: 0.0,
    };
    for (i, (c, l)) in problem
        .contacts()
        .iter()
        .zip(&impulses.contacts)
        .enumerate()
    {
        certify_contact(problem, (i, c), *l, v, &mut out);
    }
    if problem.contacts().is_empty() {
        (out.min_normal_impulse, out.min_normal_velocity) = (0.0, 0.0);
    }
    for (i, (r, l)) in problem.rows().iter().zip(&impulses.rows).enumerate() {
        let w = r.velocity(&v[r.a], &v[r.b]) + r.bias + r.regularization * l;
        let map = row_natural_map(*l, w, r, problem.row_diagonal(r));
        // A NaN must not pass for a small residual.
        if map > out.natural_map || map.is_nan() {
            (out.natural_map, out.worst_contact, out.worst_row) = (map, None, Some(i));
        }
    }
    out.momentum_balance = momentum_error(problem, impulses, v);
    let mut momentum_change = Vec3::ZERO;
    for (body, got) in problem.bodies().iter().zip(v) {
        if body.inverse_mass > 0.0 {
            momentum_change += (got.linear - body.velocity.linear) / body.inverse_mass;
        }
    }
    for d in momentum_directions() {
        let drift = momentum_change.dot(d).abs();
        raise(&mut out.directional_momentum_drift, drift);
    }
    let free: Vec<Velocity> = problem.bodies().iter().map(|b| b.velocity).collect();
    out.energy_change = problem.kinetic_energy(v) - problem.kinetic_energy(&free);
    out
}

/// What the impulses say against what the velocities `v` say, m/s (see
/// [`Certificate::momentum_balance`]).
pub(crate) fn momentum_error(problem: &ContactProblem, impulses: &Impulses, v: &[Velocity]) -> f64 {
    let from_impulses = problem.velocities(impulses);
    let mut largest = 0.0;
    for ((body, want), got) in problem.bodies().iter().zip(&from_impulses).zip(v) {
        let error = Velocity::new(want.linear - got.linear, want.angular - got.angular);
        raise(&mut largest, body.velocity_norm(&error));
    }
    largest
}

fn certify_contact(
    problem: &ContactProblem,
    (index, c): (usize, &ContactPoint),
    l: Vec3,
    v: &[Velocity],
    out: &mut Certificate,
) {
    let s = problem.contact_velocity(c, v) + c.bias;
    let w = problem.delassus_block(c);
    let trace = w.x_axis.x + w.y_axis.y + w.z_axis.z;
    let map = natural_map(l, s, c.friction, trace);
    // A NaN must not pass for a small residual; `>=` so that one contact is always named.
    if map >= out.natural_map || map.is_nan() {
        (out.natural_map, out.worst_contact) = (map, Some(index));
    }
    let tangential = (l.y * l.y + l.z * l.z).sqrt();
    lower(&mut out.min_normal_impulse, l.x);
    lower(&mut out.min_normal_velocity, s.x);
    raise(&mut out.max_complementarity, (l.x * s.x).abs());
    raise(&mut out.max_cone_excess, tangential - c.friction * l.x);
    let rho = 3.0 / trace;
    if rho.is_finite() {
        let radius = c.friction * l.x.max(0.0);
        let (t1, t2) = project_disc(l.y - rho * s.y, l.z - rho * s.z, radius);
        let (e1, e2) = (l.y - t1, l.z - t2);
        raise(&mut out.max_direction_error, (e1 * e1 + e2 * e2).sqrt());
    }
}

/// The larger of the two; a NaN stays, so that it never passes for a small error.
pub(crate) fn raise(largest: &mut f64, value: f64) {
    if value > *largest || value.is_nan() {
        *largest = value;
    }
}

/// The smaller of the two; a NaN stays.
fn lower(least: &mut f64, value: f64) {
    if value < *least || value.is_nan() {
        *least = value;
    }
}
