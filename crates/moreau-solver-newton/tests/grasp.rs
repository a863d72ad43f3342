//! Bodies between fingers, from a cold start. Coulomb's law has motions there in which the body slips out of a
//! grasp that can hold it; with k fingers that press with a force F each, it can where k mu F >= m g.

use moreau_constraint::{BodyInput, ContactInput, ContactProblem, Impulses};
use moreau_math::{Quat, SymMat3, Vec3, Velocity, vec3};
use moreau_solver::{ContactSolver, certify};
use moreau_solver_newton::{NewtonSettings, NewtonSolver, NewtonStats};

const GRAVITY: f64 = 9.81;
const TOLERANCE: f64 = 1e-8;

/// Steele's, Lea's and Flood's SplitMix.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn signed(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[(self.next() % of.len() as u64) as usize]
    }

    fn vector(&mut self, scale: f64) -> Vec3 {
        vec3(self.signed(), self.signed(), self.signed()) * scale
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, (self.next() % (i as u64 + 1)) as usize);
        }
    }
}

/// A body between fingers on rails without friction, for a step of which gravity and the fingers' forces are done.
struct Grasp {
    problem: ContactProblem,
    /// The index of the body, its velocity where all stick, and the speed that gravity gave it.
    body: usize,
    held: Velocity,
    fall: f64,
    text: String,
}

/// A grasp that presses `over` times as hard as it has to; all of it moves as one rigid body.
fn grasp(random: &mut Random, over: f64) -> Grasp {
    let size = random.pick(&[0.01, 0.04, 0.2]);
    let mass = random.pick(&[0.02, 0.5, 5.0]);
    let friction = random.pick(&[0.2, 0.5, 0.8]);
    let dt = random.pick(&[1.0 / 30.0, 1.0 / 60.0, 1.0 / 120.0, 1e-3]);
    let fingers = random.pick(&[2_usize, 3]);
    let hand = random.pick(&[false, true]);
    let (width, depth) = random.pick(&[(1.0, 0.5), (1.0, 0.3), (0.866, 0.4), (0.866, 0.1)]);
    let finger_mass = random.pick(&[0.1, 1.0]);
    let force = mass * GRAVITY / (fingers as f64 * friction) * over;
    let turn = Quat::from_xyzw(
        random.signed(),
        random.signed(),
        random.signed(),
        random.signed(),
    )
    .normalize();
    let (linear, angular) = (random.vector(1.0), random.vector(1.0));
    let rigid = |at: Vec3| Velocity::new(linear + angular.cross(turn * at), angular);

    let mut bodies = vec![BodyInput::moving(rigid(Vec3::ZERO))];
    let fall = turn * vec3(0.0, -GRAVITY * dt, 0.0);
    let mut velocity = rigid(Vec3::ZERO);
    velocity.linear += fall;
    let inverse = 1.0 / (mass * size * size);
    bodies.push(BodyInput {
        inverse_mass: 1.0 / mass,
        inverse_inertia: SymMat3::from_diagonal(vec3(1.7, 2.0, 1.7) * inverse).rotated(turn),
        velocity,
    });
    // Bodies, normal, point of contact, centre of the second body, friction.
    let mut contacts = Vec::new();
    let corners = [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)];
    for k in 0..fingers {
        let towards =
            Quat::from_axis_angle(Vec3::Y, core::f64::consts::TAU * k as f64 / fingers as f64);
        let (out, side) = (towards * Vec3::X, towards * Vec3::Z);
        let face = out * (width * size);
        let centre = face + out * (0.3 * size);
        let finger = bodies.len();
        let mut velocity = rigid(centre);
        if hand && k == 0 {
            bodies.push(BodyInput::moving(velocity));
        } else {
            velocity.linear -= turn * out * (force * dt / finger_mass);
            bodies.push(BodyInput {
                inverse_mass: 1.0 / finger_mass,
                inverse_inertia: SymMat3::ZERO,
                velocity,
            });
            for (x, z) in corners {
                for y in [-1.0, 1.0] {
                    let at =
                        centre + (out * (0.3 * x) + side * (0.4 * z) + Vec3::Y * (0.5 * y)) * size;
                    contacts.push((0, finger, Vec3::Y * -y, at, centre, 0.0));
                }
            }
        }
        for (y, z) in corners {
            let at = face + (Vec3::Y * (0.5 * y) + side * (depth * z)) * size;
            contacts.push((1, finger, out, at, centre, friction));
        }
    }

    let centres: Vec<Vec3> = (0..bodies.len())
        .map(|i| {
            contacts
                .iter()
                .find(|c| c.1 == i)
                .map_or(Vec3::ZERO, |c| c.4)
        })
        .collect();
    let mut order: Vec<usize> = (0..bodies.len()).collect();
    random.shuffle(&mut order);
    random.shuffle(&mut contacts);
    let mut problem = ContactProblem::new(dt).unwrap();
    for i in &order {
        problem.add_body(bodies[*i]).unwrap();
    }
    let index = |i: usize| order.iter().position(|k| *k == i).unwrap();
    for (a, b, normal, at, _, friction) in contacts {
        let contact = ContactInput {
            a: index(a),
            b: index(b),
            normal: turn * normal,
            lever_a: turn * (at - centres[a]),
            lever_b: turn * (at - centres[b]),
            separation: 0.0,
            friction,
            restitution: 0.0,
        };
        problem.add_contact(contact).unwrap();
    }
    Grasp {
        problem,
        body: index(1),
        held: rigid(Vec3::ZERO),
        fall: GRAVITY * dt,
        text: format!(
            "{fingers} fingers, hand {hand}, size {size}, mass {mass}, finger {finger_mass}, mu {friction}, \
             dt {dt}, over {over}, {width} {depth}"
        ),
    }
}

