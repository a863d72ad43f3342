//! Poisson's law: energy, its relation to Newton's, several contacts, joints, refusals.

mod support;

use moreau_constraint::{BodyInput, ContactProblem, ball_joint_rows};
use moreau_math::{Quat, Vec3, Velocity, vec3};
use moreau_solver::certify;
use moreau_solver_block::{BlockSettings, PoissonRestitution};
use support::{body, close, close_vec, contact};

struct Random(u64);

impl Random {
    /// In -1..1.
    fn signed(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn unit(&mut self) -> f64 {
        0.5 * (self.signed() + 1.0)
    }

    fn vector(&mut self) -> Vec3 {
        vec3(self.signed(), self.signed(), self.signed())
    }
}

fn poisson(max_sweeps: u32) -> PoissonRestitution {
    PoissonRestitution::new(BlockSettings {
        max_sweeps,
        tolerance: 1e-13,
        ..BlockSettings::default()
    })
}

#[test]
fn single_oblique_impacts_never_gain_energy() {
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let mut solver = poisson(50);
    let (mut slides, mut sticks, mut worst) = (0, 0, f64::NEG_INFINITY);
    while slides + sticks < 49_000 {
        let mut problem = ContactProblem::new(1.0 / 60.0).unwrap();
        problem.add_body(BodyInput::fixed()).unwrap();
        // From rods to balls, any attitude, any contact point.
        let inertia = vec3(
            0.01 + random.unit(),
            0.01 + random.unit(),
            0.01 + random.unit(),
        );
        let mut input = body(
            1.0,
            inertia,
            vec3(
                4.0 * random.signed(),
                4.0 * random.signed(),
                -3.0 * random.unit(),
            ),
            6.0 * random.vector(),
        );
        let turn = Quat::from_xyzw(
            random.signed(),
            random.signed(),
            random.signed(),
            random.signed(),
        );
        input.inverse_inertia = input.inverse_inertia.rotated(turn.normalize());
        problem.add_body(input).unwrap();
        let levers = (Vec3::ZERO, random.vector());
        let friction = 2.0 * random.unit();
        let index = problem
            .add_contact(contact((0, 1), Vec3::Z, levers, friction, 0.0))
            .unwrap();
        let approach = problem.free_velocity(&problem.contacts()[index]).x;
        if approach >= 0.0 {
            continue;
        }
        let restitution = random.unit();
        let (mut impulses, mut v) = (problem.cold_start(), Vec::new());
        let report = solver
            .solve(&problem, &[restitution], &mut impulses, &mut v)
            .unwrap();
        assert!(report.compression.converged() && report.expansion.converged());
        assert_eq!(report.kept, 1.0, "{problem:?}");
        let before = input.kinetic_energy(&input.velocity);
        let gain = certify(&problem, &impulses).unwrap().energy_change / before;
        worst = f64::max(worst, gain);
        assert!(gain <= 1e-12, "{gain:e} {problem:?} {restitution}");
        // It leaves the ground, and its impulse lies in the cone.
        let end = problem.contact_velocity(&problem.contacts()[index], &v);
        assert!(end.x > -1e-12);
        let l = impulses.contacts[0];
        let held = (l.y * l.y + l.z * l.z).sqrt();
        assert!(held <= friction * l.x * (1.0 + 1e-12));
        if end.y * end.y + end.z * end.z > 1e-18 {
            slides += 1;
        } else {
            sticks += 1;
        }
    }
    println!("{slides} slide at the end, {sticks} stick; largest relative gain {worst:e}");
    assert!(slides > 5_000 && sticks > 5_000);
}

#[test]
fn impacts_of_several_contacts_never_gain_energy() {
    let mut random = Random(99);
    let mut solver = poisson(2_000);
    let mut unfinished = 0;
    for _ in 0..3_000 {
        let mut problem = ContactProblem::new(1.0 / 60.0).unwrap();
        problem.add_body(BodyInput::fixed()).unwrap();
        let mut restitution = Vec::new();
        let mut before = 0.0;
        for k in 0..2 {
            let linear = 2.0 * random.vector() - 2.0 * (k + 1) as f64 * Vec3::Z;
            let cube = body(
                1.0 + 3.0 * random.unit(),
                Vec3::splat(0.1 + random.unit()),
                linear,
                2.0 * random.vector(),
            );
            before += cube.kinetic_energy(&cube.velocity);
            problem.add_body(cube).unwrap();
            for (x, y) in [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)] {
                let top = if k == 0 { 0.0 } else { 0.5 };
                let levers = (vec3(x, y, top), vec3(x, y, -0.5));
                let input = contact((k, k + 1), Vec3::Z, levers, random.unit(), 0.0);
                problem.add_contact(input).unwrap();
                restitution.push(random.unit());
            }
        }
        let (mut impulses, mut v) = (problem.cold_start(), Vec::new());
        let report = solver
            .solve(&problem, &restitution, &mut impulses, &mut v)
            .unwrap();
        let residual = report.compression.residual.max(report.expansion.residual);
        unfinished += u32::from(residual > 1e-10);
        assert_eq!(report.kept, 1.0, "{report:?}");
        let certificate = certify(&problem, &impulses).unwrap();
        let gain = certificate.energy_change / before;
        assert!(gain <= 1e-12 + 10.0 * residual, "{gain:e} {report:?}");
        assert!(certificate.min_normal_velocity > -1e-9 - 10.0 * residual);
    }
    println!("{unfinished} of 3000 ended above 1e-10 m/s");
    assert!(unfinished < 60, "{unfinished}");
}

