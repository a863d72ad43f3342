//! Document 002, lecture notes on "Resolving systems of contacts": its particle iteration, with the
//! signs of `docs/errata.md`, as an independent check of the solver.
//!
//! v_i = n_i·(v_a - v_b) with n_i towards A, and the goal v_i+ >= -c_r v_i-, so the right-hand side
//! is b = -(1 + c_r) J v-. The project's normal points from A to B, which swaps the names.

mod support;

use moreau_constraint::ContactProblem;
use moreau_math::{SymMat3, Vec3, vec3};
use support::{body, close, close_vec, contact, solve};

struct Particle {
    mass: f64,
    velocity: Vec3,
}

/// A collision of the notes: bodies A and B, the normal towards A.
struct Collision {
    a: usize,
    b: usize,
    normal: Vec3,
}

/// The iteration of the notes, with the accumulated-impulse update of its last section:
/// d_gamma_i = m_eff (-(1 + c_r) v_i- - n_i·(gamma_a/m_a - gamma_b/m_b)), clamped to gamma_i >= 0.
fn iterate(
    particles: &[Particle],
    collisions: &[Collision],
    restitution: f64,
) -> (Vec<f64>, Vec<Vec3>) {
    let mut gamma = vec![0.0; collisions.len()];
    let mut on_body = vec![Vec3::ZERO; particles.len()];
    for _ in 0..2000 {
        for (gamma, c) in gamma.iter_mut().zip(collisions) {
            let (a, b) = (&particles[c.a], &particles[c.b]);
            let effective_mass = 1.0 / (1.0 / a.mass + 1.0 / b.mass);
            let approach = c.normal.dot(a.velocity - b.velocity);
            let others = c.normal.dot(on_body[c.a] / a.mass - on_body[c.b] / b.mass);
            // Contacts that separate before the collision have no bounce to make.
            let goal = -(1.0 + if approach < 0.0 { restitution } else { 0.0 }) * approach;
            let updated = (*gamma + effective_mass * (goal - others)).max(0.0);
            let change = updated - *gamma;
            *gamma = updated;
            on_body[c.a] += change * c.normal;
            on_body[c.b] -= change * c.normal;
        }
    }
    let after = particles
        .iter()
        .zip(&on_body)
        .map(|(p, l)| p.velocity + *l / p.mass);
    let after = after.collect();
    (gamma, after)
}

fn compare(particles: &[Particle], collisions: &[Collision], restitution: f64) -> Vec<f64> {
    let mut problem = ContactProblem::new(0.01).unwrap();
    for p in particles {
        problem
            .add_body(body(p.mass, Vec3::ONE, p.velocity, Vec3::ZERO))
            .unwrap();
    }
    for c in collisions {
        let levers = (Vec3::ZERO, Vec3::ZERO);
        let input = contact((c.b, c.a), c.normal, levers, 0.0, restitution);
        problem.add_contact(input).unwrap();
    }
    let (impulses, v, report) = solve(&problem);
    assert!(report.residual < 1e-13, "{report:?}");
    let (gamma, after) = iterate(particles, collisions, restitution);
    for (v, want) in v.iter().zip(&after) {
        close_vec(v.linear, *want, 1e-12);
    }
    for (l, gamma) in impulses.contacts.iter().zip(&gamma) {
        close(l.x, *gamma, 1e-11);
    }
    gamma
}

fn particle(mass: f64, velocity: Vec3) -> Particle {
    Particle { mass, velocity }
}

fn towards(a: usize, b: usize, normal: Vec3) -> Collision {
    Collision {
        a,
        b,
        normal: normal.normalize(),
    }
}

#[test]
fn separate_pairs_follow_the_formula_of_one_collision() {
    let particles = [
        particle(1.0, vec3(1.0, 0.0, 0.0)),
        particle(2.0, vec3(-0.5, 0.3, 0.0)),
        particle(0.5, vec3(0.0, 2.0, 0.0)),
        particle(4.0, vec3(0.2, -1.0, 1.0)),
    ];
    let collisions = [towards(0, 1, -Vec3::X), towards(2, 3, vec3(0.3, -1.0, 0.2))];
    for restitution in [0.0, 0.5, 1.0] {
        let gamma = compare(&particles, &collisions, restitution);
        for (gamma, c) in gamma.iter().zip(&collisions) {
            let (a, b) = (&particles[c.a], &particles[c.b]);
            let approach = c.normal.dot(a.velocity - b.velocity);
            let effective_mass = 1.0 / (1.0 / a.mass + 1.0 / b.mass);
            close(
                *gamma,
                -(1.0 + restitution) * effective_mass * approach,
                1e-13,
            );
        }
    }
}

