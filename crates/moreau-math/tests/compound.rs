//! Sums of parts, frames, principal axes and inverses of mass properties.

use moreau_math::{MassError, MassProperties, Pose, Quat, SymMat3, Vec3, vec3};
use proptest::prelude::*;

fn close(got: &MassProperties, want: &MassProperties, tolerance: f64) {
    let off = got.inertia - want.inertia;
    let worst = off.entries().iter().fold(0.0, |m: f64, e| m.max(e.abs()));
    assert!(
        (got.mass - want.mass).abs() <= tolerance * want.mass
            && (got.center_of_mass - want.center_of_mass).length() <= tolerance
            && worst <= tolerance * want.inertia.trace(),
        "{got:?}\nis not\n{want:?}"
    );
}

fn moved(solid: MassProperties, offset: Vec3) -> MassProperties {
    solid.transformed(&Pose::from_translation(offset))
}

#[test]
fn three_cubes_are_one_box() {
    let cube = MassProperties::cuboid(Vec3::splat(0.5), 1.0).unwrap();
    let parts = [-1.0, 0.0, 1.0].map(|y| moved(cube, vec3(0.0, y, 0.0)));
    let tower = MassProperties::compound(&parts).unwrap();
    assert!((tower.mass - 3.0).abs() < 1e-15);
    assert!(tower.center_of_mass.length() < 1e-15);
    let off = tower.inertia - SymMat3::from_diagonal(vec3(2.5, 0.5, 2.5));
    assert!(off.entries().iter().all(|e| e.abs() < 1e-15), "{off:?}");
    let one = MassProperties::cuboid(vec3(0.5, 1.5, 0.5), 1.0).unwrap();
    close(&tower, &one, 1e-15);
}

#[test]
fn a_compound_far_from_the_origin_keeps_its_digits() {
    let cube = MassProperties::cuboid(Vec3::splat(0.5), 1.0).unwrap();
    let far = vec3(1e6, -2e6, 3e6);
    let parts = [-1.0, 0.0, 1.0].map(|y| moved(cube, far + vec3(0.0, y, 0.0)));
    let tower = MassProperties::compound(&parts).unwrap();
    let one = MassProperties::cuboid(vec3(0.5, 1.5, 0.5), 1.0).unwrap();
    close(&tower, &moved(one, far), 1e-14);
}

#[test]
fn a_dumbbell_of_points() {
    let a = MassProperties::point(2.0, vec3(0.0, 0.0, 3.0)).unwrap();
    let b = MassProperties::point(1.0, vec3(0.0, 0.0, -3.0)).unwrap();
    let dumbbell = MassProperties::compound(&[a, b]).unwrap();
    // Reduced mass 2/3 kg at 6 m.
    assert!((dumbbell.center_of_mass - vec3(0.0, 0.0, 1.0)).length() < 1e-15);
    assert!((dumbbell.inertia.xx - 24.0).abs() < 1e-14);
    assert_eq!(dumbbell.inertia.zz, 0.0);
    let about = dumbbell.inertia_about(Vec3::ZERO);
    assert!((about.xx - 27.0).abs() < 1e-14 && about.zz == 0.0);
    // A rod has no inverse; a point cannot turn at all.
    assert_eq!(
        dumbbell.inverse_inertia(),
        Err(MassError::SingularInertia { moment: 0.0 })
    );
    assert_eq!(a.inverse_inertia(), Ok(SymMat3::ZERO));
    assert_eq!(a.inverse_mass(), 0.5);
}

