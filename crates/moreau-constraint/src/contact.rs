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
#[serde(deny_unknown_fields)]
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
    #[inline]
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
#[serde(deny_unknown_fields)]
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
    /// Whether all is finite and the axes are orthonormal, in one pass and to less than what is allowed: the
    /// way that contacts take, but for those that are refused.
    #[inline]
    fn is_plainly_sound(&self) -> bool {
        let (n, t1, t2) = (self.frame.normal, self.frame.tangent1, self.frame.tangent2);
        // Not finite where any of them is not.
        let rest = (self.lever_a + self.lever_b + self.bias) * 0.0;
        let zeros = [
            n.length_squared() - 1.0,
            t1.length_squared() - 1.0,
            t2.length_squared() - 1.0,
            n.dot(t1),
            n.dot(t2),
            t1.dot(t2),
            rest.x + rest.y + rest.z,
        ];
        let friction = self.friction >= 0.0 && self.friction.is_finite();
        friction & zeros.iter().fold(true, |all, x| all & (x.abs() <= 1e-6))
    }

    /// Refuses what no solver could use. `index` is only for the message.
    #[inline]
    pub(crate) fn validate(&self, index: usize) -> Result<(), ProblemError> {
        if self.is_plainly_sound() {
            return Ok(());
        }
        self.look_closely(index)
    }

    #[cold]
    fn look_closely(&self, index: usize) -> Result<(), ProblemError> {
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

/// How a contact closes, along its normal, at the start of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Approach {
    /// Gap phi, m.
    pub separation: f64,
    /// Its rate u before forces, m/s; negative approaches.
    pub speed: f64,
    /// Its acceleration a under forces alone, m/s².
    pub acceleration: f64,
}

/// When and how fast the surfaces of a contact meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// s, from now.
    pub time: f64,
    /// Speed at which they close then, m/s; not negative.
    pub speed: f64,
}

impl Approach {
    /// When the surfaces meet, if they do so within `dt` (s): at the speed c, c² = u² - 2 a phi, after
    /// the time 2 phi/(c - u). Surfaces that touch or overlap already meet at once, unless they part.
    pub fn impact(&self, dt: f64) -> Option<Impact> {
        let Self {
            separation: phi,
            speed: u,
            acceleration: a,
        } = *self;
        // A gap that the ballistic path does not close within the step.
        if phi > 0.0 && phi + dt * (u + 0.5 * a * dt) >= 0.0 {
            return None;
        }
        // Already separating, and at most pulled back by the forces: it touches from rest.
        if phi <= 0.0 && u >= 0.0 {
            return None;
        }
        if phi <= 0.0 {
            return Some(Impact {
                time: 0.0,
                speed: -u,
            });
        }
        let speed = (u * u - 2.0 * a * phi).max(0.0).sqrt();
        Some(Impact {
            time: 2.0 * phi / (speed - u),
            speed,
        })
    }
}

/// Where Newton's law of impact leaves a contact at the end of a step in which it bounces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rebound {
    /// Normal velocity, m/s; negative where it is on its way down again.
    pub speed: f64,
    /// Gap, m.
    pub separation: f64,
    /// When an impulse that takes the free motion to that end acts, s from now: the impact, or the mean of
    /// several.
    pub time: f64,
}

/// Impacts in one step that are followed one by one; the flights between later ones are shorter than
/// 1e-9 of the step for any restitution below 0.7, and dull for those above.
const MOST_IMPACTS: u32 = 60;

/// The state at the end of a step of `dt` h (s) of a contact that bounces in it with the coefficient
/// `restitution` e, or `None` where it does not close in the step or meets slower than `threshold`
/// (m/s): then it does not bounce.
///
/// The surfaces meet at the speed c, c² = u² - 2 a phi, after the time 2 phi/(c - u). They part with
/// e c and move under a for the rest of the step; where they meet again, they part with e times that
/// speed, and so on; below the threshold they stay together. Neither the speed nor the gap depends on
/// how early the contact was seen, and the energy is e² of that at touching.
pub fn rebound(approach: &Approach, dt: f64, restitution: f64, threshold: f64) -> Option<Rebound> {
    if restitution == 0.0 {
        return None;
    }
    let Impact {
        time: wait,
        speed: closing,
    } = approach.impact(dt)?;
    if closing <= threshold {
        return None;
    }
    let (phi, a) = (approach.separation, approach.acceleration);
    let mut left = (dt - wait).max(0.0);
    let mut speed = restitution * closing;
    for i in 0..MOST_IMPACTS {
        // Speed and way at the end, unless the surfaces meet again before.
        let flight = -2.0 * speed / a;
        if a >= 0.0 || flight >= left {
            let separation = phi.min(0.0) + left * (speed + 0.5 * a * left);
            let speed = speed + a * left;
            let time = if i == 0 {
                wait.min(dt)
            } else {
                mean_time(approach, dt, (speed, separation))
            };
            return Some(Rebound {
                speed,
                separation,
                time,
            });
        }
        left -= flight;
        speed *= restitution;
        if speed <= threshold {
            break;
        }
    }
    let (speed, separation) = (0.0, phi.min(0.0));
    Some(Rebound {
        speed,
        separation,
        time: mean_time(approach, dt, (speed, separation)),
    })
}

