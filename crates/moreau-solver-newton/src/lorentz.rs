//! The Lorentz cone L = { x : x_0 >= |x_t| } of one contact, for interior points.
//!
//! ```text
//! product      x∘y = (x·y, x_0 y_t + y_0 x_t),      det x = x_0² - |x_t|²
//! scaling      the symmetric W with W y = W^-1 x, for x and y inside (Nesterov and Todd):
//!              W² = eta² (2 w w' - J),  J = diag(1, -1, -1),  eta² = sqrt(det x / det y),
//!              w = (x~ + J y~)/(2 g),  x~ = x/sqrt(det x),  y~ = y/sqrt(det y),  g² = (1 + x~·y~)/2
//! central      the x inside with x∘y = t² e and x - y = z, e = (1, 0, 0)
//! ```
//!
//! Alizadeh and Goldfarb, "Second-order cone programming", Math. Program. 95 (2003). Nesterov and Todd,
//! "Self-scaled barriers and interior-point methods for convex programming", Math. Oper. Res. 22 (1997).

use crate::maps::Three;
use moreau_math::{Vec3, vec3};

/// W, its inverse and its square.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scaling {
    pub(crate) w: Three,
    pub(crate) inverse: Three,
    pub(crate) square: Three,
}

fn tangential(x: Vec3) -> f64 {
    (x.y * x.y + x.z * x.z).sqrt()
}

/// x_0 - |x_t|: positive inside.
pub(crate) fn margin(x: Vec3) -> f64 {
    x.x - tangential(x)
}

pub(crate) fn det(x: Vec3) -> f64 {
    let t = tangential(x);
    (x.x - t) * (x.x + t)
}

pub(crate) fn product(a: Vec3, b: Vec3) -> Vec3 {
    vec3(a.dot(b), a.x * b.y + b.x * a.y, a.x * b.z + b.x * a.z)
}

/// The u with a∘u = b, for an a inside.
pub(crate) fn divide(a: Vec3, b: Vec3) -> Vec3 {
    let u = (a.x * b.x - a.y * b.y - a.z * b.z) / det(a);
    vec3(u, (b.y - u * a.y) / a.x, (b.z - u * a.z) / a.x)
}

impl Scaling {
    /// Makes it that of an x and a y inside.
    pub(crate) fn set(&mut self, x: Vec3, y: Vec3) {
        let (size_x, size_y) = (det(x).sqrt(), det(y).sqrt());
        let (x, y) = (x / size_x, y / size_y);
        let g = (0.5 * (1.0 + x.dot(y))).sqrt();
        let (a, b, c) = (x.x + y.x, x.y - y.y, x.z - y.z);
        let (a, b, c) = (a / (2.0 * g), b / (2.0 * g), c / (2.0 * g));
        let eta = (size_x / size_y).sqrt();
        let k = 1.0 / (1.0 + a);
        let (bb, bc, cc) = (1.0 + b * b * k, 0.0 + b * c * k, 1.0 + c * c * k);
        let (wb, wc, wbc) = (eta * b, eta * c, eta * bc);
        self.w = [[eta * a, wb, wc], [wb, eta * bb, wbc], [wc, wbc, eta * cc]];
        let (vb, vc, vbc) = (-b / eta, -c / eta, bc / eta);
        self.inverse = [[a / eta, vb, vc], [vb, bb / eta, vbc], [vc, vbc, cc / eta]];
        let (ab, ac, bc) = (2.0 * a * b, 2.0 * a * c, 2.0 * b * c);
        let e = eta * eta;
        self.square = [
            [e * (2.0 * a * a - 1.0), e * ab, e * ac],
            [e * (ab + 0.0), e * (2.0 * b * b + 1.0), e * (bc + 0.0)],
            [e * (ac + 0.0), e * (bc + 0.0), e * (2.0 * c * c + 1.0)],
        ];
    }
}

/// The largest a for which x + a d is in the cone, for an x inside; infinite where all are.
pub(crate) fn longest(x: Vec3, d: Vec3) -> f64 {
    let mut most = if d.x < 0.0 { -x.x / d.x } else { f64::INFINITY };
    // det(x + a d) = 0 in its numerically stable form. Without a root all is NaN, and not less.
    let (a, c) = (det(d), det(x));
    let b = 2.0 * (x.x * d.x - x.y * d.y - x.z * d.z);
    let root = (b * b - 4.0 * a * c).sqrt();
    let q = -0.5 * if b >= 0.0 { b + root } else { b - root };
    for a in [q / a, c / q] {
        most = if (a > 0.0) & (a < most) { a } else { most };
    }
    most
}

