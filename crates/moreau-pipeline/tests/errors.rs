//! Every refusal is a typed error that names what was wrong, and leaves the world as it was.

use moreau_collision::{Shape, ShapeError};
use moreau_math::{MassProperties, Pose, Quat, SymMat3, Vec3, Velocity, vec3};
use moreau_pipeline::{
    Body, BodyId, BodyKind, Joint, Mass, Material, SolverChoice, World, WorldError, WorldSettings,
};

const NOT_FINITE: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

fn ball() -> Body {
    Body::dynamic(Shape::sphere(0.5))
}

/// A world with a floor, a ball on it and a joint.
fn world() -> (World, BodyId, BodyId) {
    let mut world = World::new(WorldSettings::default()).unwrap();
    let floor = world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
    let body = world.add(ball().at(vec3(0.0, 0.5, 0.0))).unwrap();
    let other = world.add(ball().at(vec3(2.0, 0.5, 0.0))).unwrap();
    let joint = Joint::distance(body, Vec3::ZERO, other, Vec3::ZERO, 2.0);
    world.add_joint(joint).unwrap();
    world.step(0.01).unwrap();
    (world, floor, body)
}

/// Asserts that `change` fails, leaves no trace, and returns its error.
#[track_caller]
fn refused<T>(
    world: &mut World,
    change: impl FnOnce(&mut World) -> Result<T, WorldError>,
) -> WorldError {
    let before = world.snapshot();
    let error = change(world).err().expect("this must be refused");
    assert!(world.snapshot() == before, "{error}: the world has changed");
    assert!(!error.to_string().is_empty());
    error
}

#[track_caller]
fn field(error: &WorldError) -> &'static str {
    match error {
        WorldError::BadBody { field, .. }
        | WorldError::BadJoint { field, .. }
        | WorldError::BadSetting { field, .. } => field,
        other => panic!("{other:?} names no field"),
    }
}

#[test]
fn descriptions_of_bodies() {
    let (mut world, ..) = world();
    let mut rows: Vec<(&str, Body)> = Vec::new();
    for bad in NOT_FINITE {
        let off = vec3(0.0, bad, 0.0);
        rows.push(("position", ball().at(off)));
        rows.push(("velocity.linear", ball().moving(off, Vec3::ZERO)));
        rows.push(("velocity.angular", ball().moving(Vec3::ZERO, off)));
        rows.push((
            "rotation",
            ball().rotated(Quat::from_xyzw(bad, 0.0, 0.0, 1.0)),
        ));
        rows.push(("surface_velocity", ball().surface_velocity(off)));
        rows.push(("force", ball().pushed(off, Vec3::ZERO)));
        rows.push(("torque", ball().pushed(Vec3::ZERO, off)));
        rows.push(("friction", ball().friction(bad)));
        rows.push(("restitution", ball().restitution(bad)));
        rows.push((
            "gravity_scale",
            Body {
                gravity_scale: bad,
                ..ball()
            },
        ));
    }
    for bad in [0.0, -1.0].into_iter().chain(NOT_FINITE) {
        rows.push(("density", ball().density(bad)));
        rows.push(("mass", ball().mass(bad)));
        let properties = |mass: f64, moment: f64| MassProperties {
            mass,
            center_of_mass: Vec3::ZERO,
            inertia: SymMat3::from_diagonal(vec3(1.0, moment, 1.0)),
        };
        rows.push(("mass", ball().mass_properties(properties(bad, 1.0))));
        rows.push(("inertia", ball().mass_properties(properties(1.0, bad))));
    }
    rows.push(("friction", ball().friction(-0.1)));
    rows.push(("restitution", ball().restitution(-0.1)));
    rows.push(("restitution", ball().restitution(1.1)));
    rows.push((
        "rotation",
        ball().rotated(Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)),
    ));
    rows.push((
        "rotation",
        ball().rotated(Quat::from_xyzw(0.0, 0.0, 0.0, 1.1)),
    ));
    let moving = vec3(1.0, 0.0, 0.0);
    let fixed = Body::fixed(Shape::sphere(1.0)).moving(moving, Vec3::ZERO);
    rows.push(("velocity", fixed));
    rows.push((
        "velocity.angular",
        ball().without_rotation().moving(Vec3::ZERO, moving),
    ));
    let mass = MassProperties {
        mass: 1.0,
        center_of_mass: vec3(f64::NAN, 0.0, 0.0),
        inertia: SymMat3::from_diagonal(Vec3::ONE),
    };
    rows.push(("center_of_mass", ball().mass_properties(mass)));
    for (name, body) in rows {
        let error = refused(&mut world, |w| w.add(body));
        assert_eq!(field(&error), name, "{error}");
    }
}

