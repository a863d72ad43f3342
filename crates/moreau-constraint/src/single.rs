//! The exact law of one contact, all others held.
//!
//! Given the contact's own Delassus block W (3x3, 1/kg), the shifted velocity q without its own
//! impulse (m/s) and mu, find l with s = W l + q and
//!
//! ```text
//! 0 <= l_n _|_ s_n >= 0,   |l_t| <= mu l_n,   l_t = -mu l_n s_t/|s_t| where |s_t| > 0.
//!
//! open    q_n >= 0:  l = 0
//! S = W_tt - W_tn W_nt/W_nn,  p = q_t - W_tn q_n/W_nn          (the normal row eliminated)
//! stick   l_t = -S^-1 p,  l_n = -(q_n + W_nt l_t)/W_nn         accepted where |l_t| <= mu l_n
//! slip    S = Q diag(s) Q',  a = Q'p,  w = Q'W_tn;  for alpha > 0
//!         l_t,i = -a_i/(s_i + alpha),  l_n = -(q_n + w·l_t)/W_nn;  the alpha with |l_t| = mu l_n
//! ```
//!
//! alpha is |s_t|/|l_t|. The root lies in (0, |a| (W_nn + mu |w|)/(mu (-q_n))]; Newton's method on
//! 1 - mu l_n/|l_t|, kept inside a bracket that bisection (geometric where it can be) shrinks.
//! At large mu more than one l can satisfy the law (Painlevé); any one is returned.

use moreau_math::{Mat3, Vec3, vec3};

/// What a contact does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactState {
    /// No impulse.
    Open,
    /// Inside its cone, no tangential velocity.
    Stick,
    /// On its cone.
    Slip,
}

/// The answer of [`solve_single_contact`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SingleContact {
    /// (normal, tangent 1, tangent 2), N s.
    pub impulse: Vec3,
    /// Which case it is.
    pub state: ContactState,
    /// Steps of the root search; 0 where there was none.
    pub iterations: u32,
}

const OPEN: SingleContact = SingleContact {
    impulse: Vec3::ZERO,
    state: ContactState::Open,
    iterations: 0,
};

/// Solves one contact exactly (relative error about 1e-15); see the module's formulas.
///
/// `w`: symmetric positive definite block (n, t1, t2), 1/kg; of its two triangles the lower counts.
/// `q`: m/s. `mu` >= 0.
pub fn solve_single_contact(w: &Mat3, q: Vec3, mu: f64) -> SingleContact {
    let (nn, n1, n2) = (w.x_axis.x, w.x_axis.y, w.x_axis.z);
    if q.x >= 0.0 || !(nn > 0.0) {
        return OPEN;
    }
    let inverse = 1.0 / nn;
    if mu <= 0.0 {
        let impulse = vec3(-q.x * inverse, 0.0, 0.0);
        return SingleContact {
            impulse,
            state: ContactState::Slip,
            iterations: 0,
        };
    }
    // The tangential plane with the normal row eliminated.
    let s11 = w.y_axis.y - n1 * n1 * inverse;
    let s12 = w.y_axis.z - n1 * n2 * inverse;
    let s22 = w.z_axis.z - n2 * n2 * inverse;
    let (p1, p2) = (q.y - n1 * q.x * inverse, q.z - n2 * q.x * inverse);
    let det = s11 * s22 - s12 * s12;
    if det > 0.0 {
        let (t1, t2) = (-(s22 * p1 - s12 * p2) / det, -(s11 * p2 - s12 * p1) / det);
        let normal = -(q.x + n1 * t1 + n2 * t2) * inverse;
        if normal >= 0.0 && t1 * t1 + t2 * t2 <= mu * mu * normal * normal {
            let impulse = vec3(normal, t1, t2);
            return SingleContact {
                impulse,
                state: ContactState::Stick,
                iterations: 0,
            };
        }
    }
    slip(
        &Plane::new((s11, s12, s22), det, (p1, p2), (n1, n2)),
        q.x,
        nn,
        mu,
    )
}

