//! Runs of a scene: measured, on two threads, and from a restored state.

use super::figure::{Figure, Tolerance, round_up};
use super::fixtures::SceneFile;
use super::golden::{Golden, Rung, first_difference};
use moreau::scene::{GateResult, Run, RunOptions, Verdict};
use moreau::{BodyKind, Pose, Vec3, World, vec3};
use std::fmt::Display;

/// Steps between two rungs of a ladder.
pub(crate) const RUNG: u64 = 16;

/// What a measured run gave.
pub(crate) struct Outcome {
    pub(crate) solver: String,
    pub(crate) settings: Vec<(String, String)>,
    /// With the narrowest tolerance of their kind.
    pub(crate) figures: Vec<Figure>,
    pub(crate) ladder: Vec<Rung>,
    pub(crate) gates: Vec<GateResult>,
    /// The step with the most contact points of the first three quarters: from there a restored
    /// world must find its way.
    pub(crate) dense: u64,
}

impl Outcome {
    /// The gates that are missed.
    pub(crate) fn missed(&self) -> impl Iterator<Item = &GateResult> {
        self.gates
            .iter()
            .filter(|gate| gate.verdict == Verdict::Failed)
    }

    /// How many gates the run passed.
    pub(crate) fn passed(&self) -> usize {
        self.gates.iter().filter(|gate| gate.passed()).count()
    }

    /// The snapshot of this run.
    pub(crate) fn golden(&self, file: &SceneFile, steps: u64, reason: &str) -> Golden {
        Golden {
            scene: file.name.clone(),
            solver: self.solver.clone(),
            file_hash: file.hash,
            dt: file.scene.dt,
            steps,
            reason: reason.to_owned(),
            settings: self.settings.clone(),
            figures: self.figures.clone(),
            ladder: self.ladder.clone(),
        }
    }
}

/// Every 16 steps and the last; runs of more than 2048 steps have wider rungs, by powers of two.
fn is_rung(step: u64, steps: u64) -> bool {
    let mut spacing = RUNG;
    while steps > 128 * spacing {
        spacing *= 2;
    }
    step.is_multiple_of(spacing) || step == steps
}

fn start(file: &SceneFile, steps: u64) -> Result<Run, String> {
    let options = RunOptions {
        steps: Some(steps),
        ..RunOptions::default()
    };
    Run::new(&file.scene, options).map_err(|e| format!("{}: {e}", file.name))
}

/// Runs a scene on one thread: figures and ladder are those of the first `steps` steps, the gates are
/// looked at up to the last one.
pub(crate) fn measure(file: &SceneFile, steps: u64) -> Result<Outcome, String> {
    let fail = |e: &dyn Display| format!("{}: {e}", file.name);
    let mut run = start(file, steps.max(file.last_gate()))?;
    let mut ladder = Vec::new();
    let (mut dense, mut most) = (1, 0);
    while run.world().steps() < steps {
        let report = run.step().map_err(|e| fail(&e))?;
        if is_rung(report.step, steps) {
            ladder.push(Rung {
                step: report.step,
                hash: run.world().hash(),
            });
        }
        let points = report.contact_points;
        // Of equals one near the middle.
        if (points > most && 4 * report.step <= 3 * steps)
            || (points == most && 2 * report.step <= steps)
        {
            (dense, most) = (report.step, points);
        }
    }
    let figures = figures(&run);
    while !run.finished() {
        run.step().map_err(|e| fail(&e))?;
    }
    Ok(Outcome {
        solver: run.world().solver_name().to_owned(),
        settings: settings(run.world())?,
        figures,
        ladder,
        gates: run.gates(),
        dense,
    })
}

