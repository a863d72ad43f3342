//! The Taylor series of free rotation over one substep; the formulas are in the parent module.

use super::is_diagonal;
use crate::{Quat, SymMat3, Vec3, vec3};

/// Terms a series may take.
const TERMS: usize = 24;
/// Terms below this (rad) cannot change a rounded sum of about 1.
const NEGLIGIBLE: f64 = 1e-17;
/// 1/n.
const SHARES: [f64; TERMS] = {
    let mut shares = [1.0; TERMS];
    let mut n = 2;
    while n < TERMS {
        shares[n] = 1.0 / n as f64;
        n += 1;
    }
    shares
};

/// What the series needs of an inertia tensor.
pub(super) struct Body {
    pub(super) tensor: SymMat3,
    inverse: SymMat3,
    /// (I_y - I_z)/I_x and so on, where the tensor is diagonal: w_x' = g_x w_y w_z.
    gyration: Option<Vec3>,
}

impl Body {
    pub(super) fn new(tensor: SymMat3) -> Option<Self> {
        let SymMat3 { xx, yy, zz, .. } = tensor;
        if is_diagonal(&tensor) {
            let gyration = vec3((yy - zz) / xx, (zz - xx) / yy, (xx - yy) / zz);
            return gyration.is_finite().then_some(Self {
                tensor,
                inverse: SymMat3::ZERO,
                gyration: Some(gyration),
            });
        }
        Some(Self {
            tensor,
            inverse: tensor.inverse()?,
            gyration: None,
        })
    }
}

/// One substep from y0: the turn and the change of y, or `None` if the series has not converged.
pub(super) fn series(body: &Body, y0: Vec3) -> Option<(Quat, Vec3)> {
    let mut y = Coefficients::starting_with(y0);
    let mut z = Coefficients::starting_with(body.tensor.mul_vec(y0));
    // Vector and scalar parts of p.
    let mut v = Coefficients::starting_with(Vec3::ZERO);
    let mut s = [0.0; TERMS];
    s[0] = 1.0;
    // For a solid, terms shrink by |y0| or faster.
    let ratio = size(y0);
    let mut previous = f64::INFINITY;
    for n in 0..TERMS - 1 {
        let next = n + 1;
        let share = SHARES[next];
        let y_next = match body.gyration {
            Some(g) => g * y.products(n) * share,
            None => {
                let z_next = z.cross(&y, n) * share;
                z.set(next, z_next);
                body.inverse.mul_vec(z_next)
            }
        };
        let (v_next, s_next) = turn_term(&v, &s, &y, n);
        let (v_next, s_next) = (v_next * (0.5 * share), s_next * (0.5 * share));
        y.set(next, y_next);
        v.set(next, v_next);
        s[next] = s_next;
        // Every other term may vanish by symmetry, so a single small one proves nothing.
        let term = size(y_next) + ratio * (size(v_next) + s_next.abs());
        if term <= NEGLIGIBLE && previous * ratio <= NEGLIGIBLE {
            let p = v.sum(next);
            let scalar = s[1..=next].iter().rev().sum::<f64>() + 1.0;
            return Some((Quat::from_xyzw(p.x, p.y, p.z, scalar), y.sum(next)));
        }
        previous = term;
    }
    None
}

/// sum_k p_k y_(n-k), as vector and scalar parts.
fn turn_term(v: &Coefficients, s: &[f64; TERMS], y: &Coefficients, n: usize) -> (Vec3, f64) {
    let (mut a, mut b, mut c, mut d) = (0.0, 0.0, 0.0, 0.0);
    for k in 0..=n {
        let m = n - k;
        let (vx, vy, vz, s) = (v.x[k], v.y[k], v.z[k], s[k]);
        let (yx, yy, yz) = (y.x[m], y.y[m], y.z[m]);
        a += s * yx + (vy * yz - vz * yy);
        b += s * yy + (vz * yx - vx * yz);
        c += s * yz + (vx * yy - vy * yx);
        d -= vx * yx + vy * yy + vz * yz;
    }
    (vec3(a, b, c), d)
}

fn size(a: Vec3) -> f64 {
    a.x.abs() + a.y.abs() + a.z.abs()
}

/// Taylor coefficients of a vector, one array a component: the sums read single numbers, in opposite
/// orders.
struct Coefficients {
    x: [f64; TERMS],
    y: [f64; TERMS],
    z: [f64; TERMS],
}

impl Coefficients {
    fn starting_with(first: Vec3) -> Self {
        let mut all = Self {
            x: [0.0; TERMS],
            y: [0.0; TERMS],
            z: [0.0; TERMS],
        };
        all.set(0, first);
        all
    }

    fn set(&mut self, k: usize, value: Vec3) {
        self.x[k] = value.x;
        self.y[k] = value.y;
        self.z[k] = value.z;
    }

    /// sum_k self_k x other_(n-k).
    fn cross(&self, other: &Self, n: usize) -> Vec3 {
        let (mut a, mut b, mut c) = (0.0, 0.0, 0.0);
        for k in 0..=n {
            let m = n - k;
            a += self.y[k] * other.z[m] - self.z[k] * other.y[m];
            b += self.z[k] * other.x[m] - self.x[k] * other.z[m];
            c += self.x[k] * other.y[m] - self.y[k] * other.x[m];
        }
        vec3(a, b, c)
    }

    /// Coefficient n of the products (y z, z x, x y) of the components.
    fn products(&self, n: usize) -> Vec3 {
        let (mut a, mut b, mut c) = (0.0, 0.0, 0.0);
        for k in 0..=n {
            let m = n - k;
            a += self.y[k] * self.z[m];
            b += self.z[k] * self.x[m];
            c += self.x[k] * self.y[m];
        }
        vec3(a, b, c)
    }

    /// Sum of the terms 1 to `last`, smallest first so that it is rounded once.
    fn sum(&self, last: usize) -> Vec3 {
        let sum = |a: &[f64; TERMS]| a[1..=last].iter().rev().sum();
        vec3(sum(&self.x), sum(&self.y), sum(&self.z))
    }
}
