//! The hot records and what one visit of a sweep does with them.
//!
//! ```text
//! s = u + b                                     the shifted velocity, contact frame
//! l' = the exact law for q = s - W l            (moreau_constraint::ContactBlock::update)
//! v_b += M_b^-1 J_b' (l' - l),  v_a += M_a^-1 J_a' (l' - l)
//! ```
//!
//! # Layout
//!
//! ```text
//! PackedContact, 256 bytes, read once a visit; only `slip_rate` is written
//! | a b | normal tangent1 tangent2 | lever_a lever_b | bias | ContactBlock | floor slip_rate trace |
//! velocities: 48 bytes a body; impulses: 24 bytes a contact
//! ```
//!
//! A visit reads u once in the world frame (two cross products) and writes one world impulse; the
//! three rows see each other through the 3x3 block and not through the bodies. `slip_rate` is where
//! the root search of the last visit ended: near the answer the next one needs one or two steps.

use crate::hold::HoldBlock;
use crate::settings::LocalStep;
use moreau_constraint::{BodyInput, ContactBlock, ContactPoint, Row, project_disc};
use moreau_math::{Mat3, Vec3, Velocity, vec3};
use moreau_solver::{natural_map, row_natural_map};

/// A contact.
#[derive(Clone, Copy)]
pub(crate) struct PackedContact {
    a: u32,
    b: u32,
    normal: Vec3,
    tangent1: Vec3,
    tangent2: Vec3,
    lever_a: Vec3,
    lever_b: Vec3,
    bias: Vec3,
    block: ContactBlock,
    friction: f64,
    /// The least normal impulse, N s: 0 but in the expansion of an impact.
    floor: f64,
    slip_rate: f64,
    trace: f64,
}
const _: () = assert!(size_of::<PackedContact>() <= 264);

/// A scalar row; impulses are counted from `before`.
#[derive(Clone, Copy)]
pub(crate) struct PackedRow {
    /// With bounds and bias as they are for the impulse counted so.
    row: Row,
    turn_a: Vec3,
    turn_b: Vec3,
    inverse_mass_a: f64,
    inverse_mass_b: f64,
    pub(crate) diagonal: f64,
    inverse_diagonal: f64,
}

/// What the visits of one sweep have changed.
#[derive(Clone, Copy, Default)]
pub(crate) struct Motion {
    /// Largest squared (correction times trace(W)/3), (m/s)².
    pub(crate) squared: f64,
    /// Whether any correction was more than rounding of its impulse.
    pub(crate) moved: bool,
}

/// Below this multiple of the impulse a correction is rounding.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

impl PackedContact {
    /// `bias` takes the place of the point's own.
    pub(crate) fn new(c: &ContactPoint, bias: Vec3, w: &Mat3, floor: f64) -> Self {
        Self {
            a: c.a as u32,
            b: c.b as u32,
            normal: c.frame.normal,
            tangent1: c.frame.tangent1,
            tangent2: c.frame.tangent2,
            lever_a: c.lever_a,
            lever_b: c.lever_b,
            bias,
            block: ContactBlock::new(w, c.friction),
            friction: c.friction,
            floor,
            slip_rate: 0.0,
            trace: w.x_axis.x + w.y_axis.y + w.z_axis.z,
        }
    }

    /// trace(W)/3, 1/kg: turns an impulse into a speed.
    pub(crate) fn mean_diagonal(&self) -> f64 {
        self.trace * (1.0 / 3.0)
    }

    /// The nearest impulse in the cone and above the floor, row by row.
    pub(crate) fn inside(&self, l: Vec3) -> Vec3 {
        let normal = l.x.max(self.floor);
        let (t1, t2) = project_disc(l.y, l.z, self.friction * normal);
        vec3(normal, t1, t2)
    }

    /// s = u + b in the contact frame.
    #[inline(always)]
    fn shifted_velocity(&self, a: &Velocity, b: &Velocity) -> Vec3 {
        let u = b.at(self.lever_b) - a.at(self.lever_a);
        vec3(
            self.normal.dot(u) + self.bias.x,
            self.tangent1.dot(u) + self.bias.y,
            self.tangent2.dot(u) + self.bias.z,
        )
    }

    /// One visit with the exact law.
    #[inline(always)]
    pub(crate) fn visit(
        &mut self,
        bodies: &[BodyInput],
        v: &mut [Velocity],
        l: &mut Vec3,
        motion: &mut Motion,
    ) {
        let s = self.shifted_velocity(&v[self.a as usize], &v[self.b as usize]);
        let answer = if self.floor > 0.0 {
            self.block.update_above(s, *l, self.floor, self.slip_rate)
        } else {
            self.block.update(s, *l, self.slip_rate)
        };
        self.slip_rate = answer.slip_rate;
        self.apply(bodies, v, l, answer.impulse, motion);
    }

    /// One visit with the step of document 001, third phase included.
    pub(crate) fn visit_held(
        &self,
        hold: &HoldBlock,
        bodies: &[BodyInput],
        v: &mut [Velocity],
        l: &mut Vec3,
        motion: &mut Motion,
    ) {
        let s = self.shifted_velocity(&v[self.a as usize], &v[self.b as usize]);
        let next = hold.update(s, *l);
        self.apply(bodies, v, l, next, motion);
    }

