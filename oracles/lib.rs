//! Answers of independent codes, to hold the workspace's own against.
//!
//! Not part of what users build: run `cargo test -p moreau-oracles`.
//!
//! [`associated`] gives the associated (convex) model of friction to Clarabel, an interior-point
//! method, in velocities:
//!
//! ```text
//! min 1/2 (v - v_free)' M (v - v_free)  over  (s_n, mu s_t) in the second-order cone,  s = J v + b
//! ```
//!
//! and w = J v + b = 0 for bilateral rows. The Jacobian is read off from the velocities of contacts and
//! rows at unit velocities of the bodies.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
use moreau_constraint::ContactProblem;
use moreau_math::{Vec3, Velocity};

/// What Clarabel says.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A solution.
    Solved {
        /// v+ of every body.
        velocities: Vec<Velocity>,
        /// 1/2 |v+ - v_free|² in M, J.
        cost: f64,
        /// How far the cost may be off (the duality gap), J. The velocities are off by at most the
        /// difference whose kinetic energy this is.
        gap: f64,
    },
    /// No velocity satisfies all constraints.
    Infeasible,
    /// It gave up.
    Unknown,
}

/// The associated model's answer to `problem`. Bodies that move must do so in all six directions, and
/// rows must be bilateral and rigid.
///
/// # Panics
/// Where the problem is not of that kind.
pub fn associated(problem: &ContactProblem) -> Answer {
    let bodies = problem.bodies();
    let movable: Vec<usize> = (0..bodies.len())
        .filter(|i| !bodies[*i].is_immovable())
        .collect();
    let n = 6 * movable.len();

    // Mass matrix and -M v_free.
    let (mut p, mut q) = (vec![vec![0.0; n]; n], vec![0.0; n]);
    for (k, i) in movable.iter().enumerate() {
        let body = &bodies[*i];
        let inertia = body
            .inverse_inertia
            .inverse()
            .expect("the body can turn")
            .to_mat3();
        for d in 0..3 {
            p[6 * k + d][6 * k + d] = 1.0 / body.inverse_mass;
            for e in 0..3 {
                p[6 * k + 3 + d][6 * k + 3 + e] = inertia.col(e)[d];
            }
        }
        let momentum = [
            body.velocity.linear / body.inverse_mass,
            inertia * body.velocity.angular,
        ];
        for (d, x) in momentum.iter().flat_map(|x| x.to_array()).enumerate() {
            q[6 * k + d] = -x;
        }
    }

    // A x + slack = b: slack = J x + rest, so A = -J.
    let mut still: Vec<Velocity> = bodies.iter().map(|b| b.velocity).collect();
    for i in &movable {
        still[*i] = Velocity::ZERO;
    }
    let rest = constraints(problem, &still);
    let mut a = vec![vec![0.0; n]; rest.len()];
    for (k, i) in movable.iter().enumerate() {
        for d in 0..6 {
            let mut v = still.clone();
            let axis = Vec3::AXES[d % 3];
            v[*i] = if d < 3 {
                Velocity::new(axis, Vec3::ZERO)
            } else {
                Velocity::new(Vec3::ZERO, axis)
            };
            for (row, (x, x0)) in a.iter_mut().zip(constraints(problem, &v).iter().zip(&rest)) {
                row[6 * k + d] = x0 - x;
            }
        }
    }
    let mut cones = vec![SupportedConeT::ZeroConeT(problem.rows().len())];
    cones.extend(problem.contacts().iter().map(|c| {
        if c.friction > 0.0 {
            SupportedConeT::SecondOrderConeT(3)
        } else {
            SupportedConeT::NonnegativeConeT(1)
        }
    }));
    let (p, a) = (CscMatrix::from(&p).to_triu(), CscMatrix::from(&a));
    // As accurate as it gets; it says when it cannot.
    let mut solved = None;
    for tolerance in [1e-12, 1e-11, 1e-10, 1e-9] {
        let settings = DefaultSettings {
            verbose: false,
            max_iter: 500,
            tol_gap_abs: tolerance,
            tol_gap_rel: tolerance,
            tol_feas: tolerance,
            ..DefaultSettings::default()
        };
        let mut solver = DefaultSolver::new(&p, &q, &a, &rest, &cones, settings)
            .expect("a well-formed programme");
        solver.solve();
        match solver.solution.status {
            SolverStatus::Solved => {
                solved = Some(solver);
                break;
            }
            SolverStatus::PrimalInfeasible => return Answer::Infeasible,
            _ => {}
        }
    }
    let Some(solver) = solved else {
        return Answer::Unknown;
    };
    let solution = &solver.solution;
    let mut velocities = still;
    for (k, i) in movable.iter().enumerate() {
        let x = &solution.x[6 * k..6 * k + 6];
        velocities[*i] = Velocity::new(Vec3::new(x[0], x[1], x[2]), Vec3::new(x[3], x[4], x[5]));
    }
    let change: Vec<Velocity> = velocities
        .iter()
        .zip(bodies)
        .map(|(v, b)| Velocity::new(v.linear - b.velocity.linear, v.angular - b.velocity.angular))
        .collect();
    let cost = problem.kinetic_energy(&change);
    Answer::Solved {
        velocities,
        cost,
        gap: (solution.obj_val - solution.obj_val_dual).abs(),
    }
}

/// Of each row w, then of each contact s_n and, with friction, mu s_t, at the velocities `v`.
fn constraints(problem: &ContactProblem, v: &[Velocity]) -> Vec<f64> {
    let mut out = Vec::new();
    for r in problem.rows() {
        assert!(
            r.lower == f64::NEG_INFINITY && r.upper == f64::INFINITY && r.regularization == 0.0,
            "the row is bilateral and rigid"
        );
        out.push(r.velocity(&v[r.a], &v[r.b]) + r.bias);
    }
    for c in problem.contacts() {
        let s = problem.contact_velocity(c, v) + c.bias;
        out.push(s.x);
        if c.friction > 0.0 {
            out.extend([c.friction * s.y, c.friction * s.z]);
        }
    }
    out
}
