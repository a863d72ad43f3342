//! Joints as bilateral rows.

use crate::Row;
use moreau_math::Vec3;

/// The three rows of a ball joint: the points at `lever_a` on A and `lever_b` on B (m, world frame,
/// from each centre of mass) move together. `bias` (m/s) is the wanted closing velocity, zero or
/// -(rate/dt) times the gap for a position correction.
///
/// ```
/// # use moreau_constraint::ball_joint_rows;
/// # use moreau_math::Vec3;
/// let rows = ball_joint_rows((0, 1), (Vec3::ZERO, -Vec3::Y), Vec3::ZERO);
/// assert!(rows.iter().all(|row| row.lower == f64::NEG_INFINITY));
/// ```
pub fn ball_joint_rows(bodies: (usize, usize), levers: (Vec3, Vec3), bias: Vec3) -> [Row; 3] {
    [
        Row::bilateral(bodies, Vec3::X, levers, bias.x),
        Row::bilateral(bodies, Vec3::Y, levers, bias.y),
        Row::bilateral(bodies, Vec3::Z, levers, bias.z),
    ]
}

/// The row of a distance joint (a massless rod): the points at `lever_a` and `lever_b` keep their
/// distance. `axis` is the unit vector from the point on A to the point on B.
pub fn distance_joint_row(
    bodies: (usize, usize),
    axis: Vec3,
    levers: (Vec3, Vec3),
    bias: f64,
) -> Row {
    Row::bilateral(bodies, axis, levers, bias)
}

#[cfg(test)]
mod tests {
    use super::*;
    use moreau_math::{Velocity, vec3};

    #[test]
    fn rows_measure_the_relative_point_velocity() {
        let a = Velocity::new(vec3(1.0, 2.0, 3.0), vec3(-0.5, 0.25, 4.0));
        let b = Velocity::new(vec3(-1.0, 0.5, 0.0), vec3(3.0, 0.0, -2.0));
        let levers = (vec3(0.1, 0.2, 0.3), vec3(-1.0, 0.5, 2.0));
        let u = b.at(levers.1) - a.at(levers.0);
        let rows = ball_joint_rows((0, 1), levers, Vec3::ZERO);
        for (row, want) in rows.iter().zip(u.to_array()) {
            assert!((row.velocity(&a, &b) - want).abs() < 1e-14);
        }
        let axis = vec3(2.0, 3.0, 6.0) / 7.0;
        let row = distance_joint_row((0, 1), axis, levers, 0.0);
        assert!((row.velocity(&a, &b) - axis.dot(u)).abs() < 1e-14);
    }
}
