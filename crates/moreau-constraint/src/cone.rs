//! The friction cone K = { (l_n, l_t) : |l_t| <= mu l_n }, its dual and the disc.
//!
//! K* = { (u_n, u_t) : mu |u_t| <= u_n }, and P_K*(z) = z + P_K(-z) (Moreau's decomposition).
//! Vectors are (normal, tangent 1, tangent 2).

use moreau_math::{Vec3, vec3};

/// Euclidean projection of `z` on the friction cone of coefficient `mu` >= 0.
///
/// For mu = 0 the cone is the ray (l_n >= 0, 0, 0).
pub fn project_cone(z: Vec3, mu: f64) -> Vec3 {
    let t = tangent_length(z);
    // Without the sign test the ray of mu = 0 would contain its negative half.
    if z.x >= 0.0 && t <= mu * z.x {
        return z;
    }
    if mu * t <= -z.x {
        return Vec3::ZERO;
    }
    // Not inside, so t > 0.
    let normal = (z.x + mu * t) / (1.0 + mu * mu);
    let scale = mu * normal / t;
    vec3(normal, scale * z.y, scale * z.z)
}

/// Euclidean projection of `z` on the dual cone { mu |u_t| <= u_n }.
pub fn project_dual_cone(z: Vec3, mu: f64) -> Vec3 {
    z + project_cone(-z, mu)
}

/// Squares smaller than this are not rounded to a part of themselves.
const LEAST_SQUARE: f64 = 1e-290;

/// Projection of the tangential pair (t1, t2) on the disc of `radius` >= 0.
pub fn project_disc(t1: f64, t2: f64, radius: f64) -> (f64, f64) {
    let squared = t1 * t1 + t2 * t2;
    if (LEAST_SQUARE..=f64::MAX).contains(&squared) {
        if squared <= radius * radius {
            return (t1, t2);
        }
        let scale = radius / squared.sqrt();
        return (t1 * scale, t2 * scale);
    }
    // Squares that are too large or too small for a number: with a longer side of 1.
    let big = t1.abs().max(t2.abs());
    if big == 0.0 {
        return (t1, t2);
    }
    let (x, y) = (t1 / big, t2 / big);
    let length = (x * x + y * y).sqrt();
    if length <= radius / big {
        return (t1, t2);
    }
    let scale = radius / length;
    (x * scale, y * scale)
}

/// |(t1, t2)| of a contact-frame vector; infinite only where it is too large for an f64.
fn tangent_length(z: Vec3) -> f64 {
    let length = (z.y * z.y + z.z * z.z).sqrt();
    if length != f64::INFINITY {
        return length;
    }
    let big = z.y.abs().max(z.z.abs());
    let (x, y) = (z.y / big, z.z / big);
    big * (x * x + y * y).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> impl Iterator<Item = (Vec3, f64)> {
        let values = [-3.0, -1.0, -0.2, 0.0, 0.3, 1.0, 4.0];
        let mus = [0.0, 0.1, 0.5, 1.0, 10.0, 1e3];
        values.into_iter().flat_map(move |x| {
            values.into_iter().flat_map(move |y| {
                values
                    .into_iter()
                    .flat_map(move |z| mus.into_iter().map(move |mu| (vec3(x, y, z), mu)))
            })
        })
    }

    #[test]
    fn moreau_decomposition_holds() {
        // z = P_K(z) + P_K°(z), orthogonal, with the polar cone K° = -K*.
        for (z, mu) in samples() {
            let inside = project_cone(z, mu);
            let polar = -project_dual_cone(-z, mu);
            assert!((inside + polar - z).length() < 1e-12 * (1.0 + z.length()));
            assert!(
                inside.dot(polar).abs() < 1e-9 * (1.0 + z.length_squared()),
                "{z} {mu}"
            );
            assert!(inside.x >= 0.0, "{z} {mu}");
            assert!(tangent_length(inside) <= mu * inside.x + 1e-12);
            let dual = -polar;
            assert!(
                mu * tangent_length(dual) <= dual.x + 1e-9 * (1.0 + mu),
                "{z} {mu} {dual}"
            );
        }
    }

    #[test]
    fn without_friction_the_cone_is_a_ray() {
        assert_eq!(project_cone(vec3(-1.0, 0.0, 0.0), 0.0), Vec3::ZERO);
        assert_eq!(project_cone(vec3(2.0, 3.0, -1.0), 0.0), 2.0 * Vec3::X);
    }

    #[test]
    fn huge_tangents_are_projected_too() {
        let p = project_cone(vec3(0.0, 3e200, 4e200), 1.0);
        assert!((p / 1e200 - vec3(2.5, 1.5, 2.0)).length() < 1e-14);
    }

    #[test]
    fn disc_is_the_nearest_point() {
        assert_eq!(project_disc(0.3, 0.4, 0.5), (0.3, 0.4));
        assert_eq!(project_disc(3.0, 4.0, 0.0), (0.0, 0.0));
        let (a, b) = project_disc(3.0, 4.0, 1.0);
        assert!((a - 0.6).abs() < 1e-15 && (b - 0.8).abs() < 1e-15);
        let (a, b) = project_disc(3e200, 4e200, 1.0);
        assert!((a - 0.6).abs() < 1e-15 && (b - 0.8).abs() < 1e-15);
    }

    /// Also where squares are no numbers.
    #[test]
    fn discs_of_all_sizes_are_alike() {
        for size in [
            1e-300, 1e-200, 1e-150, 1e-140, 1.0, 1e100, 1e154, 1e200, 1e300,
        ] {
            for (t1, t2) in [(0.3, 0.4), (-0.4, 0.3), (0.0, 0.5)] {
                let t = (t1 * size, t2 * size);
                assert_eq!(project_disc(t.0, t.1, 0.6 * size), t);
                let (a, b) = project_disc(2.0 * t.0, 2.0 * t.1, 0.5 * size);
                let off = (a / size - t1).abs().max((b / size - t2).abs());
                assert!(off < 1e-15, "{size} {a} {b}");
            }
        }
        assert_eq!(project_disc(3e-200, 0.0, 0.0), (0.0, 0.0));
        assert_eq!(project_disc(0.0, 0.0, 0.0), (0.0, 0.0));
        assert_eq!(project_disc(1e250, 0.0, f64::INFINITY), (1e250, 0.0));
    }
}
