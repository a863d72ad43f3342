//! Eigenvalues and eigenvectors of a symmetric 3x3 matrix, by cyclic Jacobi rotations.
//!
//! For the pair (p, q) the rotation by theta in that plane makes a_pq vanish when, with
//! tau = (a_qq - a_pp)/(2 a_pq), t = tan(theta) is the smaller root of t² + 2 tau t - 1 = 0:
//! t = sign(tau)/(|tau| + sqrt(1 + tau²)), so |theta| <= pi/4. Then a_pp -= t a_pq, a_qq += t a_pq.
//! Source: Golub and Van Loan, Matrix Computations, section 8.5.
//!
//! The rotation is kept as a quaternion, so the axes are right-handed whatever the rounding. Only
//! + - x / and sqrt are used: the same bits on every machine.

use crate::{Quat, SymMat3, Vec3, vec3};

/// Four sweeps reach rounding for every matrix (convergence is quadratic); the rest is margin.
const SWEEPS: usize = 12;

impl SymMat3 {
    /// Eigenvalues d and the rotation Q of the eigenvectors: `self` = Q diag(d) Q'.
    ///
    /// The order is that of the axes they were turned from: a diagonal matrix returns its own diagonal
    /// and the identity. Equal eigenvalues are no special case. Eigenvalues are good to about 1e-15
    /// of the largest. A matrix with an entry that is not finite returns its diagonal, unturned.
    pub fn principal_axes(&self) -> (Vec3, Quat) {
        let diagonal = vec3(self.xx, self.yy, self.zz);
        let largest = self.entries().iter().fold(0.0, |m: f64, e| m.max(e.abs()));
        let off = self.xy.abs() + self.xz.abs() + self.yz.abs();
        if off == 0.0 || !self.is_finite() {
            return (diagonal, Quat::IDENTITY);
        }
        // Scaled by a power of two, which costs no digit, so that no square over- or underflows.
        let exponent = libm::ilogb(largest);
        let scale = |x: f64| libm::scalbn(x, -exponent);
        let mut a = [
            [scale(self.xx), scale(self.xy), scale(self.xz)],
            [scale(self.xy), scale(self.yy), scale(self.yz)],
            [scale(self.xz), scale(self.yz), scale(self.zz)],
        ];
        let mut axes = Quat::IDENTITY;
        for _ in 0..SWEEPS {
            if a[0][1] == 0.0 && a[0][2] == 0.0 && a[1][2] == 0.0 {
                break;
            }
            for (p, q, r) in [(0, 1, 2), (2, 0, 1), (1, 2, 0)] {
                axes *= annihilate(&mut a, p, q, r);
            }
        }
        let unscale = |x: f64| libm::scalbn(x, exponent);
        let values = vec3(unscale(a[0][0]), unscale(a[1][1]), unscale(a[2][2]));
        (values, axes.normalize())
    }
}

/// Makes `a[p][q]` vanish by a turn about the axis r = p x q; returns the turn.
fn annihilate(a: &mut [[f64; 3]; 3], p: usize, q: usize, r: usize) -> Quat {
    let a_pq = a[p][q];
    // What cannot change either diagonal entry is zero.
    if a_pq.abs() <= 1e-17 * a[p][p].abs().min(a[q][q].abs()) || a_pq.abs() < 1e-40 {
        a[p][q] = 0.0;
        a[q][p] = 0.0;
        return Quat::IDENTITY;
    }
    let tau = (a[q][q] - a[p][p]) / (2.0 * a_pq);
    let t = 1.0_f64.copysign(tau) / (tau.abs() + (1.0 + tau * tau).sqrt());
    let cos = 1.0 / (1.0 + t * t).sqrt();
    let sin = t * cos;
    a[p][p] -= t * a_pq;
    a[q][q] += t * a_pq;
    a[p][q] = 0.0;
    a[q][p] = 0.0;
    let (a_rp, a_rq) = (a[r][p], a[r][q]);
    a[r][p] = cos * a_rp - sin * a_rq;
    a[r][q] = sin * a_rp + cos * a_rq;
    a[p][r] = a[r][p];
    a[q][r] = a[r][q];

    // The columns turn by -theta about r: e_p' = cos e_p - sin e_q.
    let half_cos = (0.5 * (1.0 + cos)).sqrt();
    let half_sin = -0.5 * sin / half_cos;
    let mut turn = [0.0, 0.0, 0.0, half_cos];
    turn[r] = half_sin;
    Quat::from_array(turn)
}
