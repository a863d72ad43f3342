//! The Krylov path against the factorisation, and on an island of some thousand contacts.

mod support;

use moreau_solver::{ContactSolver, certify};
use moreau_solver_newton::{NewtonSettings, NewtonSolver};
use support::{fixtures, folder};

#[test]
fn made() {
    let mut files = fixtures();
    files.extend(folder("made").unwrap_or_default());
    for (name, file) in files {
        let (problem, reference) = (file.problem().unwrap(), file.reference().unwrap());
        let tolerance = reference.tolerance();
        let settings = NewtonSettings { tolerance, aim: tolerance, ..NewtonSettings::default() };
        let mut all = Vec::new();
        for krylov_work in [u64::MAX, 0] {
            let t = std::time::Instant::now();
            let mut solver = NewtonSolver::new(NewtonSettings { krylov_work, ..settings });
            let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
            let report = solver.solve(problem, &mut impulses, &mut velocities).unwrap();
            all.push((report, velocities, solver.stats(), t.elapsed().as_secs_f64(), certify(problem, &impulses).unwrap().natural_map));
        }
        let mut d = 0.0_f64;
        for (a, b) in all[0].1.iter().zip(&all[1].1) {
            d = d.max((a.linear - b.linear).length().max((a.angular - b.angular).length()));
        }
        println!("{name}: dv {d:.1e} tol {tolerance:.0e} direct {} {:.1e} {:.3} s | krylov {} {:.1e} it {} {:.3} s {}", all[0].0.factorizations, all[0].4, all[0].3, all[1].0.factorizations, all[1].4, all[1].2.krylov_iterations, all[1].3, if all[1].0.converged() {""} else {"NOT CONVERGED"});
    }
}
