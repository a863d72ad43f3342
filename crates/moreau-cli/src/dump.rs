//! `moreau run --dump-step`: the problem of one step as a file.

use crate::fault::Fault;
use crate::target::Target;
use moreau::scene::Run;
use moreau::solver::files::write_problem;
use std::path::Path;

/// What to write, and where to.
pub(crate) struct Dump {
    step: u64,
    target: Target,
    /// What was written, in words.
    pub(crate) done: Option<String>,
}

impl Dump {
    /// From the two values of the argument.
    pub(crate) fn new(values: &[String], steps: u64) -> Result<Self, Fault> {
        let [step, path] = values else {
            let help = "such as --dump-step 40 step.json";
            return Err(Fault::input("--dump-step takes a step and a file", help));
        };
        match step.parse() {
            Ok(number) if (1..=steps).contains(&number) => Ok(Self {
                step: number,
                target: Target::new(Path::new(path))?,
                done: None,
            }),
            _ => Err(Fault::input(
                format!("--dump-step: the step is `{step}`, must be from 1 to {steps}"),
                "steps count from 1",
            )),
        }
    }

    /// Writes the largest island's problem where the next step is the one that was asked for.
    pub(crate) fn before_step(&mut self, run: &mut Run) -> Result<(), Fault> {
        if run.world().steps() + 1 != self.step {
            return Ok(());
        }
        let help = "a smaller --dt or a scene without such large velocities may help";
        let problems = run
            .next_problems()
            .map_err(|error| Fault::run(format!("step {}: {error}", self.step), help))?;
        let size = |p: &moreau::IslandProblem| (p.problem.contacts().len(), p.problem.rows().len());
        // Of equals the first.
        let largest = problems.iter().rev().max_by_key(|p| size(p));
        let Some(largest) = largest else {
            let file = self.target.path().display();
            let message = format!("{file}: step {} has no island to write", self.step);
            return Err(Fault::run(
                message,
                "choose a step in which something touches",
            ));
        };
        let name = format!("{}, step {}", run.scene().name, self.step);
        self.target
            .write(write_problem(&name, &largest.problem).as_bytes())?;
        let (contacts, rows) = size(largest);
        self.done = Some(format!(
            "problem: {} ({contacts} contacts, {rows} rows; the largest of {} islands)",
            self.target.path().display(),
            problems.len()
        ));
        Ok(())
    }
}