/// What else than the first run must give the same bits: a run on two threads, and one that goes on
/// from a state of that one, restored. Says where they do not.
pub(crate) fn check_bits(file: &SceneFile, outcome: &Outcome, steps: u64) -> Result<(), String> {
    let dense = outcome.dense;
    let fail = |e: &dyn Display| format!("{}: {e}", file.name);
    let build = || {
        file.scene
            .build()
            .map(|built| built.world)
            .map_err(|e| fail(&e))
    };
    let say = |which: String, old: &[Rung], new: &[Rung]| match first_difference(old, new) {
        None => Ok(()),
        Some((_, step, lanes)) => Err(format!(
            "{which}: state differs at step {step} ({})",
            lanes.join(", ")
        )),
    };

    let mut world = build()?;
    world.set_threads(2).map_err(|e| fail(&e))?;
    let mut ladder = climb(&mut world, file, dense, steps)?;
    let state = world.snapshot();
    ladder.extend(climb(&mut world, file, steps, steps)?);
    say("2 threads".into(), &outcome.ladder, &ladder)?;

    // Into a world that has already stepped, so that what it remembers must go.
    let mut world = build()?;
    world.step(file.scene.dt).map_err(|e| fail(&e))?;
    world.restore(&state).map_err(|e| fail(&e))?;
    let rest = outcome.ladder.iter().filter(|rung| rung.step > dense);
    let rest: Vec<Rung> = rest.copied().collect();
    say(
        format!("restored at step {dense}"),
        &rest,
        &climb(&mut world, file, steps, steps)?,
    )
}

/// Steps a world until `end`; the rungs on the way.
fn climb(world: &mut World, file: &SceneFile, end: u64, steps: u64) -> Result<Vec<Rung>, String> {
    let mut ladder = Vec::new();
    while world.steps() < end {
        world
            .step(file.scene.dt)
            .map_err(|e| format!("{}: {e}", file.name))?;
        if is_rung(world.steps(), steps) {
            ladder.push(Rung {
                step: world.steps(),
                hash: world.hash(),
            });
        }
    }
    Ok(ladder)
}

/// The figures of a run, each with the narrowest tolerance that means something for its kind.
fn figures(run: &Run) -> Vec<Figure> {
    use Tolerance::{Absolute, Exact, Relative};
    let f = run.figures();
    let (mass, center) = center_of_mass(run.world());
    // All bodies at 0.1 mm/s: below that, rest is rest.
    let rest = Absolute(round_up(0.5 * mass * 1e-8));
    let energy = |value: f64| {
        let relative = Relative(1e-6);
        if rest.allows(value, value * (1.0 + 1e-6)) {
            rest
        } else {
            relative
        }
    };
    let figure = Figure::new;
    vec![
        figure("bodies", f.bodies as f64, "1", Exact),
        figure("contact_points", f.contact_points as f64, "1", Exact),
        figure(
            "max_contact_points",
            f.max_contact_points as f64,
            "1",
            Exact,
        ),
        figure("uncertified_steps", f.uncertified_steps as f64, "1", Exact),
        figure("guarded_steps", f.guarded_steps as f64, "1", Exact),
        figure("max_sweeps", f64::from(f.max_sweeps), "1", Relative(0.25)),
        figure("residual_max", f.residual_max_m_s, "m/s", Absolute(1e-7)),
        figure("max_penetration", f.max_penetration_m, "m", Absolute(1e-7)),
        figure(
            "end_max_penetration",
            f.end_max_penetration_m,
            "m",
            Absolute(1e-7),
        ),
        figure("center_of_mass.x", center.x, "m", Absolute(1e-7)),
        figure("center_of_mass.y", center.y, "m", Absolute(1e-7)),
        figure("center_of_mass.z", center.z, "m", Absolute(1e-7)),
        figure(
            "max_horizontal_drift",
            f.max_horizontal_drift_m,
            "m",
            Absolute(1e-6),
        ),
        figure("peak_speed", f.peak_speed_m_s, "m/s", Absolute(1e-6)),
        figure("max_speed", f.max_speed_m_s, "m/s", Absolute(1e-6)),
        figure(
            "kinetic_energy",
            f.kinetic_energy_j,
            "J",
            energy(f.kinetic_energy_j),
        ),
        figure("energy_gain", f.energy_gain_j, "J", energy(f.energy_gain_j)),
        figure("momentum_drift", f.momentum_drift, "1", Absolute(1e-8)),
    ]
}

