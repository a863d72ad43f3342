//! Free rotation: invariants, stability of the axes, and a fine reference.

use moreau_math::{
    MassProperties, Quat, SymMat3, Vec3, integrate_rotation, rotate_free_body, rotation_difference,
    vec3,
};
use proptest::prelude::*;

const FRAME: f64 = 1.0 / 60.0;

fn momentum(q: Quat, w: Vec3, inertia: &SymMat3) -> Vec3 {
    q * inertia.mul_vec(q.conjugate() * w)
}

fn energy(q: Quat, w: Vec3, inertia: &SymMat3) -> f64 {
    0.5 * inertia.quadratic(q.conjugate() * w)
}

/// Classical Runge-Kutta on Euler's equations in the body frame, with a step of about `fine` (s).
/// Sums are compensated (Kahan): near the middle axis a relative error of the energy of 1e-13, which
/// a million rounded steps do make, shows in w after one flip as 1e-7.
fn reference(q: Quat, w: Vec3, inertia: &SymMat3, (time, fine): (f64, f64)) -> (Quat, Vec3) {
    let inverse = inertia.inverse().unwrap();
    let rate = |q: Quat, w: Vec3| {
        let spin = Quat::from_xyzw(w.x, w.y, w.z, 0.0);
        (q * spin * 0.5, inverse.mul_vec(inertia.mul_vec(w).cross(w)))
    };
    let steps = (time / fine).round();
    let h = time / steps;
    let (mut q, mut w) = (q, q.conjugate() * w);
    let (mut q_low, mut w_low) = (Quat::from_array([0.0; 4]), Vec3::ZERO);
    for _ in 0..steps as usize {
        let (dq1, dw1) = rate(q, w);
        let (dq2, dw2) = rate(q + dq1 * (0.5 * h), w + dw1 * (0.5 * h));
        let (dq3, dw3) = rate(q + dq2 * (0.5 * h), w + dw2 * (0.5 * h));
        let (dq4, dw4) = rate(q + dq3 * h, w + dw3 * h);
        let dq = (dq1 + dq2 * 2.0 + dq3 * 2.0 + dq4) * (h / 6.0) + q_low;
        let dw = (dw1 + (dw2 + dw3) * 2.0 + dw4) * (h / 6.0) + w_low;
        let (q_sum, w_sum) = (q + dq, w + dw);
        (q_low, w_low) = (dq - (q_sum - q), dw - (w_sum - w));
        (q, w) = (q_sum, w_sum);
    }
    let q = q.normalize();
    (q, q * w)
}

fn run(q: Quat, w: Vec3, inertia: &SymMat3, (dt, steps): (f64, usize)) -> (Quat, Vec3) {
    (0..steps).fold((q, w), |(q, w), _| rotate_free_body(q, w, inertia, dt))
}

fn tilted() -> Quat {
    Quat::from_xyzw(0.4, -0.2, 0.1, 0.7).normalize()
}

/// A box of half extents 0.5, 1, 1.5: moments in the ratio 13 : 10 : 5.
fn slab() -> SymMat3 {
    MassProperties::cuboid(vec3(0.5, 1.0, 1.5), 1.0)
        .unwrap()
        .inertia
}

#[test]
fn momentum_and_energy_stay_for_a_minute() {
    let inertia = SymMat3::from_diagonal(vec3(1.0, 2.0, 3.0));
    for body in [
        vec3(0.01, 5.0, 0.01),
        vec3(5.0, 0.01, 0.01),
        vec3(0.01, 0.01, 5.0),
        vec3(3.0, -2.0, 4.0),
        vec3(40.0, 90.0, -60.0),
    ] {
        let (q0, w0) = (tilted(), tilted() * body);
        let (l0, e0) = (momentum(q0, w0, &inertia), energy(q0, w0, &inertia));
        let (mut q, mut w) = (q0, w0);
        for step in 0..3600 {
            (q, w) = rotate_free_body(q, w, &inertia, FRAME);
            let turned = (momentum(q, w, &inertia) - l0).length() / l0.length();
            let gained = (energy(q, w, &inertia) / e0 - 1.0).abs();
            assert!(turned < 1e-13, "{body} step {step}: L off by {turned:e}");
            assert!(gained < 1e-13, "{body} step {step}: E off by {gained:e}");
        }
    }
}

