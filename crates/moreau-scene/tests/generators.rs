//! Generators place bodies where their formulas say.

use moreau_collision::Shape;
use moreau_math::{Vec3, vec3};
use moreau_scene::{BuiltScene, Scene, ShapeSpec, scenes};

fn build(generators: &str, up: &str) -> BuiltScene {
    let text = format!(
        r#"{{"format": "moreau-scene", "version": 1, "name": "t", "up": "{up}",
            "shapes": {{"brick": {{"box": {{"half_extents": [0.5, 0.25, 1]}}}},
                        "ball": {{"sphere": {{"radius": 0.2}}}}}},
            "generate": [{generators}]}}"#
    );
    Scene::from_json(&text)
        .unwrap_or_else(|error| panic!("{error}"))
        .build()
        .unwrap()
}

fn positions(built: &BuiltScene) -> Vec<Vec3> {
    built
        .bodies
        .iter()
        .map(|id| built.world.body(*id).unwrap().position())
        .collect()
}

#[test]
fn a_stack_stands_on_its_foot() {
    let stack = r#"{"stack": {"name": "s", "body": {"shape": "brick"}, "count": 3,
        "at": [1, 2, 3], "gap": 0.1}}"#;
    for (up, height, axis) in [
        ("x", 1.0, Vec3::X),
        ("y", 0.5, Vec3::Y),
        ("z", 2.0, Vec3::Z),
    ] {
        let built = build(stack, up);
        for (k, position) in positions(&built).into_iter().enumerate() {
            let above = 0.5 * height + k as f64 * (height + 0.1);
            let want = vec3(1.0, 2.0, 3.0) + axis * above;
            assert!((position - want).length() < 1e-14, "{up} {k}: {position}");
        }
        assert_eq!(built.find("s_2"), Some(built.bodies[2]));
        // Gravity is against up unless told otherwise.
        assert_eq!(built.world.settings().gravity, axis * -9.81);
    }
}

#[test]
fn a_stack_of_turned_bodies_touches() {
    // Turned by 90 degrees about z the brick is 1 m tall.
    let built = build(
        r#"{"stack": {"body": {"shape": "brick",
            "rotation": {"axis": [0, 0, 2], "degrees": 90}}, "count": 2}}"#,
        "y",
    );
    let found = positions(&built);
    assert!(
        (found[0].y - 0.5).abs() < 1e-12 && (found[1].y - 1.5).abs() < 1e-12,
        "{found:?}"
    );
}

#[test]
fn a_pyramid_has_one_body_less_in_each_row() {
    let built = build(
        r#"{"pyramid": {"body": {"shape": "brick"}, "rows": 4, "gap": 0.2}}"#,
        "y",
    );
    let found = positions(&built);
    let mut at = 0;
    for row in 0..4 {
        let n = 4 - row;
        for i in 0..n {
            let x = (f64::from(i) - 0.5 * f64::from(n - 1)) * 1.2;
            let want = vec3(x, 0.25 + 0.5 * f64::from(row), 0.0);
            assert!((found[at] - want).length() < 1e-14);
            at += 1;
        }
    }
    assert_eq!(at, found.len());
    // Along z the extent along z counts.
    let along = r#"{"pyramid": {"body": {"shape": "brick"}, "rows": 2, "along": "z"}}"#;
    let found = positions(&build(along, "y"));
    assert!((found[1] - found[0] - vec3(0.0, 0.0, 2.0)).length() < 1e-14);
}

#[test]
fn a_grid_of_columns_is_centred() {
    let grid = r#"{"grid_of_columns": {"body": {"shape": "ball"}, "columns": [3, 2], "height": 4,
        "spacing": [1, 5]}}"#;
    let found = positions(&build(grid, "z"));
    assert_eq!(found.len(), 24);
    // i outermost, then j, then k upwards; across is x, depth is y.
    assert!((found[0] - vec3(-1.0, -2.5, 0.2)).length() < 1e-14);
    assert!((found[1] - vec3(-1.0, -2.5, 0.6)).length() < 1e-14);
    assert!((found[4] - vec3(-1.0, 2.5, 0.2)).length() < 1e-14);
    assert!((found[8] - vec3(0.0, -2.5, 0.2)).length() < 1e-14);
    let middle: Vec3 = found.iter().sum::<Vec3>() / 24.0;
    assert!(middle.x.abs() < 1e-14 && middle.y.abs() < 1e-14);
}

const PILE: &str = r#"{"pile": {"name": "p", "body": {"shape": "ball"}, "shapes": ["ball", "brick"],
    "counts": [3, 4, 2], "spacing": [2.5, 2.6, 2.7], "jitter": 0.1, "seed": SEED,
    "at": [10, 20, 30], "container": {"inside": [9, 12], "height": 6, "thickness": 0.5}}}"#;

