//! Projections of one contact and their generalised Jacobians.

use moreau_math::Vec3;

/// A 3x3 matrix, row by row.
pub(crate) type Three = [[f64; 3]; 3];

pub(crate) const IDENTITY: Three = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
pub(crate) const ZERO: Three = [[0.0; 3]; 3];

/// The map of Alart and Curnier (1991, eq. 3.7 ff.) and an element G of its generalised Jacobian:
///
/// ```text
/// p_n = max(0, z_n),  p_t = projection of z_t on the disc of radius mu p_n
/// open 0;  stick I;  slip G_nn = 1, G_tn = mu d, G_tt = (mu p_n/|z_t|)(I - d d'), d = z_t/|z_t|
/// ```
///
/// l = p(l - rho u) is the exact law of Coulomb contact, without a De Saxcé correction.
pub(crate) fn alart_curnier(z: Vec3, mu: f64) -> (Vec3, Three) {
    if z.x <= 0.0 {
        return (Vec3::ZERO, ZERO);
    }
    let length = (z.y * z.y + z.z * z.z).sqrt();
    let radius = mu * z.x;
    if length <= radius {
        return (z, IDENTITY);
    }
    let (d1, d2, f) = (z.y / length, z.z / length, radius / length);
    let p = Vec3::new(z.x, radius * d1, radius * d2);
    (
        p,
        [
            [1.0, 0.0, 0.0],
            [mu * d1, f * d2 * d2, -f * d1 * d2],
            [mu * d2, -f * d1 * d2, f * d1 * d1],
        ],
    )
}

