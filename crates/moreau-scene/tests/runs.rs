//! What a run measures, against what can be worked out by hand.

use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::{Vec3, Velocity, vec3};
use moreau_scene::{MOST_STEPS, Run, RunOptions, Scene, Verdict, scenes};
use moreau_solver::{ContactSolver, SolveError, SolveReport, StopReason};

fn scene(rest: &str) -> Scene {
    let text = format!(r#"{{"format": "moreau-scene", "version": 1, "name": "t", {rest}}}"#);
    Scene::from_json(&text).unwrap_or_else(|error| panic!("{error}"))
}

fn run(scene: &Scene) -> Run {
    Run::new(scene, RunOptions::default()).unwrap()
}

/// A ball of 2 kg in free fall.
fn falling() -> Scene {
    scene(
        r#""steps": 60, "measure_from": 20, "bodies": [
            {"name": "ball", "shape": {"sphere": {"radius": 0.5}}, "mass": 2,
             "position": [0, 50, 0], "linear_velocity": [3, 0, 4]}]"#,
    )
}

#[test]
fn the_figures_of_a_free_fall_are_those_of_the_law() {
    let mut run = run(&falling());
    run.run_to_end().unwrap();
    let figures = run.figures();
    assert_eq!(
        (figures.steps, figures.bodies, figures.contact_points),
        (60, 1, 0)
    );
    // 1 s: (3, -9.81, 4) m/s, 5 m across.
    let square = 25.0 + 9.81 * 9.81;
    assert!((figures.kinetic_energy_j - square).abs() < 1e-9);
    assert!((figures.max_speed_m_s - square.sqrt()).abs() < 1e-9);
    assert!((figures.peak_speed_m_s - square.sqrt()).abs() < 1e-9);
    assert!((figures.max_horizontal_drift_m - 5.0).abs() < 1e-12);
    assert!(figures.energy_gain_j < 1e-10 && figures.momentum_drift < 1e-14);
    assert!(figures.certified && figures.uncertified_steps == 0);
    assert!(figures.ms_per_step_median > 0.0);
    assert!(figures.ms_per_step_p95 >= figures.ms_per_step_median);
    assert_eq!(figures.state_hash, run.world().hash().to_string());
    assert_eq!(figures.state_hash.len(), 16);
}

#[test]
fn the_names_of_the_figures_are_fixed() {
    let value = serde_json::to_value(run(&falling()).figures()).unwrap();
    for name in [
        "scene",
        "solver",
        "threads",
        "bodies",
        "contact_points",
        "steps",
        "ms_per_step_median",
        "ms_per_step_p95",
        "max_penetration_m",
        "end_max_penetration_m",
        "kinetic_energy_j",
        "max_speed_m_s",
        "max_horizontal_drift_m",
        "energy_gain_j",
        "momentum_drift",
        "residual_max_m_s",
        "state_hash",
        "certified",
        "uncertified_steps",
    ] {
        assert!(value.get(name).is_some(), "{name}");
    }
}

#[test]
fn momentum_and_energy_from_nowhere_are_seen() {
    let mut run = run(&falling());
    for _ in 0..10 {
        run.step().unwrap();
    }
    let ball = run.built().find("ball").unwrap();
    let v = run.world().body(ball).unwrap().velocity().linear;
    let kicked = Velocity::new(v + vec3(0.0, 0.0, 6.0), Vec3::ZERO);
    run.world_mut().set_velocity(ball, kicked).unwrap();
    run.step().unwrap();
    let figures = run.figures();
    // 12 N s, over the largest sum of m |v|: that after the kick.
    let v = run.world().body(ball).unwrap().velocity().linear;
    let want = 12.0 / (2.0 * v.length());
    assert!(
        (figures.momentum_drift - want).abs() < 1e-12,
        "{}",
        figures.momentum_drift
    );
    // (10² - 4²) m/2.
    assert!(
        (figures.energy_gain_j - 84.0).abs() < 1e-9,
        "{}",
        figures.energy_gain_j
    );
}

