//! Free rotation of a rigid body, to rounding.
//!
//! Symbols: R body to world, q its unit quaternion; I inertia about the centre of mass, body axes;
//! w_b body angular velocity; L = R I w_b world angular momentum, constant. Over a substep h, in its
//! own time s from 0 to 1, with y = h w_b (rad) and z = I y (Euler's equations):
//!
//! ```text
//! z' = z x y        y = I^-1 z
//! p' = p y / 2      p(0) = 1, quaternion product; q(1) = q(0) p(1)
//! ```
//!
//! Both right sides are bilinear, so the Taylor coefficients obey
//!
//! ```text
//! z_(n+1) = sum_k z_k x y_(n-k) / (n+1)        p_(n+1) = sum_k p_k y_(n-k) / (2n+2)
//! ```
//!
//! (Moore, Interval Analysis, 1966, chapter 11, on recursive Taylor coefficients.) The terms are
//! summed until they vanish in rounding: seven or so at a radian a second and 60 Hz. For a solid
//! (principal moments meet the triangle inequality) the poles of the solution lie at |s| of about
//! 1/|y| or beyond, so with |y| bounded by `SUBSTEP_ANGLE` the series converges fast. Where I is
//! diagonal the first line is y_x' = (I_y - I_z)/I_x y_y y_z and so on, at half the cost.
//!
//! L and the energy are kept because the motion is exact to rounding. Solving for w from L and R
//! afterwards would gain nothing, and multiply the rounding of a thin body's spin about its length by
//! the ratio of its moments.
//!
//! A body symmetric about one of its axes e, with moments I_e and I_t, has the closed form
//!
//! ```text
//! R(t) = exp(t L/I_t) R(0) exp(t (1 - I_e/I_t) w_e e)
//! ```

mod series;

use crate::{Quat, SymMat3, Vec3, integrate_rotation, rotation_from_vector};
use series::{Body, series};

/// Largest turn (rad) a single series covers. Smaller wastes substeps; larger needs more terms than
/// `TERMS` and ends in halved substeps.
const SUBSTEP_ANGLE: f64 = 0.5;
/// Largest turn (rad) in a call that is followed exactly for a body without symmetry: ten turns a
/// step. It bounds the work of a call; what lies beyond is far past what a sequence of frames shows.
const MOST_ANGLE: f64 = 64.0;
/// Series tried in one call before giving up: twice what `MOST_ANGLE` needs.
const MOST_SERIES: usize = 256;
/// Relative rounding of a product of the tensor and a rotated vector.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Free motion of a rigid body for `dt` (s, of either sign): orientation and world angular velocity
/// (rad/s) after it.
///
/// `inertia` is the tensor about the centre of mass in body axes (kg m²), not necessarily diagonal.
/// The world angular momentum L = R I R' w is kept to rounding, and so is the energy; the motion is
/// that of Euler's equations to rounding.
///
/// - Where w is parallel to L (a sphere, a cube, a spin about a principal axis) the result is exactly
///   [`integrate_rotation`] with the same bits of `angular`. The same holds for a tensor without an
///   inverse, and where w or its square is not finite.
/// - Bodies symmetric about a coordinate axis, such as capsules, are exact at any speed.
/// - Other bodies are, up to 64 rad in one call. Beyond, they turn steadily about L, which keeps L and
///   the energy but not the phase of the wobble.
pub fn rotate_free_body(rotation: Quat, angular: Vec3, inertia: &SymMat3, dt: f64) -> (Quat, Vec3) {
    let steady = || (integrate_rotation(rotation, angular, dt), angular);
    if is_spherical(inertia) {
        return steady();
    }
    // Only ratios of moments matter; dividing by the trace keeps tiny and huge bodies in range.
    let tensor = inertia.scaled(1.0 / inertia.trace());
    let spin = turned(rotation.conjugate(), angular);
    let momentum = tensor.mul_vec(spin);
    let torque = momentum.cross(spin).length();
    let least = ROUNDING * spin.length() * momentum.length();
    // Also taken where anything is not finite.
    if !(torque > least && torque.is_finite()) {
        return steady();
    }
    let (turn, gain) = match symmetry_axis(inertia) {
        Some(axis) => turn_symmetric(&tensor, axis, spin, dt),
        None => match Body::new(tensor) {
            Some(body) => turn_general(&body, spin, dt),
            None => return steady(),
        },
    };
    if !(turn.is_finite() && gain.is_finite()) {
        return steady();
    }
    // w' = R0 (turn (spin + gain)), as a sum of small changes to w: rounding then enters once, at the
    // last sum, and does not add up with one sign over steps that resemble each other.
    let change = gain + turn_change(turn, spin + gain);
    let change = change + turn_change(rotation, change);
    ((rotation * turn).normalize(), angular + change)
}