#[test]
fn a_pile_is_a_jittered_lattice_of_turned_bodies() {
    let built = build(&PILE.replace("SEED", "5"), "y");
    assert_eq!(built.bodies.len(), 5 + 24);
    assert_eq!(built.names[0].as_deref(), Some("p_floor"));
    assert_eq!(built.names[4].as_deref(), Some("p_wall_3"));
    let mut random = moreau_scene::SplitMix64::new(5);
    let mut index = 0;
    for k in 0..2 {
        for j in 0..4 {
            for i in 0..3 {
                let body = built
                    .world
                    .body(built.find(&format!("p_{index}")).unwrap())
                    .unwrap();
                let lattice = vec3(
                    10.0 + (f64::from(i) - 1.0) * 2.5,
                    20.0 + (f64::from(k) + 0.5) * 2.7,
                    30.0 + (f64::from(j) - 1.5) * 2.6,
                );
                let jitter = vec3(random.signed(), random.signed(), random.signed()) * 0.1;
                assert!((body.position() - lattice - jitter).length() < 1e-13);
                assert!(body.rotation().dot(random.rotation()).abs() > 1.0 - 1e-14);
                let want = if index % 2 == 0 { "sphere" } else { "box" };
                assert_eq!(body.shape().kind(), want);
                index += 1;
            }
        }
    }
}

#[test]
fn a_seed_means_the_same_bits_and_another_seed_others() {
    let build = |seed| build(&PILE.replace("SEED", seed), "y").world.hash();
    assert_eq!(build("5"), build("5"));
    assert_ne!(build("5"), build("6"));
}

#[test]
fn a_container_is_closed_below_and_around() {
    for up in ["x", "y", "z"] {
        let built = build(&PILE.replace("SEED", "5"), up);
        let parts: Vec<(Vec3, Vec3)> = built.bodies[..5]
            .iter()
            .map(|id| {
                let body = built.world.body(*id).unwrap();
                match body.shape() {
                    Shape::Cuboid { half_extents } => (body.position(), *half_extents),
                    other => panic!("a wall is a {}", other.kind()),
                }
            })
            .collect();
        let solid = |p: Vec3| {
            parts
                .iter()
                .any(|(middle, half)| (p - *middle).abs().cmple(*half + 1e-12).all())
        };
        let (u, a, d) = match up {
            "x" => (Vec3::X, Vec3::Y, Vec3::Z),
            "y" => (Vec3::Y, Vec3::X, Vec3::Z),
            _ => (Vec3::Z, Vec3::X, Vec3::Y),
        };
        let at = vec3(10.0, 20.0, 30.0);
        // A fine walk over the inner surface pushed out by 1 cm meets something solid everywhere;
        // pulled in by 1 cm it meets nothing.
        for i in 0..=40 {
            let s = f64::from(i) / 20.0 - 1.0;
            for j in 0..=40 {
                let t = f64::from(j) / 40.0;
                let sides = [
                    (a * 4.5 + d * (6.0 * s), a),
                    (a * -4.5 + d * (6.0 * s), -a),
                    (d * 6.0 + a * (4.5 * s), d),
                    (d * -6.0 + a * (4.5 * s), -d),
                ];
                for (edge, outward) in sides {
                    let p = at + edge + u * (6.0 * t);
                    assert!(solid(p + outward * 0.01), "{up}: a hole at {p}");
                    let inside = at + edge * 0.99 + u * (0.1 + 5.8 * t);
                    assert!(!solid(inside), "{up}: solid inside at {inside}");
                }
                let floor = at + a * (4.5 * s) + d * (12.0 * t - 6.0);
                assert!(
                    solid(floor - u * 0.01),
                    "{up}: a hole in the floor at {floor}"
                );
            }
        }
    }
}

#[test]
fn the_built_in_scenes_are_those_of_the_fixtures() {
    // Up to rounding: the fixtures were written with another order of operations.
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/scenes");
    let grid = Scene {
        name: "columns".into(),
        ..scenes::columns([16, 16], 8)
    };
    for scene in [scenes::pyramid(20), scenes::tower(30), grid] {
        let fixture = Scene::load(format!("{folder}/{}.json", scene.name)).unwrap();
        let (a, b) = (
            positions(&scene.build().unwrap()),
            positions(&fixture.build().unwrap()),
        );
        assert_eq!(a.len(), b.len(), "{}", scene.name);
        for (a, b) in a.iter().zip(&b) {
            assert!((*a - *b).length() < 1e-12, "{}: {a} {b}", scene.name);
        }
        assert_eq!(scene.steps, fixture.steps);
    }
}

#[test]
fn built_in_scenes_are_valid_and_print() {
    let ball = ShapeSpec::Sphere { radius: 0.25 };
    let all = [
        scenes::pyramid(3),
        scenes::tower(4),
        scenes::columns([2, 3], 2),
        scenes::pile(ball, 100, 1),
    ];
    for scene in all {
        let back = Scene::from_json(&scene.to_json()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(back, scene);
    }
}
