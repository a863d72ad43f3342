use crate::ProblemError;
use moreau_math::{Vec3, Velocity};
use serde::{Deserialize, Serialize};

/// One scalar constraint row with bounds: bilateral, unilateral or boxed.
///
/// ```text
/// w = J v+ + bias + regularization l,    lower <= l <= upper,
/// w >= 0 where l = lower,  w <= 0 where l = upper,  w = 0 in between.
/// ```
/// J v = linear_b·v_b + angular_b·w_b + linear_a·v_a + angular_a·w_a; the impulse l (N s, or N m s
/// for an angular row) changes A by M_a^-1 J_a' l and B by M_b^-1 J_b' l.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Index of body A.
    pub a: usize,
    /// Index of body B.
    pub b: usize,
    /// Jacobian of A's linear velocity.
    pub linear_a: Vec3,
    /// Jacobian of A's angular velocity, m (linear rows).
    pub angular_a: Vec3,
    /// Jacobian of B's linear velocity.
    pub linear_b: Vec3,
    /// Jacobian of B's angular velocity, m (linear rows).
    pub angular_b: Vec3,
    /// m/s (rad/s for angular rows).
    pub bias: f64,
    /// Least impulse; `-f64::INFINITY` for a bilateral row.
    pub lower: f64,
    /// Largest impulse; `f64::INFINITY` for a bilateral row.
    pub upper: f64,
    /// >= 0, (m/s)/(N s); 0 is rigid.
    pub regularization: f64,
}

impl Row {
    /// A bilateral row along the unit world direction `axis` between the points at `lever_a` and
    /// `lever_b` (m, world frame, from each centre of mass): J v = axis·u, u as for contacts.
    pub fn bilateral(
        (a, b): (usize, usize),
        axis: Vec3,
        (lever_a, lever_b): (Vec3, Vec3),
        bias: f64,
    ) -> Self {
        Self {
            a,
            b,
            linear_a: -axis,
            angular_a: -lever_a.cross(axis),
            linear_b: axis,
            angular_b: lever_b.cross(axis),
            bias,
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            regularization: 0.0,
        }
    }

    /// J v for the twists of A and B.
    pub fn velocity(&self, a: &Velocity, b: &Velocity) -> f64 {
        self.linear_a.dot(a.linear)
            + self.angular_a.dot(a.angular)
            + self.linear_b.dot(b.linear)
            + self.angular_b.dot(b.angular)
    }

    pub(crate) fn validate(&self, index: usize) -> Result<(), ProblemError> {
        let vectors = [
            ("linear_a", self.linear_a),
            ("angular_a", self.angular_a),
            ("linear_b", self.linear_b),
            ("angular_b", self.angular_b),
        ];
        for (field, value) in vectors {
            if !value.is_finite() {
                let value = value.to_string();
                return Err(ProblemError::NotFinite {
                    what: "row",
                    index,
                    field,
                    value,
                });
            }
        }
        if !self.bias.is_finite() {
            let value = self.bias.to_string();
            return Err(ProblemError::NotFinite {
                what: "row",
                index,
                field: "bias",
                value,
            });
        }
        let range = |field, value, allowed| {
            Err(ProblemError::OutOfRange {
                what: "row",
                index,
                field,
                value,
                allowed,
            })
        };
        if !(self.regularization >= 0.0 && self.regularization.is_finite()) {
            return range(
                "regularization",
                self.regularization,
                "0 or more, and finite",
            );
        }
        if self.lower.is_nan() || self.lower == f64::INFINITY {
            return range("lower", self.lower, "a number below infinity");
        }
        if self.upper.is_nan() || self.upper < self.lower || self.upper == f64::NEG_INFINITY {
            return range("upper", self.upper, "a number not below `lower`");
        }
        Ok(())
    }
}
