//! Mass properties of the closed-form solids against integrals over thin discs, and the errors.

use moreau_math::{MassError, MassProperties, SymMat3, Vec3, vec3};
use std::f64::consts::PI;

/// Integrates the solid of revolution about y with the squared radius `square(y)`: composite
/// Simpson on pieces where it is a polynomial of degree 2 at most, so the error falls as n^-4.
fn revolve(pieces: &[(f64, f64)], density: f64, square: impl Fn(f64) -> f64) -> MassProperties {
    let n = 2000;
    let (mut mass, mut first, mut axial, mut across) = (0.0, 0.0, 0.0, 0.0);
    for &(from, to) in pieces {
        let step = (to - from) / f64::from(n);
        for i in 0..=n {
            let weight = match i {
                0 => 1.0,
                i if i == n => 1.0,
                i if i % 2 == 1 => 4.0,
                _ => 2.0,
            };
            let y = from + step * f64::from(i);
            let area = PI * square(y) * density * weight * step / 3.0;
            mass += area;
            first += area * y;
            axial += area * square(y) / 2.0;
            across += area * (square(y) / 4.0 + y * y);
        }
    }
    let center = first / mass;
    across -= mass * center * center;
    MassProperties {
        mass,
        center_of_mass: vec3(0.0, center, 0.0),
        inertia: SymMat3::from_diagonal(vec3(across, axial, across)),
    }
}

fn close(got: &MassProperties, want: &MassProperties, tolerance: f64) {
    let off = got.inertia - want.inertia;
    let worst = off.entries().iter().fold(0.0, |m: f64, e| m.max(e.abs()));
    let size = (want.inertia.trace() / want.mass).sqrt();
    assert!(
        (got.mass - want.mass).abs() <= tolerance * want.mass
            && (got.center_of_mass - want.center_of_mass).length() <= tolerance * size
            && worst <= tolerance * want.inertia.trace(),
        "{got:?}\nis not\n{want:?}"
    );
}

#[test]
fn solids_of_revolution_match_the_sum_of_their_discs() {
    for (h, r, density) in [(0.5, 0.5, 1000.0), (3.0, 0.2, 7.0), (0.01, 2.0, 1.5)] {
        let sphere = revolve(&[(-r, r)], density, |y| r * r - y * y);
        close(&MassProperties::sphere(r, density).unwrap(), &sphere, 1e-11);

        let cylinder = revolve(&[(-h, h)], density, |_| r * r);
        close(
            &MassProperties::cylinder(h, r, density).unwrap(),
            &cylinder,
            1e-11,
        );

        let cone = revolve(&[(-h, h)], density, |y| {
            let radius = r * (h - y) / (2.0 * h);
            radius * radius
        });
        close(&MassProperties::cone(h, r, density).unwrap(), &cone, 1e-11);

        let capsule = revolve(&[(-h - r, -h), (-h, h), (h, h + r)], density, |y| {
            let beyond = (y.abs() - h).max(0.0);
            r * r - beyond * beyond
        });
        close(
            &MassProperties::capsule(h, r, density).unwrap(),
            &capsule,
            1e-11,
        );
    }
}

#[test]
fn a_capsule_of_no_length_is_a_sphere() {
    let capsule = MassProperties::capsule(0.0, 0.3, 500.0).unwrap();
    close(
        &capsule,
        &MassProperties::sphere(0.3, 500.0).unwrap(),
        1e-15,
    );
}

#[test]
fn a_ball_of_a_metre() {
    let ball = MassProperties::sphere(1.0, 1.0).unwrap();
    assert!((ball.mass - 4.18879020478639).abs() < 1e-14);
    assert!((ball.inertia.xx - 1.675516081914556).abs() < 1e-14);
    assert_eq!(ball.inertia.xx, ball.inertia.yy);
    assert_eq!(ball.inertia.xx, ball.inertia.zz);
}

/// Every solid by its parameters (dimensions first, density last).
type Solid = (
    &'static str,
    fn([f64; 3]) -> Result<MassProperties, MassError>,
);
const SOLIDS: [Solid; 5] = [
    ("sphere", |p| MassProperties::sphere(p[1], p[2])),
    ("cuboid", |p| {
        MassProperties::cuboid(Vec3::splat(p[1]), p[2])
    }),
    ("capsule", |p| MassProperties::capsule(p[0], p[1], p[2])),
    ("cylinder", |p| MassProperties::cylinder(p[0], p[1], p[2])),
    ("cone", |p| MassProperties::cone(p[0], p[1], p[2])),
];

#[test]
fn errors_name_the_field_and_the_value() {
    for (name, make) in SOLIDS {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for slot in 0..3 {
                let mut input = [0.5, 0.5, 1.0];
                input[slot] = bad;
                let unused = slot == 0 && matches!(name, "sphere" | "cuboid");
                let allowed = slot == 0 && name == "capsule" && bad == 0.0;
                let result = make(input);
                if unused || allowed {
                    assert!(result.is_ok(), "{name} {input:?}: {result:?}");
                    continue;
                }
                let (field, value) = match result {
                    Err(MassError::NotPositive { field, value }) => (field, value),
                    Err(MassError::Negative { field, value }) => (field, value),
                    other => panic!("{name} {input:?}: {other:?}"),
                };
                assert!(value == bad || value.is_nan() && bad.is_nan());
                let fields: &[&str] = match slot {
                    0 => &["half_height"],
                    1 => &["radius", "half_extents.x"],
                    _ => &["density"],
                };
                assert!(fields.contains(&field), "{name} {slot}: {field}");
            }
        }
    }
}

#[test]
fn dimensions_beyond_the_range_of_floats_are_errors() {
    for (name, make) in SOLIDS {
        for size in [1e70, 1e150, 1e300, 1e-70, 1e-150, 1e-300] {
            let result = make([size, size, 1.0]);
            assert!(
                matches!(result, Err(MassError::OutOfRange { .. })),
                "{name} {size}: {result:?}"
            );
        }
        for size in [1e-30, 1e30] {
            let solid = make([size, size, 1.0]).unwrap();
            let inverse = solid.inverse_inertia().unwrap();
            let unit = inverse.mul_vec(solid.inertia.mul_vec(Vec3::X));
            assert!((unit - Vec3::X).length() < 1e-14, "{name} {size}: {unit}");
        }
    }
}