/// When one impulse takes the free motion to this speed (m/s) and gap (m) after `dt` (s).
fn mean_time(approach: &Approach, dt: f64, (speed, gap): (f64, f64)) -> f64 {
    let (phi, u, a) = (approach.separation, approach.speed, approach.acceleration);
    let free_gap = phi + dt * (u + 0.5 * a * dt);
    let change = speed - (u + a * dt);
    let left = (gap - free_gap) / change;
    // Of surfaces that meet, the change is positive.
    if left.is_finite() {
        (dt - left).clamp(0.0, dt)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(separation: f64, speed: f64, acceleration: f64, e: f64) -> Option<Rebound> {
        rebound(
            &Approach {
                separation,
                speed,
                acceleration,
            },
            1.0 / 60.0,
            e,
            1e-3,
        )
    }

    #[test]
    fn without_forces_it_is_newtons_law() {
        for phi in [0.0, 0.01, 0.03] {
            let end = of(phi, -4.0, 0.0, 0.5).unwrap();
            assert!((end.speed - 2.0).abs() < 1e-15);
            assert!((end.separation - 2.0 * (1.0 / 60.0 - phi / 4.0)).abs() < 1e-15);
        }
        assert_eq!(of(0.1, -4.0, 0.0, 0.5), None);
    }

    #[test]
    fn the_energy_after_it_is_e_squared_of_that_at_touching() {
        let (g, e) = (9.81, 0.8);
        for phi in [0.0, 0.005, 0.05, 0.08] {
            let end = of(phi, -5.0, -g, e).unwrap();
            let touching = 0.5 * 25.0 + g * phi;
            let after = 0.5 * end.speed * end.speed + g * end.separation;
            assert!((after - e * e * touching).abs() < 1e-12, "phi {phi}");
        }
    }

    #[test]
    fn several_impacts_in_a_step_are_followed() {
        // Parts with 0.05 m/s: flights of 10.19 ms, 5.1 ms, then it is in the third.
        let g = 9.81;
        let end = of(0.0, -0.1, -g, 0.5).unwrap();
        let left = 1.0 / 60.0 - 2.0 * (0.05 + 0.025) / g;
        assert!((end.speed - (0.0125 - g * left)).abs() < 1e-15);
        assert!((end.separation - left * (0.0125 - 0.5 * g * left)).abs() < 1e-15);
        // The sum of all flights is shorter than the step: it has come to rest.
        let rest = of(0.0, -0.05, -g, 0.5).unwrap();
        assert_eq!((rest.speed, rest.separation), (0.0, 0.0));
    }

    #[test]
    fn an_impulse_at_its_time_leads_to_its_end() {
        let (g, h) = (9.81, 1.0 / 60.0);
        for (phi, u, e) in [
            (0.0, -0.1, 0.5),
            (1e-3, -0.1, 0.8),
            (0.05, -5.0, 0.8),
            (0.0, -0.05, 0.5),
        ] {
            let end = of(phi, u, -g, e).unwrap();
            let change = end.speed - (u - g * h);
            let gap = phi + h * (u - 0.5 * g * h) + change * (h - end.time);
            assert!((gap - end.separation).abs() < 1e-15, "{phi} {u} {e}: {gap}");
            assert!((0.0..=h).contains(&end.time));
        }
    }

    #[test]
    fn a_resting_contact_never_bounces() {
        assert_eq!(of(0.0, 0.0, -9.81, 1.0), None);
        assert_eq!(of(-1e-4, 0.0, -9.81, 1.0), None);
    }
}
