//! Ways to tell a problem that leave its answer the same.
//!
//! | transform | problem | v+ |
//! |---|---|---|
//! | turn | every vector and tensor by the rotation q | q v, q w |
//! | boost | V added to every free velocity | v + V, w |
//! | reorder | bodies, contacts and rows in another order | in that order |
//! | swap sides | A and B of every contact change places | the same |
//! | mass k | masses and inertias times k | the same |
//! | size k | lengths and times times k, inertias times k² | v, w/k |

use moreau_constraint::{BodyInput, ContactFrame, ContactPoint, ContactProblem, ProblemError, Row};
use moreau_math::{Quat, Vec3, Velocity};
use serde::{Deserialize, Serialize};

/// A way to tell a problem differently.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Transform {
    /// Turned by a unit quaternion. Contacts without a tangential bias get the tangents that belong
    /// to their turned normal, not the turned ones.
    Turn(Quat),
    /// Seen by an observer that moves with minus this velocity, m/s.
    Boost(Vec3),
    /// Bodies in reverse, contacts and rows first those of odd then those of even index.
    Reorder,
    /// A and B of every contact change places.
    SwapSides,
    /// Masses times this.
    Mass(f64),
    /// Lengths and times times this, so that speeds stay.
    Size(f64),
}

impl Transform {
    /// The problem told in the other way.
    ///
    /// # Errors
    /// Where a number leaves its range.
    pub fn apply(&self, from: &ContactProblem) -> Result<ContactProblem, ProblemError> {
        let dt = match self {
            Self::Size(k) => k * from.dt(),
            _ => from.dt(),
        };
        let mut to = ContactProblem::new(dt)?;
        let count = from.bodies().len();
        for i in 0..count {
            to.add_body(self.body(&from.bodies()[self.source(i, count)]))?;
        }
        let body = |i: usize| match self {
            Self::Reorder => count - 1 - i,
            _ => i,
        };
        for i in self.order(from.contacts().len()) {
            let mut point = self.contact(&from.contacts()[i]);
            (point.a, point.b) = (body(point.a), body(point.b));
            to.add_contact_point(point)?;
        }
        for i in self.order(from.rows().len()) {
            let mut row = self.row(&from.rows()[i]);
            (row.a, row.b) = (body(row.a), body(row.b));
            to.add_row(row)?;
        }
        Ok(to)
    }

    /// The velocities of all bodies told in the other way.
    pub fn velocities(&self, v: &[Velocity]) -> Vec<Velocity> {
        (0..v.len())
            .map(|i| self.velocity(&v[self.source(i, v.len())]))
            .collect()
    }

    /// The length (m) at which an angular velocity counts: levers are this many times longer.
    pub(crate) fn reach(&self) -> f64 {
        match self {
            Self::Size(k) => *k,
            _ => 1.0,
        }
    }

    /// Which of `count` bodies comes to place `i`.
    fn source(&self, i: usize, count: usize) -> usize {
        match self {
            Self::Reorder => count - 1 - i,
            _ => i,
        }
    }

    fn order(&self, count: usize) -> Vec<usize> {
        match self {
            Self::Reorder => (1..count).step_by(2).chain((0..count).step_by(2)).collect(),
            _ => (0..count).collect(),
        }
    }

    fn velocity(&self, v: &Velocity) -> Velocity {
        match self {
            Self::Turn(q) => Velocity::new(*q * v.linear, *q * v.angular),
            Self::Boost(boost) => Velocity::new(v.linear + *boost, v.angular),
            Self::Size(k) => Velocity::new(v.linear, v.angular / *k),
            Self::Reorder | Self::SwapSides | Self::Mass(_) => *v,
        }
    }

    fn body(&self, body: &BodyInput) -> BodyInput {
        let mut to = BodyInput {
            velocity: self.velocity(&body.velocity),
            ..*body
        };
        match self {
            Self::Turn(q) => to.inverse_inertia = body.inverse_inertia.rotated(*q),
            Self::Mass(k) => {
                to.inverse_mass /= k;
                to.inverse_inertia = body.inverse_inertia.scaled(1.0 / k);
            }
            Self::Size(k) => to.inverse_inertia = body.inverse_inertia.scaled(1.0 / (k * k)),
            Self::Boost(_) | Self::Reorder | Self::SwapSides => {}
        }
        to
    }

    fn contact(&self, c: &ContactPoint) -> ContactPoint {
        let mut to = *c;
        match self {
            Self::Turn(q) => {
                to.lever_a = *q * c.lever_a;
                to.lever_b = *q * c.lever_b;
                to.frame = if (c.bias.y, c.bias.z) == (0.0, 0.0) {
                    ContactFrame::new(*q * c.frame.normal)
                } else {
                    ContactFrame {
                        normal: *q * c.frame.normal,
                        tangent1: *q * c.frame.tangent1,
                        tangent2: *q * c.frame.tangent2,
                    }
                };
            }
            Self::SwapSides => {
                (to.a, to.b) = (c.b, c.a);
                (to.lever_a, to.lever_b) = (c.lever_b, c.lever_a);
                to.frame = ContactFrame::new(-c.frame.normal);
                // u changes its sign as a world vector, and so does b.
                to.bias = to.frame.to_local(-c.frame.to_world(c.bias));
            }
            Self::Size(k) => {
                to.lever_a *= *k;
                to.lever_b *= *k;
            }
            Self::Boost(_) | Self::Reorder | Self::Mass(_) => {}
        }
        to
    }

    /// Rows are of the linear kind: w in m/s.
    fn row(&self, r: &Row) -> Row {
        let mut to = *r;
        match self {
            Self::Turn(q) => {
                to.linear_a = *q * r.linear_a;
                to.angular_a = *q * r.angular_a;
                to.linear_b = *q * r.linear_b;
                to.angular_b = *q * r.angular_b;
            }
            Self::Mass(k) => {
                to.regularization /= k;
                to.lower *= k;
                to.upper *= k;
            }
            Self::Size(k) => {
                to.angular_a *= *k;
                to.angular_b *= *k;
            }
            Self::Boost(_) | Self::Reorder | Self::SwapSides => {}
        }
        to
    }
}
