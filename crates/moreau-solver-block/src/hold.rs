//! The local step of document 001, with its optional third phase, "hold and resolve".
//!
//! ```text
//! 1  l' = l - K^-1 s                      the whole block to zero velocity
//! 2  l'_n < 0: l' = 0;  |l'_t| > mu l'_n: scale l'_t to the edge of the cone
//! 3  where step 2 scaled: hold l'_t, and solve the normal row again,
//!    l'_n = max(0, l_n - (s_n + K_nt (l'_t - l_t))/K_nn)
//! ```
//!
//! K = W_cc (1/kg), s = u + b (m/s). K is regularised by 1e-12 of its trace, so that the step does not
//! depend on units.
//!
//! Without step 3 the fixed point of a sliding contact is u_n = K_nt K_tt^-1 u_t: the contact lifts off
//! or sinks, and may gain energy. That form is not offered. With step 3, u_n = 0 at the fixed point;
//! what is left wrong is friction, whose radius is mu (l_n - (K^-1 s)_n) and whose direction is that of
//! K_tt^-1-weighted sliding. Where tangents are not coupled (K_nt = 0, K_tt a multiple of 1) the step is
//! exact.

use moreau_math::{Mat3, Vec3, vec3};

/// A contact's block for this step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HoldBlock {
    inverse: Mat3,
    nn: f64,
    n1: f64,
    n2: f64,
    friction: f64,
}

impl HoldBlock {
    pub(crate) fn new(w: &Mat3, friction: f64) -> Self {
        let trace = w.x_axis.x + w.y_axis.y + w.z_axis.z;
        let shift = 1e-12 * trace;
        let inverse = (*w + Mat3::from_diagonal(Vec3::splat(shift))).inverse();
        let inverse = if inverse.is_finite() {
            inverse
        } else {
            Mat3::ZERO
        };
        Self {
            inverse,
            nn: w.x_axis.x,
            n1: w.x_axis.y,
            n2: w.x_axis.z,
            friction,
        }
    }

    pub(crate) fn update(&self, s: Vec3, l: Vec3) -> Vec3 {
        let free = l - self.inverse * s;
        if !(free.x > 0.0) {
            return Vec3::ZERO;
        }
        let radius = self.friction * free.x;
        let length = (free.y * free.y + free.z * free.z).sqrt();
        if length <= radius {
            return free;
        }
        let scale = radius / length;
        let (t1, t2) = (free.y * scale, free.z * scale);
        let change = self.n1 * (t1 - l.y) + self.n2 * (t2 - l.z);
        let normal = if self.nn > 0.0 {
            (l.x - (s.x + change) / self.nn).max(0.0)
        } else {
            0.0
        };
        vec3(normal, t1, t2)
    }
}