/// The tangential plane in the eigenbasis of S.
struct Plane {
    /// The first eigenvector is (cos, sin), the second (-sin, cos).
    cos: f64,
    sin: f64,
    s1: f64,
    s2: f64,
    a1: f64,
    a2: f64,
    w1: f64,
    w2: f64,
}

impl Plane {
    fn new((s11, s12, s22): (f64, f64, f64), det: f64, p: (f64, f64), w: (f64, f64)) -> Self {
        let (mean, half) = (0.5 * (s11 + s22), 0.5 * (s11 - s22));
        let spread = (half * half + s12 * s12).sqrt();
        let (x, y) = if half >= 0.0 {
            (half + spread, s12)
        } else {
            (s12, spread - half)
        };
        let length = (x * x + y * y).sqrt();
        let (cos, sin) = if length > 0.0 {
            (x / length, y / length)
        } else {
            (1.0, 0.0)
        };
        let s1 = mean + spread;
        // det/s1 keeps the digits of the small eigenvalue.
        let s2 = if s1 > 0.0 { (det / s1).max(0.0) } else { 0.0 };
        Self {
            cos,
            sin,
            s1,
            s2,
            a1: cos * p.0 + sin * p.1,
            a2: cos * p.1 - sin * p.0,
            w1: cos * w.0 + sin * w.1,
            w2: cos * w.1 - sin * w.0,
        }
    }
}

fn slip(plane: &Plane, q_n: f64, nn: f64, mu: f64) -> SingleContact {
    let Plane {
        s1,
        s2,
        a1,
        a2,
        w1,
        w2,
        ..
    } = *plane;
    let inverse = 1.0 / nn;
    let (pull, coupling) = ((a1 * a1 + a2 * a2).sqrt(), (w1 * w1 + w2 * w2).sqrt());
    let mut low = 0.0;
    let mut high = pull * (nn + mu * coupling) / (mu * -q_n);
    // In the plane without coupling alpha = 0 would be the sticking answer.
    let mut alpha: f64 = if s2 > 0.0 { 0.0 } else { 0.5 * high };
    let (mut x1, mut x2, mut tangent) = (0.0, 0.0, 0.0);
    let mut iterations = 0;
    while iterations < 200 {
        iterations += 1;
        let (e1, e2) = (1.0 / (s1 + alpha), 1.0 / (s2 + alpha));
        (x1, x2) = (-a1 * e1, -a2 * e2);
        let squared = x1 * x1 + x2 * x2;
        tangent = squared.sqrt();
        let normal = -(q_n + w1 * x1 + w2 * x2) * inverse;
        let excess = tangent - mu * normal;
        if excess > 0.0 {
            low = alpha;
        } else {
            high = alpha;
        }
        let size = tangent + mu * (q_n.abs() + (w1 * x1).abs() + (w2 * x2).abs()) * inverse;
        if excess.abs() <= 1e-15 * size || high - low <= 4e-16 * high {
            break;
        }
        // Newton on 1 - mu l_n/|l_t|.
        let d_tangent = -(x1 * x1 * e1 + x2 * x2 * e2) / tangent;
        let d_normal = (w1 * x1 * e1 + w2 * x2 * e2) * inverse;
        let value = 1.0 - mu * normal / tangent;
        let slope = -mu * (d_normal * tangent - normal * d_tangent) / squared;
        let mut next = alpha - value / slope;
        // Also taken where `next` is NaN.
        if !(next > low && next < high) {
            next = if low > 0.0 {
                (low * high).sqrt()
            } else {
                (0.5 * high).min(s2)
            };
            if !(next > low && next < high) {
                next = 0.5 * (low + high);
            }
        }
        alpha = next;
    }
    let (t1, t2) = (
        plane.cos * x1 - plane.sin * x2,
        plane.sin * x1 + plane.cos * x2,
    );
    let impulse = vec3(tangent / mu, t1, t2);
    SingleContact {
        impulse,
        state: ContactState::Slip,
        iterations,
    }
}