#[test]
fn only_the_middle_axis_flips() {
    let inertia = SymMat3::from_diagonal(vec3(1.0, 2.0, 3.0));
    for axis in 0..3 {
        let mut body = [0.01; 3];
        body[axis] = 5.0;
        let (mut q, mut w) = (Quat::IDENTITY, Vec3::from_array(body));
        let mut least = 5.0_f64;
        for _ in 0..3600 {
            (q, w) = rotate_free_body(q, w, &inertia, FRAME);
            least = least.min((q.conjugate() * w).to_array()[axis]);
        }
        if axis == 1 {
            assert!(least < -4.99, "the middle axis flips over: {least}");
        } else {
            assert!(least > 4.99, "axis {axis} keeps its spin: {least}");
        }
    }
}

#[test]
fn ten_seconds_match_a_fine_reference() {
    let w = vec3(0.01, 5.0, 0.01);
    let (q, got) = run(Quat::IDENTITY, w, &slab(), (FRAME, 600));
    let (want_q, want) = reference(Quat::IDENTITY, w, &slab(), (10.0, 1e-5));
    let off = (got - want).length() / want.length();
    let turned = rotation_difference(q, want_q).length();
    // The flip magnifies a relative error of L or the energy, some 5e-15 in 600 roundings, by about
    // (5/0.01)² = 2.5e5.
    assert!(off < 1e-9 && turned < 1e-9, "w {off:e}, q {turned:e}");
    // The same from Taylor series in 40 digits.
    let exact = vec3(
        0.729_653_818_368_386_9,
        4.998_106_657_687_452,
        0.032_242_384_787_944_54,
    );
    assert!(
        (want - exact).length() < 1e-9,
        "{}",
        (want - exact).length()
    );
}

#[test]
fn fast_spin_matches_a_fine_reference() {
    // Up to 48 rad in one call, also for a tensor that is not diagonal.
    let leaning = slab().rotated(tilted());
    for speed in [0.3, 3.0, 12.0, 48.0] {
        for body in [vec3(0.6, 0.48, 0.64), vec3(1e-6, 1.0, 1e-6)] {
            for inertia in [slab(), leaning] {
                let w = body * speed;
                let (q, got) = rotate_free_body(Quat::IDENTITY, w, &inertia, 1.0);
                let (want_q, want) = reference(Quat::IDENTITY, w, &inertia, (1.0, 1e-3 / speed));
                let off = (got - want).length() / speed;
                let turned = rotation_difference(q, want_q).length();
                assert!(
                    off < 1e-10 && turned < 1e-10,
                    "{w}: w {off:e}, q {turned:e}"
                );
            }
        }
    }
}

#[test]
fn a_symmetric_top_precesses_as_in_the_textbook() {
    // Closed form against the general method (a tensor leaning by a rotation, undone outside).
    let inertia = MassProperties::cylinder(0.1, 0.5, 700.0).unwrap().inertia;
    let lean = tilted();
    let leaning = inertia.rotated(lean);
    let w = vec3(1.0, 8.0, -0.5);
    for steps in [1, 7, 600] {
        let (q, got) = run(Quat::IDENTITY, w, &inertia, (FRAME, steps));
        let (leaning_q, want) = run(lean.conjugate(), w, &leaning, (FRAME, steps));
        assert!((got - want).length() < 1e-11, "{steps}: {got} {want}");
        assert!(rotation_difference(q, leaning_q * lean).length() < 1e-11);
    }
    // The axis comes back after one turn about L, 2 pi I_t/|L|, however fast.
    for speed in [1.0, 1e6] {
        let w = w * speed;
        let period = 2.0 * std::f64::consts::PI * inertia.xx / inertia.mul_vec(w).length();
        let (q, got) = rotate_free_body(Quat::IDENTITY, w, &inertia, period);
        assert!((q * Vec3::Y - Vec3::Y).length() < 1e-14);
        assert!((got - w).length() < 1e-14 * w.length());
    }
}

#[test]
fn cubes_spheres_and_principal_spins_keep_every_bit() {
    let cube = MassProperties::cuboid(Vec3::splat(0.3), 700.0).unwrap();
    let ball = MassProperties::sphere(0.3, 700.0).unwrap();
    let turned_cube = cube
        .inertia
        .rotated(Quat::from_xyzw(0.1, 0.2, 0.3, 0.9).normalize());
    let w = vec3(1.0, -20.0, 3.0);
    for inertia in [cube.inertia, ball.inertia, turned_cube] {
        let got = rotate_free_body(tilted(), w, &inertia, FRAME);
        assert_eq!(got, (integrate_rotation(tilted(), w, FRAME), w));
    }
    for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
        let w = tilted() * axis * 7.0;
        let got = rotate_free_body(tilted(), w, &slab(), FRAME);
        assert_eq!(got, (integrate_rotation(tilted(), w, FRAME), w));
    }
}