/// q v q^-1.
fn turned(q: Quat, v: Vec3) -> Vec3 {
    v + turn_change(q, v)
}

/// q v q^-1 - v. Dividing by |q|² makes the length independent of the rounding of |q|.
fn turn_change(q: Quat, v: Vec3) -> Vec3 {
    let axis = q.xyz();
    let t = axis.cross(v) * (2.0 / q.length_squared());
    t * q.w + axis.cross(t)
}

fn is_spherical(i: &SymMat3) -> bool {
    i.xx == i.yy && i.yy == i.zz && is_diagonal(i)
}

fn is_diagonal(i: &SymMat3) -> bool {
    i.xy == 0.0 && i.xz == 0.0 && i.yz == 0.0
}

/// The coordinate axis a diagonal tensor is symmetric about, to rounding.
fn symmetry_axis(i: &SymMat3) -> Option<Vec3> {
    // Two vanishing moments are no top: nothing resists the turn across.
    let equal = |a: f64, b: f64| a > 0.0 && (a - b).abs() <= 2.0 * f64::EPSILON * a;
    if !is_diagonal(i) {
        None
    } else if equal(i.xx, i.zz) {
        Some(Vec3::Y)
    } else if equal(i.xx, i.yy) {
        Some(Vec3::Z)
    } else if equal(i.yy, i.zz) {
        Some(Vec3::X)
    } else {
        None
    }
}

/// Closed form: the turn (body after to body before) and the change of the body angular velocity.
fn turn_symmetric(tensor: &SymMat3, axis: Vec3, spin: Vec3, dt: f64) -> (Quat, Vec3) {
    let momentum = tensor.mul_vec(spin);
    let axial = axis.dot(spin);
    let moment = tensor.quadratic(axis);
    let across = 0.5 * (tensor.trace() - moment);
    let own = rotation_from_vector(axis * ((1.0 - moment / across) * axial * dt));
    let precession = rotation_from_vector(momentum * (dt / across));
    (precession * own, turn_change(own.conjugate(), spin))
}

/// Taylor series over as many substeps as the speed needs, then a steady turn about L for what
/// remains. Results as of [`turn_symmetric`].
fn turn_general(body: &Body, spin: Vec3, dt: f64) -> (Quat, Vec3) {
    let mut turn = Quat::IDENTITY;
    let start = spin * dt;
    let mut gain = Vec3::ZERO;
    let mut remaining = 1.0;
    let angle = start.length();
    if angle <= MOST_ANGLE {
        // A power of two, so that scaling is exact and `remaining` ends at zero.
        let mut step = 1.0;
        while angle * step > SUBSTEP_ANGLE {
            step *= 0.5;
        }
        for _ in 0..MOST_SERIES {
            if remaining == 0.0 {
                break;
            }
            match series(body, (start + gain) * step) {
                Some((p, change)) => {
                    turn *= p;
                    gain += change / step;
                    remaining -= step;
                }
                None => step *= 0.5,
            }
        }
    }
    if remaining > 0.0 {
        let y = start + gain;
        let momentum = body.tensor.mul_vec(y);
        // The part of w along L is 2 energy/|L|: the mean rate of turn about L.
        let along = y.dot(momentum) / momentum.length_squared();
        turn *= rotation_from_vector(momentum * (along * remaining));
    }
    // No motion in no time, however fast.
    let gain = if dt == 0.0 { Vec3::ZERO } else { gain / dt };
    (turn, gain)
}
