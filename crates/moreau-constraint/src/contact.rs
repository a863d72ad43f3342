//! One contact point.
//!
//! With s = u+ + b in the frame (n, t1, t2), the exact Coulomb conditions are
//!
//! ```text
//! 0 <= l_n  _|_  s_n >= 0,    |l_t| <= mu l_n,    l_t = -mu l_n s_t/|s_t| where |s_t| > 0.
//! ```
//!
//! b_n = phi/h for an open contact (phi > 0), else e u_n- for an approach faster than the threshold
//! (Newton's law, u_n- < 0), else 0. b_t is zero but for conveyors: the material of the surface moves.

use crate::ProblemError;
use moreau_math::{Vec3, tangent_basis, vec3};
use serde::{Deserialize, Serialize};

/// Orthonormal right-handed axes of a contact: normal = tangent1 x tangent2.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContactFrame {
    /// Unit, from A to B.
    pub normal: Vec3,
    /// Unit.
    pub tangent1: Vec3,
    /// Unit.
    pub tangent2: Vec3,
}

impl ContactFrame {
    /// The frame of a unit normal; a smooth deterministic function of it (see
    /// [`moreau_math::tangent_basis`]).
    pub fn new(normal: Vec3) -> Self {
        let (tangent1, tangent2) = tangent_basis(normal);
        Self {
            normal,
            tangent1,
            tangent2,
        }
    }

    /// World vector to (n, t1, t2).
    pub fn to_local(&self, v: Vec3) -> Vec3 {
        vec3(
            self.normal.dot(v),
            self.tangent1.dot(v),
            self.tangent2.dot(v),
        )
    }

    /// (n, t1, t2) to world vector.
    pub fn to_world(&self, v: Vec3) -> Vec3 {
        self.normal * v.x + self.tangent1 * v.y + self.tangent2 * v.z
    }

    /// Refuses axes that are not orthonormal: they would change the size of impulses.
    fn validate(&self, index: usize) -> Result<(), ProblemError> {
        let (n, t1, t2) = (self.normal, self.tangent1, self.tangent2);
        let checks = [
            ("|normal|", n.length(), 1.0, "1 within 1e-6"),
            ("|tangent1|", t1.length(), 1.0, "1 within 1e-6"),
            ("|tangent2|", t2.length(), 1.0, "1 within 1e-6"),
            ("normal·tangent1", n.dot(t1), 0.0, "0 within 1e-6"),
            ("normal·tangent2", n.dot(t2), 0.0, "0 within 1e-6"),
            ("tangent1·tangent2", t1.dot(t2), 0.0, "0 within 1e-6"),
        ];
        for (field, value, want, allowed) in checks {
            if (value - want).abs() > 1e-6 {
                return Err(ProblemError::OutOfRange {
                    what: "contact",
                    index,
                    field,
                    value,
                    allowed,
                });
            }
        }
        Ok(())
    }
}

/// A contact as a caller states it: geometry, material and the law of restitution.
///
/// [`crate::ContactProblem::add_contact`] turns it into a [`ContactPoint`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContactInput {
    /// Index of body A.
    pub a: usize,
    /// Index of body B.
    pub b: usize,
    /// Unit, from A to B, world frame.
    pub normal: Vec3,
    /// From A's centre of mass to the contact point on A, m, world frame.
    pub lever_a: Vec3,
    /// From B's centre of mass to the contact point on B, m, world frame.
    pub lever_b: Vec3,
    /// Signed distance along the normal, m; positive for a contact that is not closed yet.
    pub separation: f64,
    /// Coulomb's coefficient, >= 0.
    pub friction: f64,
    /// Newton's coefficient, 0 to 1.
    pub restitution: f64,
}

/// A contact as a solver sees it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContactPoint {
    /// Index of body A.
    pub a: usize,
    /// Index of body B.
    pub b: usize,
    /// Axes.
    pub frame: ContactFrame,
    /// From A's centre of mass to the contact point on A, m, world frame.
    pub lever_a: Vec3,
    /// From B's centre of mass to the contact point on B, m, world frame.
    pub lever_b: Vec3,
    /// Coulomb's coefficient, >= 0.
    pub friction: f64,
    /// b of s = u+ + b, (n, t1, t2), m/s.
    pub bias: Vec3,
}