#[test]
fn contacts_and_joints_with_other_bodies_are_accounted_for() {
    // A double pendulum on a static hook, a rod to a kinematic body, and a ball that bounces.
    let scene = scene(
        r#""steps": 200, "shapes": {"ball": {"sphere": {"radius": 0.2}}},
        "bodies": [
            {"name": "hook", "kind": "static", "shape": "ball", "position": [0, 5, 0]},
            {"name": "upper", "shape": "ball", "position": [1, 5, 0]},
            {"name": "lower", "shape": "ball", "position": [2, 5, 0]},
            {"name": "mover", "kind": "kinematic", "shape": "ball", "position": [0, 5, 5],
             "linear_velocity": [1, 0.2, 0]},
            {"name": "towed", "shape": "ball", "position": [0, 4, 5], "force": [0, 0, 30]},
            {"kind": "static", "shape": {"half_space": {"normal": [0, 1, 0]}}},
            {"shape": "ball", "position": [0, 2, -5], "restitution": 0.7,
             "linear_velocity": [2, 0, 0]}],
        "joints": [
            {"ball": {"a": "upper", "b": "hook", "at": [0, 5, 0]}},
            {"ball": {"a": "upper", "b": "lower", "at": [1.5, 5, 0]}},
            {"distance": {"a": "mover", "b": "towed"}}]"#,
    );
    let mut run = run(&scene);
    run.run_to_end().unwrap();
    let figures = run.figures();
    assert!(figures.max_contact_points > 0);
    assert!(figures.momentum_drift < 1e-12, "{}", figures.momentum_drift);
}

#[test]
fn constant_forces_have_a_potential() {
    // Without friction a force of 3 N moves 1 kg for 2 s: 18 J of work, no gain.
    let pushed = scene(
        r#""steps": 120, "gravity": [0, 0, 0], "bodies": [
            {"name": "puck", "shape": {"sphere": {"radius": 0.1}}, "mass": 1, "force": [3, 0, 0]}]"#,
    );
    let mut run = run(&pushed);
    run.run_to_end().unwrap();
    let figures = run.figures();
    assert!((figures.kinetic_energy_j - 18.0).abs() < 1e-9);
    assert!(figures.energy_gain_j < 1e-9, "{}", figures.energy_gain_j);
    // Where there is no gravity, drift is measured across the up axis.
    assert!((figures.max_horizontal_drift_m - 6.0).abs() < 1e-9);
}

#[test]
fn drift_is_measured_across_gravity() {
    let text = r#""steps": 60, "gravity": [0, 0, -9.81], "bodies": [
        {"shape": {"sphere": {"radius": 0.1}}, "linear_velocity": [0, 2, 1]}]"#;
    let mut run = run(&scene(text));
    run.run_to_end().unwrap();
    assert!((run.figures().max_horizontal_drift_m - 2.0).abs() < 1e-12);
}

#[test]
fn gates_can_ask_how_far_anything_came() {
    // Thrown up at 1 m/s under 2 m/s²: back after a second, 1.5 m further along x.
    let text = r#""steps": 60, "gravity": [0, -2, 0], "expect": [
        {"quantity": "lowest.x", "value": 1, "tolerance": 1e-12, "reason": "where it starts"},
        {"quantity": "highest.x", "value": 2.5, "tolerance": 1e-9, "reason": "v t"},
        {"quantity": "highest.y", "value": 0.25, "tolerance": 1e-3, "reason": "v²/(2 g)"},
        {"quantity": "lowest.y", "value": 0, "tolerance": 1e-9, "reason": "back where it started"},
        {"quantity": "lowest.z", "value": -3, "tolerance": 1e-12, "reason": "the ball beside it"},
        {"quantity": "highest.z", "value": 0, "tolerance": 1e-12, "reason": "nothing moves along z"}],
        "bodies": [
        {"kind": "static", "shape": {"sphere": {"radius": 0.1}}, "position": [9, 9, 9]},
        {"shape": {"sphere": {"radius": 0.1}}, "position": [1.2, 0, -3], "gravity_scale": 0},
        {"shape": {"sphere": {"radius": 0.1}}, "position": [1, 0, 0], "linear_velocity": [1.5, 1, 0]}]"#;
    let mut run = run(&scene(text));
    run.run_to_end().unwrap();
    for gate in moreau_scene::evaluate(&run) {
        assert!(gate.passed(), "{gate}");
    }
}