/// Mass (kg) and centre of mass of all dynamic bodies.
fn center_of_mass(world: &World) -> (f64, Vec3) {
    let (mut mass, mut moment) = (0.0, Vec3::ZERO);
    for body in world
        .bodies()
        .filter(|body| body.kind() == BodyKind::Dynamic)
    {
        let m = body.mass_properties().mass;
        mass += m;
        moment += body.center_of_mass() * m;
    }
    (
        mass,
        if mass > 0.0 {
            moment / mass
        } else {
            Vec3::ZERO
        },
    )
}

/// A snapshot's tolerances: those of the kinds, widened to ten times what the figures move by where
/// every body starts 1e-10 m elsewhere.
///
/// So a figure of a scene that is sure of its end is held tightly, and one of a pile, where the
/// last digit of the start decides who lies where, is held to what a pile of that kind does. Some
/// scenes stand on an edge, so each disturbance is tried both ways.
pub(crate) fn widen_tolerances(
    file: &SceneFile,
    steps: u64,
    outcome: &mut Outcome,
) -> Result<(), String> {
    let mut most = vec![0.0; outcome.figures.len()];
    for (seed, length) in [(1, 1e-10), (1, -1e-10), (2, 1e-10), (2, -1e-10)] {
        let mut run = start(file, steps)?;
        disturb(run.world_mut(), seed, length).map_err(|e| format!("{}: {e}", file.name))?;
        run.run_to_end()
            .map_err(|e| format!("{}, disturbed: {e}", file.name))?;
        let pairs = outcome.figures.iter().zip(figures(&run));
        for (most, (figure, other)) in most.iter_mut().zip(pairs) {
            *most = f64::max(*most, (other.value - figure.value).abs());
        }
    }
    for (figure, moved) in outcome.figures.iter_mut().zip(most) {
        figure.tolerance = figure.tolerance.widened(figure.value, moved);
    }
    Ok(())
}

/// Moves every dynamic body by `length` (m) along each axis, this or that way.
fn disturb(world: &mut World, seed: u64, length: f64) -> Result<(), moreau::WorldError> {
    let moving: Vec<_> = world
        .bodies()
        .filter(|body| body.kind() == BodyKind::Dynamic)
        .map(|body| (body.id(), body.pose()))
        .collect();
    let mut state = seed;
    let mut step = || {
        // Knuth's MMIX generator; its top bit is good enough for a sign.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        if state >> 63 == 0 { length } else { -length }
    };
    for (id, pose) in moving {
        let shift = vec3(step(), step(), step());
        world.set_pose(id, Pose::new(pose.translation + shift, pose.rotation))?;
    }
    Ok(())
}

/// The world's settings as rows of a table, nested names joined by dots.
fn settings(world: &World) -> Result<Vec<(String, String)>, String> {
    let value = serde_json::to_value(world.settings()).map_err(|e| e.to_string())?;
    let mut rows = Vec::new();
    flatten(String::new(), &value, &mut rows);
    Ok(rows)
}

fn flatten(name: String, value: &serde_json::Value, rows: &mut Vec<(String, String)>) {
    match value {
        serde_json::Value::Object(map) => {
            for (key, value) in map {
                let dot = if name.is_empty() { "" } else { "." };
                flatten(format!("{name}{dot}{key}"), value, rows);
            }
        }
        // What is switched off has no row, which a comparison calls none.
        serde_json::Value::Null => {}
        value => rows.push((name, value.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rungs(steps: u64) -> Vec<u64> {
        (1..=steps).filter(|step| is_rung(*step, steps)).collect()
    }

    #[test]
    fn ladders_have_a_rung_every_16_steps_and_the_last() {
        assert_eq!(rungs(10), [10]);
        assert_eq!(rungs(40), [16, 32, 40]);
        assert_eq!(rungs(2048).len(), 128);
        assert_eq!(rungs(2049)[..2], [32, 64]);
        assert_eq!(rungs(16000).len(), 125);
    }
}