#[test]
fn shapes_that_cannot_be_used() {
    let (mut world, _, body) = world();
    let mut shapes = Vec::new();
    for bad in [0.0, -1.0].into_iter().chain(NOT_FINITE) {
        shapes.push(Shape::sphere(bad));
        shapes.push(Shape::cuboid(1.0, bad, 1.0));
        shapes.push(Shape::capsule(1.0, bad));
    }
    shapes.push(Shape::capsule(-1.0, 0.1));
    shapes.push(Shape::capsule(f64::NAN, 0.1));
    shapes.push(Shape::half_space(vec3(0.0, 2.0, 0.0)));
    shapes.push(Shape::half_space(Vec3::ZERO));
    shapes.push(Shape::half_space(vec3(0.0, f64::NAN, 0.0)));
    for shape in shapes {
        let error = refused(&mut world, |w| w.add(Body::fixed(shape.clone())));
        assert!(matches!(error, WorldError::BadShape { .. }), "{error:?}");
        let error = refused(&mut world, |w| w.set_shape(body, shape, Mass::Total(1.0)));
        assert!(matches!(error, WorldError::BadShape { .. }), "{error:?}");
    }
    // What has no volume cannot have its mass worked out.
    let floor = Shape::half_space(Vec3::Y);
    let error = refused(&mut world, |w| w.add(Body::dynamic(floor.clone())));
    let unbounded = matches!(
        error,
        WorldError::BadShape {
            source: ShapeError::Unbounded { .. },
            ..
        }
    );
    assert!(unbounded, "{error:?}");
    let error = refused(&mut world, |w| w.set_shape(body, floor, Mass::Density(1.0)));
    assert!(matches!(error, WorldError::BadShape { .. }), "{error:?}");
    assert!(matches!(
        Shape::hull(&[Vec3::ZERO; 3]),
        Err(ShapeError::TooFewPoints { count: 3 })
    ));
    let flat = [
        vec3(0.0, 0.0, 0.0),
        vec3(1.0, 0.0, 0.0),
        vec3(0.0, 1.0, 0.0),
        vec3(1.0, 1.0, 0.0),
    ];
    assert!(Shape::hull(&flat).is_err());
}

#[test]
fn time_steps() {
    let (mut world, ..) = world();
    for dt in [0.0, -0.0, -0.01].into_iter().chain(NOT_FINITE) {
        let error = refused(&mut world, |w| w.step(dt));
        let WorldError::BadTimeStep { dt: told } = error else {
            panic!("{error:?}")
        };
        assert!(told.to_bits() == dt.to_bits());
    }
}

#[test]
fn changes_of_bodies() {
    let (mut world, floor, body) = world();
    for bad in NOT_FINITE {
        let off = vec3(0.0, 0.0, bad);
        let error = refused(&mut world, |w| {
            w.set_pose(body, Pose::from_translation(off))
        });
        assert_eq!(field(&error), "position");
        let error = refused(&mut world, |w| {
            w.set_velocity(body, Velocity::new(off, Vec3::ZERO))
        });
        assert_eq!(field(&error), "velocity.linear");
        let error = refused(&mut world, |w| w.set_surface_velocity(body, off));
        assert_eq!(field(&error), "surface_velocity");
        let error = refused(&mut world, |w| w.set_constant_force(body, off, Vec3::ZERO));
        assert_eq!(field(&error), "force");
        let error = refused(&mut world, |w| w.set_constant_force(body, Vec3::ZERO, off));
        assert_eq!(field(&error), "torque");
        let error = refused(&mut world, |w| w.add_force(body, off));
        assert_eq!(field(&error), "force");
        let error = refused(&mut world, |w| w.add_torque(body, off));
        assert_eq!(field(&error), "torque");
        let error = refused(&mut world, |w| w.add_force_at(body, Vec3::X, off));
        assert_eq!(field(&error), "point");
        let error = refused(&mut world, |w| w.apply_impulse(body, off, Vec3::ZERO));
        assert_eq!(field(&error), "impulse");
        let error = refused(&mut world, |w| w.apply_impulse(body, Vec3::X, off));
        assert_eq!(field(&error), "point");
        let material = Material {
            friction: bad,
            ..Material::default()
        };
        let error = refused(&mut world, |w| w.set_material(body, material));
        assert_eq!(field(&error), "friction");
        let error = refused(&mut world, |w| w.set_mass(body, Mass::Total(bad)));
        assert_eq!(field(&error), "mass");
        let error = refused(&mut world, |w| {
            w.set_kind(body, BodyKind::Dynamic, Mass::Density(bad))
        });
        assert_eq!(field(&error), "density");
    }
    let error = refused(&mut world, |w| {
        w.set_velocity(floor, Velocity::new(Vec3::X, Vec3::ZERO))
    });
    assert_eq!(field(&error), "velocity");
    let error = refused(&mut world, |w| w.set_mass(floor, Mass::Total(1.0)));
    assert_eq!(field(&error), "kind");
    let half_space_with_mass =
        |w: &mut World| w.set_kind(floor, BodyKind::Dynamic, Mass::Total(1.0));
    let error = refused(&mut world, half_space_with_mass);
    assert!(matches!(error, WorldError::BadShape { .. }), "{error:?}");
}

