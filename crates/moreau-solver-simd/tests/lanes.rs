//! The same bits with all instructions and in all budgets, and contacts in every shape of pack.

use moreau_constraint::{BodyInput, ContactInput, ContactPoint, ContactProblem, Impulses, Row};
use moreau_math::{SymMat3, Vec3, Velocity, vec3};
use moreau_solver::{ContactSolver, certify};
use moreau_solver_simd::{Instructions, SimdSettings, SimdSolver};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn vector(&mut self) -> Vec3 {
        vec3(self.unit() - 0.5, self.unit() - 0.5, self.unit() - 0.5)
    }
}

/// Bodies that touch at random, 1 to 6 points a pair; every pair can be pushed apart. About half of the bodies
/// turn as easily about all axes, and half of the pairs of these touch like balls, in points through which the normal meets both
/// centres. The first body stands still, the last one moves and is not moved.
fn tangle(seed: u64, bodies: usize, pairs: usize) -> ContactProblem {
    let mut random = Random(seed);
    let mut problem = ContactProblem::new(0.01).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    for _ in 0..bodies {
        let mass = 0.5 + random.unit();
        let mut inertia = Vec3::splat(5.0) + 3.0 * random.vector();
        if inertia.x > inertia.y {
            inertia = Vec3::splat(inertia.x);
        }
        problem
            .add_body(BodyInput {
                inverse_mass: 1.0 / mass,
                inverse_inertia: SymMat3::from_diagonal(inertia),
                velocity: Velocity::new(random.vector(), random.vector()),
            })
            .unwrap();
    }
    let carried = Velocity::new(random.vector(), random.vector());
    let last = problem.add_body(BodyInput::moving(carried)).unwrap();
    for _ in 0..pairs {
        let a = random.below(bodies + 1);
        let b = 1 + (a + random.below(bodies + 1)) % (bodies + 1);
        if a == b || (a, b) == (0, last) {
            continue;
        }
        let round = |body: usize| {
            let inertia = problem.bodies()[body].inverse_inertia;
            inertia == SymMat3::from_diagonal(Vec3::splat(inertia.xx))
        };
        let like_balls = round(a) && round(b) && random.below(2) == 0;
        let normal = (random.vector() + vec3(0.0, 0.6, 0.0)).normalize();
        let friction = random.unit();
        let points = if like_balls { 1 } else { 1 + random.below(6) };
        for _ in 0..points {
            let mut lever = || {
                if like_balls {
                    (random.unit() - 0.5) * normal
                } else {
                    random.vector()
                }
            };
            let (lever_a, lever_b) = (lever(), lever());
            problem
                .add_contact(ContactInput {
                    a,
                    b,
                    normal,
                    lever_a,
                    lever_b,
                    separation: 0.002 * (random.unit() - 0.5),
                    friction,
                    restitution: 0.0,
                })
                .unwrap();
        }
    }
    problem
        .add_row(Row::bilateral(
            (1, 2),
            Vec3::X,
            (random.vector(), random.vector()),
            0.1,
        ))
        .unwrap();
    problem
}

fn solve(settings: SimdSettings, problem: &ContactProblem) -> (Impulses, Vec<Velocity>) {
    let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
    SimdSolver::new(settings)
        .solve(problem, &mut impulses, &mut velocities)
        .unwrap();
    (impulses, velocities)
}

fn bits(impulses: &Impulses) -> Vec<u64> {
    let contacts = impulses.contacts.iter().flat_map(|l| l.to_array());
    let all = contacts.chain(impulses.rows.iter().copied());
    all.map(f64::to_bits).collect()
}

#[test]
fn all_instructions_give_the_same_bits() {
    for seed in 0..20 {
        let problem = tangle(seed, 3 + 5 * seed as usize, 12 * seed as usize);
        for max_sweeps in [0, 1, 7, 60] {
            for accelerate in [false, true] {
                let settings = SimdSettings {
                    max_sweeps,
                    accelerate,
                    ..SimdSettings::default()
                };
                let fast = solve(settings, &problem);
                for instructions in [Instructions::Avx2, Instructions::Baseline] {
                    let other = solve(
                        SimdSettings {
                            instructions,
                            ..settings
                        },
                        &problem,
                    );
                    assert_eq!(
                        bits(&fast.0),
                        bits(&other.0),
                        "seed {seed} {instructions:?}"
                    );
                    assert_eq!(fast.1, other.1);
                }
            }
        }
    }
}

