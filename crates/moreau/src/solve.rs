//! Solvers by name, and problem files solved by them.
//!
//! ```
//! use moreau::Impulses;
//! use moreau::solve::{SolveLimits, solve_file};
//! use moreau::solver::files::ProblemFile;
//!
//! // One contact of mass 1 kg that slides: W = I, q = (-1, 3, -4) m/s, mu = 0.5.
//! let text = "3 1  0 3 3  3 3  1 0 0 0 1 0 0 0 1  -1 3 -4  0.5";
//! let answer = solve_file(&ProblemFile::parse(text)?, "newton", &SolveLimits::default())?;
//! assert!(answer.certified());
//! assert!((answer.impulses.contacts[0].x - 1.0).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use moreau_constraint::{ContactProblem, Impulses};
use moreau_solver::files::ProblemFile;
use moreau_solver::{ContactSolver, DelassusProblem, Measures, SolveError, SolveReport, certify};
use moreau_solver_active_set::{ActiveSetSettings, ActiveSetSolver};
use moreau_solver_block::{BlockSettings, BlockSolver};
use moreau_solver_newton::{NewtonSettings, NewtonSolver};
use moreau_solver_pgs::{PgsSettings, PgsSolver};
use moreau_solver_simd::{SimdSettings, SimdSolver};
use std::fmt;

/// A solver that has a name.
#[derive(Clone, Copy, Debug)]
pub struct SolverEntry {
    /// What to ask for.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Whether it takes problems of which only W, q and friction are known.
    pub contact_space: bool,
    make: fn(&SolveLimits) -> Box<dyn ContactSolver>,
}

/// All solvers of exact Coulomb friction.
pub const SOLVERS: [SolverEntry; 6] = [
    SolverEntry {
        name: "newton",
        about: "a cascade of Newton methods, in body space or in contact space",
        contact_space: true,
        make: |limits| Box::new(newton(limits)),
    },
    SolverEntry {
        name: "block",
        about: "Gauss-Seidel with the exact answer of each contact, and Anderson acceleration",
        contact_space: false,
        make: |limits| Box::new(block(limits, BlockSettings::default().anderson_window)),
    },
    SolverEntry {
        name: "sweeps",
        about: "Gauss-Seidel with the exact answer of each contact, in body space or in contact space",
        contact_space: true,
        make: |limits| Box::new(block(limits, 0)),
    },
    SolverEntry {
        name: "simd",
        about: "coloured sweeps over SIMD lanes, with momentum",
        contact_space: false,
        make: |limits| {
            Box::new(SimdSolver::new(SimdSettings {
                tolerance: limits.tolerance,
                max_sweeps: limits.max_sweeps,
                ..SimdSettings::default()
            }))
        },
    },
    SolverEntry {
        name: "pgs",
        about: "sequential impulses: projected Gauss-Seidel by rows",
        contact_space: false,
        make: |limits| {
            Box::new(PgsSolver::new(PgsSettings {
                tolerance: limits.tolerance,
                max_sweeps: limits.max_sweeps,
                ..PgsSettings::default()
            }))
        },
    },
    SolverEntry {
        name: "active-set",
        about: "pivoting, for frictionless problems",
        contact_space: false,
        make: |limits| {
            Box::new(ActiveSetSolver::new(ActiveSetSettings {
                tolerance: limits.tolerance,
                max_rows: MOST_ACTIVE_SET_ROWS,
            }))
        },
    },
];

/// More rows than that would take minutes.
const MOST_ACTIVE_SET_ROWS: usize = 1000;

/// What a solve may cost, and when it is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveLimits {
    /// The natural map (m/s) at which an answer counts as solved. Default 1e-10.
    pub tolerance: f64,
    /// Budget of the sweeping solvers. Default 20,000.
    pub max_sweeps: u32,
    /// Budget of Newton's factorisations, multiply-adds. Default 1e12: minutes.
    pub max_work: u64,
}

impl Default for SolveLimits {
    fn default() -> Self {
        Self {
            tolerance: 1e-10,
            max_sweeps: 20_000,
            max_work: NewtonSettings::default().max_work,
        }
    }
}

fn newton(limits: &SolveLimits) -> NewtonSolver {
    NewtonSolver::new(NewtonSettings {
        tolerance: limits.tolerance,
        aim: limits.tolerance,
        max_work: limits.max_work,
        ..NewtonSettings::default()
    })
}

fn block(limits: &SolveLimits, anderson_window: u32) -> BlockSolver {
    BlockSolver::new(BlockSettings {
        tolerance: limits.tolerance,
        max_sweeps: limits.max_sweeps,
        anderson_window,
        ..BlockSettings::default()
    })
}

