//! Tangent bases.
//!
//! Symbols: n unit normal; (s, e1, e2) a fixed right-handed triad; h = n + s.
//! The half-turn about h maps s to n, so t = 2 h (h·e)/(h·h) - e maps e1, e2 to t1, t2.
//! It is a smooth function of n except at n = -s, and s is chosen away from every direction that
//! scenes are built along. No basis can be smooth everywhere (hairy-ball theorem).

use crate::{Vec3, vec3};

/// The half-turn's axis triad: 4 + 9 + 36 = 49, so the entries are exact sevenths.
const S: Vec3 = vec3(2.0 / 7.0, 3.0 / 7.0, 6.0 / 7.0);
const E1: Vec3 = vec3(6.0 / 7.0, 2.0 / 7.0, -3.0 / 7.0);
const E2: Vec3 = vec3(-3.0 / 7.0, 6.0 / 7.0, -2.0 / 7.0);

/// Two unit tangents `(t1, t2)` of the unit vector `normal`, with `normal = t1 x t2`.
///
/// A deterministic function of the normal alone, smooth for every normal more than 2.6 degrees away
/// from `-(2, 3, 6)/7`; within that cap a second triad is used. Orthonormal to about 1e-15.
///
/// ```
/// let n = moreau_math::vec3(0.0, 1.0, 0.0);
/// let (t1, t2) = moreau_math::tangent_basis(n);
/// assert!((t1.cross(t2) - n).length() < 1e-15 && t1.dot(t2).abs() < 1e-15);
/// ```
#[inline]
pub fn tangent_basis(normal: Vec3) -> (Vec3, Vec3) {
    // Inside the cap the roles of s and e1 are swapped (and one sign, to stay right-handed).
    let (s, e1, e2) = if normal.dot(S) > -0.999 {
        (S, E1, E2)
    } else {
        (E1, S, -E2)
    };
    let h = normal + s;
    let scale = 2.0 / h.length_squared();
    let t1 = h * (scale * h.dot(e1)) - e1;
    let t2 = h * (scale * h.dot(e2)) - e2;
    (t1, t2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(n: Vec3) {
        let (t1, t2) = tangent_basis(n);
        assert!(
            (t1.length() - 1.0).abs() < 4e-13,
            "{n}: |t1| = {}",
            t1.length()
        );
        assert!(
            (t2.length() - 1.0).abs() < 4e-13,
            "{n}: |t2| = {}",
            t2.length()
        );
        assert!(t1.dot(n).abs() < 4e-13 && t2.dot(n).abs() < 4e-13 && t1.dot(t2).abs() < 4e-13);
        assert!((t1.cross(t2) - n).length() < 1e-12);
    }

    #[test]
    fn orthonormal_and_right_handed_everywhere() {
        for i in 0..200 {
            let z = -1.0 + 2.0 * f64::from(i) / 199.0;
            for j in 0..200 {
                let angle = 0.0314159 * f64::from(j);
                let r = (1.0 - z * z).max(0.0).sqrt();
                check(vec3(r * libm::cos(angle), r * libm::sin(angle), z).normalize());
            }
        }
        check(-S);
        check((-S + vec3(1e-9, 0.0, 0.0)).normalize());
    }

    #[test]
    fn a_small_turn_of_the_normal_turns_the_tangents_by_as_much() {
        for n in [Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y, Vec3::Z, -Vec3::Z] {
            for d in [
                vec3(1e-9, 0.0, 0.0),
                vec3(0.0, -1e-9, 0.0),
                vec3(0.0, 0.0, 1e-9),
            ] {
                let (a, _) = tangent_basis(n);
                let (b, _) = tangent_basis((n + d).normalize());
                assert!((a - b).length() < 2e-8);
            }
        }
    }
}