#[test]
fn sums_that_overflow() {
    let (mut world, _, body) = world();
    let huge = Vec3::X * f64::MAX;
    world.add_force(body, huge).unwrap();
    assert_eq!(
        field(&refused(&mut world, |w| w.add_force(body, huge))),
        "force"
    );
    world.add_torque(body, huge).unwrap();
    assert_eq!(
        field(&refused(&mut world, |w| w.add_torque(body, huge))),
        "torque"
    );
    // A torque about x that overflows together with the one that is there; the force alone would do.
    let force = vec3(0.0, 0.0, 1e308);
    let point = world.body(body).unwrap().position() + vec3(0.0, 1.0, 0.0);
    assert_eq!(
        field(&refused(&mut world, |w| w.add_force_at(body, force, point))),
        "torque"
    );
    let error = refused(&mut world, |w| w.apply_impulse(body, huge, Vec3::Y * 1e10));
    assert_eq!(field(&error), "velocity.angular");
}

#[test]
fn ids_of_what_is_gone() {
    let (mut world, floor, body) = world();
    let joint = world.joints().next().unwrap().0;
    world.remove(body).unwrap();
    let gone = |error: WorldError| {
        assert!(
            matches!(error, WorldError::NoSuchBody { id } if id == body),
            "{error:?}"
        );
    };
    // The joint went with it.
    let error = refused(&mut world, |w| w.remove_joint(joint));
    assert!(
        matches!(error, WorldError::NoSuchJoint { id } if id == joint),
        "{error:?}"
    );
    assert!(world.joint(joint).is_err() && world.joint_impulse(joint).is_err());
    for reused in [false, true] {
        if reused {
            let new = world.add(ball().at(vec3(0.0, 3.0, 0.0))).unwrap();
            assert_eq!(new.index, body.index, "the slot is filled again");
            assert_ne!(new, body);
        }
        assert!(world.body(body).is_err());
        gone(refused(&mut world, |w| w.remove(body)));
        gone(refused(&mut world, |w| w.set_pose(body, Pose::IDENTITY)));
        gone(refused(&mut world, |w| {
            w.set_velocity(body, Velocity::ZERO)
        }));
        gone(refused(&mut world, |w| {
            w.set_material(body, Material::default())
        }));
        gone(refused(&mut world, |w| {
            w.set_surface_velocity(body, Vec3::ZERO)
        }));
        gone(refused(&mut world, |w| w.set_mass(body, Mass::Total(1.0))));
        gone(refused(&mut world, |w| {
            w.set_shape(body, Shape::sphere(1.0), Mass::Total(1.0))
        }));
        gone(refused(&mut world, |w| {
            w.set_kind(body, BodyKind::Static, Mass::Total(1.0))
        }));
        gone(refused(&mut world, |w| w.add_force(body, Vec3::ZERO)));
        gone(refused(&mut world, |w| w.add_torque(body, Vec3::ZERO)));
        gone(refused(&mut world, |w| {
            w.add_force_at(body, Vec3::ZERO, Vec3::ZERO)
        }));
        gone(refused(&mut world, |w| {
            w.set_constant_force(body, Vec3::ZERO, Vec3::ZERO)
        }));
        gone(refused(&mut world, |w| {
            w.apply_impulse(body, Vec3::ZERO, Vec3::ZERO)
        }));
        gone(refused(&mut world, |w| {
            w.add_joint(Joint::ball(body, Vec3::ZERO, floor, Vec3::ZERO))
        }));
        gone(refused(&mut world, |w| {
            w.add_joint(Joint::ball(floor, Vec3::ZERO, body, Vec3::ZERO))
        }));
    }
    let foreign = BodyId {
        index: 1_000_000,
        generation: 0,
    };
    assert!(matches!(world.body(foreign), Err(WorldError::NoSuchBody { id }) if id == foreign));
    assert!(foreign.to_string().contains("1000000"));
}

