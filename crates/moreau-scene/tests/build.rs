//! Each field of a file reaches the world.

use moreau_math::{Quat, Vec3, vec3};
use moreau_pipeline::{BodyKind, CombineRule, JointKind};
use moreau_scene::{BodyRef, BuiltScene, Run, RunOptions, Scene};

fn scene(rest: &str) -> Scene {
    let text = format!(r#"{{"format": "moreau-scene", "version": 1, "name": "t", {rest}}}"#);
    Scene::from_json(&text).unwrap_or_else(|error| panic!("{error}"))
}

fn build(rest: &str) -> BuiltScene {
    scene(rest).build().unwrap()
}

#[test]
fn materials_are_inherited_and_overridden() {
    let built = build(
        r#""materials": {"m": {"friction": 0.1, "restitution": 0.2, "density": 300,
                               "friction_rule": "max", "restitution_rule": "min"}},
        "shapes": {"cube": {"box": {"half_extents": [0.5, 0.5, 0.5]}}},
        "bodies": [
            {"shape": "cube"},
            {"shape": "cube", "material": "m"},
            {"shape": "cube", "material": "m", "friction": 0.7, "restitution": 0.6, "density": 40},
            {"shape": "cube", "material": "m", "mass": 5}]"#,
    );
    let found: Vec<(f64, f64, f64)> = built
        .bodies
        .iter()
        .map(|id| {
            let body = built.world.body(*id).unwrap();
            let material = body.material();
            (
                body.mass_properties().mass,
                material.friction,
                material.restitution,
            )
        })
        .collect();
    let want = [
        (1000.0, 0.5, 0.0),
        (300.0, 0.1, 0.2),
        (40.0, 0.7, 0.6),
        (5.0, 0.1, 0.2),
    ];
    for (found, want) in found.iter().zip(want) {
        assert!((found.0 - want.0).abs() < 1e-9, "{found:?} {want:?}");
        assert_eq!((found.1, found.2), (want.1, want.2));
    }
    let material = built.world.body(built.bodies[1]).unwrap().material();
    assert_eq!(material.friction_rule, CombineRule::Max);
    assert_eq!(material.restitution_rule, CombineRule::Min);
}

#[test]
fn poses_velocities_and_kinds_arrive() {
    let built = build(
        r#""bodies": [
            {"name": "a", "shape": {"sphere": {"radius": 1}}, "position": [1, 2, 3],
             "rotation": {"axis": [0, 0, 5], "degrees": 90},
             "linear_velocity": [4, 5, 6], "angular_velocity": [7, 8, 9]},
            {"name": "b", "kind": "kinematic", "shape": {"sphere": {"radius": 1}},
             "rotation": [0.6, 0, 0, 0.8], "linear_velocity": [1, 0, 0]},
            {"name": "c", "kind": "static", "shape": {"half_space": {"normal": [0, 0, 1]}}}]"#,
    );
    let body = |name: &str| built.world.body(built.find(name).unwrap()).unwrap();
    assert_eq!(body("a").position(), vec3(1.0, 2.0, 3.0));
    assert!((body("a").rotation() * Vec3::X - Vec3::Y).length() < 1e-15);
    assert_eq!(body("a").velocity().linear, vec3(4.0, 5.0, 6.0));
    assert_eq!(body("a").velocity().angular, vec3(7.0, 8.0, 9.0));
    assert_eq!(body("b").kind(), BodyKind::Kinematic);
    assert_eq!(body("b").rotation(), Quat::from_xyzw(0.6, 0.0, 0.0, 0.8));
    assert_eq!(body("c").kind(), BodyKind::Static);
    assert_eq!(body("c").shape().kind(), "half-space");
    assert_eq!(built.resolve(&BodyRef::Index(1)), built.find("b"));
    assert_eq!(built.resolve(&BodyRef::Index(3)), None);
    assert_eq!(built.label(built.bodies[2]), "c");
}

#[test]
fn forces_gravity_scale_and_locks_act() {
    let scene = scene(
        r#""dt": 0.01, "steps": 100, "shapes": {"ball": {"sphere": {"radius": 0.5}}}, "bodies": [
            {"name": "light", "shape": "ball", "position": [0, 0, 0], "gravity_scale": -0.5},
            {"name": "pushed", "shape": "ball", "position": [5, 0, 0], "mass": 2,
             "gravity_scale": 0, "force": [0, 0, 3], "torque": [0, 0.4, 0]},
            {"name": "locked", "shape": "ball", "position": [9, 0, 0], "gravity_scale": 0,
             "torque": [0, 0.4, 0], "lock_rotation": true}]"#,
    );
    let mut run = Run::new(&scene, RunOptions::default()).unwrap();
    run.run_to_end().unwrap();
    let velocity = |name: &str| {
        let id = run.built().find(name).unwrap();
        run.world().body(id).unwrap().velocity()
    };
    assert!((velocity("light").linear - vec3(0.0, 4.905, 0.0)).length() < 1e-9);
    assert!((velocity("pushed").linear - vec3(0.0, 0.0, 1.5)).length() < 1e-9);
    // I = 2/5 m r² = 0.2 kg m².
    assert!((velocity("pushed").angular - vec3(0.0, 2.0, 0.0)).length() < 1e-9);
    assert_eq!(velocity("locked").angular, Vec3::ZERO);
}

