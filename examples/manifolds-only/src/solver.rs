//! The foreign solver: sequential impulses for one body on fixed ground.
//!
//! In a sweep each point changes its impulse l so that u_n >= -separation/dt, l_n >= 0 and
//! |l_t| <= mu l_n against sliding, as far as its own effective mass tells:
//!
//! ```text
//! u = v + w x r    1/m_n = 1/m + |r x n|²/I    1/m_t = 1/m + |r|²/I (no less than that of any tangent)
//! ```

use moreau_math::{Pose, Vec3, Velocity};

/// Inertia is the same about every axis.
pub(crate) struct Body {
    pub(crate) pose: Pose,
    pub(crate) velocity: Velocity,
    /// 1/kg.
    pub(crate) inverse_mass: f64,
    /// 1/(kg m²).
    pub(crate) inverse_inertia: f64,
}

/// Of a manifold, with the body as B.
pub(crate) struct Point {
    pub(crate) normal: Vec3,
    /// From the body's centre, m.
    pub(crate) lever: Vec3,
    /// m.
    pub(crate) separation: f64,
    /// On the body, N s.
    pub(crate) impulse: Vec3,
}

/// Sweeps until nothing moves; 2,000 at most.
pub(crate) fn solve(body: &mut Body, points: &mut [Point], friction: f64, dt: f64) {
    for _ in 0..2_000 {
        let mut most: f64 = 0.0;
        for point in points.iter_mut() {
            let before = point.impulse;
            point.impulse = improved(body, point, friction, dt);
            let change = point.impulse - before;
            body.velocity.linear += change * body.inverse_mass;
            body.velocity.angular += point.lever.cross(change) * body.inverse_inertia;
            most = most.max(change.length() * body.inverse_mass);
        }
        if most < 1e-13 {
            return;
        }
    }
}

/// The point's next impulse.
fn improved(body: &Body, point: &Point, friction: f64, dt: f64) -> Vec3 {
    let (n, r) = (point.normal, point.lever);
    let u = body.velocity.at(r);
    let old = point.impulse.dot(n);

    let stiffness = body.inverse_mass + r.cross(n).length_squared() * body.inverse_inertia;
    let normal = (old - (u.dot(n) + point.separation / dt) / stiffness).max(0.0);

    let stiffness = body.inverse_mass + r.length_squared() * body.inverse_inertia;
    let sliding = u - n * u.dot(n);
    let tangent = point.impulse - n * old - sliding / stiffness;
    n * normal + tangent.clamp_length_max(friction * normal)
}
