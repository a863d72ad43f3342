//! The hot records and what one visit of a sweep does with them.
//!
//! A contact with the impulse l = (l_n, l_t) and the shifted velocity s = u + b is visited so:
//!
//! ```text
//! l_n' = max(0, l_n - s_n/W_nn)                            the normal row, exactly
//! s_t' = s_t + W_tn (l_n' - l_n)
//! l_t' = disc of radius mu l_n' ( l_t - s_t'/max eig(W_tt) )  the friction disc, one projection
//! v_b += M_b^-1 J_b' (l' - l),  v_a += M_a^-1 J_a' (l' - l)
//! ```
//!
//! W = J M^-1 J' (1/kg) is the contact's own 3x3 Delassus block, mu Coulomb's coefficient. The step
//! 1/max eig(W_tt) is the largest that never increases the dissipation rate's distance to its
//! minimum on the disc. At rest l' = l the visit is the exact law of the contact.
//!
//! Each unknown is divided by its own diagonal entry, so scaling the system by diag(W)^-1/2 on both
//! sides would change no iterate: symmetric diagonal preconditioning is built in.
//!
//! # Layout
//!
//! ```text
//! FrictionContact, 208 bytes, read once a visit and never written
//! | a b index mu | normal tangent1 tangent2 | lever_a lever_b | bias | 1/W_nn W_nt step trace |
//! velocities: 48 bytes a body, the only thing written; impulses: 24 bytes a contact
//! ```
//!
//! A visit reads u once, in the world frame (two cross products), and writes one world impulse: the
//! tangential row sees the normal correction through W_tn and not through the bodies. Immovable
//! bodies take the same path with inverse mass zero.

use moreau_constraint::{BodyInput, ContactPoint, Row, project_disc};
use moreau_math::{Mat3, Vec3, Velocity, vec3};
use moreau_solver::natural_map;

/// A contact with friction.
#[derive(Clone, Copy)]
pub(crate) struct FrictionContact {
    a: u32,
    b: u32,
    /// Of the contact in the problem.
    pub(crate) index: u32,
    friction: f64,
    normal: Vec3,
    tangent1: Vec3,
    tangent2: Vec3,
    lever_a: Vec3,
    lever_b: Vec3,
    bias: Vec3,
    inverse_nn: f64,
    n1: f64,
    n2: f64,
    /// 1/max eig(W_tt).
    tangent_step: f64,
    trace: f64,
}
const _: () = assert!(size_of::<FrictionContact>() == 208);

/// A contact without friction: its normal row alone.
#[derive(Clone, Copy)]
pub(crate) struct NormalContact {
    a: u32,
    b: u32,
    /// Of the contact in the problem.
    pub(crate) index: u32,
    normal: Vec3,
    /// r x n of each body.
    arm_a: Vec3,
    arm_b: Vec3,
    /// I^-1 (r x n) of each body.
    turn_a: Vec3,
    turn_b: Vec3,
    inverse_mass_a: f64,
    inverse_mass_b: f64,
    bias: f64,
    inverse_nn: f64,
    trace: f64,
}
const _: () = assert!(size_of::<NormalContact>() == 176);

/// A scalar row.
#[derive(Clone, Copy)]
pub(crate) struct PackedRow {
    a: u32,
    b: u32,
    linear_a: Vec3,
    angular_a: Vec3,
    linear_b: Vec3,
    angular_b: Vec3,
    turn_a: Vec3,
    turn_b: Vec3,
    inverse_mass_a: f64,
    inverse_mass_b: f64,
    bias: f64,
    regularization: f64,
    lower: f64,
    upper: f64,
    inverse_diagonal: f64,
}
const _: () = assert!(size_of::<PackedRow>() == 208);

/// What the visits of one sweep have changed.
#[derive(Clone, Copy)]
pub(crate) struct Motion {
    /// Largest squared (correction times trace(W)/3), (m/s)².
    pub(crate) squared: f64,
    /// Whether any correction was more than rounding of its impulse.
    pub(crate) moved: bool,
}