impl ContactPoint {
    /// Refuses what no solver could use. `index` is only for the message.
    pub(crate) fn validate(&self, index: usize) -> Result<(), ProblemError> {
        let finite = [
            ("frame.normal", self.frame.normal),
            ("frame.tangent1", self.frame.tangent1),
            ("frame.tangent2", self.frame.tangent2),
            ("lever_a", self.lever_a),
            ("lever_b", self.lever_b),
            ("bias", self.bias),
        ];
        for (field, value) in finite {
            if !value.is_finite() {
                let value = value.to_string();
                return Err(ProblemError::NotFinite {
                    what: "contact",
                    index,
                    field,
                    value,
                });
            }
        }
        if !(self.friction >= 0.0 && self.friction.is_finite()) {
            return Err(ProblemError::OutOfRange {
                what: "contact",
                index,
                field: "friction",
                value: self.friction,
                allowed: "0 or more, and finite",
            });
        }
        self.frame.validate(index)
    }
}

/// The normal velocity (m/s, positive separates) that a contact must have at the end of a step in
/// which it bounces, so that the bounce takes its energy at the place where the surfaces touch.
///
/// `separation` phi (m) at the start of the step; `speed` u (m/s, negative approaches) at the start
/// of the step, before forces; `acceleration` a (m/s²) of the normal gap under forces alone;
/// `restitution` e; step `dt` h (s). Returns `None` where the contact does not close in the step or
/// reaches the surface slower than `threshold` (m/s): then it does not bounce.
///
/// The surfaces meet at the speed c with c² = u² - 2 a phi. After the bounce the gap is phi + h w
/// with the velocity w, and the energy in that field is e² c²/2 where w² - 2 a (phi + h w) = e² c².
/// The positive root is w = a h + sqrt(a² h² + 2 a phi + e² c²); for a = 0 it is Newton's law,
/// w = -e u. It does not depend on how early the contact was seen.
pub fn rebound_speed(
    separation: f64,
    speed: f64,
    acceleration: f64,
    dt: f64,
    restitution: f64,
    threshold: f64,
) -> Option<f64> {
    let (phi, a, h) = (separation, acceleration, dt);
    if restitution == 0.0 {
        // An inelastic contact closes its gap, whatever little energy the formula leaves it.
        return None;
    }
    // A gap that the ballistic path does not close within the step.
    if phi > 0.0 && phi + h * (speed + 0.5 * a * h) >= 0.0 {
        return None;
    }
    let closing_squared = speed * speed - 2.0 * a * phi;
    // Already separating (u > 0) and only pulled back by the forces: it touches from rest at most.
    if speed >= 0.0 && phi <= 0.0 || closing_squared <= threshold * threshold {
        return None;
    }
    let energy = restitution * restitution * closing_squared;
    let discriminant = a * a * h * h + 2.0 * a * phi + energy;
    if discriminant <= 0.0 {
        return None;
    }
    let w = a * h + discriminant.sqrt();
    // Never deeper than touching at the end of the step, never pulling.
    (w > -phi.max(0.0) / h).then_some(w)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_forces_it_is_newtons_law() {
        for phi in [0.0, 0.01, 0.03] {
            let w = rebound_speed(phi, -4.0, 0.0, 1.0 / 60.0, 0.5, 1e-3).unwrap();
            assert!((w - 2.0).abs() < 1e-15);
        }
        assert_eq!(rebound_speed(0.1, -4.0, 0.0, 1.0 / 60.0, 0.5, 1e-3), None);
    }

    #[test]
    fn the_energy_after_it_is_e_squared_of_that_at_touching() {
        let (g, h, e) = (9.81, 1.0 / 60.0, 0.8);
        for phi in [-0.02, 0.0, 0.005, 0.05] {
            let w = rebound_speed(phi, -5.0, -g, h, e, 1e-3).unwrap();
            let touching = 0.5 * 25.0 + g * phi;
            let after = 0.5 * w * w + g * (phi + h * w);
            assert!((after - e * e * touching).abs() < 1e-12, "phi {phi}");
        }
    }

    #[test]
    fn an_inelastic_contact_never_bounces() {
        // The forces of two falling bodies cancel to rounding: neither sign of it may matter.
        for a in [-9.81, -1e-13, 0.0, 1e-13] {
            for phi in [-0.01, 0.0, 0.004] {
                assert_eq!(rebound_speed(phi, -2.0, a, 1.0 / 60.0, 0.0, 1e-3), None);
            }
        }
    }

    #[test]
    fn a_resting_contact_never_bounces() {
        assert_eq!(rebound_speed(0.0, 0.0, -9.81, 1.0 / 60.0, 1.0, 1e-3), None);
        assert_eq!(
            rebound_speed(-1e-4, 0.0, -9.81, 1.0 / 60.0, 1.0, 1e-3),
            None
        );
    }
}