#[test]
fn joints_are_placed_by_point_or_by_anchors() {
    let built = build(
        r#""shapes": {"ball": {"sphere": {"radius": 0.1}}}, "bodies": [
            {"name": "a", "shape": "ball", "kind": "static", "position": [1, 0, 0]},
            {"name": "b", "shape": "ball", "position": [2, 0, 0],
             "rotation": {"axis": [0, 0, 1], "degrees": 90}},
            {"name": "c", "shape": "ball", "position": [2, 3, 0]}],
        "joints": [
            {"ball": {"a": "a", "b": "b", "at": [1.5, 0, 0], "collide": true}},
            {"distance": {"a": "b", "b": 2, "anchor_b": [0, 1, 0]}},
            {"distance": {"a": "a", "b": "c", "length": 7}},
            {"ball": {"a": "c", "b": "b", "anchor_a": [0, -3, 0]}}]"#,
    );
    let joint = |i: usize| built.world.joint(built.joints[i]).unwrap();
    assert_eq!(joint(0).anchor_a, vec3(0.5, 0.0, 0.0));
    assert!((joint(0).anchor_b - vec3(0.0, 0.5, 0.0)).length() < 1e-15);
    assert!(joint(0).collide && !joint(1).collide);
    let length = |i: usize| match joint(i).kind {
        JointKind::Distance { length } => length,
        other => panic!("{other:?}"),
    };
    assert!((length(1) - 4.0).abs() < 1e-15);
    assert_eq!(length(2), 7.0);
    assert_eq!(
        (joint(3).anchor_a, joint(3).anchor_b),
        (vec3(0.0, -3.0, 0.0), Vec3::ZERO)
    );
}

#[test]
fn settings_override_only_what_they_name() {
    let built = build(
        r#""gravity": [1, 2, 3], "settings": {"prediction_distance": 0.5, "warm_start": false,
            "position_correction": {"slop": 0.25}, "solver": {"choice": "pgs", "pgs": {"max_sweeps": 7},
            "fast": "block", "simd": {"max_sweeps": 9, "accelerate": false, "keep_best": true}}}"#,
    );
    let mut want = moreau_pipeline::WorldSettings {
        gravity: vec3(1.0, 2.0, 3.0),
        prediction_distance: 0.5,
        warm_start: false,
        ..Default::default()
    };
    want.position_correction.slop = 0.25;
    want.solver.choice = moreau_pipeline::SolverChoice::Pgs;
    want.solver.pgs.max_sweeps = 7;
    want.solver.fast = moreau_pipeline::FastPath::Block;
    want.solver.simd.max_sweeps = 9;
    want.solver.simd.accelerate = false;
    want.solver.simd.keep_best = true;
    assert_eq!(*built.world.settings(), want);
    assert_eq!(built.world.solver_name(), "pgs");
}

#[test]
fn rows_override_the_template() {
    let built = build(
        r#""shapes": {"ball": {"sphere": {"radius": 0.1}},
                      "cube": {"box": {"half_extents": [1, 1, 1]}}},
        "instances": [{"name": "k", "body": {"shape": "ball", "friction": 0.9},
            "columns": ["restitution", "linear_velocity", "shape", "friction", "angular_velocity",
                        "position", "mass"],
            "rows": [[0.25, 1, 2, 3, "cube", 0.75, 4, 5, 6, 7, 8, 9, 11]]}]"#,
    );
    assert_eq!(built.bodies.len(), 1);
    let body = built.world.body(built.find("k_0").unwrap()).unwrap();
    assert_eq!(
        (body.material().restitution, body.material().friction),
        (0.25, 0.75)
    );
    assert_eq!(body.velocity().linear, vec3(1.0, 2.0, 3.0));
    assert_eq!(body.velocity().angular, vec3(4.0, 5.0, 6.0));
    assert_eq!(body.position(), vec3(7.0, 8.0, 9.0));
    assert_eq!(
        (body.shape().kind(), body.mass_properties().mass),
        ("box", 11.0)
    );
}

#[test]
fn groups_and_sensors() {
    let scene = scene(
        r#""shapes": {"ball": {"sphere": {"radius": 1}}}, "bodies": [
            {"shape": "ball"},
            {"shape": "ball", "groups": {"member": [0, 31], "meets": []}, "sensor": true},
            {"shape": "ball", "groups": {"meets": [3]}}]"#,
    );
    let built = scene.build().unwrap();
    let found: Vec<_> = built
        .world
        .bodies()
        .map(|b| (b.groups().member, b.groups().meets, b.is_sensor()))
        .collect();
    let all = u32::MAX;
    assert_eq!(
        found,
        [(all, all, false), (1 << 31 | 1, 0, true), (all, 8, false)]
    );
    let again = Scene::from_json(&scene.to_json()).unwrap();
    assert_eq!(again, scene);
}

#[test]
fn bullets_and_ordered_impacts() {
    let built = build(
        r#""settings": {"ordered_impacts": 3, "ordered_base_work": 100, "ordered_work_factor": 0},
        "shapes": {"ball": {"sphere": {"radius": 0.5}}},
        "bodies": [{"shape": "ball", "bullet": true}, {"shape": "ball"}]"#,
    );
    let bullets = built.world.bodies().map(|b| b.is_bullet());
    assert_eq!(bullets.collect::<Vec<_>>(), [true, false]);
    let settings = built.world.settings();
    assert_eq!(settings.ordered_impacts, 3);
    assert_eq!(settings.ordered_base_work, 100);
    assert_eq!(settings.ordered_work_factor, 0);
}
