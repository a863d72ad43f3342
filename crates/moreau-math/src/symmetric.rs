use crate::{Mat3, Quat, Vec3, vec3};
use serde::{Deserialize, Serialize};

/// A symmetric 3x3 matrix by its six distinct entries, such as an inertia tensor (kg m²).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct SymMat3 {
    pub xx: f64,
    pub yy: f64,
    pub zz: f64,
    pub xy: f64,
    pub xz: f64,
    pub yz: f64,
}

impl SymMat3 {
    /// All entries zero: the inverse inertia of a body that cannot turn.
    pub const ZERO: Self = Self {
        xx: 0.0,
        yy: 0.0,
        zz: 0.0,
        xy: 0.0,
        xz: 0.0,
        yz: 0.0,
    };

    /// The diagonal matrix diag(d).
    pub const fn from_diagonal(d: Vec3) -> Self {
        Self {
            xx: d.x,
            yy: d.y,
            zz: d.z,
            xy: 0.0,
            xz: 0.0,
            yz: 0.0,
        }
    }

    /// The symmetric part of a general matrix, (A + A')/2.
    pub fn from_mat3(a: Mat3) -> Self {
        Self {
            xx: a.x_axis.x,
            yy: a.y_axis.y,
            zz: a.z_axis.z,
            xy: 0.5 * (a.y_axis.x + a.x_axis.y),
            xz: 0.5 * (a.z_axis.x + a.x_axis.z),
            yz: 0.5 * (a.z_axis.y + a.y_axis.z),
        }
    }

    /// `scale` v v'.
    pub fn outer(v: Vec3, scale: f64) -> Self {
        Self {
            xx: scale * v.x * v.x,
            yy: scale * v.y * v.y,
            zz: scale * v.z * v.z,
            xy: scale * v.x * v.y,
            xz: scale * v.x * v.z,
            yz: scale * v.y * v.z,
        }
    }

    /// As a general matrix.
    pub fn to_mat3(self) -> Mat3 {
        Mat3::from_cols(
            vec3(self.xx, self.xy, self.xz),
            vec3(self.xy, self.yy, self.yz),
            vec3(self.xz, self.yz, self.zz),
        )
    }

    /// A v.
    pub fn mul_vec(&self, v: Vec3) -> Vec3 {
        vec3(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )
    }

    /// v' A v.
    pub fn quadratic(&self, v: Vec3) -> f64 {
        v.dot(self.mul_vec(v))
    }

    /// R A R': a tensor of body axes expressed in world axes.
    pub fn rotated(&self, rotation: Quat) -> Self {
        let r = Mat3::from_quat(rotation);
        Self::from_mat3(r * self.to_mat3() * r.transpose())
    }

    /// Determinant.
    pub fn determinant(&self) -> f64 {
        self.xx * (self.yy * self.zz - self.yz * self.yz)
            - self.xy * (self.xy * self.zz - self.yz * self.xz)
            + self.xz * (self.xy * self.yz - self.yy * self.xz)
    }

    /// The inverse, or `None` where the determinant is zero or not finite, or an entry of the inverse
    /// is out of range.
    pub fn inverse(&self) -> Option<Self> {
        if let Some(inverse) = self.adjugate_over_determinant() {
            return Some(inverse);
        }
        // The products of a very large or very small matrix leave the range of f64 where its inverse
        // does not: bring the largest entry near 1, by a power of two, which costs no digit.
        let largest = self.entries().iter().fold(0.0, |m: f64, e| m.max(e.abs()));
        if !(largest > 0.0 && self.is_finite()) {
            return None;
        }
        let down = libm::scalbn(1.0, -libm::ilogb(largest).max(-1000));
        let inverse = self.scaled(down).adjugate_over_determinant()?.scaled(down);
        inverse.is_finite().then_some(inverse)
    }