#[test]
fn extremes_stay_finite_and_keep_what_can_be_kept() {
    let rod = MassProperties::cylinder(1.0, 1e-5, 1000.0).unwrap().inertia;
    let tiny = slab().scaled(1e-200);
    let huge = slab().scaled(1e200);
    // Not a solid: the moments break the triangle inequality by far.
    let odd = SymMat3::from_diagonal(vec3(1e-4, 1.0, 3.0));
    let needle = SymMat3::from_diagonal(vec3(1.0, 1.0, 0.0));
    let wheel = SymMat3::from_diagonal(vec3(0.0, 0.0, 1.0));
    let leaning = needle.rotated(tilted());
    for inertia in [
        slab(),
        rod,
        tiny,
        huge,
        odd,
        needle,
        wheel,
        leaning,
        SymMat3::ZERO,
    ] {
        for speed in [0.0, 1e-300, 1e-9, 1.0, 1e3, 1e6, 1e150, 1e300] {
            for dt in [0.0, 1e-300, FRAME, -FRAME, 1e9] {
                let w = vec3(0.6, -0.48, 0.64) * speed;
                let (q, got) = rotate_free_body(tilted(), w, &inertia, dt);
                let context = format!("{inertia:?} {speed} {dt}: {q} {got}");
                assert!(q.is_finite() && got.is_finite(), "{context}");
                assert!((q.length() - 1.0).abs() < 1e-15, "{context}");
                if dt == 0.0 {
                    assert!(rotation_difference(tilted(), q).length() < 1e-15);
                    assert_eq!(got, w, "{context}");
                }
                if inertia == slab() && speed <= 1e6 {
                    let l = momentum(tilted(), w, &inertia);
                    let off = momentum(q, got, &inertia) - l;
                    assert!(off.length() <= 1e-14 * l.length(), "{context}");
                    let e = energy(tilted(), w, &inertia);
                    let gained = energy(q, got, &inertia) - e;
                    assert!(gained.abs() <= 1e-14 * e, "{context}");
                }
            }
        }
    }
}

fn solid() -> impl Strategy<Value = SymMat3> {
    let half = [0.02..1.0, 0.02..1.0, 0.02..1.0f64];
    (half, rotation()).prop_map(|(h, q)| {
        let solid = MassProperties::cuboid(Vec3::from_array(h), 1.0).unwrap();
        solid.inertia.rotated(q)
    })
}

fn rotation() -> impl Strategy<Value = Quat> {
    [-1.0..1.0, -1.0..1.0, -1.0..1.0, 0.1..1.0f64].prop_map(|q| Quat::from_array(q).normalize())
}

fn spin(most: f64) -> impl Strategy<Value = Vec3> {
    [-most..most, -most..most, -most..most].prop_map(Vec3::from_array)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn every_solid_keeps_momentum_and_energy(inertia in solid(), q in rotation(), w in spin(1e3)) {
        let (l, e) = (momentum(q, w, &inertia), energy(q, w, &inertia));
        let (q1, w1) = rotate_free_body(q, w, &inertia, FRAME);
        // Every substep of up to half a radian is rounded.
        let rounding = 4e-14 * (1.0 + w.length() * FRAME);
        prop_assert!((momentum(q1, w1, &inertia) - l).length() < rounding * l.length());
        prop_assert!((energy(q1, w1, &inertia) - e).abs() < rounding * e);
    }

    #[test]
    fn time_runs_back(inertia in solid(), q in rotation(), w in spin(60.0)) {
        let (q1, w1) = rotate_free_body(q, w, &inertia, FRAME);
        let (q2, w2) = rotate_free_body(q1, w1, &inertia, -FRAME);
        prop_assert!(rotation_difference(q, q2).length() < 1e-11);
        prop_assert!((w2 - w).length() < 1e-11 * w.length());
    }

    #[test]
    fn two_halves_make_a_whole(inertia in solid(), q in rotation(), w in spin(100.0)) {
        let (q1, w1) = rotate_free_body(q, w, &inertia, FRAME);
        let (q2, w2) = run(q, w, &inertia, (FRAME / 2.0, 2));
        prop_assert!(rotation_difference(q1, q2).length() < 1e-11);
        prop_assert!((w2 - w1).length() < 1e-11 * w.length());
    }
}