/// (z + sqrt(z² + 4 t²))/2.
fn half(z: f64, t: f64) -> f64 {
    let root = (z * z + 4.0 * t * t).sqrt();
    if z > 0.0 {
        0.5 * (z + root)
    } else {
        2.0 * t * t / (root - z)
    }
}

/// See the module. The y that goes with it is that of -z.
pub(crate) fn central(z: Vec3, t: f64) -> Vec3 {
    let length = tangential(z);
    let (far, near) = (half(z.x + length, t), half(z.x - length, t));
    let part = if length > 0.0 {
        0.5 * (far - near) / length
    } else {
        0.0
    };
    vec3(0.5 * (far + near), part * z.y, part * z.z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maps::apply;

    /// Points inside, some of them close to the surface.
    fn inside() -> Vec<Vec3> {
        let mut points = Vec::new();
        for (y, z) in [(0.0_f64, 0.0_f64), (0.3, -0.4), (-2.0, 1.0), (1e-9, 0.0)] {
            for margin in [1e-6, 0.1, 3.0] {
                points.push(vec3((y * y + z * z).sqrt() + margin, y, z));
            }
        }
        points
    }

    #[test]
    fn the_scaling_takes_both_to_the_same_point() {
        for x in inside() {
            for y in inside() {
                let mut s = Scaling::default();
                s.set(x, y);
                let size =
                    1e-8 * (1.0 + x.length()) * (1.0 + y.length()) / (det(x) * det(y)).sqrt();
                let there = apply(&s.w, y);
                assert!((there - apply(&s.inverse, x)).length() < size, "{x} {y}");
                assert!((apply(&s.square, y) - x).length() < size, "{x} {y}");
                assert!(
                    (apply(&s.w, apply(&s.inverse, x)) - x).length() < size,
                    "{x} {y}"
                );
            }
        }
    }

    #[test]
    fn dividing_undoes_the_product() {
        for a in inside() {
            for b in [vec3(1.0, 0.2, -3.0), vec3(-0.4, 0.0, 0.7)] {
                let back = divide(a, product(a, b));
                assert!(
                    (back - b).length() < 1e-9 * a.length() / det(a).min(1.0),
                    "{a} {b}"
                );
            }
        }
    }

    #[test]
    fn the_longest_step_ends_on_the_surface() {
        let mut ended = 0;
        for x in inside() {
            for d in [
                vec3(-1.0, 0.0, 0.0),
                vec3(0.0, 1.0, 0.5),
                vec3(1.0, -3.0, 0.2),
                vec3(1.0, 1.0, 0.0),
                vec3(2.0, 0.5, 0.5),
            ] {
                let a = longest(x, d);
                if a.is_finite() {
                    ended += 1;
                    let end = x + d * a;
                    assert!(
                        margin(end).abs() < 1e-6 * (1.0 + end.length()),
                        "{x} {d} {a}"
                    );
                    assert!(margin(x + d * (0.99 * a)) > 0.0, "{x} {d} {a}");
                } else {
                    assert!(margin(x + d * 1e6) > 0.0, "{x} {d}");
                }
            }
        }
        assert!(ended > 20, "{ended}");
    }

    #[test]
    fn central_points_have_the_product_and_the_difference() {
        for z in [
            vec3(1.0, 0.3, 0.2),
            vec3(-2.0, 0.0, 0.0),
            vec3(0.1, -3.0, 1.0),
            vec3(0.0, 0.0, 0.0),
        ] {
            for t in [1e-3, 0.5] {
                let (x, y) = (central(z, t), central(-z, t));
                assert!(margin(x) > 0.0 && margin(y) > 0.0);
                assert!((x - y - z).length() < 1e-14 * (1.0 + z.length()));
                let error = product(x, y) - vec3(t * t, 0.0, 0.0);
                assert!(
                    error.length() < 1e-14 * (1.0 + z.length_squared()),
                    "{z} {t}"
                );
            }
        }
    }
}
