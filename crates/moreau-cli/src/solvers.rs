//! The solvers that can be asked for by name. A new family of solvers gets a line here.

use clap::builder::{PossibleValue, PossibleValuesParser};
use moreau::scene::{Scene, SolverChoiceSpec};

struct Solver {
    /// As on the command line.
    name: &'static str,
    help: &'static str,
    choice: SolverChoiceSpec,
}

const SOLVERS: [Solver; 6] = [
    Solver {
        name: "auto",
        help: "Each island by the solver that suits it: exact where that is cheap, fast elsewhere",
        choice: SolverChoiceSpec::Auto,
    },
    Solver {
        name: "simd",
        help: "Sweeps over SIMD lanes, with momentum, for every island",
        choice: SolverChoiceSpec::Simd,
    },
    Solver {
        name: "pgs",
        help: "Sequential impulses (projected Gauss-Seidel) for every island",
        choice: SolverChoiceSpec::Pgs,
    },
    Solver {
        name: "block",
        help: "Block sweeps with Anderson acceleration for every island",
        choice: SolverChoiceSpec::Block,
    },
    Solver {
        name: "active-set",
        help: "The exact frictionless solver for every island; fails where there is friction",
        choice: SolverChoiceSpec::ActiveSet,
    },
    Solver {
        name: "newton",
        help: "Newton's method for every island, whatever it costs",
        choice: SolverChoiceSpec::Newton,
    },
];

/// Takes the names above.
pub(crate) fn parser() -> PossibleValuesParser {
    SOLVERS
        .iter()
        .map(|solver| PossibleValue::new(solver.name).help(solver.help))
        .collect::<Vec<_>>()
        .into()
}

/// Makes the scene use the solver of that name, with the knobs that the scene sets.
pub(crate) fn choose(name: &str, scene: &mut Scene) {
    let choice = SOLVERS
        .iter()
        .find(|solver| solver.name == name)
        .map(|solver| solver.choice);
    scene.settings.solver.get_or_insert_default().choice = choice;
}

#[cfg(test)]
mod tests {
    use super::*;
    use moreau::World;

    #[test]
    fn a_world_names_its_solver_as_the_command_line_does() {
        for solver in SOLVERS {
            let mut scene = Scene::default();
            choose(solver.name, &mut scene);
            let world = World::new(scene.world_settings()).unwrap();
            assert_eq!(world.solver_name(), solver.name);
        }
    }
}
