//! How large the numbers of an answer are, and so how large its rounding may be.

use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::{Vec3, Velocity};

/// The velocity (m/s) below which only rounding speaks: 64 units in the last place of the largest
/// sum of absolute contributions to a velocity of the answer `impulses`. Not finite where these
/// overflow.
pub(crate) fn rounding_floor(problem: &ContactProblem, impulses: &Impulses) -> f64 {
    let mut sizes: Vec<Size> = problem
        .bodies()
        .iter()
        .map(|b| Size {
            linear: b.velocity.linear.length(),
            angular: b.velocity.angular.length(),
            energy_norm: b.velocity_norm(&b.velocity),
        })
        .collect();
    let mut add = |body: usize, force: Vec3, torque: Vec3| {
        let input = &problem.bodies()[body];
        let v = Velocity::new(
            force * input.inverse_mass,
            input.inverse_inertia.mul_vec(torque),
        );
        sizes[body].linear += v.linear.length();
        sizes[body].angular += v.angular.length();
        sizes[body].energy_norm += input.velocity_norm(&v);
    };
    for (c, l) in problem.contacts().iter().zip(&impulses.contacts) {
        let p = c.frame.to_world(*l);
        add(c.a, p, c.lever_a.cross(p));
        add(c.b, p, c.lever_b.cross(p));
    }
    for (r, l) in problem.rows().iter().zip(&impulses.rows) {
        add(r.a, r.linear_a * *l, r.angular_a * *l);
        add(r.b, r.linear_b * *l, r.angular_b * *l);
    }
    let mut largest = sizes.iter().fold(0.0, |m, s| larger(m, s.energy_norm));
    for c in problem.contacts() {
        let (a, b) = (&sizes[c.a], &sizes[c.b]);
        let u = a.linear
            + b.linear
            + a.angular * c.lever_a.length()
            + b.angular * c.lever_b.length()
            + c.bias.length();
        // The natural map takes mu |s_t| into account.
        largest = larger(largest, u * (1.0 + c.friction));
    }
    for r in problem.rows() {
        let (a, b) = (&sizes[r.a], &sizes[r.b]);
        let w = a.linear * r.linear_a.length()
            + b.linear * r.linear_b.length()
            + a.angular * r.angular_a.length()
            + b.angular * r.angular_b.length();
        largest = larger(largest, w + r.bias.abs());
    }
    64.0 * f64::EPSILON * largest
}

/// Sums of absolute contributions to a body's velocity.
struct Size {
    linear: f64,
    angular: f64,
    energy_norm: f64,
}

/// The larger one; a NaN stays.
fn larger(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}