#[test]
fn without_friction_one_contact_is_newtons_law() {
    let mut problem = ContactProblem::new(0.01).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    problem
        .add_body(body(
            2.0,
            vec3(0.1, 0.3, 0.2),
            vec3(1.0, 0.0, -3.0),
            vec3(2.0, 1.0, 0.0),
        ))
        .unwrap();
    let levers = (Vec3::ZERO, vec3(0.2, -0.3, -0.5));
    problem
        .add_contact(contact((0, 1), Vec3::Z, levers, 0.0, 0.0))
        .unwrap();
    let approach = problem.free_velocity(&problem.contacts()[0]).x;
    let (mut impulses, mut v) = (problem.cold_start(), Vec::new());
    poisson(50)
        .solve(&problem, &[0.7], &mut impulses, &mut v)
        .unwrap();
    let end = problem.contact_velocity(&problem.contacts()[0], &v).x;
    close(end, -0.7 * approach, 1e-13);
}

#[test]
fn a_struck_chain_passes_its_impulse_on() {
    // Three balls of 1 kg touch and the first comes in at 1 m/s, e = 1. Compression ends with all at
    // 1/3 m/s and impulses of 2/3 and 1/3 N s; expansion gives the same again.
    let mut problem = ContactProblem::new(0.01).unwrap();
    for k in 0..3 {
        let velocity = if k == 0 { Vec3::X } else { Vec3::ZERO };
        problem
            .add_body(body(1.0, Vec3::splat(0.1), velocity, Vec3::ZERO))
            .unwrap();
    }
    for k in 0..2 {
        let levers = (0.5 * Vec3::X, -0.5 * Vec3::X);
        problem
            .add_contact(contact((k, k + 1), Vec3::X, levers, 0.3, 0.0))
            .unwrap();
    }
    let (mut impulses, mut v) = (problem.cold_start(), Vec::new());
    let report = poisson(2_000)
        .solve(&problem, &[1.0, 1.0], &mut impulses, &mut v)
        .unwrap();
    assert!(report.compression.converged() && report.expansion.converged());
    let want = [-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0];
    for (v, want) in v.iter().zip(want) {
        close(v.linear.x, want, 1e-12);
    }
}

#[test]
fn rows_hold_in_both_phases() {
    // A rod hangs by its upper end from a ball joint; its lower end swings into a wall, e = 0.5.
    let mut problem = ContactProblem::new(0.01).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    let spin = vec3(0.0, 4.0, 0.0);
    // Pivot at +0.5 z: v = w x r.
    let linear = -spin.cross(0.5 * Vec3::Z);
    problem
        .add_body(body(1.0, vec3(1.0, 1.0, 0.1) / 12.0, linear, spin))
        .unwrap();
    for row in ball_joint_rows((0, 1), (Vec3::ZERO, 0.5 * Vec3::Z), Vec3::ZERO) {
        problem.add_row(row).unwrap();
    }
    let tip = -0.5 * Vec3::Z;
    let velocity = Velocity::new(linear, spin).at(tip);
    let normal = -velocity.normalize();
    problem
        .add_contact(contact((0, 1), normal, (Vec3::ZERO, tip), 0.0, 0.0))
        .unwrap();
    let (mut impulses, mut v) = (problem.cold_start(), Vec::new());
    let report = poisson(2_000)
        .solve(&problem, &[0.5], &mut impulses, &mut v)
        .unwrap();
    assert!(report.expansion.converged(), "{report:?}");
    close_vec(v[1].at(0.5 * Vec3::Z), Vec3::ZERO, 1e-12);
    close_vec(v[1].angular, -0.5 * spin, 1e-12);
}

#[test]
fn an_open_contact_is_not_passed() {
    // A ball at 1 m/s, 0.5 m/s of gap left: compression takes the excess of 0.5 m/s, expansion half.
    let mut problem = ContactProblem::new(0.01).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    problem
        .add_body(body(1.0, Vec3::splat(0.1), -Vec3::Z, Vec3::ZERO))
        .unwrap();
    let mut input = contact((0, 1), Vec3::Z, (Vec3::ZERO, -0.5 * Vec3::Z), 0.3, 1.0);
    input.separation = 0.005;
    problem.add_contact(input).unwrap();
    let (mut impulses, mut v) = (problem.cold_start(), Vec::new());
    poisson(50)
        .solve(&problem, &[0.5], &mut impulses, &mut v)
        .unwrap();
    close(v[1].linear.z, -0.25, 1e-13);
}

#[test]
fn bad_coefficients_are_refused() {
    let mut problem = ContactProblem::new(0.01).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    problem
        .add_body(body(1.0, Vec3::ONE, -Vec3::Z, Vec3::ZERO))
        .unwrap();
    problem
        .add_contact(contact((0, 1), Vec3::Z, (Vec3::ZERO, Vec3::ZERO), 0.3, 0.0))
        .unwrap();
    let mut impulses = problem.cold_start();
    for bad in [&[][..], &[0.5, 0.5], &[1.5], &[f64::NAN], &[-0.1]] {
        let result = poisson(50).solve(&problem, bad, &mut impulses, &mut Vec::new());
        assert!(result.is_err(), "{bad:?}");
    }
}