/// The solver of that name.
///
/// # Errors
/// [`SolveFileError::UnknownSolver`].
pub fn solver_by_name(
    name: &str,
    limits: &SolveLimits,
) -> Result<Box<dyn ContactSolver>, SolveFileError> {
    Ok((entry(name)?.make)(limits))
}

fn entry(name: &str) -> Result<&'static SolverEntry, SolveFileError> {
    let found = SOLVERS.iter().find(|entry| entry.name == name);
    found.ok_or_else(|| SolveFileError::UnknownSolver(name.to_owned()))
}

/// Why a file was not solved at all.
#[derive(Clone, Debug, PartialEq)]
pub enum SolveFileError {
    /// No solver has that name.
    UnknownSolver(String),
    /// The solver needs bodies, and the file has none.
    NeedsBodies {
        /// Name of the solver.
        solver: &'static str,
    },
    /// The solver does not take the problem.
    Solve(SolveError),
}

impl fmt::Display for SolveFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |contact_space: bool| {
            let entries = SOLVERS.iter();
            let entries = entries.filter(|entry| entry.contact_space || !contact_space);
            entries
                .map(|entry| entry.name)
                .collect::<Vec<_>>()
                .join(", ")
        };
        match self {
            Self::UnknownSolver(name) => {
                write!(
                    f,
                    "there is no solver `{name}`; known are: {}",
                    names(false)
                )
            }
            Self::NeedsBodies { solver } => write!(
                f,
                "the solver `{solver}` needs the bodies of a problem; of W and q alone are solved \
                 by: {}",
                names(true)
            ),
            Self::Solve(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SolveFileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Solve(error) => Some(error),
            Self::UnknownSolver(_) | Self::NeedsBodies { .. } => None,
        }
    }
}

impl From<SolveError> for SolveFileError {
    fn from(error: SolveError) -> Self {
        Self::Solve(error)
    }
}

/// An answer to a problem file, and how right it is.
#[derive(Clone, Debug, PartialEq)]
pub struct FileAnswer {
    /// What the solver says of it.
    pub report: SolveReport,
    /// The answer.
    pub impulses: Impulses,
    /// The natural map of the worst contact or row (m/s), worked out afresh.
    pub residual: f64,
    /// The measures of the public campaigns.
    pub measures: Measures,
    /// The tolerance that was asked for, m/s.
    pub tolerance: f64,
}

impl FileAnswer {
    /// Whether the residual is within the tolerance.
    pub fn certified(&self) -> bool {
        // The last digits differ from those that the solver saw, for the sums run otherwise.
        self.residual <= self.tolerance * 1.000_001
    }
}

/// Solves the problem of a file from a cold start.
///
/// # Errors
/// [`SolveFileError`] where there is no such solver or it does not take the problem; not where it
/// does not converge.
pub fn solve_file(
    file: &ProblemFile,
    name: &str,
    limits: &SolveLimits,
) -> Result<FileAnswer, SolveFileError> {
    let entry = entry(name)?;
    match file {
        ProblemFile::Delassus(problem) => in_contact_space(problem, entry, limits),
        ProblemFile::Reference(file) => with_bodies(&file.problem, entry, limits),
        ProblemFile::Problem(file) => with_bodies(&file.problem, entry, limits),
    }
}

fn with_bodies(
    problem: &ContactProblem,
    entry: &SolverEntry,
    limits: &SolveLimits,
) -> Result<FileAnswer, SolveFileError> {
    let mut solver = (entry.make)(limits);
    let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
    let report = solver.solve(problem, &mut impulses, &mut velocities)?;
    Ok(FileAnswer {
        report,
        residual: certify(problem, &impulses)?.natural_map,
        measures: Measures::of(problem, &impulses)?,
        impulses,
        tolerance: limits.tolerance,
    })
}

fn in_contact_space(
    problem: &DelassusProblem,
    entry: &SolverEntry,
    limits: &SolveLimits,
) -> Result<FileAnswer, SolveFileError> {
    let solver = entry.name;
    if !entry.contact_space {
        return Err(SolveFileError::NeedsBodies { solver });
    }
    let settings = *newton(limits).settings();
    let settings = if solver == "sweeps" {
        NewtonSettings {
            first_sweeps: limits.max_sweeps,
            max_work: 0,
            ..settings
        }
    } else {
        settings
    };
    let mut contacts = Vec::new();
    let report = NewtonSolver::new(settings).solve_delassus(problem, &mut contacts);
    Ok(FileAnswer {
        report,
        residual: problem.residual(&contacts).0,
        measures: Measures::in_contact_space(problem, &contacts),
        impulses: Impulses {
            contacts,
            rows: Vec::new(),
        },
        tolerance: limits.tolerance,
    })
}