    fn adjugate_over_determinant(&self) -> Option<Self> {
        let c_xx = self.yy * self.zz - self.yz * self.yz;
        let c_xy = self.xz * self.yz - self.xy * self.zz;
        let c_xz = self.xy * self.yz - self.xz * self.yy;
        let det = self.xx * c_xx + self.xy * c_xy + self.xz * c_xz;
        let inv = 1.0 / det;
        if !(det.is_normal() && inv.is_normal()) {
            return None;
        }
        Some(Self {
            xx: c_xx * inv,
            yy: (self.xx * self.zz - self.xz * self.xz) * inv,
            zz: (self.xx * self.yy - self.xy * self.xy) * inv,
            xy: c_xy * inv,
            xz: c_xz * inv,
            yz: (self.xy * self.xz - self.xx * self.yz) * inv,
        })
    }

    /// The six distinct entries: xx, yy, zz, xy, xz, yz.
    pub const fn entries(&self) -> [f64; 6] {
        [self.xx, self.yy, self.zz, self.xy, self.xz, self.yz]
    }

    /// Sum of the diagonal.
    pub fn trace(&self) -> f64 {
        self.xx + self.yy + self.zz
    }

    /// `scale` A.
    pub fn scaled(&self, scale: f64) -> Self {
        Self {
            xx: self.xx * scale,
            yy: self.yy * scale,
            zz: self.zz * scale,
            xy: self.xy * scale,
            xz: self.xz * scale,
            yz: self.yz * scale,
        }
    }

    /// Whether every entry is finite.
    pub fn is_finite(&self) -> bool {
        // The sum of absolute values is finite exactly where every entry is (or it overflows, which
        // no usable tensor does).
        (self.xx.abs()
            + self.yy.abs()
            + self.zz.abs()
            + self.xy.abs()
            + self.xz.abs()
            + self.yz.abs())
        .is_finite()
    }
}

impl std::ops::Add for SymMat3 {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self {
            xx: self.xx + o.xx,
            yy: self.yy + o.yy,
            zz: self.zz + o.zz,
            xy: self.xy + o.xy,
            xz: self.xz + o.xz,
            yz: self.yz + o.yz,
        }
    }
}

impl std::ops::Sub for SymMat3 {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self + o.scaled(-1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_times_matrix_is_identity() {
        let a = SymMat3 {
            xx: 4.0,
            yy: 3.0,
            zz: 5.0,
            xy: 1.0,
            xz: -0.5,
            yz: 0.25,
        };
        let product = a.to_mat3() * a.inverse().unwrap().to_mat3();
        assert!((product - Mat3::IDENTITY).abs_diff_eq(Mat3::ZERO, 1e-14));
        assert!((a.determinant() - a.to_mat3().determinant()).abs() < 1e-12);
        assert_eq!(SymMat3::ZERO.inverse(), None);
        for exponent in [-900, -500, 500, 900] {
            let scale = libm::scalbn(1.0, exponent);
            let back = a.scaled(scale).inverse().unwrap().scaled(scale);
            assert_eq!(back, a.inverse().unwrap());
        }
        assert_eq!(SymMat3::from_diagonal(Vec3::splat(1e-320)).inverse(), None);
        assert_eq!(SymMat3::outer(Vec3::ONE, 1e200).inverse(), None);
        assert_eq!(SymMat3::outer(Vec3::ONE, f64::NAN).inverse(), None);
    }

    #[test]
    fn rotation_keeps_the_quadratic_form() {
        let a = SymMat3 {
            xx: 4.0,
            yy: 3.0,
            zz: 5.0,
            xy: 1.0,
            xz: -0.5,
            yz: 0.25,
        };
        let q = Quat::from_xyzw(0.1, -0.3, 0.5, 0.8).normalize();
        let v = vec3(0.3, -2.0, 1.1);
        assert!((a.rotated(q).quadratic(q * v) - a.quadratic(v)).abs() < 1e-12);
    }
}
