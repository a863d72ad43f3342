//! The symmetric eigen-solver: A = Q diag(d) Q' for every kind of matrix.

use moreau_math::{Mat3, Quat, SymMat3, Vec3, vec3};
use proptest::prelude::*;

fn largest(a: &SymMat3) -> f64 {
    a.entries().iter().fold(0.0, |m: f64, e| m.max(e.abs()))
}

fn check(a: SymMat3) {
    let (d, q) = a.principal_axes();
    assert!((q.length() - 1.0).abs() < 1e-15, "{a:?}: {q}");
    assert!(Mat3::from_quat(q).determinant() > 0.99);
    let scale = largest(&a);
    let back = SymMat3::from_diagonal(d / scale).rotated(q) - a.scaled(1.0 / scale);
    assert!(largest(&back) < 4e-15, "{a:?}: off by {back:?}");
    assert_eq!(a.principal_axes(), (d, q));
}

#[test]
fn diagonal_matrices_come_back_unturned() {
    for d in [
        vec3(3.0, 1.0, 2.0),
        Vec3::ONE,
        Vec3::ZERO,
        vec3(1e-300, 0.0, 1e300),
    ] {
        let (values, axes) = SymMat3::from_diagonal(d).principal_axes();
        assert_eq!((values, axes), (d, Quat::IDENTITY));
    }
}

#[test]
fn repeated_eigenvalues() {
    // 1 + v v': eigenvalues 1, 1, 1 + |v|².
    for v in [
        vec3(1.0, 1.0, 1.0),
        vec3(1e-8, 1.0, -2.0),
        vec3(3.0, 0.0, 1e-200),
    ] {
        let a = SymMat3::from_diagonal(Vec3::ONE) + SymMat3::outer(v, 1.0);
        check(a);
        let mut values = a.principal_axes().0.to_array();
        values.sort_by(f64::total_cmp);
        let top = 1.0 + v.length_squared();
        for (got, want) in values.iter().zip([1.0, 1.0, top]) {
            assert!((got - want).abs() < 2e-15 * top);
        }
    }
}

#[test]
fn entries_that_are_not_finite_do_not_hang() {
    let a = SymMat3 {
        xy: f64::NAN,
        ..SymMat3::from_diagonal(vec3(1.0, 2.0, f64::INFINITY))
    };
    let (d, q) = a.principal_axes();
    assert_eq!(d.x, 1.0);
    assert_eq!(q, Quat::IDENTITY);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_matrices(e in proptest::array::uniform6(-1.0..1.0f64), exponent in -300..300i32) {
        let a = SymMat3 { xx: e[0], yy: e[1], zz: e[2], xy: e[3], xz: e[4], yz: e[5] };
        check(a);
        check(a.scaled(moreau_math::libm::scalbn(1.0, exponent)));
    }

    /// Entries of very different sizes.
    #[test]
    fn graded_matrices(
        e in proptest::array::uniform6(-1.0..1.0f64),
        p in proptest::array::uniform6(-40..40i32),
    ) {
        let [xx, yy, zz, xy, xz, yz] =
            std::array::from_fn(|i| moreau_math::libm::scalbn(e[i], p[i]));
        check(SymMat3 { xx, yy, zz, xy, xz, yz });
    }
}