/// Balls are visited with other formulas than round bodies, and end where these do.
#[test]
fn balls_are_round_bodies() {
    let settings = SimdSettings {
        max_sweeps: 25,
        leave_out_open: false,
        ..SimdSettings::default()
    };
    let (mut centred, mut largest) = (0, 0.0_f64);
    for seed in 0..20 {
        let balls = tangle(seed, 3 + 2 * seed as usize, 40);
        let mut round = balls.clone();
        round.clear();
        for body in balls.bodies() {
            round.add_body(*body).unwrap();
        }
        for contact in balls.contacts() {
            let across = |lever: Vec3| lever.cross(contact.frame.normal).length();
            if across(contact.lever_a) < 1e-15 && across(contact.lever_b) < 1e-15 {
                centred += 1;
            }
            // What pushes across the normal is no ball, however little it pushes.
            let mut contact = *contact;
            contact.bias.y += f64::MIN_POSITIVE;
            round.add_contact_point(contact).unwrap();
        }
        for row in balls.rows() {
            round.add_row(*row).unwrap();
        }
        let (balls, round) = (solve(settings, &balls), solve(settings, &round));
        for (a, b) in balls.0.contacts.iter().zip(&round.0.contacts) {
            assert!((*a - *b).length() < 1e-11, "seed {seed}: {a} {b}");
            largest = largest.max(a.length());
        }
        for (a, b) in balls.1.iter().zip(&round.1) {
            let difference = *a - *b;
            let parts = (difference.linear.length(), difference.angular.length());
            assert!(parts.0 < 1e-11 && parts.1 < 1e-11, "seed {seed}: {parts:?}");
        }
    }
    assert!(centred > 50 && largest > 0.1, "{centred} {largest}");
}

/// A ball on the ground, of 0.5 m and 1 kg, whose inertia is any part of what a ball has: what is left of a lever beside the
/// normal, and rounded away, turns it.
#[test]
fn what_turns_too_easily_for_its_size_is_certified() {
    let mut certified = 0;
    for inverse_inertia in [0.0, 1e-160, 1.0, 10.0, 1e3, 1e6, 1e12, 1e16, 1e20, 1e200] {
        for seed in 0..20 {
            let mut random = Random(seed);
            let mut problem = ContactProblem::new(0.01).unwrap();
            problem.add_body(BodyInput::fixed()).unwrap();
            for b in 1..5 {
                let body = BodyInput {
                    inverse_mass: 1.0,
                    inverse_inertia: SymMat3::from_diagonal(Vec3::splat(inverse_inertia)),
                    velocity: Velocity::new(0.6 * random.vector(), 0.6 * random.vector()),
                };
                problem.add_body(body).unwrap();
                for a in [0, b - 1] {
                    let normal = (random.vector() + 0.6 * Vec3::Y).normalize();
                    problem
                        .add_contact(ContactInput {
                            a,
                            b,
                            normal,
                            lever_a: 0.5 * normal,
                            lever_b: -0.5 * normal,
                            separation: 0.0,
                            friction: 0.5,
                            restitution: 0.0,
                        })
                        .unwrap();
                }
            }
            let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
            let report = SimdSolver::default()
                .solve(&problem, &mut impulses, &mut velocities)
                .unwrap();
            if report.converged() {
                let residual = certify(&problem, &impulses).unwrap().natural_map;
                assert!(residual < 1e-8, "{inverse_inertia:e} {seed}: {residual:e}");
                certified += 1;
            }
        }
    }
    assert!(certified > 100, "{certified}");
}

/// Friction is what a problem without it does not pay for: the same bits, but for the sign of zeros.
#[test]
fn without_friction_only_normals_are_solved() {
    // Which contacts wait depends on all the others.
    let settings = SimdSettings {
        leave_out_open: false,
        ..SimdSettings::default()
    };
    for seed in 0..20 {
        let mut problem = tangle(seed, 12, 30);
        let rough = problem.clone();
        problem.clear();
        for body in rough.bodies() {
            problem.add_body(*body).unwrap();
        }
        for contact in rough.contacts() {
            let smooth = ContactPoint {
                friction: 0.0,
                ..*contact
            };
            problem.add_contact_point(smooth).unwrap();
        }
        let smooth = solve(settings, &problem);
        // A contact with friction that nothing touches.
        let far = problem.add_body(BodyInput::moving(Velocity::ZERO)).unwrap();
        let alone = problem
            .add_body(BodyInput {
                inverse_mass: 1.0,
                inverse_inertia: SymMat3::from_diagonal(Vec3::ONE),
                velocity: Velocity::ZERO,
            })
            .unwrap();
        problem
            .add_contact(ContactInput {
                a: far,
                b: alone,
                normal: Vec3::Y,
                lever_a: Vec3::ZERO,
                lever_b: Vec3::ZERO,
                separation: 1.0,
                friction: 0.5,
                restitution: 0.0,
            })
            .unwrap();
        let full = solve(settings, &problem);
        for (a, b) in smooth.0.contacts.iter().zip(&full.0.contacts) {
            assert_eq!(a, b, "seed {seed}");
            assert_eq!((a.y, a.z), (0.0, 0.0));
        }
        assert_eq!(smooth.1[..], full.1[..smooth.1.len()]);
    }
}

fn on_threads(threads: usize, problem: &ContactProblem) -> (Vec<u64>, Vec<Velocity>, usize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap().install(|| {
        let mut solver = SimdSolver::new(SimdSettings {
            max_sweeps: 30,
            ..SimdSettings::default()
        });
        solver.use_pool(true);
        let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
        solver
            .solve(problem, &mut impulses, &mut velocities)
            .unwrap();
        (bits(&impulses), velocities, solver.stats().threads)
    })
}

