use crate::build::BuiltScene;
use crate::error::{Path, SceneError};
use crate::figures::{Figures, median, percentile};
use crate::gate::GateResult;
use crate::meter::{Meter, max_speed};
use crate::profile::{ProfileFigures, Profiles};
use crate::scene::{MOST_STEPS, Scene};
use moreau_math::Vec3;
use moreau_pipeline::{BodyId, IslandProblem, StepReport, World, WorldError};
use moreau_solver::ContactSolver;

/// How to run a scene. Everything that is `None` is the scene's own.
pub struct RunOptions {
    /// Length of a step, s. With another dt than the scene's, `steps` and `measure_from` cover the
    /// same time; one with which that takes more than [`MOST_STEPS`] is refused.
    pub dt: Option<f64>,
    /// How many steps, at most [`MOST_STEPS`].
    pub steps: Option<u64>,
    /// Threads. Default 1. The results have the same bits for any number.
    pub threads: usize,
    /// Solver of all islands; `None` for the world's default.
    pub solver: Option<Box<dyn ContactSolver>>,
    /// Whether the steps measure where their time goes, for [`Run::profile`]. Default false. The
    /// results have the same bits.
    pub profile: bool,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            dt: None,
            steps: None,
            threads: 1,
            solver: None,
            profile: false,
        }
    }
}

/// A scene that is being stepped and measured: the one harness of tools, tests and snapshots.
///
/// ```
/// use moreau_scene::{Run, RunOptions, scenes};
///
/// let mut run = Run::new(&scenes::tower(3), RunOptions { steps: Some(10), ..Default::default() })?;
/// while !run.finished() {
///     run.step()?;
/// }
/// assert_eq!(run.figures().steps, 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Run {
    scene: Scene,
    built: BuiltScene,
    meter: Meter,
    dt: f64,
    steps: u64,
    measure_from: u64,
    threads: usize,
    /// Seconds of each measured step.
    times: Vec<f64>,
    profiles: Profiles,
    /// Body and step of each gate.
    targets: Vec<(Option<BodyId>, u64)>,
    found: Vec<Option<f64>>,
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run")
            .field("scene", &self.scene.name)
            .field("step", &self.built.world.steps())
            .field("steps", &self.steps)
            .finish_non_exhaustive()
    }
}

impl Run {
    /// Builds the scene's world.
    ///
    /// # Errors
    /// Where the scene or an option cannot be used.
    pub fn new(scene: &Scene, options: RunOptions) -> Result<Self, SceneError> {
        let mut built = scene.build()?;
        let root = Path::Root;
        let dt = options.dt.unwrap_or(scene.dt);
        if !(dt > 0.0 && dt.is_finite()) {
            return Err(root.key("dt").invalid(dt, "positive and finite"));
        }
        // The same time in steps of this run.
        let same_time = |steps: u64| {
            if dt == scene.dt {
                steps
            } else {
                (steps as f64 * scene.dt / dt).round() as u64
            }
        };
        let steps = match options.steps {
            Some(steps) if steps > MOST_STEPS => {
                let allowed = format!("0 to {MOST_STEPS}");
                return Err(root.key("steps").invalid(steps, &allowed));
            }
            Some(steps) => steps,
            None => same_time(scene.steps).max(1),
        };
        if steps > MOST_STEPS {
            let allowed = format!(
                "so long that the scene's time takes at most {MOST_STEPS} steps; {:.0e} would follow",
                scene.steps as f64 * scene.dt / dt
            );
            return Err(root.key("dt").invalid(format!("{dt:?}"), &allowed));
        }
        let refused = |source| root.refused(source);
        built.world.set_threads(options.threads).map_err(refused)?;
        if let Some(solver) = options.solver {
            built.world.set_solver(solver);
        }
        built.world.set_profiling(options.profile);
        let targets: Vec<(Option<BodyId>, u64)> = scene
            .expect
            .iter()
            .map(|gate| {
                let body = gate.body.as_ref().and_then(|body| built.resolve(body));
                (body, same_time(gate.at_step.unwrap_or(scene.steps)))
            })
            .collect();
        let meter = new_meter(scene, &built, &targets);
        let mut run = Self {
            dt,
            steps,
            measure_from: same_time(scene.measure_from),
            threads: options.threads,
            times: Vec::new(),
            profiles: Profiles::default(),
            found: vec![None; targets.len()],
            targets,
            scene: scene.clone(),
            built,
            meter,
        };
        run.look_at_gates();
        Ok(run)
    }