#[test]
fn penetration_is_that_of_the_contacts() {
    let text = r#""steps": 1, "settings": {"position_correction": {"rate": 0}}, "bodies": [
        {"kind": "static", "shape": {"half_space": {"normal": [0, 1, 0]}}},
        {"shape": {"sphere": {"radius": 1}}, "position": [0, 0.97, 0]}]"#;
    let mut run = run(&scene(text));
    run.run_to_end().unwrap();
    assert!((run.figures().max_penetration_m - 0.03).abs() < 1e-12);
    assert!((run.figures().end_max_penetration_m - 0.03).abs() < 1e-12);
}

#[test]
fn bits_do_not_depend_on_repetition_or_threads() {
    let hash = |threads| {
        let options = RunOptions {
            threads,
            steps: Some(40),
            ..RunOptions::default()
        };
        let mut run = Run::new(&scenes::columns([3, 3], 4), options).unwrap();
        run.run_to_end().unwrap();
        run.figures().state_hash
    };
    let first = hash(1);
    for threads in [1, 2, 4] {
        assert_eq!(hash(threads), first, "{threads} threads");
    }
}

#[test]
fn another_step_covers_the_same_time() {
    let mut scene = falling();
    scene.dt = 0.01;
    scene.steps = 100;
    scene.expect.push(
        serde_json::from_str(
            r#"{"quantity": "linear_velocity.y", "body": "ball", "at_step": 50, "value": -4.905,
                "tolerance": 1e-9, "reason": "-g t"}"#,
        )
        .unwrap(),
    );
    for (dt, steps) in [(0.01, 100), (0.005, 200), (0.02, 50), (1.0, 1)] {
        let options = RunOptions {
            dt: Some(dt),
            ..RunOptions::default()
        };
        let mut run = Run::new(&scene, options).unwrap();
        assert_eq!(run.steps(), steps);
        assert_eq!(run.gates()[0].verdict, Verdict::NotReached);
        run.run_to_end().unwrap();
        let gate = &run.gates()[0];
        if dt < 1.0 {
            assert!(gate.passed(), "dt {dt}: {gate}");
            assert_eq!(gate.step, steps / 2);
        }
    }
    let options = RunOptions {
        steps: Some(49),
        ..RunOptions::default()
    };
    let mut short = Run::new(&scene, options).unwrap();
    short.run_to_end().unwrap();
    assert_eq!(short.gates()[0].verdict, Verdict::NotReached);
}

#[test]
fn a_run_that_would_never_end_is_refused() {
    let mut scene = falling();
    (scene.dt, scene.steps, scene.measure_from) = (0.01, 100, 3);
    let refused = |dt: Option<f64>, steps: Option<u64>| {
        let options = RunOptions {
            dt,
            steps,
            ..RunOptions::default()
        };
        Run::new(&scene, options).map_err(|error| error.to_string())
    };
    assert_eq!(refused(Some(1e-9), None).unwrap().steps(), MOST_STEPS);
    // The last one takes infinitely many.
    for (dt, follow) in [(9e-10, "1e9"), (1e-19, "1e19"), (5e-324, "inf")] {
        let error = refused(Some(dt), None).unwrap_err();
        let parts = [
            format!("dt: is {dt:?}, "),
            "at most 1000000000 steps".into(),
            format!("{follow} would follow"),
        ];
        for part in parts {
            assert!(error.contains(&part), "no {part:?} in {error}");
        }
    }
    let error = refused(None, Some(MOST_STEPS + 1)).unwrap_err();
    assert!(
        error.contains("steps: is 1000000001, must be 0 to"),
        "{error}"
    );
    // Where the steps are given any length will do.
    let mut run = refused(Some(1e-300), Some(2)).unwrap();
    run.run_to_end().unwrap();
    assert_eq!(run.figures().steps, 2);
}