/// The same with a friction radius that does not depend on the normal impulse (Haslinger's, or
/// Tresca's, problem); its Jacobian is symmetric.
pub(crate) fn fixed_radius(z: Vec3, radius: f64) -> (Vec3, Three) {
    let normal = if z.x > 0.0 { 1.0 } else { 0.0 };
    let length = (z.y * z.y + z.z * z.z).sqrt();
    if length <= radius {
        let p = Vec3::new(z.x.max(0.0), z.y, z.z);
        return (p, [[normal, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    }
    let (d1, d2, f) = (z.y / length, z.z / length, radius / length);
    let p = Vec3::new(z.x.max(0.0), radius * d1, radius * d2);
    (
        p,
        [
            [normal, 0.0, 0.0],
            [0.0, f * d2 * d2, -f * d1 * d2],
            [0.0, -f * d1 * d2, f * d1 * d1],
        ],
    )
}

/// The projection on the friction cone and an element D of its generalised Jacobian, symmetric and
/// between 0 and I:
///
/// ```text
/// inside I;  in the polar cone 0;  else with d = z_t/|z_t|, t orthogonal to it, g = 1/(1 + mu²),
/// e = (1, mu d), p_n = g (z_n + mu |z_t|):  D = g e e' + (mu p_n/|z_t|) t t'
/// ```
///
/// It jumps at both boundaries of the last case.
pub(crate) fn cone(z: Vec3, mu: f64) -> (Vec3, Three) {
    let p = moreau_constraint::project_cone(z, mu);
    if p == Vec3::ZERO {
        return (p, ZERO);
    }
    // For mu = 0 the cone is a ray and has no inside.
    if p == z && mu > 0.0 {
        return (p, IDENTITY);
    }
    let g = 1.0 / (1.0 + mu * mu);
    let length = (z.y * z.y + z.z * z.z).sqrt();
    if length == 0.0 {
        return (p, [[g, 0.0, 0.0], [0.0; 3], [0.0; 3]]);
    }
    let (d1, d2, f) = (z.y / length, z.z / length, mu * p.x / length);
    let e = [1.0, mu * d1, mu * d2];
    let t = [0.0, -d2, d1];
    let mut d = ZERO;
    for i in 0..3 {
        for j in 0..3 {
            d[i][j] = g * (e[i] * e[j]) + f * (t[i] * t[j]);
        }
    }
    (p, d)
}

/// A b.
pub(crate) fn multiply(a: &Three, b: &Three) -> Three {
    let mut c = ZERO;
    for i in 0..3 {
        for j in 0..3 {
            c[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
        }
    }
    c
}

/// A x.
pub(crate) fn apply(a: &Three, x: Vec3) -> Vec3 {
    let row = |r: &[f64; 3]| r[0] * x.x + r[1] * x.y + r[2] * x.z;
    Vec3::new(row(&a[0]), row(&a[1]), row(&a[2]))
}

/// `scale` A.
pub(crate) fn scaled(a: &Three, scale: f64) -> Three {
    a.map(|row| row.map(|x| x * scale))
}

/// The inverse by cofactors; entries are not finite where A is singular.
pub(crate) fn inverse(a: &Three) -> Three {
    let m = moreau_math::Mat3::from_cols_array_2d(a).inverse();
    m.to_cols_array_2d()
}

#[cfg(test)]
mod tests {
    use super::*;
    use moreau_math::vec3;

    /// Central differences of `map` at points away from its kinks.
    fn check(map: impl Fn(Vec3) -> (Vec3, Three)) {
        let values = [-1.3, -0.4, 0.2, 0.9, 2.1];
        for x in values {
            for y in values {
                for z in values {
                    let at = vec3(x, y, z);
                    let (_, jacobian) = map(at);
                    for (k, axis) in Vec3::AXES.into_iter().enumerate() {
                        let h = 1e-6;
                        let slope = (map(at + axis * h).0 - map(at - axis * h).0) / (2.0 * h);
                        let column = vec3(jacobian[0][k], jacobian[1][k], jacobian[2][k]);
                        assert!((slope - column).length() < 1e-8, "{at} {k}");
                    }
                }
            }
        }
    }

    #[test]
    fn jacobians_are_the_slopes() {
        for mu in [0.0, 0.17, 0.5, 1.7] {
            check(|z| alart_curnier(z, mu));
            check(|z| fixed_radius(z, mu));
            check(|z| cone(z, mu));
        }
    }

    #[test]
    fn the_jacobian_of_the_cone_projection_is_symmetric_and_between_zero_and_one() {
        let values = [-2.0, -0.5, 0.0, 0.3, 1.0, 4.0];
        for mu in [0.0, 0.2, 1.0, 50.0] {
            for x in values {
                for (y, z) in [(0.0, 0.0), (0.5, 0.0), (-0.3, 0.4), (2.0, -3.0)] {
                    let (p, d) = cone(vec3(x, y, z), mu);
                    for direction in [
                        vec3(1.0, 0.3, -0.2),
                        vec3(0.0, 1.0, 2.0),
                        vec3(-1.0, 2.0, 0.1),
                    ] {
                        let along = direction.dot(apply(&d, direction));
                        let whole = direction.length_squared();
                        assert!(along >= -1e-15 * whole && along <= (1.0 + 1e-14) * whole);
                    }
                    for i in 0..3 {
                        for j in 0..3 {
                            assert_eq!(d[i][j], d[j][i]);
                        }
                    }
                    // The projection is homogeneous: D z = p wherever D exists.
                    let error = apply(&d, vec3(x, y, z)) - p;
                    assert!(error.length() < 1e-13, "{mu} {x} {y} {z} {error}");
                }
            }
        }
    }

    #[test]
    fn the_jacobian_of_the_cone_projection_jumps_at_both_boundaries() {
        // Across the surface of the cone the part along the normal (mu, -d) goes from 1 to 0, and
        // across that of the polar cone the part along (1, mu d) goes from 1 to 0: rank 3, 2 (with
        // radius 1 around the axis) and 0.
        let mu = 0.5;
        let trace = |z: Vec3| {
            let (_, d) = cone(z, mu);
            d[0][0] + d[1][1] + d[2][2]
        };
        let on_cone = vec3(1.0, 0.3, 0.4);
        assert_eq!(trace(on_cone + 1e-9 * Vec3::X), 3.0);
        // mu p_n/|z_t| is 1 at the boundary: what document 003 has as gamma mu².
        assert!((trace(on_cone - 1e-9 * Vec3::X) - 2.0).abs() < 1e-8);
        let on_polar = vec3(-0.25, 0.3, 0.4);
        assert!((trace(on_polar + 1e-9 * Vec3::X) - 1.0).abs() < 1e-8);
        assert_eq!(trace(on_polar - 1e-9 * Vec3::X), 0.0);
    }

    #[test]
    fn inverse_of_a_matrix() {
        let a = [[2.0, 1.0, 0.0], [-1.0, 3.0, 0.5], [0.25, 0.0, 4.0]];
        let product = multiply(&a, &inverse(&a));
        for i in 0..3 {
            for j in 0..3 {
                assert!((product[i][j] - IDENTITY[i][j]).abs() < 1e-15);
            }
        }
    }
}