#[test]
fn invalid_parts_and_tensors_are_named() {
    assert_eq!(MassProperties::compound(&[]), Err(MassError::NoParts));
    let good = MassProperties::sphere(1.0, 1.0).unwrap();
    let mut bad = good;
    bad.mass = -1.0;
    let reason = Box::new(MassError::NotPositive {
        field: "mass",
        value: -1.0,
    });
    assert_eq!(
        MassProperties::compound(&[good, bad]),
        Err(MassError::InvalidPart { part: 1, reason })
    );
    assert_eq!(
        good.with_mass(0.0),
        Err(MassError::NotPositive {
            field: "mass",
            value: 0.0
        })
    );
    let infinite = good.with_mass(f64::MAX);
    assert!(infinite.is_ok());
    let indefinite = SymMat3 {
        xy: 3.0,
        ..SymMat3::from_diagonal(vec3(1.0, 1.0, 2.0))
    };
    assert!(matches!(
        MassProperties::new(1.0, Vec3::ZERO, indefinite),
        Err(MassError::NegativeMoment { moment }) if (moment + 2.0).abs() < 1e-14
    ));
    assert!(matches!(
        MassProperties::new(1.0, vec3(0.0, f64::NAN, 0.0), SymMat3::ZERO),
        Err(MassError::NotFinite {
            field: "center_of_mass",
            ..
        })
    ));
}

fn vector(size: f64) -> impl Strategy<Value = Vec3> {
    [-size..size, -size..size, -size..size].prop_map(Vec3::from_array)
}

fn rotation() -> impl Strategy<Value = Quat> {
    [-1.0..1.0, -1.0..1.0, -1.0..1.0, -1.0..1.0f64]
        .prop_map(Quat::from_array)
        .prop_filter("not short", |q| q.length() > 0.1)
        .prop_map(|q| q.normalize())
}

fn half_extents() -> impl Strategy<Value = Vec3> {
    [0.05..2.0, 0.05..2.0, 0.05..2.0f64].prop_map(Vec3::from_array)
}

proptest! {
    /// A box cut in two anywhere, anywhere placed, is the sum of its pieces.
    #[test]
    fn a_box_is_the_sum_of_its_pieces(
        h in half_extents(), cut in 0.05..0.95f64, place in vector(50.0), turn in rotation()
    ) {
        let pose = Pose::new(place, turn);
        let whole = MassProperties::cuboid(h, 800.0).unwrap();
        let (left, right) = (h.x * cut, h.x * (1.0 - cut));
        let piece = |half: f64, x: f64| {
            let solid = MassProperties::cuboid(vec3(half, h.y, h.z), 800.0).unwrap();
            moved(solid, vec3(x, 0.0, 0.0)).transformed(&pose)
        };
        let parts = [piece(left, left - h.x), piece(right, h.x - right)];
        close(&MassProperties::compound(&parts).unwrap(), &whole.transformed(&pose), 1e-13);
    }

    /// The principal moments of a turned box are its own, and the axes rebuild the tensor.
    #[test]
    fn principal_axes_undo_a_rotation(h in half_extents(), turn in rotation()) {
        let solid = MassProperties::cuboid(h, 1.0).unwrap();
        let turned = solid.transformed(&Pose::new(Vec3::ZERO, turn));
        let (moments, axes) = turned.principal();
        let sorted = |v: Vec3| { let mut a = v.to_array(); a.sort_by(f64::total_cmp); a };
        let want = sorted(vec3(solid.inertia.xx, solid.inertia.yy, solid.inertia.zz));
        for (got, want) in sorted(moments).iter().zip(want) {
            prop_assert!((got - want).abs() < 1e-14 * solid.inertia.trace());
        }
        let back = SymMat3::from_diagonal(moments).rotated(axes) - turned.inertia;
        prop_assert!(back.entries().iter().all(|e| e.abs() < 1e-14 * solid.inertia.trace()));
    }

    /// Scaling to a mass and back, and the inverse tensor.
    #[test]
    fn mass_scales_the_tensor(h in half_extents(), turn in rotation(), mass in 1e-6..1e6f64) {
        let solid = MassProperties::cuboid(h, 1.0).unwrap()
            .transformed(&Pose::new(Vec3::ONE, turn));
        let scaled = solid.with_mass(mass).unwrap();
        prop_assert_eq!(scaled.mass, mass);
        close(&scaled.with_mass(solid.mass).unwrap(), &solid, 1e-14);
        let v = vec3(0.3, -0.7, 0.2);
        let back = scaled.inverse_inertia().unwrap().mul_vec(scaled.inertia.mul_vec(v));
        prop_assert!((back - v).length() < 1e-11);
    }
}