    /// Makes one step; also beyond the last one of the scene.
    ///
    /// # Errors
    /// Where the step would leave numbers that are not finite; the world is then as before.
    pub fn step(&mut self) -> Result<StepReport, WorldError> {
        self.meter.before_step(&self.built.world);
        let report = self.built.world.step(self.dt)?;
        if report.step.checked_sub(1) == Some(self.measure_from) {
            self.times.clear();
        }
        self.times.push(report.seconds);
        if let Some(profile) = &report.profile {
            self.profiles.add(&report, profile);
        }
        self.meter.after_step(&self.built.world, &report);
        self.look_at_gates();
        Ok(report)
    }

    /// The contact problems that the next step would solve. The run stays as it is.
    ///
    /// # Errors
    /// Where a number of a problem is not finite.
    pub fn next_problems(&mut self) -> Result<Vec<IslandProblem>, WorldError> {
        self.built.world.next_problems(self.dt)
    }

    /// Steps to the end.
    ///
    /// # Errors
    /// As [`Run::step`].
    pub fn run_to_end(&mut self) -> Result<(), WorldError> {
        while !self.finished() {
            self.step()?;
        }
        Ok(())
    }

    /// Whether all steps are made.
    pub fn finished(&self) -> bool {
        self.built.world.steps() >= self.steps
    }

    /// How many steps the whole run has.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Length of a step, s.
    pub fn dt(&self) -> f64 {
        self.dt
    }

    /// The scene.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The world.
    pub fn world(&self) -> &World {
        &self.built.world
    }

    /// The world, to change it. The figures do not account for what is done to it.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.built.world
    }

    /// World, bodies, joints and names.
    pub fn built(&self) -> &BuiltScene {
        &self.built
    }

    /// The report of the last step; `None` before the first.
    pub fn last_report(&self) -> Option<&StepReport> {
        self.meter.last.as_ref()
    }

    /// What the run came to so far.
    pub fn figures(&self) -> Figures {
        let (meter, world) = (&self.meter, &self.built.world);
        let last = meter.last.unwrap_or_default();
        Figures {
            scene: self.scene.name.clone(),
            solver: world.solver_name().into(),
            threads: self.threads,
            bodies: world.body_count(),
            sleeping_bodies: last.sleeping_bodies,
            contact_points: last.contact_points,
            joints: world.joints().count(),
            steps: world.steps(),
            ms_per_step_median: 1e3 * median(&self.times),
            ms_per_step_p95: 1e3 * percentile(&self.times, 95),
            max_penetration_m: meter.max_penetration,
            end_max_penetration_m: last.max_penetration,
            kinetic_energy_j: world.kinetic_energy(),
            max_speed_m_s: max_speed(world),
            max_horizontal_drift_m: meter.drift,
            energy_gain_j: meter.energy_gain,
            energy_drift_j: meter.energy_drift,
            momentum_drift: meter.balance.drift(),
            directional_momentum_drift_n_s: meter.balance.directional_drift(),
            cone_excess: meter.cone_excess,
            residual_max_m_s: meter.residual,
            state_hash: world.hash().to_string(),
            certified: meter.uncertified == 0,
            uncertified_steps: meter.uncertified,
            guarded_steps: meter.guarded,
            solvers: meter
                .solvers
                .iter()
                .filter(|solver| solver.islands > 0)
                .cloned()
                .collect(),
            max_sweeps: meter.sweeps,
            max_contact_points: meter.max_contact_points,
            peak_speed_m_s: meter.peak_speed,
            dt_s: self.dt,
        }
    }

    /// Where the time of the steps went; `None` where it was not asked for.
    pub fn profile(&self) -> Option<ProfileFigures> {
        let asked = self.built.world.profiling();
        asked.then(|| self.profiles.figures(self.measure_from))
    }

    /// How the scene's gates came out so far, in the order of its `expect`.
    pub fn gates(&self) -> Vec<GateResult> {
        let gates = self.scene.expect.iter().enumerate();
        gates
            .zip(self.targets.iter().zip(&self.found))
            .map(|((i, gate), ((_, step), found))| GateResult::new(gate, i, *step, *found))
            .collect()
    }

    /// Reads the gates whose step this is.
    fn look_at_gates(&mut self) {
        let now = self.built.world.steps();
        for (i, gate) in self.scene.expect.iter().enumerate() {
            let (body, step) = self.targets[i];
            if step == now {
                self.found[i] = Some(self.meter.read(&self.built.world, gate.quantity, body));
            }
        }
    }
}

fn new_meter(scene: &Scene, built: &BuiltScene, targets: &[(Option<BodyId>, u64)]) -> Meter {
    let world = &built.world;
    let gravity = scene.gravity();
    let up = if gravity == Vec3::ZERO {
        scene.up.vector()
    } else {
        -gravity.normalize()
    };
    let gates: Vec<_> = scene
        .expect
        .iter()
        .zip(targets)
        .map(|(gate, (body, _))| (gate.quantity, *body))
        .collect();
    Meter::new(world, up, built.forces.clone(), built.weight, &gates)
}