#[test]
fn a_gate_that_does_not_hold_fails_and_says_so() {
    let mut scene = falling();
    scene.expect.push(
        serde_json::from_str(
            r#"{"quantity": "position.y", "body": "ball", "at_least": 46, "reason": "wishful"}"#,
        )
        .unwrap(),
    );
    let mut run = run(&scene);
    run.run_to_end().unwrap();
    let gates = moreau_scene::evaluate(&run);
    assert_eq!(gates[0].verdict, Verdict::Failed);
    assert!((gates[0].found.unwrap() - (50.0 - 4.905)).abs() < 1e-9);
    let shown = gates[0].to_string();
    assert!(
        shown.starts_with("position.y of ball at step 60: 45.09"),
        "{shown}"
    );
    assert!(shown.ends_with("must be at least 46 (wishful)"), "{shown}");
}

#[test]
fn options_that_cannot_be_used_are_refused() {
    for (options, word) in [
        (
            RunOptions {
                dt: Some(0.0),
                ..RunOptions::default()
            },
            "dt",
        ),
        (
            RunOptions {
                dt: Some(f64::NAN),
                ..RunOptions::default()
            },
            "dt",
        ),
        (
            RunOptions {
                threads: 0,
                ..RunOptions::default()
            },
            "threads",
        ),
    ] {
        let error = Run::new(&falling(), options).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

/// Answers nothing, and says so.
struct Idle;

impl ContactSolver for Idle {
    fn name(&self) -> &'static str {
        "idle"
    }

    fn solve(
        &mut self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
    ) -> Result<SolveReport, SolveError> {
        *impulses = problem.cold_start();
        *velocities = problem.velocities(impulses);
        Ok(SolveReport {
            stop: StopReason::Budget,
            residual: 0.5,
            ..SolveReport::empty()
        })
    }

    fn fork(&self) -> Box<dyn ContactSolver> {
        Box::new(Self)
    }
}

#[test]
fn any_solver_can_be_put_in() {
    let solver: Option<Box<dyn ContactSolver>> = Some(Box::new(Idle));
    let options = RunOptions {
        solver,
        steps: Some(20),
        ..RunOptions::default()
    };
    let scene = scenes::tower(2);
    let mut run = Run::new(&scene, options).unwrap();
    run.run_to_end().unwrap();
    let figures = run.figures();
    assert_eq!(figures.solver, "idle");
    assert!(!figures.certified && figures.uncertified_steps == 20);
    // Not what it says, but the speed of the fall into the ground.
    let fall = 9.81 * scene.dt * 20.0;
    assert!((figures.residual_max_m_s - fall).abs() < 1e-12);
}

#[test]
fn a_profile_counts_the_steps_from_measure_from_on() {
    let mut scene = scenes::tower(3);
    scene.measure_from = 6;
    let profile = |steps: u64, profile: bool| {
        let options = RunOptions {
            steps: Some(steps),
            profile,
            ..RunOptions::default()
        };
        let mut run = Run::new(&scene, options).unwrap();
        run.run_to_end().unwrap();
        run.profile()
    };
    assert!(profile(10, false).is_none());
    assert_eq!(profile(10, true).unwrap().steps, 4);
    // A run that ends before still tells where its time went.
    let short = profile(6, true).unwrap();
    assert_eq!(short.steps, 6);
    let shares: f64 = short.stages.iter().map(|s| s.share).sum();
    assert!((0.1..=1.0 + 1e-9).contains(&shares), "{shares}");
    assert_eq!(short.islands, 1);
    // So do its figures.
    let options = RunOptions {
        steps: Some(5),
        ..RunOptions::default()
    };
    let mut run = Run::new(&scene, options).unwrap();
    run.run_to_end().unwrap();
    assert!(run.figures().ms_per_step_median > 0.0);
}