#[test]
fn coupled_collisions_agree_with_the_iteration() {
    // Seven particles: a heap of different masses falls on three that come up.
    let particles = [
        particle(1.0, vec3(0.1, -1.0, 0.0)),
        particle(2.0, vec3(0.0, -2.0, 0.3)),
        particle(0.7, vec3(-0.2, -1.5, 0.0)),
        particle(1.3, vec3(0.3, -0.5, -0.2)),
        particle(3.0, vec3(0.0, 1.0, 0.0)),
        particle(2.5, vec3(0.0, 0.5, 0.1)),
        particle(5.0, vec3(0.1, 0.8, 0.0)),
    ];
    let collisions = [
        towards(0, 4, vec3(0.2, 1.0, 0.0)),
        towards(1, 4, vec3(-0.6, 1.0, 0.1)),
        towards(1, 5, vec3(0.5, 1.0, 0.0)),
        towards(2, 5, vec3(-0.3, 1.0, 0.2)),
        towards(3, 6, vec3(0.0, 1.0, -0.3)),
        towards(0, 1, vec3(1.0, 0.2, 0.0)),
        towards(2, 3, vec3(-1.0, 0.4, 0.0)),
    ];
    for restitution in [0.0, 0.4, 0.9] {
        let gamma = compare(&particles, &collisions, restitution);
        assert!(gamma.iter().filter(|g| **g > 0.0).count() >= 4);
    }
}

#[test]
fn an_impulse_that_would_pull_is_clamped_within_the_iteration() {
    // C leaves B to the right while A hits B from the left: solving both rows as equations and
    // clamping afterwards would leave collision 1 with a wrong velocity.
    let particles = [
        particle(1.0, vec3(2.0, 0.0, 0.0)),
        particle(1.0, Vec3::ZERO),
        particle(1.0, vec3(5.0, 0.0, 0.0)),
    ];
    let collisions = [towards(0, 1, -Vec3::X), towards(1, 2, -Vec3::X)];
    let gamma = compare(&particles, &collisions, 0.0);
    close(gamma[0], 1.0, 1e-13);
    assert_eq!(gamma[1], 0.0);
}

#[test]
fn velocities_after_are_at_or_above_the_goal() {
    // v_i+ >= -c_r v_i-, with equality where the impulse acts; not -(1 + c_r) v_i-.
    let particles = [
        particle(1.0, vec3(3.0, 0.0, 0.0)),
        particle(2.0, Vec3::ZERO),
        particle(1.0, vec3(-1.0, 0.0, 0.0)),
    ];
    let collisions = [towards(0, 1, -Vec3::X), towards(1, 2, -Vec3::X)];
    let restitution = 0.5;
    let gamma = compare(&particles, &collisions, restitution);
    let (_, after) = iterate(&particles, &collisions, restitution);
    for (gamma, c) in gamma.iter().zip(&collisions) {
        let before = c
            .normal
            .dot(particles[c.a].velocity - particles[c.b].velocity);
        let after = c.normal.dot(after[c.a] - after[c.b]);
        assert!(*gamma > 0.0);
        close(after, -restitution * before, 1e-12);
    }
}

#[test]
fn the_effective_mass_of_rigid_bodies_is_a_quadratic_form() {
    // n·((I^-1 (r x n)) x r) = (r x n)·I^-1 (r x n), summed with a plus sign.
    let inverse_inertia = SymMat3 {
        xx: 2.0,
        yy: 3.0,
        zz: 1.5,
        xy: 0.4,
        xz: -0.2,
        yz: 0.1,
    };
    let mut problem = ContactProblem::new(0.01).unwrap();
    for (mass, scale) in [(2.0, 1.0), (0.5, 3.0)] {
        let mut input = body(mass, Vec3::ONE, Vec3::ZERO, Vec3::ZERO);
        input.inverse_inertia = inverse_inertia.scaled(scale);
        problem.add_body(input).unwrap();
    }
    let normal = vec3(1.0, -2.0, 2.0) / 3.0;
    let (ra, rb) = (vec3(0.3, 0.5, -0.2), vec3(-0.4, 0.1, 0.6));
    problem
        .add_contact(contact((0, 1), normal, (ra, rb), 0.3, 0.0))
        .unwrap();
    let part = |r: Vec3, scale: f64| {
        let turn = inverse_inertia.scaled(scale).mul_vec(r.cross(normal));
        normal.dot(turn.cross(r))
    };
    let want = 0.5 + 2.0 + part(ra, 1.0) + part(rb, 3.0);
    close(
        problem.delassus_block(&problem.contacts()[0]).x_axis.x,
        want,
        1e-14,
    );
}