#[test]
fn joints_that_hold_nothing() {
    let (mut world, floor, body) = world();
    let wall = world
        .add(Body::fixed(Shape::sphere(1.0)).at(vec3(9.0, 0.0, 0.0)))
        .unwrap();
    for (a, b) in [(body, body), (floor, wall)] {
        let error = refused(&mut world, |w| {
            w.add_joint(Joint::ball(a, Vec3::ZERO, b, Vec3::ZERO))
        });
        assert_eq!(field(&error), "bodies");
    }
    for bad in [0.0, -1.0].into_iter().chain(NOT_FINITE) {
        let joint = Joint::distance(floor, Vec3::ZERO, body, Vec3::ZERO, bad);
        assert_eq!(
            field(&refused(&mut world, |w| w.add_joint(joint))),
            "length"
        );
    }
    for bad in NOT_FINITE {
        let off = vec3(bad, 0.0, 0.0);
        let joint = Joint::ball(floor, off, body, Vec3::ZERO);
        assert_eq!(
            field(&refused(&mut world, |w| w.add_joint(joint))),
            "anchor_a"
        );
        let joint = Joint::ball(floor, Vec3::ZERO, body, off);
        assert_eq!(
            field(&refused(&mut world, |w| w.add_joint(joint))),
            "anchor_b"
        );
    }
}

#[test]
fn settings_out_of_range() {
    let (mut world, ..) = world();
    type Spoil = fn(&mut WorldSettings, f64);
    let knobs: [(&str, Spoil); 13] = [
        ("prediction_distance", |s, x| s.prediction_distance = x),
        ("bounce_threshold", |s, x| s.bounce_threshold = x),
        ("position_correction.rate", |s, x| {
            s.position_correction.rate = x
        }),
        ("position_correction.slop", |s, x| {
            s.position_correction.slop = x
        }),
        ("position_correction.max_speed", |s, x| {
            s.position_correction.max_speed = x
        }),
        ("solver.simd.tolerance", |s, x| s.solver.simd.tolerance = x),
        ("solver.simd.slow_tolerance", |s, x| {
            s.solver.simd.slow_tolerance = x
        }),
        ("solver.pgs.tolerance", |s, x| s.solver.pgs.tolerance = x),
        ("solver.newton.tolerance", |s, x| {
            s.solver.newton.tolerance = x
        }),
        ("solver.newton.aim", |s, x| s.solver.newton.aim = x),
        ("solver.newton.polish", |s, x| s.solver.newton.polish = x),
        ("closed_gap", |s, x| s.closed_gap = x),
        ("standstill", |s, x| s.standstill = x),
    ];
    for (name, spoil) in knobs {
        for bad in [-1.0].into_iter().chain(NOT_FINITE) {
            let mut settings = WorldSettings::default();
            spoil(&mut settings, bad);
            assert_eq!(field(&World::new(settings).unwrap_err()), name);
            assert_eq!(
                field(&refused(&mut world, |w| w.set_settings(settings))),
                name
            );
        }
    }
    let settings = WorldSettings {
        gravity: vec3(0.0, f64::NAN, 0.0),
        ..WorldSettings::default()
    };
    assert_eq!(field(&World::new(settings).unwrap_err()), "gravity");
    let error = refused(&mut world, |w| w.set_threads(0));
    assert!(
        matches!(error, WorldError::Threads { threads: 0, .. }),
        "{error:?}"
    );
}

#[test]
fn a_solver_refuses_its_own_knobs() {
    let (mut world, ..) = world();
    let mut settings = WorldSettings::default();
    settings.solver.choice = SolverChoice::Pgs;
    settings.solver.pgs.relaxation = 2.0;
    world.set_settings(settings).unwrap();
    let error = refused(&mut world, |w| w.step(0.01));
    assert!(matches!(error, WorldError::Solve(_)), "{error:?}");
    world.set_settings(WorldSettings::default()).unwrap();
    world.step(0.01).unwrap();
}