struct Answer {
    impulses: Impulses,
    velocities: Vec<Velocity>,
    /// The fastest slip of a contact that pushes, m/s.
    slip: f64,
    stats: NewtonStats,
    factorizations: u32,
}

/// Solves, and certifies the answer.
fn solve(grasp: &Grasp, start: Impulses, stick_first: bool) -> Answer {
    let problem = &grasp.problem;
    let mut solver = NewtonSolver::new(NewtonSettings {
        tolerance: TOLERANCE,
        stick_first,
        ..NewtonSettings::default()
    });
    let (mut impulses, mut velocities) = (start, Vec::new());
    let report = solver
        .solve(problem, &mut impulses, &mut velocities)
        .unwrap();
    let certificate = certify(problem, &impulses).unwrap();
    assert!(report.converged(), "{}: {report:?}", grasp.text);
    assert!(
        certificate.natural_map <= TOLERANCE,
        "{}: {certificate:?}",
        grasp.text
    );
    let mut slip = 0.0_f64;
    for (c, l) in problem.contacts().iter().zip(&impulses.contacts) {
        if c.friction > 0.0 && l.x > 0.0 {
            let u = problem.contact_velocity(c, &velocities);
            slip = slip.max((u.y * u.y + u.z * u.z).sqrt());
        }
    }
    Answer {
        impulses,
        velocities,
        slip,
        stats: solver.stats(),
        factorizations: report.factorizations,
    }
}

#[test]
fn a_grasp_that_can_hold_holds() {
    let mut random = Random(1);
    let (mut taken, mut slips_without) = (0, 0);
    for k in 0..400 {
        let grasp = grasp(&mut random, [1.02, 1.02, 1.5, 10.0][k % 4]);
        let answer = solve(&grasp, grasp.problem.cold_start(), true);
        let off = (answer.velocities[grasp.body].linear - grasp.held.linear).length();
        println!(
            "{}: slip {:.1e} off {off:.1e} {:?}",
            grasp.text, answer.slip, answer.stats
        );
        assert!(
            answer.slip <= TOLERANCE && off <= TOLERANCE,
            "{k} {}: {}",
            grasp.text,
            answer.slip
        );
        assert!(answer.stats.stick <= 15 && answer.stats.stick <= answer.factorizations);
        taken += u32::from(answer.stats.stuck);
        let without = solve(&grasp, grasp.problem.cold_start(), false);
        assert_eq!((without.stats.stick, without.stats.stuck), (0, false));
        slips_without += u32::from(without.slip > 1e-4);
    }
    println!("{taken} {slips_without}");
    assert!(taken > 100 && slips_without > 10, "{taken} {slips_without}");
}

#[test]
fn a_grasp_that_cannot_hold_slips_as_without_the_stage() {
    let mut random = Random(2);
    let mut tried = 0;
    for _ in 0..60 {
        let grasp = grasp(&mut random, 0.7);
        let answer = solve(&grasp, grasp.problem.cold_start(), true);
        let without = solve(&grasp, grasp.problem.cold_start(), false);
        let off = (answer.velocities[grasp.body].linear - grasp.held.linear).length();
        println!(
            "{}: slip {:.1e} off {:.3} {:?}",
            grasp.text,
            answer.slip,
            off / grasp.fall,
            answer.stats
        );
        assert!(
            !answer.stats.stuck && answer.slip > 0.01 * grasp.fall,
            "{}",
            grasp.text
        );
        assert_eq!(answer.impulses, without.impulses, "{}", grasp.text);
        assert_eq!(answer.velocities, without.velocities, "{}", grasp.text);
        tried += u32::from(answer.stats.stick > 0);
    }
    assert!(tried > 10, "{tried}");
}

/// The next step of a grasp begins with the impulses of the last, whatever they hold.
#[test]
fn a_warm_start_goes_without_the_stage() {
    let mut random = Random(3);
    for k in 0..40 {
        let grasp = grasp(&mut random, [1.02, 0.7][k % 2]);
        let mut start = solve(&grasp, grasp.problem.cold_start(), true).impulses;
        for l in &mut start.contacts {
            *l *= 1.01;
        }
        let answer = solve(&grasp, start.clone(), true);
        let without = solve(&grasp, start, false);
        assert_eq!((answer.stats.stick, answer.stats.stuck), (0, false));
        assert_eq!(answer.impulses, without.impulses, "{}", grasp.text);
    }
}
