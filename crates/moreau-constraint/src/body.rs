use crate::ProblemError;
use moreau_math::{SymMat3, Vec3, Velocity};
use serde::{Deserialize, Serialize};

/// A body as a solver sees it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodyInput {
    /// 1/kg; zero for a body that no impulse moves.
    pub inverse_mass: f64,
    /// Inverse inertia about the centre of mass, world axes, 1/(kg m²); zero for a body that no
    /// impulse turns.
    pub inverse_inertia: SymMat3,
    /// Free velocity: with all forces of the step integrated, without contacts.
    pub velocity: Velocity,
}

impl BodyInput {
    /// A body that does not move: static geometry.
    pub const fn fixed() -> Self {
        Self::moving(Velocity::ZERO)
    }

    /// A body whose velocity no impulse changes: kinematic.
    pub const fn moving(velocity: Velocity) -> Self {
        Self {
            inverse_mass: 0.0,
            inverse_inertia: SymMat3::ZERO,
            velocity,
        }
    }

    /// Whether no impulse changes its velocity.
    pub fn is_immovable(&self) -> bool {
        self.inverse_mass == 0.0 && self.inverse_inertia == SymMat3::ZERO
    }

    /// Kinetic energy (J) at the velocity `v`, of the motions that impulses can change: a body fixed
    /// in some directions has none in those.
    pub fn kinetic_energy(&self, v: &Velocity) -> f64 {
        let mut energy = self.spin_energy(v.angular).0;
        if self.inverse_mass > 0.0 {
            energy += 0.5 * v.linear.length_squared() / self.inverse_mass;
        }
        energy
    }

    /// The size (m/s) of a velocity difference `v`: sqrt(|v|² + w·I w/m), the speed at which the
    /// body would have the same energy. What no impulse can change counts as it is, angular parts
    /// at an arm of 1 m.
    pub fn velocity_norm(&self, v: &Velocity) -> f64 {
        let (energy, locked) = self.spin_energy(v.angular);
        let spin = if self.inverse_mass > 0.0 {
            2.0 * energy * self.inverse_mass + locked
        } else {
            v.angular.length_squared()
        };
        (v.linear.length_squared() + spin).sqrt()
    }

    /// w·I w/2 in the directions that can turn, and the square of the rest of w.
    fn spin_energy(&self, w: Vec3) -> (f64, f64) {
        if let Some(inertia) = self.inverse_inertia.inverse() {
            // A tensor that is singular but for rounding has an inverse of that size.
            let condition = inertia.trace() * self.inverse_inertia.trace();
            if condition > 0.0 && condition < 1e12 {
                return (0.5 * inertia.quadratic(w), 0.0);
            }
        }
        let (inverse_moments, axes) = self.inverse_inertia.principal_axes();
        let turn = (axes.inverse() * w).to_array();
        let inverse_moments = inverse_moments.to_array();
        let least = 1e-12 * inverse_moments.into_iter().fold(0.0, f64::max);
        let (mut energy, mut locked) = (0.0, 0.0);
        for (w, inverse) in turn.into_iter().zip(inverse_moments) {
            if inverse > least {
                energy += 0.5 * w * w / inverse;
            } else {
                locked += w * w;
            }
        }
        (energy, locked)
    }

    /// Refuses what no solver could use. `index` is only for the message.
    pub(crate) fn validate(&self, index: usize) -> Result<(), ProblemError> {
        let what = "body";
        if !(self.inverse_mass >= 0.0 && self.inverse_mass.is_finite()) {
            return Err(ProblemError::OutOfRange {
                what,
                index,
                field: "inverse_mass",
                value: self.inverse_mass,
                allowed: "0 or more, and finite",
            });
        }
        let not_finite = |field, value| {
            Err(ProblemError::NotFinite {
                what,
                index,
                field,
                value,
            })
        };
        if !self.inverse_inertia.is_finite() {
            return not_finite("inverse_inertia", format!("{:?}", self.inverse_inertia));
        }
        let i = &self.inverse_inertia;
        let out_of_range = |field, value, allowed| {
            Err(ProblemError::OutOfRange {
                what,
                index,
                field,
                value,
                allowed,
            })
        };
        let diagonal = [i.xx, i.yy, i.zz];
        if let Some(least) = diagonal.into_iter().find(|d| *d < 0.0) {
            return out_of_range("inverse_inertia's diagonal", least, "0 or more");
        }
        // An indefinite tensor would let contacts gain energy without end: no principal minor may be
        // negative beyond rounding.
        let size = i.trace();
        let minors = [
            (i.xx * i.yy - i.xy * i.xy, size * size),
            (i.xx * i.zz - i.xz * i.xz, size * size),
            (i.yy * i.zz - i.yz * i.yz, size * size),
            (i.determinant(), size * size * size),
        ];
        if let Some((minor, _)) = minors.into_iter().find(|(m, scale)| *m < -1e-9 * scale) {
            return out_of_range("inverse_inertia's principal minor", minor, "0 or more");
        }
        if !self.velocity.is_finite() {
            return not_finite("velocity", format!("{:?}", self.velocity));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use moreau_math::{Quat, vec3};

    #[test]
    fn a_hinge_keeps_the_energy_of_its_free_axis() {
        let turn = Quat::from_axis_angle(vec3(1.0, 2.0, -1.0).normalize(), 0.7);
        let inverse_inertia = SymMat3::from_diagonal(vec3(0.0, 4.0, 0.0)).rotated(turn);
        let body = BodyInput {
            inverse_mass: 0.0,
            inverse_inertia,
            velocity: Velocity::ZERO,
        };
        let v = Velocity::new(vec3(9.0, 9.0, 9.0), turn * vec3(5.0, 2.0, -3.0));
        assert!((body.kinetic_energy(&v) - 0.5 * 4.0 / 4.0).abs() < 1e-13);
    }

    #[test]
    fn the_norm_of_a_velocity_is_the_speed_of_equal_energy() {
        let body = BodyInput {
            inverse_mass: 0.5,
            inverse_inertia: SymMat3::from_diagonal(vec3(1.0, 2.0, 4.0)),
            velocity: Velocity::ZERO,
        };
        let v = Velocity::new(vec3(1.0, 0.0, 2.0), vec3(0.0, 1.0, -1.0));
        let speed = body.velocity_norm(&v);
        assert!((0.5 * 2.0 * speed * speed - body.kinetic_energy(&v)).abs() < 1e-14);
        assert_eq!(
            BodyInput::fixed().velocity_norm(&Velocity::new(Vec3::X, 2.0 * Vec3::Y)),
            5.0_f64.sqrt()
        );
    }

    #[test]
    fn indefinite_inertia_is_refused() {
        let mut body = BodyInput::fixed();
        body.inverse_inertia = SymMat3 {
            xx: 1.0,
            yy: 1.0,
            zz: 1.0,
            xy: 1.5,
            xz: 0.0,
            yz: 0.0,
        };
        let error = body.validate(3).unwrap_err();
        assert_eq!(
            error.to_string(),
            "body 3: inverse_inertia's principal minor is -1.25, must be 0 or more"
        );
        body.inverse_inertia.xy = 0.5;
        assert_eq!(body.validate(3), Ok(()));
    }
}