/// Below this multiple of the impulse a correction is rounding.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// 1/x, or 0 where a row cannot move anything.
fn inverse_or_zero(x: f64) -> f64 {
    let inverse = 1.0 / x;
    if x > 0.0 && inverse.is_finite() {
        inverse
    } else {
        0.0
    }
}

fn trace(w: &Mat3) -> f64 {
    w.x_axis.x + w.y_axis.y + w.z_axis.z
}

impl FrictionContact {
    /// `w`: the Delassus block of `c`.
    pub(crate) fn new(index: usize, c: &ContactPoint, w: &Mat3) -> Self {
        let (t11, t12, t22) = (w.y_axis.y, w.y_axis.z, w.z_axis.z);
        let half = 0.5 * (t11 - t22);
        let largest = 0.5 * (t11 + t22) + (half * half + t12 * t12).sqrt();
        Self {
            a: c.a as u32,
            b: c.b as u32,
            index: index as u32,
            friction: c.friction,
            normal: c.frame.normal,
            tangent1: c.frame.tangent1,
            tangent2: c.frame.tangent2,
            lever_a: c.lever_a,
            lever_b: c.lever_b,
            bias: c.bias,
            inverse_nn: inverse_or_zero(w.x_axis.x),
            n1: w.x_axis.y,
            n2: w.x_axis.z,
            tangent_step: inverse_or_zero(largest),
            trace: trace(w),
        }
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

    /// One visit.
    #[inline(always)]
    pub(crate) fn visit(
        &self,
        bodies: &[BodyInput],
        v: &mut [Velocity],
        l: &mut Vec3,
        relaxation: f64,
        motion: &mut Motion,
    ) {
        let (ia, ib) = (self.a as usize, self.b as usize);
        let (mut va, mut vb) = (v[ia], v[ib]);
        let s = self.shifted_velocity(&va, &vb);
        let normal = (l.x - relaxation * s.x * self.inverse_nn).max(0.0);
        let dn = normal - l.x;
        let step = relaxation * self.tangent_step;
        let t1 = l.y - step * (s.y + self.n1 * dn);
        let t2 = l.z - step * (s.z + self.n2 * dn);
        let (t1, t2) = project_disc(t1, t2, self.friction * normal);
        let (d1, d2) = (t1 - l.y, t2 - l.z);
        *l = vec3(normal, t1, t2);

        let change = dn * dn + d1 * d1 + d2 * d2;
        let size = normal * normal + t1 * t1 + t2 * t2;
        let scale = self.trace * (1.0 / 3.0);
        motion.squared = motion.squared.max(change * (scale * scale));
        motion.moved |= change > ROUNDING * ROUNDING * size;

        let p = self.normal * dn + self.tangent1 * d1 + self.tangent2 * d2;
        let (a, b) = (&bodies[ia], &bodies[ib]);
        va.linear -= p * a.inverse_mass;
        va.angular -= a.inverse_inertia.mul_vec(self.lever_a.cross(p));
        vb.linear += p * b.inverse_mass;
        vb.angular += b.inverse_inertia.mul_vec(self.lever_b.cross(p));
        v[ia] = va;
        v[ib] = vb;
    }

    /// The natural map at the impulse `l`, m/s.
    pub(crate) fn natural_map(&self, v: &[Velocity], l: Vec3) -> f64 {
        let s = self.shifted_velocity(&v[self.a as usize], &v[self.b as usize]);
        natural_map(l, s, self.friction, self.trace)
    }
}

impl NormalContact {
    /// `w`: the Delassus block of `c`.
    pub(crate) fn new(index: usize, c: &ContactPoint, w: &Mat3, bodies: &[BodyInput]) -> Self {
        let (a, b) = (&bodies[c.a], &bodies[c.b]);
        let arm_a = c.lever_a.cross(c.frame.normal);
        let arm_b = c.lever_b.cross(c.frame.normal);
        Self {
            a: c.a as u32,
            b: c.b as u32,
            index: index as u32,
            normal: c.frame.normal,
            arm_a,
            arm_b,
            turn_a: a.inverse_inertia.mul_vec(arm_a),
            turn_b: b.inverse_inertia.mul_vec(arm_b),
            inverse_mass_a: a.inverse_mass,
            inverse_mass_b: b.inverse_mass,
            bias: c.bias.x,
            inverse_nn: inverse_or_zero(w.x_axis.x),
            trace: trace(w),
        }
    }