#[test]
fn all_numbers_of_threads_give_the_same_bits() {
    for seed in 0..3 {
        let problem = tangle(seed, 3000, 6000);
        let alone = on_threads(1, &problem);
        assert_eq!(alone.2, 1);
        for threads in [2, 3, 8] {
            let shared = on_threads(threads, &problem);
            assert_eq!(shared.2, threads);
            assert_eq!(alone.0, shared.0, "{threads} threads, seed {seed}");
            assert_eq!(alone.1, shared.1);
        }
    }
    // Small problems are not divided.
    assert_eq!(on_threads(8, &tangle(0, 20, 60)).2, 1);
}

#[test]
fn the_report_is_that_of_the_certificate() {
    let mut converged = 0;
    for seed in 0..20 {
        let problem = tangle(seed, 12, 30);
        let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
        let mut solver = SimdSolver::new(SimdSettings {
            max_sweeps: 2000,
            tolerance: 1e-6,
            ..SimdSettings::default()
        });
        let report = solver
            .solve(&problem, &mut impulses, &mut velocities)
            .unwrap();
        let certificate = certify(&problem, &impulses).unwrap();
        let error = (report.residual - certificate.natural_map).abs();
        assert!(
            error <= 1e-12 + 1e-9 * report.residual,
            "{report:?} {certificate:?}"
        );
        // Sweeps promise nothing on tangles like these; most are solved.
        converged += usize::from(report.converged());
        for (v, w) in velocities.iter().zip(problem.velocities(&impulses)) {
            assert!((v.linear - w.linear).length() < 1e-12);
            assert!((v.angular - w.angular).length() < 1e-12);
        }
        let stats = solver.stats();
        let all = problem.contacts().len();
        assert_eq!(stats.contacts + stats.waiting, all);
        assert!(stats.places >= stats.contacts && stats.colours > 0);
        if !report.converged() {
            continue;
        }
        // What was found is kept to the bit.
        let found = bits(&impulses);
        let again = solver
            .solve(&problem, &mut impulses, &mut velocities)
            .unwrap();
        assert_eq!((again.sweeps, bits(&impulses)), (0, found));
    }
    assert!(converged >= 15, "{converged} of 20");
}

#[test]
fn what_is_kept_at_the_end_of_a_budget() {
    let mut differ = 0;
    for seed in 0..20 {
        let problem = tangle(seed, 40, 120);
        let start = certify(&problem, &problem.cold_start())
            .unwrap()
            .natural_map;
        for max_sweeps in [1, 3, 16, 40] {
            let run = |keep_best: bool, max_sweeps: u32| {
                let settings = SimdSettings {
                    max_sweeps,
                    keep_best,
                    ..SimdSettings::default()
                };
                let (impulses, _) = solve(settings, &problem);
                let residual = certify(&problem, &impulses).unwrap().natural_map;
                (residual, bits(&impulses))
            };
            let (best, _) = run(true, max_sweeps);
            let (last, impulses) = run(false, max_sweeps);
            assert!(best <= start * (1.0 + 1e-9) && best <= last * (1.0 + 1e-9));
            // The last one is not that of a smaller budget.
            assert_ne!(impulses, run(false, max_sweeps - 1).1);
            differ += usize::from(best < last);
        }
    }
    assert!(differ > 0);
}

/// A body under more contacts than there are colours.
#[test]
fn a_body_with_many_neighbours_is_solved() {
    let mut problem = ContactProblem::new(0.01).unwrap();
    let plate = problem
        .add_body(BodyInput {
            inverse_mass: 1e-3,
            inverse_inertia: SymMat3::from_diagonal(Vec3::splat(1e-3)),
            velocity: Velocity::ZERO,
        })
        .unwrap();
    let count = 150;
    for i in 0..count {
        let ball = problem
            .add_body(BodyInput {
                inverse_mass: 1.0,
                inverse_inertia: SymMat3::from_diagonal(Vec3::splat(10.0)),
                velocity: Velocity::new(vec3(0.0, -1.0, 0.0), Vec3::ZERO),
            })
            .unwrap();
        let x = (i as f64 - 0.5 * (count - 1) as f64) * 0.1;
        problem
            .add_contact(ContactInput {
                a: plate,
                b: ball,
                normal: Vec3::Y,
                lever_a: vec3(x, 0.0, 0.0),
                lever_b: vec3(0.0, -0.5, 0.0),
                separation: 0.0,
                friction: 0.5,
                restitution: 0.0,
            })
            .unwrap();
    }
    let mut solver = SimdSolver::default();
    let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
    let report = solver
        .solve(&problem, &mut impulses, &mut velocities)
        .unwrap();
    assert!(report.converged(), "{report:?}");
    assert_eq!(solver.stats().colours, 60);
    assert_eq!(solver.stats().serial, count - 60);
    // All move on together: momentum 150 over a mass of 1150.
    for v in &velocities {
        assert!((v.linear.y + 150.0 / 1150.0).abs() < 1e-8, "{v:?}");
    }
}
