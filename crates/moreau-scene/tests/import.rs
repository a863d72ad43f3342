//! The plain text comparison format.

use moreau_scene::{BodyKind, RotationSpec, import_text};

const GOOD: &str = "scene drop Pile
gravity 0.0 -9.81 0.0
dt 0.01
steps 30
measure_from 10
gyro 1
shape box 5 1 5
shape sphere 0.25
shape hull 0 0 0 1 0 0 0 1 0 0 0 1
body 0 0 0.0 -1.0 0.0 0.0 0.0 0.0 1.0 0 0 0 0 0 0 1000.0 0.5 0.0
body 1 1 0.1 2.0 0.3 0.0 0.6 0.0 0.8 1 2 3 4 5 6 500.0 0.25 0.75
body 2 1 3.0 2.0 0.3 0.0 0.0 0.0 1.0 0 0 0 0 0 -0.0 500.0 0.25 0.75
";

#[test]
fn every_number_arrives() {
    let scene = import_text(GOOD).unwrap();
    assert_eq!((scene.name.as_str(), scene.dt), ("drop", 0.01));
    assert_eq!((scene.steps, scene.measure_from), (30, 10));
    assert_eq!(scene.shapes.len(), 3);
    let [floor, ball, hull] = &scene.bodies[..] else {
        panic!("{:?}", scene.bodies)
    };
    assert_eq!(floor.kind, BodyKind::Static);
    assert_eq!(ball.position, [0.1, 2.0, 0.3]);
    assert_eq!(
        ball.rotation,
        Some(RotationSpec::Quaternion([0.0, 0.6, 0.0, 0.8]))
    );
    assert_eq!(
        (ball.linear_velocity, ball.angular_velocity),
        ([1., 2., 3.], [4., 5., 6.])
    );
    assert_eq!(
        (ball.density, ball.friction, ball.restitution),
        (Some(500.), Some(0.25), Some(0.75))
    );
    assert_eq!(hull.rotation, None);
    assert!(scene.to_json().contains("[0, 0, -0]"), "-0 is kept");
}

#[test]
fn many_bodies_become_a_table_in_the_same_order() {
    let mut text = GOOD.to_owned();
    for i in 0..20 {
        text += &format!(
            "body {} 1 {}.5 9 0 0 0 0 1 0 0 0 0 0 0 500 0.25 0.75\n",
            1 + i % 2,
            2 * i
        );
    }
    let scene = import_text(&text).unwrap();
    assert_eq!((scene.bodies.len(), scene.instances[0].rows.len()), (1, 22));
    let built = scene.build().unwrap();
    for (i, id) in built.bodies.iter().enumerate().skip(3) {
        let body = built.world.body(*id).unwrap();
        let x = 2.0 * (i - 3) as f64 + 0.5;
        assert!((body.position().x - x).abs() < 1e-14);
        assert_eq!(
            body.shape().kind(),
            if i % 2 == 1 { "sphere" } else { "hull" }
        );
    }
}

#[test]
fn mistakes_are_reported_with_their_line() {
    for (from, to, line, message) in [
        ("dt 0.01", "dt x", 3, "`x` is not a number"),
        ("dt 0.01", "dt 0.01 2", 3, "2 numbers, 1 are needed"),
        ("dt 0.01", "dt inf", 3, "`inf` is not finite"),
        ("steps 30", "steps -3", 4, "`-3` is not a whole number"),
        ("gyro 1", "gyro 0", 6, "gyro must be 1"),
        ("gyro 1", "colour red", 6, "`colour` is not a keyword"),
        (
            "shape box 5 1 5",
            "shape cone 1",
            7,
            "`cone` is not box, sphere or hull",
        ),
        (
            "shape box 5 1 5",
            "shape box 5 1",
            7,
            "2 numbers, 3 are needed",
        ),
        ("0 0 0 1\nbody", "0 0 0\nbody", 9, "are not points of 3"),
        ("body 1 1", "body 7 1", 11, "there is no shape 7"),
        (
            "body 1 1",
            "body 1 2",
            11,
            "`2` is not 0 (static) or 1 (dynamic)",
        ),
        ("body 1 1", "body", 11, "there is no shape 0.1"),
        (
            "body 2 1",
            "body 2 0",
            12,
            "static body stands after a dynamic one",
        ),
        (
            "500.0 0.25 0.75\nbody",
            "500.0 0.25\nbody",
            11,
            "15 numbers, 16 are needed",
        ),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let error = import_text(&GOOD.replacen(from, to, 1))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with(&format!("line {line}: ")),
            "{to}: {error}"
        );
        assert!(error.contains(message), "{to}: {error}");
    }
    // What is well-formed but not a scene is reported as in any scene.
    let error = import_text(&GOOD.replace("dt 0.01", "dt 0"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("dt: is 0, must be positive"), "{error}");
    assert!(import_text("").is_err());
}
