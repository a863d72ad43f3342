//! Time of a sweep and how the residual falls with the budget, on the problems of files.
//!
//! `cargo run --release -p moreau-solver-simd --example sweep -- FILE…`

use moreau_constraint::{ContactProblem, Impulses};
use moreau_solver::ContactSolver;
use moreau_solver::files::load;
use moreau_solver_simd::{Instructions, SimdSettings, SimdSolver};
use std::path::Path;
use std::time::Instant;

fn run(settings: SimdSettings, problem: &ContactProblem, warm: &Impulses) -> (f64, f64, u32, u64) {
    let mut solver = SimdSolver::new(settings);
    let mut best = f64::INFINITY;
    let (mut velocities, mut impulses) = (Vec::new(), warm.clone());
    let mut out = (0.0, 0);
    for _ in 0..5 {
        impulses = warm.clone();
        let start = Instant::now();
        let report = solver
            .solve(problem, &mut impulses, &mut velocities)
            .expect("a problem that the solver takes");
        best = best.min(start.elapsed().as_secs_f64());
        out = (report.residual, report.sweeps);
    }
    let bits = impulses.contacts.iter().fold(0_u64, |h, l| {
        l.to_array()
            .iter()
            .fold(h, |h, x| h.rotate_left(5) ^ x.to_bits())
    });
    (best, out.0, out.1, bits)
}

fn main() {
    for path in std::env::args().skip(1) {
        let file = load(Path::new(&path)).expect("a problem file");
        println!("{path}");
        let Some(problem) = file.problem() else {
            continue;
        };
        let warm = problem.cold_start();
        for instructions in [
            Instructions::Fastest,
            Instructions::Avx2,
            Instructions::Baseline,
        ] {
            for accelerate in [false, true] {
                for max_sweeps in [0, 20, 40, 80] {
                    let settings = SimdSettings {
                        max_sweeps,
                        accelerate,
                        instructions,
                        ..SimdSettings::default()
                    };
                    let (time, residual, sweeps, bits) = run(settings, problem, &warm);
                    println!(
                        "{instructions:?} accelerate {accelerate:5} sweeps {sweeps:4} {:8.3} ms residual {residual:.3e} bits {bits:x}",
                        time * 1e3
                    );
                }
            }
        }
    }
}