    #[inline(always)]
    fn shifted_velocity(&self, a: &Velocity, b: &Velocity) -> f64 {
        let linear = self.normal.dot(b.linear - a.linear);
        linear + self.arm_b.dot(b.angular) - self.arm_a.dot(a.angular) + self.bias
    }

    /// One visit.
    #[inline(always)]
    pub(crate) fn visit(
        &self,
        v: &mut [Velocity],
        l: &mut Vec3,
        relaxation: f64,
        motion: &mut Motion,
    ) {
        let (ia, ib) = (self.a as usize, self.b as usize);
        let (mut va, mut vb) = (v[ia], v[ib]);
        let s = self.shifted_velocity(&va, &vb);
        let normal = (l.x - relaxation * s * self.inverse_nn).max(0.0);
        let d = normal - l.x;
        l.x = normal;

        let speed = d * (self.trace * (1.0 / 3.0));
        motion.squared = motion.squared.max(speed * speed);
        motion.moved |= d.abs() > ROUNDING * normal;

        va.linear -= self.normal * (d * self.inverse_mass_a);
        va.angular -= self.turn_a * d;
        vb.linear += self.normal * (d * self.inverse_mass_b);
        vb.angular += self.turn_b * d;
        v[ia] = va;
        v[ib] = vb;
    }

    /// The natural map at the impulse `l`, m/s.
    pub(crate) fn natural_map(&self, v: &[Velocity], l: Vec3) -> f64 {
        let s = self.shifted_velocity(&v[self.a as usize], &v[self.b as usize]);
        natural_map(l, vec3(s, 0.0, 0.0), 0.0, self.trace)
    }
}

impl PackedRow {
    /// `diagonal` of `r`, with its regularization.
    pub(crate) fn new(r: &Row, diagonal: f64, bodies: &[BodyInput]) -> Self {
        let (a, b) = (&bodies[r.a], &bodies[r.b]);
        Self {
            a: r.a as u32,
            b: r.b as u32,
            linear_a: r.linear_a,
            angular_a: r.angular_a,
            linear_b: r.linear_b,
            angular_b: r.angular_b,
            turn_a: a.inverse_inertia.mul_vec(r.angular_a),
            turn_b: b.inverse_inertia.mul_vec(r.angular_b),
            inverse_mass_a: a.inverse_mass,
            inverse_mass_b: b.inverse_mass,
            bias: r.bias,
            regularization: r.regularization,
            lower: r.lower,
            upper: r.upper,
            inverse_diagonal: inverse_or_zero(diagonal),
        }
    }

    /// One visit: l' = clamp(l - w/diagonal, lower, upper) with w = J v + bias + regularization l.
    pub(crate) fn visit(
        &self,
        v: &mut [Velocity],
        l: &mut f64,
        relaxation: f64,
        motion: &mut Motion,
    ) {
        let (ia, ib) = (self.a as usize, self.b as usize);
        let (mut va, mut vb) = (v[ia], v[ib]);
        let at_a = self.linear_a.dot(va.linear) + self.angular_a.dot(va.angular);
        let at_b = self.linear_b.dot(vb.linear) + self.angular_b.dot(vb.angular);
        let w = at_a + at_b + self.bias + self.regularization * *l;
        let target = *l - relaxation * w * self.inverse_diagonal;
        let impulse = target.clamp(self.lower, self.upper);
        let d = impulse - *l;
        *l = impulse;

        if self.inverse_diagonal > 0.0 {
            let speed = d / self.inverse_diagonal;
            motion.squared = motion.squared.max(speed * speed);
            motion.moved |= d.abs() > ROUNDING * impulse.abs();
        }

        va.linear += self.linear_a * (d * self.inverse_mass_a);
        va.angular += self.turn_a * d;
        vb.linear += self.linear_b * (d * self.inverse_mass_b);
        vb.angular += self.turn_b * d;
        v[ia] = va;
        v[ib] = vb;
    }
}