    #[inline(always)]
    fn apply(
        &self,
        bodies: &[BodyInput],
        v: &mut [Velocity],
        l: &mut Vec3,
        next: Vec3,
        motion: &mut Motion,
    ) {
        let d = next - *l;
        *l = next;
        let change = d.length_squared();
        let scale = self.mean_diagonal();
        motion.squared = motion.squared.max(change * (scale * scale));
        motion.moved |= change > ROUNDING * ROUNDING * next.length_squared();
        let p = self.normal * d.x + self.tangent1 * d.y + self.tangent2 * d.z;
        let (ia, ib) = (self.a as usize, self.b as usize);
        let (a, b) = (&bodies[ia], &bodies[ib]);
        v[ia].linear -= p * a.inverse_mass;
        v[ia].angular -= a.inverse_inertia.mul_vec(self.lever_a.cross(p));
        v[ib].linear += p * b.inverse_mass;
        v[ib].angular += b.inverse_inertia.mul_vec(self.lever_b.cross(p));
    }

    /// The natural map at the impulse `l`, m/s.
    pub(crate) fn natural_map(&self, v: &[Velocity], l: Vec3) -> f64 {
        let s = self.shifted_velocity(&v[self.a as usize], &v[self.b as usize]);
        if self.floor > 0.0 {
            return floor_map(l, s, self.friction, self.floor, self.mean_diagonal());
        }
        natural_map(l, s, self.friction, self.trace)
    }
}

/// The natural map (m/s) of a contact whose normal impulse is at least `floor`: each row's own
/// projection, since the law is not that of a cone.
fn floor_map(l: Vec3, s: Vec3, friction: f64, floor: f64, diagonal: f64) -> f64 {
    let rho = 1.0 / diagonal;
    let normal = l.x - (l.x - rho * s.x).max(floor);
    let (t1, t2) = project_disc(l.y - rho * s.y, l.z - rho * s.z, friction * l.x);
    vec3(normal, l.y - t1, l.z - t2).length() * diagonal
}

impl PackedRow {
    /// `diagonal` of `r`, with its regularization; `before`: impulse of an earlier phase, N s.
    pub(crate) fn new(r: &Row, diagonal: f64, before: f64, bodies: &[BodyInput]) -> Self {
        let (a, b) = (&bodies[r.a], &bodies[r.b]);
        let inverse = 1.0 / diagonal;
        let usable = diagonal > 0.0 && inverse.is_finite();
        Self {
            row: Row {
                bias: r.bias + r.regularization * before,
                lower: r.lower - before,
                upper: r.upper - before,
                ..*r
            },
            turn_a: a.inverse_inertia.mul_vec(r.angular_a),
            turn_b: b.inverse_inertia.mul_vec(r.angular_b),
            inverse_mass_a: a.inverse_mass,
            inverse_mass_b: b.inverse_mass,
            diagonal,
            inverse_diagonal: if usable { inverse } else { 0.0 },
        }
    }

    /// w = J v + bias + regularization l.
    #[inline(always)]
    fn velocity(&self, v: &[Velocity], l: f64) -> f64 {
        let r = &self.row;
        r.velocity(&v[r.a], &v[r.b]) + r.bias + r.regularization * l
    }

    /// One visit: l' = clamp(l - w/diagonal, lower, upper).
    pub(crate) fn visit(&self, v: &mut [Velocity], l: &mut f64, motion: &mut Motion) {
        let r = &self.row;
        let w = self.velocity(v, *l);
        let next = (*l - w * self.inverse_diagonal).clamp(r.lower, r.upper);
        let d = next - *l;
        *l = next;
        if self.inverse_diagonal > 0.0 {
            let speed = d * self.diagonal;
            motion.squared = motion.squared.max(speed * speed);
            motion.moved |= d.abs() > ROUNDING * next.abs();
        }
        v[r.a].linear += r.linear_a * (d * self.inverse_mass_a);
        v[r.a].angular += self.turn_a * d;
        v[r.b].linear += r.linear_b * (d * self.inverse_mass_b);
        v[r.b].angular += self.turn_b * d;
    }

    /// The natural map at the impulse `l`, m/s.
    pub(crate) fn natural_map(&self, v: &[Velocity], l: f64) -> f64 {
        row_natural_map(l, self.velocity(v, l), &self.row, self.diagonal)
    }

    /// The nearest impulse within the bounds.
    pub(crate) fn inside(&self, l: f64) -> f64 {
        l.clamp(self.row.lower, self.row.upper)
    }
}

/// The blocks that [`LocalStep::HoldAndResolve`] needs beside the records, else none.
pub(crate) fn hold_block(step: LocalStep, c: &ContactPoint, w: &Mat3) -> Option<HoldBlock> {
    (step == LocalStep::HoldAndResolve).then(|| HoldBlock::new(w, c.friction))
}
